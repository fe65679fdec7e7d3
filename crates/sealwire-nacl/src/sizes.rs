//! Sizes of keys, nonces and tags.

/// Size of a secret, public or shared key, in bytes.
pub const KEY_SIZE: usize = 32;
/// Size of a nonce in bytes.
pub const NONCE_SIZE: usize = 24;
/// Size of a tag in bytes: what sealing adds to a message.
pub const TAG_SIZE: usize = 16;
/// Size of the part of a nonce that a [`CounterBox`](crate::CounterBox) keeps, in bytes.
pub const PREFIX_SIZE: usize = 16;
