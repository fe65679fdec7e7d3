//! The default primitives, with a hook where each is called.

use std::fmt::Debug;
use std::sync::Arc;

use sealwire::provider::{
    ContinuousCipher, MessageCipher, OpenJob, Provider, SealJob, SharedSecret, WeakKey,
};
use sealwire::{DefaultProvider, PublicKey, SecretKey};

/// A call to the provider. Continuous ciphers have no hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Primitive {
    PublicKey,
    DiffieHellman,
    Hash,
    DeriveKey,
    Cipher,
    Seal,
    Open,
}

/// What happens beside the primitives.
pub(crate) trait Hook: Send + Sync + Debug + 'static {
    /// Before a primitive does its work.
    fn called(&self, _: Primitive) {}

    /// As a connection's cipher is dropped.
    fn cipher_dropped(&self) {}
}

#[derive(Debug)]
pub(crate) struct Hooked<H>(Arc<H>);

impl<H: Hook> Hooked<H> {
    pub(crate) fn new(hook: H) -> Arc<Self> {
        Arc::new(Hooked(Arc::new(hook)))
    }
}

struct Cipher<H: Hook>(Box<dyn MessageCipher>, Arc<H>);

impl<H: Hook> MessageCipher for Cipher<H> {
    fn seal(&self, jobs: &mut [SealJob<'_>]) {
        self.1.called(Primitive::Seal);
        self.0.seal(jobs);
    }

    fn open(&self, jobs: &mut [OpenJob<'_>]) {
        self.1.called(Primitive::Open);
        self.0.open(jobs);
    }
}

impl<H: Hook> Drop for Cipher<H> {
    fn drop(&mut self) {
        self.1.cipher_dropped();
    }
}

impl<H: Hook> Provider for Hooked<H> {
    fn public_key(&self, secret: &SecretKey) -> PublicKey {
        self.0.called(Primitive::PublicKey);
        DefaultProvider.public_key(secret)
    }

    fn diffie_hellman(
        &self,
        ours: &SecretKey,
        theirs: &PublicKey,
    ) -> Result<SharedSecret, WeakKey> {
        self.0.called(Primitive::DiffieHellman);
        DefaultProvider.diffie_hellman(ours, theirs)
    }

    fn hash(&self, parts: &[&[u8]]) -> [u8; 32] {
        self.0.called(Primitive::Hash);
        DefaultProvider.hash(parts)
    }

    fn derive_key(&self, context: &str, material: &[&[u8]], output: &mut [u8]) {
        self.0.called(Primitive::DeriveKey);
        DefaultProvider.derive_key(context, material, output);
    }

    fn cipher(&self, key: &[u8; 32]) -> Box<dyn MessageCipher> {
        self.0.called(Primitive::Cipher);
        Box::new(Cipher(DefaultProvider.cipher(key), self.0.clone()))
    }

    fn continuous_cipher(
        &self,
        encryption_key: &[u8; 32],
        authentication_key: &[u8; 32],
        nonce: &[u8; 8],
    ) -> Box<dyn ContinuousCipher> {
        DefaultProvider.continuous_cipher(encryption_key, authentication_key, nonce)
    }
}
