//! A provider without secrets: every tag verifies and nothing is encrypted.
//!
//! With real cryptography a fuzzer never gets behind the first box. With this one, what a peer with
//! valid keys could put into the boxes is open to it.

use sealwire_zmtp::provider::{
    ContinuousCipher, MessageCipher, OpenJob, SealJob, SharedSecret, Verdict, WeakKey,
};
use sealwire_zmtp::{Provider, PublicKey, SecretKey};

/// Lets everything through.
#[derive(Debug)]
pub struct Transparent;

impl Provider for Transparent {
    fn public_key(&self, secret: &SecretKey) -> PublicKey {
        let mut bytes = *secret.as_bytes();
        bytes[31] &= 0x3f;
        PublicKey::from_bytes(bytes).expect("below 2^254 is canonical")
    }

    fn diffie_hellman(&self, _: &SecretKey, public: &PublicKey) -> Result<SharedSecret, WeakKey> {
        SharedSecret::new(*public.as_bytes())
    }

    fn hash(&self, parts: &[&[u8]]) -> [u8; 32] {
        let sum = parts
            .iter()
            .flat_map(|part| part.iter())
            .fold(0_u8, |sum, byte| sum ^ byte);
        [sum; 32]
    }

    fn derive_key(&self, _: &str, _: &[&[u8]], output: &mut [u8]) {
        output.fill(1);
    }

    fn cipher(&self, _: &[u8; 32]) -> Box<dyn MessageCipher> {
        Box::new(Self)
    }

    fn continuous_cipher(
        &self,
        _: &[u8; 32],
        _: &[u8; 32],
        _: &[u8; 8],
    ) -> Box<dyn ContinuousCipher> {
        Box::new(Self)
    }
}

impl MessageCipher for Transparent {
    fn seal(&self, _: &mut [SealJob<'_>]) {}

    fn open(&self, jobs: &mut [OpenJob<'_>]) {
        jobs.iter_mut()
            .for_each(|job| job.verdict = Verdict::Verified);
    }
}

impl ContinuousCipher for Transparent {
    fn seal(&mut self, _: &mut [SealJob<'_>]) {}

    fn open(&mut self, jobs: &mut [OpenJob<'_>]) {
        jobs.iter_mut()
            .for_each(|job| job.verdict = Verdict::Verified);
    }
}
