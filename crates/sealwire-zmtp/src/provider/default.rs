//! The crate's own provider: `x25519-dalek`, `blake3` and `sealwire-aead`.

use alloc::boxed::Box;

use sealwire_aead::{Cipher, Session};
use x25519_dalek::{X25519_BASEPOINT_BYTES, x25519};

use super::{
    ContinuousCipher, MessageCipher, OpenJob, PieceSealer, Provider, SealJob, SharedSecret, WeakKey,
};
use crate::keys::{PublicKey, SecretKey};

/// X25519 from `x25519-dalek`, BLAKE3 from `blake3`, ChaCha20-BLAKE3 from `sealwire-aead`.
#[derive(Copy, Clone, Debug, Default)]
pub struct DefaultProvider;

impl Provider for DefaultProvider {
    fn public_key(&self, secret: &SecretKey) -> PublicKey {
        PublicKey::from_bytes(x25519(*secret.as_bytes(), X25519_BASEPOINT_BYTES))
            .expect("X25519 gives its result in canonical form (RFC 7748, section 5)")
    }

    fn diffie_hellman(
        &self,
        secret: &SecretKey,
        public: &PublicKey,
    ) -> Result<SharedSecret, WeakKey> {
        SharedSecret::new(x25519(*secret.as_bytes(), *public.as_bytes()))
    }

    fn hash(&self, parts: &[&[u8]]) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            hasher.update(part);
        }
        hasher.finalize().into()
    }

    fn derive_key(&self, context: &str, material: &[&[u8]], output: &mut [u8]) {
        use zeroize::Zeroize;
        let mut hasher = blake3::Hasher::new_derive_key(context);
        for part in material {
            hasher.update(part);
        }
        let mut reader = hasher.finalize_xof();
        reader.fill(output);
        reader.zeroize();
        hasher.zeroize();
    }

    fn cipher(&self, key: &[u8; 32]) -> Box<dyn MessageCipher> {
        Box::new(Cipher::new(key))
    }

    fn seal_once(&self, key: &[u8; 32], job: SealJob<'_>) {
        MessageCipher::seal(&Cipher::new(key), &mut [job]);
    }

    fn open_once(&self, key: &[u8; 32], job: &mut OpenJob<'_>) {
        MessageCipher::open(&Cipher::new(key), core::slice::from_mut(job));
    }

    fn continuous_cipher(
        &self,
        encryption_key: &[u8; 32],
        authentication_key: &[u8; 32],
        nonce: &[u8; 8],
    ) -> Box<dyn ContinuousCipher> {
        Box::new(Session::new(encryption_key, authentication_key, nonce))
    }
}

impl MessageCipher for Cipher {
    fn seal(&self, jobs: &mut [SealJob<'_>]) {
        self.seal_batch(jobs);
    }

    fn open(&self, jobs: &mut [OpenJob<'_>]) {
        // The verdicts say the same as this result, and say it for each job.
        let _ = self.open_batch(jobs);
    }

    fn seal_in_pieces(&self, nonce: &[u8; 24], aad: &[u8]) -> Option<Box<dyn PieceSealer>> {
        Some(Box::new(self.seal_in_pieces(nonce, aad)))
    }
}

impl PieceSealer for sealwire_aead::PieceSealer {
    fn seal(&mut self, piece: &mut [u8]) {
        self.seal(piece);
    }

    fn finish(self: Box<Self>) -> [u8; 32] {
        (*self).finish()
    }
}

impl ContinuousCipher for Session {
    fn seal(&mut self, jobs: &mut [SealJob<'_>]) {
        self.seal_batch(jobs);
    }

    fn open(&mut self, jobs: &mut [OpenJob<'_>]) {
        // The verdicts say the same as this result, and say it for each job.
        let _ = self.open_batch(jobs);
    }
}
