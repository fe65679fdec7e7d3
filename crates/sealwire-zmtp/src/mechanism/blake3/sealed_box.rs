//! The boxes of the handshake: one key, one nonce and one associated datum each.
//!
//! Source: wire reference, sections 2 and 4.

use alloc::vec::Vec;

use zeroize::Zeroizing;

use super::commands::TAG_SIZE;
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
    aad: Vec<u8>,
}

impl<'a> SealedBox<'a> {
    /// A box whose key is derived from `key_material` and whose nonce from `nonce_material`.
    pub(super) fn derive(
        provider: &'a dyn Provider,
        label: &Label,
        key_material: &[&[u8]],
        nonce_material: &[&[u8]],
    ) -> Self {
        let mut nonce = [0; 24];
        provider.derive_key(label.nonce, nonce_material, &mut nonce);
        Self::with_nonce(provider, label.key, key_material, nonce, label.aad.into())
    }

    /// A box whose nonce is given.
    pub(super) fn with_nonce(
        provider: &'a dyn Provider,
        key_context: &str,
        key_material: &[&[u8]],
        nonce: [u8; 24],
        aad: Vec<u8>,
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

    /// Ciphertext and tag of the parts one after the other.
    pub(super) fn seal(&self, parts: &[&[u8]]) -> Vec<u8> {
        let mut sealed = parts.concat();
        let mut tag = [0; TAG_SIZE];
        let job = SealJob {
            nonce: self.nonce,
            aad: &self.aad,
            buffer: &mut sealed,
            tag: &mut tag,
        };
        self.provider.cipher(&self.key).seal(&mut [job]);
        sealed.extend_from_slice(&tag);
        sealed
    }

    /// The plaintext of ciphertext and tag, wiped on drop; `None` when it does not verify.
    pub(super) fn open(&self, sealed: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        let (ciphertext, tag) = sealed.split_last_chunk()?;
        let mut plaintext = Zeroizing::new(ciphertext.to_vec());
        let mut job = [OpenJob::new(self.nonce, &self.aad, &mut plaintext, tag)];
        self.provider.cipher(&self.key).open(&mut job);
        let [job] = job;
        (job.verdict == Verdict::Verified).then_some(plaintext)
    }
}
