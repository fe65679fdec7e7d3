//! The errors, with no more detail than may be told.

use core::fmt;

/// The message is not authentic, or too short to hold a tag. It says no more on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenError;

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the message is not authentic")
    }
}

impl core::error::Error for OpenError {}

/// A public key of low order: every secret gives the same, all-zero result with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeakKey;

impl fmt::Display for WeakKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the public key has low order, so nothing agreed with it is secret")
    }
}

impl core::error::Error for WeakKey {}
