//! A provider from other crates (`graviola`, `chacha20-blake3` and no batches), and one that counts.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use chacha20_blake3::{ChaCha20Blake3, Session};
use graviola::key_agreement::x25519;
use sealwire_zmtp::provider::{
    ContinuousCipher, MessageCipher, OpenJob, SealJob, SharedSecret, Verdict, WeakKey,
};
use sealwire_zmtp::{Provider, PublicKey, SecretKey};

#[derive(Debug)]
pub(crate) struct OtherProvider;

impl Provider for OtherProvider {
    fn public_key(&self, secret: &SecretKey) -> PublicKey {
        let secret = x25519::StaticPrivateKey::from_array(secret.as_bytes());
        PublicKey::from_bytes(secret.public_key().as_bytes()).unwrap()
    }

    fn diffie_hellman(
        &self,
        secret: &SecretKey,
        public: &PublicKey,
    ) -> Result<SharedSecret, WeakKey> {
        let public = x25519::PublicKey::from_array(public.as_bytes());
        let shared = x25519::StaticPrivateKey::from_array(secret.as_bytes())
            .diffie_hellman(&public)
            .map_err(|_| WeakKey)?;
        SharedSecret::new(shared.as_bytes())
    }

    fn hash(&self, parts: &[&[u8]]) -> [u8; 32] {
        blake3::hash(&parts.concat()).into()
    }

    fn derive_key(&self, context: &str, material: &[&[u8]], output: &mut [u8]) {
        let mut hasher = blake3::Hasher::new_derive_key(context);
        hasher.update(&material.concat());
        hasher.finalize_xof().fill(output);
    }

    fn cipher(&self, key: &[u8; 32]) -> Box<dyn MessageCipher> {
        Box::new(OneByOne(ChaCha20Blake3::new(*key)))
    }

    fn continuous_cipher(
        &self,
        encryption_key: &[u8; 32],
        authentication_key: &[u8; 32],
        nonce: &[u8; 8],
    ) -> Box<dyn ContinuousCipher> {
        Box::new(Running(Session::new(
            *encryption_key,
            *authentication_key,
            *nonce,
        )))
    }
}

/// Counts the multiplications that another one makes.
#[derive(Debug)]
pub(crate) struct Counting {
    provider: Arc<dyn Provider>,
    multiplications: AtomicUsize,
}

impl Counting {
    pub(crate) fn new(provider: Arc<dyn Provider>) -> Arc<Self> {
        Arc::new(Self {
            provider,
            multiplications: AtomicUsize::new(0),
        })
    }

    pub(crate) fn multiplications(&self) -> usize {
        self.multiplications.load(Ordering::Relaxed)
    }

    fn count(&self) {
        self.multiplications.fetch_add(1, Ordering::Relaxed);
    }
}

impl Provider for Counting {
    fn public_key(&self, secret: &SecretKey) -> PublicKey {
        self.count();
        self.provider.public_key(secret)
    }

    fn diffie_hellman(
        &self,
        secret: &SecretKey,
        public: &PublicKey,
    ) -> Result<SharedSecret, WeakKey> {
        self.count();
        self.provider.diffie_hellman(secret, public)
    }

    fn hash(&self, parts: &[&[u8]]) -> [u8; 32] {
        self.provider.hash(parts)
    }

    fn derive_key(&self, context: &str, material: &[&[u8]], output: &mut [u8]) {
        self.provider.derive_key(context, material, output);
    }

    fn cipher(&self, key: &[u8; 32]) -> Box<dyn MessageCipher> {
        self.provider.cipher(key)
    }

    fn continuous_cipher(
        &self,
        encryption_key: &[u8; 32],
        authentication_key: &[u8; 32],
        nonce: &[u8; 8],
    ) -> Box<dyn ContinuousCipher> {
        self.provider
            .continuous_cipher(encryption_key, authentication_key, nonce)
    }
}

struct OneByOne(ChaCha20Blake3);

impl MessageCipher for OneByOne {
    fn seal(&self, jobs: &mut [SealJob<'_>]) {
        for job in jobs {
            *job.tag = self
                .0
                .encrypt_in_place_detached(&job.nonce, job.buffer, job.aad);
        }
    }

    fn open(&self, jobs: &mut [OpenJob<'_>]) {
        for job in jobs {
            let opened = self
                .0
                .decrypt_in_place_detached(&job.nonce, job.buffer, job.tag, job.aad);
            job.verdict = if opened.is_ok() {
                Verdict::Verified
            } else {
                Verdict::Forged
            };
        }
    }
}

struct Running(Session<20>);

impl ContinuousCipher for Running {
    fn seal(&mut self, jobs: &mut [SealJob<'_>]) {
        for job in jobs {
            *job.tag = self.0.encrypt_in_place_detached(job.buffer, job.aad);
        }
    }

    fn open(&mut self, jobs: &mut [OpenJob<'_>]) {
        for job in jobs {
            if self
                .0
                .decrypt_in_place_detached(job.buffer, job.tag, job.aad)
                .is_err()
            {
                job.verdict = Verdict::Forged;
                return;
            }
            job.verdict = Verdict::Verified;
        }
    }
}
