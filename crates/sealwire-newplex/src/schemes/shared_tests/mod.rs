//! Tests that several schemes have in common.

#[cfg(feature = "alloc")]
pub(crate) mod ciphers;
#[cfg(feature = "std")]
pub(crate) mod streams;
pub(crate) mod to_keys;
