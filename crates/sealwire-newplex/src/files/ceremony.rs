//! What signers of a group keep and exchange.

use super::{InvalidFile, Kind, digits, hex};
use crate::schemes::frost::{
    COMMITMENT_SIZE, Commitment, FrostError, GROUP_SIZE, Group, SHARE_SIZE, SIGNER_SIZE,
    SignatureShare, Signer,
};
use crate::schemes::keys::{PUBLIC_KEY_SIZE, PublicKey};
use std::string::String;
use std::vec::Vec;

/// The domain of the keys and nonces of the groups of the program.
pub const FROST_DOMAIN: &str = "sealwire.newplex.frost";

/// Signers that a group of the program can have: its file stays small.
pub const MAX_FROST_SIGNERS: usize = 255;

/// What everybody may know of a group: the group, and the keys that shares of signatures verify with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicGroup {
    group: Group,
    verifying_shares: Vec<PublicKey>,
}

impl PublicGroup {
    /// `signers` are all signers of `group`, in the order of their identifiers.
    #[must_use]
    pub fn new(group: Group, signers: &[Signer]) -> Self {
        let verifying_shares = signers.iter().map(|signer| *signer.verifying_share());
        Self {
            group,
            verifying_shares: verifying_shares.collect(),
        }
    }

    /// The group.
    #[must_use]
    pub fn group(&self) -> &Group {
        &self.group
    }

    /// The key of a signer's shares; `None` if the group has no such signer.
    #[must_use]
    pub fn verifying_share(&self, identifier: u16) -> Option<&PublicKey> {
        let index = usize::from(identifier).checked_sub(1)?;
        self.verifying_shares.get(index)
    }

    /// The line of its file.
    #[must_use]
    pub fn line(&self) -> String {
        let mut bytes = self.group.to_bytes().to_vec();
        for share in &self.verifying_shares {
            bytes.extend_from_slice(share.as_bytes());
        }
        Kind::FrostGroup.line(&bytes).as_str().into()
    }

    /// The group in the text of its file.
    ///
    /// # Errors
    ///
    /// [`InvalidFile`].
    pub fn parse(text: &str) -> Result<Self, InvalidFile> {
        let value = Kind::FrostGroup.value(text)?;
        let invalid = InvalidFile::Digits(2 * (GROUP_SIZE + 2 * PUBLIC_KEY_SIZE));
        let (group, shares) = value.split_at_checked(2 * GROUP_SIZE).ok_or(invalid)?;
        let group = Group::from_bytes(&*digits::<GROUP_SIZE>(group)?)?;
        let expected = 2 * (GROUP_SIZE + PUBLIC_KEY_SIZE * usize::from(group.max_signers()));
        if value.len() != expected {
            return Err(InvalidFile::Digits(expected));
        }
        let mut verifying_shares = Vec::with_capacity(group.max_signers().into());
        for digits in shares.as_bytes().chunks(2 * PUBLIC_KEY_SIZE) {
            let digits = core::str::from_utf8(digits).unwrap_or_default();
            let share = hex::decode::<PUBLIC_KEY_SIZE>(digits);
            let share = share.ok_or(InvalidFile::Digits(expected))?;
            verifying_shares.push(PublicKey::from_bytes(&*share)?);
        }
        Ok(Self {
            group,
            verifying_shares,
        })
    }
}

/// The signer in the text of its file.
///
/// # Errors
///
/// [`InvalidFile`].
pub fn parse_frost_signer(text: &str) -> Result<Signer, InvalidFile> {
    let bytes = digits::<SIGNER_SIZE>(Kind::FrostSigner.value(text)?)?;
    Ok(Signer::from_bytes(FROST_DOMAIN, &*bytes)?)
}

/// The commitment in the text of its file.
///
/// # Errors
///
/// [`InvalidFile`].
pub fn parse_frost_commitment(text: &str) -> Result<Commitment, InvalidFile> {
    let bytes = digits::<COMMITMENT_SIZE>(Kind::FrostCommitment.value(text)?)?;
    Ok(Commitment::from_bytes(&*bytes)?)
}

/// The line of the share of signer `identifier`.
#[must_use]
pub fn frost_share_line(identifier: u16, share: &SignatureShare) -> String {
    let mut bytes = [0; 2 + SHARE_SIZE];
    bytes[..2].copy_from_slice(&identifier.to_be_bytes());
    bytes[2..].copy_from_slice(&share.to_bytes());
    Kind::FrostShare.line(&bytes).as_str().into()
}

/// The share in the text of its file, and the identifier of its signer.
///
/// # Errors
///
/// [`InvalidFile`]. Whether it is right is not looked at.
pub fn parse_frost_share(text: &str) -> Result<(u16, SignatureShare), InvalidFile> {
    let bytes = digits::<{ 2 + SHARE_SIZE }>(Kind::FrostShare.value(text)?)?;
    let [i0, i1, share @ ..] = &*bytes;
    let identifier = u16::from_be_bytes([*i0, *i1]);
    if identifier == 0 {
        return Err(FrostError::Identifier(0).into());
    }
    Ok((identifier, SignatureShare::from_bytes(share)?))
}
