//! Many messages at a time.

use super::{Aead, ArraySize, Nonce};
use crate::protocol::batch::{self, GROUP, WithText, in_groups};
use crate::protocol::is_equal;
use crate::{InvalidCiphertext, Tag};
use zeroize::Zeroize;

/// A message to be sealed with others by [`Aead::seal_many`].
#[derive(Debug)]
pub struct SealJob<'a, N: ArraySize> {
    /// Never the same twice under one key.
    pub nonce: &'a Nonce<N>,
    /// What the tag covers without being part of the message.
    pub associated_data: &'a [u8],
    /// The plaintext, to be encrypted in place.
    pub text: &'a mut [u8],
    /// Where the tag goes.
    pub tag: &'a mut Tag,
}

/// A message to be opened with others by [`Aead::open_many`].
#[derive(Debug)]
pub struct OpenJob<'a, N: ArraySize> {
    /// That of the message.
    pub nonce: &'a Nonce<N>,
    /// What the tag covers without being part of the message.
    pub associated_data: &'a [u8],
    /// The ciphertext, to be decrypted in place; all zeros after a failure.
    pub text: &'a mut [u8],
    /// The tag that came with the message.
    pub tag: &'a Tag,
    /// Where it is told whether they belong together.
    pub result: &'a mut Result<(), InvalidCiphertext>,
}

/// The protocols of a group just before the messages.
fn begin<'t, N: ArraySize, J>(
    cipher: &Aead<N>,
    jobs: &'t mut [Option<J>],
    parts: impl for<'j> Fn(&'j mut J) -> (&'j Nonce<N>, &'j [u8], &'j mut [u8]),
    then: impl FnOnce(&mut [Option<WithText<'_>>]),
) {
    let mut items = [const { None }; GROUP];
    let (mut nonces, mut data): ([&[u8]; GROUP], [&[u8]; GROUP]) = ([&[]; GROUP], [&[]; GROUP]);
    let length = jobs.len();
    for (index, job) in jobs.iter_mut().flatten().enumerate() {
        let (nonce, associated_data, text) = parts(job);
        (nonces[index], data[index]) = (nonce, associated_data);
        items[index] = Some(WithText {
            protocol: cipher.keyed.clone(),
            text,
        });
    }
    let items = &mut items[..length];
    batch::mix(items, b"nonce", |index| nonces[index]);
    batch::mix(items, b"ad", |index| data[index]);
    then(items);
}

impl<N: ArraySize> Aead<N> {
    /// Encrypts each text in place and gives each its tag: the same bytes as
    /// [`seal_detached`](Self::seal_detached), but on CPUs with VAES several at once if they are
    /// long enough for that to be faster, best if they are about equally long.
    pub fn seal_many(&self, jobs: &mut [SealJob<'_, N>]) {
        let length = |job: &&mut SealJob<'_, N>| job.associated_data.len() + job.text.len();
        let alone = |job: &mut SealJob<'_, N>| {
            *job.tag = self.seal_detached(job.nonce, job.associated_data, job.text);
        };
        in_groups(jobs.iter_mut(), length, alone, |group| {
            let mut tags = [Tag::default(); GROUP];
            begin(
                self,
                group,
                |job| (job.nonce, job.associated_data, &mut *job.text),
                |items| batch::seal(items, b"message", |index, tag| tags[index] = tag),
            );
            for (job, tag) in group.iter_mut().flatten().zip(tags) {
                *job.tag = tag;
            }
        });
    }

    /// Decrypts each text in place and tells each whether it is authentic: the same as
    /// [`open_detached`](Self::open_detached), but on CPUs with VAES several at once if they are
    /// long enough for that to be faster, best if they are about equally long. A text that is not is all zeros; the others are not affected.
    pub fn open_many(&self, jobs: &mut [OpenJob<'_, N>]) {
        let length = |job: &&mut OpenJob<'_, N>| job.associated_data.len() + job.text.len();
        let alone = |job: &mut OpenJob<'_, N>| {
            *job.result = self.open_detached(job.nonce, job.associated_data, job.text, job.tag);
        };
        in_groups(jobs.iter_mut(), length, alone, |group| {
            let mut tags = [Tag::default(); GROUP];
            begin(
                self,
                group,
                |job| (job.nonce, job.associated_data, &mut *job.text),
                |items| batch::open(items, b"message", |index, tag| tags[index] = tag),
            );
            for (job, tag) in group.iter_mut().flatten().zip(&mut tags) {
                let is_right = is_equal(tag, job.tag);
                // That of a forgery is what the forger is looking for.
                tag.zeroize();
                *job.result = if is_right {
                    Ok(())
                } else {
                    job.text.zeroize();
                    Err(InvalidCiphertext)
                };
            }
        });
    }
}
