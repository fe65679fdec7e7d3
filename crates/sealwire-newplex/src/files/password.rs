//! The hash of a password, with all that verifying it takes.

use super::{InvalidFile, Kind, hex};
use crate::schemes::mhf::{self, Cost, MhfError};
use core::fmt;
use std::string::String;
use subtle::ConstantTimeEq;
use zeroize::Zeroize;

/// Size of the salt in bytes.
pub const SALT_SIZE: usize = 16;
/// Size of the hash in bytes.
pub const HASH_SIZE: usize = 32;
/// Highest cost that a file may state: 80 GiB.
pub const MAX_COST: u8 = 24;

const DOMAIN: &str = "sealwire.newplex.password";

/// What the file of a password hash states. As text: its line.
///
/// The hash is overwritten with zeros when dropped, compared in constant time, and not shown by `Debug`:
/// who has it can try passwords.
#[derive(Clone)]
pub struct PasswordHash {
    cost: u8,
    salt: [u8; SALT_SIZE],
    hash: [u8; HASH_SIZE],
}

impl PasswordHash {
    /// Hashes `password` under a `salt` that is random and used once.
    ///
    /// # Errors
    ///
    /// [`MhfError`] if the cost is too high or there is not enough memory.
    pub fn new(password: &[u8], cost: u8, salt: [u8; SALT_SIZE]) -> Result<Self, MhfError> {
        let mut hash = [0; HASH_SIZE];
        mhf::hash(DOMAIN, Cost::new(cost)?, &salt, password, &mut hash)?;
        Ok(Self { cost, salt, hash })
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    ///
    /// [`InvalidFile`].
    pub fn parse(text: &str) -> Result<Self, InvalidFile> {
        let mut parts = Kind::PasswordHash.value(text)?.split(':');
        let mut part = || parts.next().unwrap_or_default();
        let (cost, salt, hash) = (part(), part(), part());
        // A number has one form: no sign, no zeros in front.
        let is_plain = !cost.starts_with(['+', '0']);
        let cost = cost
            .parse()
            .ok()
            .filter(|cost| is_plain && *cost <= MAX_COST);
        match (cost, hex::decode(salt), hex::decode(hash), parts.next()) {
            (Some(cost), Some(salt), Some(hash), None) => Ok(Self {
                cost,
                salt: *salt,
                hash: *hash,
            }),
            _ => Err(InvalidFile::PasswordHash),
        }
    }

    /// What verifying takes: each step doubles time and memory. Look at it first if somebody else wrote
    /// the file.
    #[must_use]
    pub const fn cost(&self) -> u8 {
        self.cost
    }

    /// Whether `password` is the one that was hashed, compared in constant time.
    ///
    /// # Errors
    ///
    /// [`MhfError`] if there is not enough memory.
    pub fn verify(&self, password: &[u8]) -> Result<bool, MhfError> {
        let found = Self::new(password, self.cost, self.salt)?;
        Ok(found.hash.ct_eq(&self.hash).into())
    }
}

impl fmt::Display for PasswordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut salt, mut hash) = (String::new(), String::new());
        hex::encode(&self.salt, &mut salt);
        hex::encode(&self.hash, &mut hash);
        let label = Kind::PasswordHash.label();
        write!(f, "{label}1:{}:{salt}:{hash}", self.cost)
    }
}

impl fmt::Debug for PasswordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PasswordHash")
            .field("cost", &self.cost)
            .finish_non_exhaustive()
    }
}

impl Drop for PasswordHash {
    fn drop(&mut self) {
        self.hash.zeroize();
    }
}
