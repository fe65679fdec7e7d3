//! ZMTP 3.1 as a pure state machine, with the mechanisms NULL, PLAIN, CURVE and BLAKE3.
//!
//! A [`Connection`] takes bytes and gives events, takes messages and gives bytes. It opens no
//! socket, reads no clock and makes no randomness: the caller passes all of these as arguments. The
//! peer may be anything that speaks ZMTP 3.0 or later over a byte stream, libzmq among others.
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! use sealwire_zmtp::bytes::{Buf, BytesMut};
//! use sealwire_zmtp::{Config, Connection, DefaultProvider, Entropy, Event, SocketType};
//!
//! let now = Duration::ZERO; // since any epoch, the same for all calls
//! let connection = |socket_type| {
//!     let entropy = Entropy::new([0; Entropy::SIZE]); // NULL uses none
//!     let config = Arc::new(Config::new(socket_type));
//!     Connection::new(config, Arc::new(DefaultProvider), entropy, now)
//! };
//! let (mut push, mut pull) = (connection(SocketType::Push), connection(SocketType::Pull));
//!
//! // In place of a socket: whatever one side transmits, the other receives.
//! let deliver = |from: &mut Connection, to: &mut Connection| {
//!     let mut bytes = BytesMut::new();
//!     while from.pending_bytes() > 0 {
//!         let mut transmit = from.transmit();
//!         bytes.extend_from_slice(transmit.chunk());
//!         transmit.advance(transmit.chunk().len());
//!     }
//!     to.receive(&mut bytes, now)
//! };
//! for _ in 0..2 {
//!     deliver(&mut push, &mut pull)?;
//!     deliver(&mut pull, &mut push)?;
//! }
//!
//! assert!(push.is_ready());
//! push.send("a message".into())?;
//! deliver(&mut push, &mut pull)?;
//! assert!(matches!(pull.poll_event(), Some(Event::Ready(_))));
//! assert_eq!(pull.poll_event(), Some(Event::Message("a message".into())));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is where
//!
//! | module | holds |
//! |---|---|
//! | [`connection`] | the state machine, its configuration and its events |
//! | [`message`] | messages and frames, small ones without an allocation |
//! | [`mechanism`] | NULL, PLAIN, CURVE and BLAKE3: settings, handshake, and protection of the frames after it |
//! | [`wire`] | the bytes of greeting, frames, commands, metadata |
//! | [`provider`] | the cryptographic primitives behind a trait |
//! | [`keys`] | X25519 keys with their text forms |
//! | [`error`] | why a connection ended and who is to blame |
//! | [`limits`] | every number that bounds what a peer can do |
//!
//! # What it is not
//!
//! Sockets. Routing, queues, reconnecting and high-water marks belong to the patterns, one crate up.
//! BLAKE3ZMQ has had no independent review.
//!
//! # Features
//!
//! `std`, on by default, detects CPU features at run time and gives [`connection::Transmit`]
//! vectored chunks. Without it the crate needs `core` and `alloc`.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(any(test, feature = "std"))]
extern crate std;

pub mod connection;
pub mod error;
mod key_pair;
pub mod keys;
pub mod limits;
pub mod mechanism;
mod mechanism_type;
pub mod message;
pub mod provider;
pub mod socket_type;
pub mod wire;

pub use bytes;

pub use crate::connection::{Config, Connection, Event};
pub use crate::error::Error;
pub use crate::key_pair::KeyPair;
pub use crate::keys::{PublicKey, SecretKey};
pub use crate::mechanism::{Entropy, MechanismConfig};
pub use crate::mechanism_type::Mechanism;
pub use crate::message::{Frame, Frames};
pub use crate::provider::{DefaultProvider, Provider};
pub use crate::socket_type::SocketType;
