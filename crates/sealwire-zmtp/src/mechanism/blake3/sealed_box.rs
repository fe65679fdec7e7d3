//! The boxes of the handshake: one key, one nonce and one associated datum each.
//!
//! Source: wire reference, sections 2 and 4.

use alloc::vec::Vec;

use sealwire_aead::TAG_SIZE;
use zeroize::Zeroizing;

use crate::provider::{OpenJob, Provider, SealJob, Verdict};

/// What tells one kind of box from another.
pub(super) struct Label {
    pub(super) key: &'static str,
    nonce: &'static str,
    aad: &'static [u8],
}

macro_rules! label {
    ($name:ident) => {
        pub(super) const $name: Label = Label {
            key: concat!("BLAKE3ZMQ-1.0 ", stringify!($name), " key"),
            nonce: concat!("BLAKE3ZMQ-1.0 ", stringify!($name), " nonce"),
            aad: stringify!($name).as_bytes(),
        };
    };
}

label!(HELLO);
label!(WELCOME);
label!(VOUCH);
label!(INITIATE);
label!(READY);

/// Key, nonce and associated data of one box. The key is wiped on drop.
pub(super) struct SealedBox<'a> {
    provider: &'a dyn Provider,
    key: Zeroizing<[u8; 32]>,
    nonce: [u8; 24],
    aad: &'a [u8],
}

impl<'a> SealedBox<'a> {
    /// A box whose key is derived from `key_material` and whose nonce from `nonce_material`.
    pub(super) fn derive(
        provider: &'a dyn Provider,
        label: &'static Label,
        key_material: &[&[u8]],
        nonce_material: &[&[u8]],
    ) -> Self {
        let mut nonce = [0; 24];
        provider.derive_key(label.nonce, nonce_material, &mut nonce);
        Self::with_nonce(provider, label.key, key_material, nonce, label.aad)
    }

    /// A box whose nonce is given.
    pub(super) fn with_nonce(
        provider: &'a dyn Provider,
        key_context: &str,
        key_material: &[&[u8]],
        nonce: [u8; 24],
        aad: &'a [u8],
    ) -> Self {
        let mut key = Zeroizing::new([0; 32]);
        provider.derive_key(key_context, key_material, &mut *key);
        Self {
            provider,
            key,
            nonce,
            aad,
        }
    }

    /// Encrypts the buffer and gives the tag that has to stand behind it.
    pub(super) fn seal_in_place(&self, buffer: &mut [u8]) -> [u8; TAG_SIZE] {
        let mut tag = [0; TAG_SIZE];
        let job = SealJob {
            nonce: self.nonce,
            aad: self.aad,
            buffer,
            tag: &mut tag,
        };
        self.provider.seal_once(&self.key, job);
        tag
    }

    /// Seals what a frame holds from `start` on, and appends the tag.
    pub(super) fn seal_from(&self, start: usize, frame: &mut Vec<u8>) {
        let tag = self.seal_in_place(&mut frame[start..]);
        frame.extend_from_slice(&tag);
    }

    /// The plaintext of ciphertext and tag, wiped on drop; `None` when it does not verify.
    pub(super) fn open(&self, sealed: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        let (ciphertext, tag) = sealed.split_last_chunk()?;
        let mut plaintext = Zeroizing::new(ciphertext.to_vec());
        self.opens(&mut plaintext, tag).then_some(plaintext)
    }

    /// The same for a plaintext of `SIZE` bytes; `None` also for others.
    pub(super) fn open_array<const SIZE: usize>(
        &self,
        sealed: &[u8],
    ) -> Option<Zeroizing<[u8; SIZE]>> {
        let (ciphertext, tag) = sealed.split_last_chunk()?;
        let mut plaintext = Zeroizing::new(<[u8; SIZE]>::try_from(ciphertext).ok()?);
        self.opens(&mut *plaintext, tag).then_some(plaintext)
    }

    fn opens(&self, buffer: &mut [u8], tag: &[u8; TAG_SIZE]) -> bool {
        let mut job = OpenJob::new(self.nonce, self.aad, buffer, tag);
        self.provider.open_once(&self.key, &mut job);
        job.verdict == Verdict::Verified
    }
}
