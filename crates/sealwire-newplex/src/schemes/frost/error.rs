//! The errors of signers.

use crate::schemes::keys::InvalidEncoding;
#[cfg(feature = "std")]
use crate::schemes::randomness::RandomnessError;
use thiserror::Error;

/// Why keys, commitments or signatures were refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FrostError {
    /// Threshold and number of signers do not go together.
    #[error(
        "{threshold} of {max_signers} signers: the threshold must be from 2 to the number of \
         signers, and that at most 65535"
    )]
    Parameters {
        /// Signers that are needed.
        threshold: usize,
        /// Signers that there are.
        max_signers: usize,
    },
    /// The seed of a group is too short.
    #[error("a seed has at least 64 bytes, not {0}")]
    Seed(usize),
    /// The seed gives a key that is zero: it is not random.
    #[error("the seed gives a key that is zero; take another")]
    Degenerate,
    /// The bytes to decode have another length.
    #[error("{expected} bytes are needed, not {actual}")]
    Length {
        /// Bytes that it must have.
        expected: usize,
        /// Bytes that it has.
        actual: usize,
    },
    /// An element or a scalar is none.
    #[error(transparent)]
    Encoding(#[from] InvalidEncoding),
    /// The group has no signer of this identifier; they begin with 1.
    #[error("the group has no signer {0}")]
    Identifier(u16),
    /// Two commitments are of the same signer.
    #[error("signer {0} has two commitments in the list")]
    DuplicateIdentifier(u16),
    /// Fewer signers than the threshold.
    #[error("{given} commitments, but {threshold} signers are needed")]
    TooFewSigners {
        /// Commitments in the list.
        given: usize,
        /// Signers that are needed.
        threshold: u16,
    },
    /// A signer's commitment is not in the list.
    #[error("signer {0} has no commitment in the list")]
    MissingSigner(u16),
    /// The commitment in the list does not belong to these nonces.
    #[error("signer {0} has another commitment in the list than the one that its nonces are for")]
    ForeignCommitment(u16),
    /// A signer was asked to sign for a group that is not its own.
    #[error("the round is one of another group")]
    AnotherGroup,
    /// There is not one share for each commitment.
    #[error("{given} shares for {expected} commitments")]
    ShareCount {
        /// Commitments of the round.
        expected: usize,
        /// Shares that were given.
        given: usize,
    },
    /// A signer's share is wrong.
    #[error("the share of signer {0} is wrong")]
    InvalidShare(u16),
    /// The shares give no valid signature: one of them at least is wrong.
    #[error("the shares give no valid signature; verify each of them to find the wrong one")]
    InvalidSignature,
    /// There was no randomness.
    #[cfg(feature = "std")]
    #[error(transparent)]
    Randomness(#[from] RandomnessError),
}
