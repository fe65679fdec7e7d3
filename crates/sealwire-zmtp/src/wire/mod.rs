//! The bytes of ZMTP 3.1 (RFC 37): greeting, frames, commands and metadata.
//!
//! Nothing here knows a mechanism, a state or a secret: these are functions from bytes to values
//! and back.

pub mod command;
pub mod frame;
pub mod greeting;
pub mod metadata;
mod text;
