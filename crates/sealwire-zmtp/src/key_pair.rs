//! A secret key with its public half, which a provider computes.

use core::fmt;

use crate::keys::{PublicKey, SecretKey};
use crate::provider::{DefaultProvider, Provider};

/// A secret key with the public key that belongs to it. The halves cannot be exchanged:
///
/// ```compile_fail
/// # use sealwire_zmtp::{KeyPair, PublicKey, SecretKey};
/// # let foreign = PublicKey::from_bytes([7; 32]).unwrap();
/// let mut keys = KeyPair::from_secret(SecretKey::from_bytes([9; 32]));
/// keys.public = foreign;
/// ```
#[derive(Clone)]
pub struct KeyPair {
    public: PublicKey,
    secret: SecretKey,
}

impl KeyPair {
    /// Computes the public half with the [`DefaultProvider`].
    pub fn from_secret(secret: SecretKey) -> Self {
        Self::with_provider(secret, &DefaultProvider)
    }

    /// Computes the public half with another provider.
    pub fn with_provider(secret: SecretKey, provider: &dyn Provider) -> Self {
        Self {
            public: provider.public_key(&secret),
            secret,
        }
    }

    /// Takes both halves as they are, as programs written for libzmq give them. A client whose halves do not belong
    /// together is refused: it cannot vouch for its public key.
    #[doc(hidden)]
    pub const fn from_halves(public: PublicKey, secret: SecretKey) -> Self {
        Self { public, secret }
    }

    /// The half that peers may know.
    pub const fn public(&self) -> PublicKey {
        self.public
    }

    /// The half to keep.
    pub const fn secret(&self) -> &SecretKey {
        &self.secret
    }
}

impl fmt::Debug for KeyPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyPair")
            .field("public", &self.public)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;

    #[test]
    fn debug_shows_no_secret() {
        let pair = KeyPair::from_secret(SecretKey::from_bytes([9; 32]));
        assert!(!format!("{pair:?}").contains(pair.secret().to_z85().as_str()));
    }

    #[test]
    fn the_public_half_agrees_with_rfc_7748() {
        let secret: SecretKey = "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a"
            .parse()
            .unwrap();
        assert_eq!(
            KeyPair::from_secret(secret).public().to_hex(),
            "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a"
        );
    }
}
