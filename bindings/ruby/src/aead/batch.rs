//! Many messages under one key in one call: short ones share the work.

use magnus::{Error, RArray, Ruby, TryConvert as _};
use sealwire_aead::batch::{OpenJob, SealJob};
use sealwire_aead::{NONCE_SIZE, TAG_SIZE};

use super::cipher::{Cipher, nonce};
use super::decryption_error;
use crate::bytes::Batch;
use crate::errors;

type Nonce = [u8; NONCE_SIZE];

/// Messages given as `[nonce, text]` or `[nonce, text, aad]`.
fn batch(ruby: &Ruby, messages: RArray) -> Result<(Vec<Nonce>, Batch), Error> {
    let mut nonces = Vec::with_capacity(messages.len());
    let batch = Batch::with_capacity(ruby, messages.len());
    for message in messages {
        let fields = RArray::try_convert(message)?;
        if !(2..=3).contains(&fields.len()) {
            let problem = "a message is [nonce, text] or [nonce, text, aad]";
            return Err(errors::new(ruby, ruby.exception_arg_error(), problem));
        }
        nonces.push(nonce(ruby, fields.entry(0)?)?);
        batch.push(fields.entry(1)?, fields.entry(2)?)?;
    }
    Ok((nonces, batch))
}

pub(super) fn encrypt(ruby: &Ruby, this: &Cipher, messages: RArray) -> Result<RArray, Error> {
    let (nonces, batch) = batch(ruby, messages)?;
    let seal = |messages: Vec<(&[u8], &mut [u8])>| {
        let jobs = nonces
            .iter()
            .zip(messages)
            .filter_map(|(nonce, (aad, buffer))| {
                let (buffer, tag) = buffer.split_last_chunk_mut()?;
                Some(SealJob {
                    nonce: *nonce,
                    aad,
                    buffer,
                    tag,
                })
            });
        this.0.seal_batch(&mut jobs.collect::<Vec<_>>());
    };
    Ok(batch.changed(ruby, TAG_SIZE as isize, seal)?.0)
}

/// Returns an array only if every message is authentic.
pub(super) fn decrypt(ruby: &Ruby, this: &Cipher, messages: RArray) -> Result<RArray, Error> {
    let (nonces, batch) = batch(ruby, messages)?;
    let tags = batch.read_each(|text| text.last_chunk::<TAG_SIZE>().copied())?;
    let tags: Option<Vec<_>> = tags.into_iter().collect();
    let tags = tags.ok_or_else(|| decryption_error(ruby))?;
    let open = |messages: Vec<(&[u8], &mut [u8])>| {
        let jobs = nonces.iter().zip(&tags).zip(messages);
        let mut jobs: Vec<_> = jobs
            .map(|((nonce, tag), (aad, buffer))| OpenJob::new(*nonce, aad, buffer, tag))
            .collect();
        this.0.open_batch(&mut jobs)
    };
    let (texts, opened) = batch.changed(ruby, -(TAG_SIZE as isize), open)?;
    match opened {
        Ok(()) => Ok(texts),
        Err(_) => Err(decryption_error(ruby)),
    }
}
