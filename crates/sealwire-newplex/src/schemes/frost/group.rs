//! A group: its key, its size, and how many of it sign.

use super::error::FrostError;
use crate::Protocol;
use crate::schemes::keys::PublicKey;

/// The size of a group and of the part of it that can sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// Signers that are needed, from 2 to `max_signers`.
    pub threshold: usize,
    /// Signers that there are, up to 65,535.
    pub max_signers: usize,
}

/// What everybody may know of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    key: PublicKey,
    threshold: u16,
    max_signers: u16,
}

impl Group {
    /// A group whose signatures `key` verifies.
    ///
    /// # Errors
    ///
    /// [`FrostError::Parameters`] if there can be no such group.
    pub fn new(key: PublicKey, parameters: Parameters) -> Result<Self, FrostError> {
        let Parameters {
            threshold,
            max_signers,
        } = parameters;
        let refused = FrostError::Parameters {
            threshold,
            max_signers,
        };
        if threshold < 2 || threshold > max_signers {
            return Err(refused);
        }
        Ok(Self {
            key,
            threshold: threshold.try_into().map_err(|_| refused)?,
            max_signers: max_signers.try_into().map_err(|_| refused)?,
        })
    }

    /// The key that verifies the group's signatures.
    #[must_use]
    pub fn key(&self) -> &PublicKey {
        &self.key
    }

    /// Signers that are needed.
    #[must_use]
    pub fn threshold(&self) -> u16 {
        self.threshold
    }

    /// Signers that there are; their identifiers go from 1 to this.
    #[must_use]
    pub fn max_signers(&self) -> u16 {
        self.max_signers
    }

    /// Fails unless there is a signer of this identifier.
    pub(super) fn check(&self, identifier: u16) -> Result<(), FrostError> {
        if (1..=self.max_signers).contains(&identifier) {
            Ok(())
        } else {
            Err(FrostError::Identifier(identifier))
        }
    }
}

/// The branches for making keys and for making nonces.
pub(super) fn processes(domain: &[u8]) -> (Protocol, Protocol) {
    Protocol::new(domain).fork("process", b"keygen", b"commitment")
}
