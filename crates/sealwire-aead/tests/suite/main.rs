//! What sealing and opening promise, a module for each behaviour.

mod random;

mod batch;
mod derive;
mod every_length;
mod forgery;
#[cfg(feature = "aead")]
mod rustcrypto;
mod stream;
mod vectors;
