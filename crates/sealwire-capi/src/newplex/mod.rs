//! Newplex: hashing, authentication, encryption and signatures as labelled operations on one state.

pub mod aead;
pub mod digest;
pub mod protocol;
pub mod signature;
pub mod stream;

use sealwire_newplex::schemes::keys::InvalidEncoding;
use sealwire_newplex::schemes::randomness::RandomnessError;
use sealwire_newplex::{InvalidCiphertext, InvalidState, TooManyBranches};

use crate::pointers::copy;
use crate::status::{
    Failure, SEALWIRE_ERROR_ARGUMENT, SEALWIRE_ERROR_KEY, SEALWIRE_ERROR_NOT_AUTHENTIC,
    SEALWIRE_ERROR_RANDOM,
};

/// Bytes of a tag: what sealing adds to a message.
pub const SEALWIRE_NEWPLEX_TAG_SIZE: usize = 16;

impl From<InvalidCiphertext> for Failure {
    fn from(error: InvalidCiphertext) -> Self {
        Failure::new(SEALWIRE_ERROR_NOT_AUTHENTIC, error.to_string())
    }
}

impl From<InvalidState> for Failure {
    fn from(error: InvalidState) -> Self {
        Failure::new(SEALWIRE_ERROR_ARGUMENT, error.to_string())
    }
}

impl From<TooManyBranches> for Failure {
    fn from(error: TooManyBranches) -> Self {
        Failure::new(SEALWIRE_ERROR_ARGUMENT, error.to_string())
    }
}

impl From<InvalidEncoding> for Failure {
    fn from(error: InvalidEncoding) -> Self {
        Failure::new(SEALWIRE_ERROR_KEY, error.to_string())
    }
}

impl From<RandomnessError> for Failure {
    fn from(error: RandomnessError) -> Self {
        Failure::new(SEALWIRE_ERROR_RANDOM, error.to_string())
    }
}

/// Writes a text to `sealed`, which may begin where the text does, has it sealed there, and writes the tag
/// behind it.
fn seal_to(
    text: &[u8],
    sealed: *mut u8,
    seal: impl FnOnce(&mut [u8]) -> sealwire_newplex::Tag,
) -> Result<(), Failure> {
    let size = text.len();
    copy(text, sealed, "sealed")?;
    let tag = seal(crate::pointers::bytes_mut(sealed, size, "sealed")?);
    copy(&tag, sealed.wrapping_add(size), "sealed")
}
