//! Keys and nonces from the operating system's random generator.

use crate::{KEY_SIZE, Key, NONCE_SIZE};
use core::fmt;
use zeroize::Zeroize;

/// The operating system gave no random bytes.
///
/// Rare: early boot without entropy, or a sandbox that forbids the system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomError(getrandom::Error);

impl fmt::Display for RandomError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the operating system's random generator failed: {}",
            self.0
        )
    }
}

impl core::error::Error for RandomError {}

/// A fresh random key of 32 bytes.
///
/// # Errors
/// [`RandomError`] when the operating system's generator fails.
pub fn generate_key() -> Result<Key, RandomError> {
    let mut bytes = [0; KEY_SIZE];
    let outcome = getrandom::fill(&mut bytes).map_err(RandomError);
    let key = Key::from_bytes(bytes);
    bytes.zeroize();
    outcome.map(|()| key)
}

/// A fresh random nonce of 24 bytes.
///
/// With nonces of 192 random bits, a repetition has a chance of 2^-32 after 2^80 messages.
///
/// # Errors
/// [`RandomError`] when the operating system's generator fails.
pub fn generate_nonce() -> Result<[u8; NONCE_SIZE], RandomError> {
    let mut nonce = [0; NONCE_SIZE];
    getrandom::fill(&mut nonce).map_err(RandomError)?;
    Ok(nonce)
}

/// A fresh random key and a fresh random nonce.
///
/// # Errors
/// [`RandomError`] when the operating system's generator fails.
pub fn generate_key_and_nonce() -> Result<(Key, [u8; NONCE_SIZE]), RandomError> {
    Ok((generate_key()?, generate_nonce()?))
}
