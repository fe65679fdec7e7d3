//! Many messages under one key in one call: short ones share the work.

use magnus::{Error, RArray, RString, Ruby, TryConvert as _};
use sealwire_aead::batch::{OpenJob, SealJob};
use sealwire_aead::{NONCE_SIZE, TAG_SIZE};

use super::cipher::{Cipher, nonce};
use super::decryption_error;
use crate::bytes::{self, Source};
use crate::errors;

type Nonce = [u8; NONCE_SIZE];

/// Messages given as `[nonce, text]` or `[nonce, text, aad]`.
fn sources(ruby: &Ruby, messages: RArray) -> Result<(Vec<Nonce>, Vec<Source>), Error> {
    let mut nonces = Vec::with_capacity(messages.len());
    let mut sources = Vec::with_capacity(messages.len());
    for message in messages {
        let fields = RArray::try_convert(message)?;
        if !(2..=3).contains(&fields.len()) {
            let problem = "a message is [nonce, text] or [nonce, text, aad]";
            return Err(errors::new(ruby, ruby.exception_arg_error(), problem));
        }
        nonces.push(nonce(ruby, fields.entry(0)?)?);
        sources.push(Source {
            text: fields.entry(1)?,
            aad: fields.entry::<Option<RString>>(2)?,
        });
    }
    Ok((nonces, sources))
}

pub(super) fn encrypt(ruby: &Ruby, this: &Cipher, messages: RArray) -> Result<RArray, Error> {
    let (nonces, sources) = sources(ruby, messages)?;
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
    Ok(bytes::changed_together(ruby, &sources, TAG_SIZE as isize, seal).0)
}

/// All of them or none: whoever gets an array knows that every message is authentic.
pub(super) fn decrypt(ruby: &Ruby, this: &Cipher, messages: RArray) -> Result<RArray, Error> {
    let (nonces, sources) = sources(ruby, messages)?;
    let tag = |source: &Source| bytes::with(source.text, |text| text.last_chunk().copied());
    let tags: Option<Vec<[u8; TAG_SIZE]>> = sources.iter().map(tag).collect();
    let tags = tags.ok_or_else(|| decryption_error(ruby))?;
    let open = |messages: Vec<(&[u8], &mut [u8])>| {
        let jobs = nonces.iter().zip(&tags).zip(messages);
        let mut jobs: Vec<_> = jobs
            .map(|((nonce, tag), (aad, buffer))| OpenJob::new(*nonce, aad, buffer, tag))
            .collect();
        this.0.open_batch(&mut jobs)
    };
    let (texts, opened) = bytes::changed_together(ruby, &sources, -(TAG_SIZE as isize), open);
    match opened {
        Ok(()) => Ok(texts),
        Err(_) => Err(decryption_error(ruby)),
    }
}
