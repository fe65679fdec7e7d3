//! Security mechanisms: what happens between the greetings and the first message, and how frames
//! are protected from then on.
//!
//! A mechanism is a variant of `Handshake`, which is fed whole command frames and answers with
//! `Progress`, and a variant of `Sealer` and `Opener` for the frames after it. It holds no
//! configuration: that comes with each call, in `Local`.

pub mod blake3;
mod config;
mod credentials;
pub(crate) mod curve;
mod entropy;
mod handshake;
mod null;
pub mod plain;
mod protection;

pub use self::config::{
    Blake3Client, Blake3Server, CurveClient, CurveServer, DataPhase, FrameOrder, MechanismConfig,
    PlainClient,
};
pub use self::credentials::Credentials;
pub use self::entropy::Entropy;
pub(crate) use self::handshake::{Established, Handshake, HandshakeFrame, Local, Progress};
pub(crate) use self::protection::{Opener, Sealer};
