//! Security mechanisms: what happens between the greetings and the first message, and how frames
//! are protected from then on.
//!
//! A mechanism is a folder. It has its settings, with what a connection has to know of them
//! (`MechanismSettings`); the states of its handshake, which take whole command frames and answer with
//! `Progress`; and the frames after it: their `Shape`, which is data, a sealer and an opener. Outside the
//! folder are its name ([`Mechanism`](crate::Mechanism)), the conversion of its settings to a
//! `MechanismConfig` (`config.rs`) and an arm for its frames (`protection.rs`). The connection has nothing of
//! it.

pub mod blake3;
mod config;
mod cookie_keys;
mod credentials;
pub(crate) mod curve;
mod entropy;
mod handshake;
mod local;
mod null;
pub mod plain;
mod protection;
mod settings;
mod shape;

pub use self::blake3::{Blake3Client, Blake3Server, DataPhase};
pub use self::config::{EncryptedServer, MechanismConfig};
pub use self::cookie_keys::{CookieKey, CookieKeys, CookieStore};
pub use self::credentials::{Claim, Credentials, PlainCredentials};
pub use self::curve::{CurveClient, CurveServer, FrameOrder};
pub use self::entropy::Entropy;
pub(crate) use self::handshake::{
    AwaitCommand, AwaitDecision, Established, Greetings, HandshakeFrame, Progress, Unprotected,
    Waiting,
};
pub(crate) use self::local::{Local, PeerMetadata};
pub use self::plain::PlainClient;
pub(crate) use self::protection::{Opener, Protection, Sealer};
pub(crate) use self::settings::{MechanismSettings, Weakness};
pub(crate) use self::shape::{
    MAX_BEHIND, NotSealed, SealedFrame, SealedFrames, Shape, UnsealedFrame,
};
