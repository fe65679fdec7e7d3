//! The protocol of `sealwire tunnel`: a mutually authenticated channel over a byte stream, without I/O, and
//! [`stream`]s over anything that reads and writes.
//!
//! ```text
//! connector                          listener
//!     request                  ──▶                  Handshake
//!                              ◀──   response
//!     confirmation             ──▶
//!     blocks, then an end      ──▶                  Channel: Outgoing, Incoming
//!                              ◀──   blocks, then an end
//! ```
//!
//! Bytes of the peer go into [`Handshake::room`] and [`Incoming::room`]; what is to be sent comes out of
//! [`Handshake::unsent`] and [`Outgoing::unsent`]; what happened is told by [`Handshake::received`] and
//! [`Incoming::open`]. Sockets, threads and timeouts are the caller's. Both sides in one function:
//!
//! ```
//! use sealwire_tunnel::{Opened, Handshake, Identity, SecretKey};
//! use std::sync::Arc;
//!
//! /// What a socket does: as many bytes as there is room for.
//! fn pass(from: &[u8], to: &mut [u8]) -> usize {
//!     let count = from.len().min(to.len());
//!     to[..count].copy_from_slice(&from[..count]);
//!     count
//! }
//!
//! let domain = "com.example.link";
//! let alice = Identity::new(domain, SecretKey::generate()?);
//! let server = Arc::new(Identity::new(domain, SecretKey::generate()?));
//!
//! let mut connector = Handshake::connect(&alice, *server.public_key())?;
//! let mut listener = Handshake::listen(&server)?;
//! let count = pass(connector.unsent(), listener.room());
//! connector.sent(count);
//! listener.received(count)?;
//! let count = pass(listener.unsent(), connector.room());
//! listener.sent(count);
//! let mut ours = connector.received(count)?.expect("the whole response");
//! let count = pass(ours.outgoing.unsent(), listener.room());
//! ours.outgoing.sent(count);
//! let mut theirs = listener.received(count)?.expect("the whole confirmation");
//! assert_eq!((ours.peer, theirs.peer), (*server.public_key(), *alice.public_key()));
//!
//! let count = pass(b"hello", ours.outgoing.room());
//! ours.outgoing.seal(count);
//! let count = pass(ours.outgoing.unsent(), theirs.incoming.room());
//! ours.outgoing.sent(count);
//! theirs.incoming.received(count);
//! assert_eq!(theirs.incoming.open()?, Opened::Text);
//! assert_eq!(theirs.incoming.text(), b"hello");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Source: `docs/spec/newplex-tunnel.md`, version 1.
//!
//! # What the caller does
//!
//! * A listener decides whether it lets [`Channel::peer`] in, and otherwise breaks off with
//!   [`Reason::Refused`]: anybody who knows the protocol can finish a handshake.
//! * A byte stream that ends before [`Opened::End`] or [`Opened::BrokenOff`] was cut off: what came is not all
//!   that was sent.
//! * The handshake needs a deadline. Its messages have at most 80 bytes.
//!
//! # What is bounded
//!
//! A handshake holds a message of at most 80 bytes. A channel holds one block of at most
//! [`MAX_SEALED_SIZE`] bytes in each direction, and memory for it from the first use of that direction. Nothing
//! that the peer sends sizes an allocation or causes a panic.

#![forbid(unsafe_code)]

mod handshake;
mod incoming;
mod outgoing;
mod reason;
mod sizes;
pub mod stream;

pub use handshake::{Channel, Handshake, HandshakeError, Identity};
pub use incoming::{Incoming, NotAuthentic, Opened};
pub use outgoing::Outgoing;
pub use reason::Reason;
pub use sealwire_newplex::schemes::aestream::MAX_BLOCK_SIZE;
pub use sealwire_newplex::schemes::handshake::HandshakeError as InvalidMessage;
pub use sealwire_newplex::schemes::keys::{PublicKey, SecretKey};
pub use sealwire_newplex::schemes::randomness::{Randomness, RandomnessError};
pub use sizes::MAX_SEALED_SIZE;
pub use stream::{AsyncStream, Server, Stream};

/// The README's example is compiled and run as printed.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
