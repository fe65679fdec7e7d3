//! Sizes of keys, nonces and tags.

/// Size of a key in bytes.
pub const KEY_SIZE: usize = 32;
/// Size of a nonce in bytes.
pub const NONCE_SIZE: usize = 24;
/// Size of a tag in bytes: what sealing adds to a message.
pub const TAG_SIZE: usize = 32;
