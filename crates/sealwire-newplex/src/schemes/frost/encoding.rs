//! How what signers exchange is written down. The reference has no encodings but that of a share;
//! the others are this crate's. Numbers are big-endian, as in the transcript.

use super::commitment::Commitment;
use super::error::FrostError;
use super::group::{Group, Parameters, processes};
use super::round::SignatureShare;
use super::signer::Signer;
use crate::schemes::group::decode_scalar;
use crate::schemes::keys::{PublicKey, SecretKey};
use zeroize::Zeroizing;

/// Size of an encoded group in bytes.
pub const GROUP_SIZE: usize = 32 + 2 + 2;

/// Size of an encoded signer in bytes.
pub const SIGNER_SIZE: usize = 2 + GROUP_SIZE + 32;

/// Size of an encoded commitment in bytes.
pub const COMMITMENT_SIZE: usize = 2 + 32 + 32;

/// Size of an encoded signature share in bytes.
pub const SHARE_SIZE: usize = 32;

fn sized<const N: usize>(bytes: &[u8]) -> Result<&[u8; N], FrostError> {
    bytes.try_into().map_err(|_| FrostError::Length {
        expected: N,
        actual: bytes.len(),
    })
}

impl Group {
    /// The key (32 bytes), the threshold (2) and the number of signers (2).
    #[must_use]
    pub fn to_bytes(&self) -> [u8; GROUP_SIZE] {
        let mut bytes = [0; GROUP_SIZE];
        bytes[..32].copy_from_slice(self.key().as_bytes());
        bytes[32..34].copy_from_slice(&self.threshold().to_be_bytes());
        bytes[34..].copy_from_slice(&self.max_signers().to_be_bytes());
        bytes
    }

    /// Decodes what [`to_bytes`](Self::to_bytes) gave.
    ///
    /// # Errors
    ///
    /// [`FrostError`] if the bytes are not a group.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FrostError> {
        let [key @ .., t0, t1, m0, m1] = sized::<GROUP_SIZE>(bytes)?;
        let parameters = Parameters {
            threshold: u16::from_be_bytes([*t0, *t1]).into(),
            max_signers: u16::from_be_bytes([*m0, *m1]).into(),
        };
        Self::new(PublicKey::from_bytes(key)?, parameters)
    }
}

impl Signer {
    /// The identifier (2 bytes), the group (36) and the secret share (32).
    #[must_use]
    pub fn to_bytes(&self) -> Zeroizing<[u8; SIGNER_SIZE]> {
        let mut bytes = Zeroizing::new([0; SIGNER_SIZE]);
        bytes[..2].copy_from_slice(&self.identifier().to_be_bytes());
        bytes[2..2 + GROUP_SIZE].copy_from_slice(&self.group.to_bytes());
        bytes[2 + GROUP_SIZE..].copy_from_slice(&*self.share.to_bytes());
        bytes
    }

    /// Decodes what [`to_bytes`](Self::to_bytes) gave; `domain` is that of the keys. Nothing shows
    /// whether the share belongs to the group, but that its signatures verify.
    ///
    /// # Errors
    ///
    /// [`FrostError`] if it is no signer.
    pub fn from_bytes(domain: impl AsRef<[u8]>, bytes: &[u8]) -> Result<Self, FrostError> {
        let [i0, i1, rest @ ..] = sized::<SIGNER_SIZE>(bytes)?;
        let identifier = u16::from_be_bytes([*i0, *i1]);
        let (group, share) = rest.split_at(GROUP_SIZE);
        let group = Group::from_bytes(group)?;
        group.check(identifier)?;
        let share = SecretKey::from_bytes(share)?;
        let (_, process) = processes(domain.as_ref());
        Ok(Self::new(process, identifier, share, group))
    }
}

impl Commitment {
    /// The identifier (2 bytes), the hiding (32) and the binding commitment (32).
    #[must_use]
    pub fn to_bytes(&self) -> [u8; COMMITMENT_SIZE] {
        let mut bytes = [0; COMMITMENT_SIZE];
        bytes[..2].copy_from_slice(&self.identifier.to_be_bytes());
        bytes[2..34].copy_from_slice(self.hiding.as_bytes());
        bytes[34..].copy_from_slice(self.binding.as_bytes());
        bytes
    }

    /// Decodes what [`to_bytes`](Self::to_bytes) gave.
    ///
    /// # Errors
    ///
    /// [`FrostError`] if the bytes are not a commitment, or the identifier is 0.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FrostError> {
        let [i0, i1, points @ ..] = sized::<COMMITMENT_SIZE>(bytes)?;
        let identifier = u16::from_be_bytes([*i0, *i1]);
        if identifier == 0 {
            return Err(FrostError::Identifier(0));
        }
        let (hiding, binding) = points.split_at(32);
        Ok(Self {
            identifier,
            hiding: PublicKey::from_bytes(hiding)?,
            binding: PublicKey::from_bytes(binding)?,
        })
    }
}

impl SignatureShare {
    /// The scalar, 32 bytes, little-endian.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; SHARE_SIZE] {
        self.0.to_bytes()
    }

    /// Decodes what [`to_bytes`](Self::to_bytes) gave.
    ///
    /// # Errors
    ///
    /// [`FrostError`] if the bytes are not a scalar.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FrostError> {
        Ok(Self(decode_scalar(bytes)?))
    }
}
