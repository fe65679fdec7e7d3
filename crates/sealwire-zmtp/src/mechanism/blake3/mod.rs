//! BLAKE3ZMQ 1.0: mutual authentication, forward secrecy and sealed frames.
//!
//! Source: wire reference `blake3zmq`; the sections are named by the modules.
//!
//! ```text
//! client                                        server
//!    |  HELLO     C', hello_box                    |   knows only its own keys
//!    | ------------------------------------------> |
//!    |  WELCOME   welcome_box(S', cookie)          |   forgets everything but the
//!    | <------------------------------------------ |   connection id
//!    |  INITIATE  cookie, initiate_box(C, vouch,   |
//!    |            metadata)                        |   recovers it from the cookie,
//!    | ------------------------------------------> |   verifies, asks the authenticator
//!    |  READY     ready_box(metadata)              |
//!    | <------------------------------------------ |
//!    |  sealed frames, both ways                   |
//! ```

mod client;
mod commands;
pub(crate) mod continuous;
mod cookie;
mod data_phase;
mod sealed_box;
mod server;
mod settings;
pub(crate) mod traffic;
mod transcript;
#[cfg(test)]
mod vectors;

pub(crate) use self::data_phase::{Opener, SHAPE, Sealer};
pub use self::settings::{Blake3Client, Blake3Server, DataPhase};
