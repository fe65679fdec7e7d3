//! Key pairs: `crypto_box` in one step and its first step alone.

use alloc::vec::Vec;
use core::fmt;

use zeroize::ZeroizeOnDrop;

use crate::error::{OpenError, WeakKey};
use crate::salsa20::portable::hsalsa20;
use crate::secret_box::SecretBox;
use crate::sizes::{KEY_SIZE, NONCE_SIZE};
use crate::x25519::{check_agreed, x25519, x25519_base};

/// An X25519 secret key with its public key. The secret is wiped on drop; `Debug` shows none of it.
#[derive(Clone, ZeroizeOnDrop)]
pub struct KeyPair {
    secret: [u8; KEY_SIZE],
    #[zeroize(skip)]
    public: [u8; KEY_SIZE],
}

impl KeyPair {
    /// Takes 32 random bytes; X25519 clamps them itself.
    #[must_use]
    pub fn from_secret(secret: [u8; KEY_SIZE]) -> Self {
        Self {
            public: x25519_base(&secret),
            secret,
        }
    }

    /// The half that others may know.
    #[must_use]
    pub const fn public(&self) -> &[u8; KEY_SIZE] {
        &self.public
    }

    /// The half to keep.
    #[must_use]
    pub const fn secret(&self) -> &[u8; KEY_SIZE] {
        &self.secret
    }

    /// The key shared with the owner of `public` (`crypto_box_beforenm`), for any number of messages
    /// both ways.
    ///
    /// # Errors
    ///
    /// [`WeakKey`] when X25519 gives zeros.
    pub fn shared_with(&self, public: &[u8; KEY_SIZE]) -> Result<SecretBox, WeakKey> {
        let agreed = x25519(&self.secret, public)?;
        Ok(SecretBox::derived(&agreed))
    }

    /// Seals for the owner of `public` in one step (`crypto_box_easy`): tag, then ciphertext.
    ///
    /// X25519 takes a hundred times as long as sealing a short message: for more than one message
    /// use [`shared_with`](Self::shared_with).
    ///
    /// # Errors
    ///
    /// [`WeakKey`] when X25519 gives zeros.
    pub fn seal(
        &self,
        public: &[u8; KEY_SIZE],
        nonce: &[u8; NONCE_SIZE],
        plaintext: &[u8],
    ) -> Result<Vec<u8>, WeakKey> {
        Ok(self.shared_with(public)?.seal(nonce, plaintext))
    }

    /// Opens what the owner of `public` sealed, in one step (`crypto_box_open_easy`).
    ///
    /// # Errors
    ///
    /// [`OpenError`] when it is not authentic, also with a key of low order.
    pub fn open(
        &self,
        public: &[u8; KEY_SIZE],
        nonce: &[u8; NONCE_SIZE],
        sealed: &[u8],
    ) -> Result<Vec<u8>, OpenError> {
        let shared = self.shared_with(public).map_err(|_| OpenError)?;
        shared.open(nonce, sealed)
    }
}

impl SecretBox {
    /// The key of `crypto_box_beforenm`, from the 32 bytes that X25519 gave.
    ///
    /// # Errors
    ///
    /// [`WeakKey`] when all of them are zero; looked at in constant time.
    pub fn from_agreement(agreed: &[u8; KEY_SIZE]) -> Result<Self, WeakKey> {
        check_agreed(agreed)?;
        Ok(Self::derived(agreed))
    }

    fn derived(agreed: &[u8; KEY_SIZE]) -> Self {
        Self::from_zeroizing(hsalsa20(agreed, &[0; 16]))
    }
}

impl fmt::Debug for KeyPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyPair").finish_non_exhaustive()
    }
}
