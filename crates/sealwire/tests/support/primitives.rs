//! Primitives of somebody else: the library's own, with a function that is called before each of them.

use std::fmt;
use std::sync::Arc;

use sealwire::provider::{
    ContinuousCipher, MessageCipher, OpenJob, Provider, SealJob, SharedSecret, WeakKey,
};
use sealwire::{DefaultProvider, PublicKey, SecretKey};

type Before = Arc<dyn Fn() + Send + Sync>;

/// A provider that calls a function before it does anything.
pub(crate) struct Primitives(Before);

impl Primitives {
    /// `before` may take its time, or panic.
    pub(crate) fn new(before: impl Fn() + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Primitives(Arc::new(before)))
    }
}

impl fmt::Debug for Primitives {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Primitives")
    }
}

struct Cipher(Box<dyn MessageCipher>, Before);

impl MessageCipher for Cipher {
    fn seal(&self, jobs: &mut [SealJob<'_>]) {
        (self.1)();
        self.0.seal(jobs);
    }

    fn open(&self, jobs: &mut [OpenJob<'_>]) {
        (self.1)();
        self.0.open(jobs);
    }
}

impl Provider for Primitives {
    fn public_key(&self, secret: &SecretKey) -> PublicKey {
        (self.0)();
        DefaultProvider.public_key(secret)
    }

    fn diffie_hellman(
        &self,
        ours: &SecretKey,
        theirs: &PublicKey,
    ) -> Result<SharedSecret, WeakKey> {
        (self.0)();
        DefaultProvider.diffie_hellman(ours, theirs)
    }

    fn hash(&self, parts: &[&[u8]]) -> [u8; 32] {
        (self.0)();
        DefaultProvider.hash(parts)
    }

    fn derive_key(&self, context: &str, material: &[&[u8]], output: &mut [u8]) {
        (self.0)();
        DefaultProvider.derive_key(context, material, output);
    }

    fn cipher(&self, key: &[u8; 32]) -> Box<dyn MessageCipher> {
        (self.0)();
        Box::new(Cipher(DefaultProvider.cipher(key), self.0.clone()))
    }

    fn continuous_cipher(
        &self,
        encryption_key: &[u8; 32],
        authentication_key: &[u8; 32],
        nonce: &[u8; 8],
    ) -> Box<dyn ContinuousCipher> {
        (self.0)();
        DefaultProvider.continuous_cipher(encryption_key, authentication_key, nonce)
    }
}
