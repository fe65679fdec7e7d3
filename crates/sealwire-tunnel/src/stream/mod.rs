//! The channel as a stream of bytes, over anything that reads and writes.
//!
//! ```
//! use std::io::{Read as _, Write as _};
//! use std::net::{TcpListener, TcpStream};
//! use std::sync::Arc;
//! use sealwire_tunnel::{Identity, SecretKey, Stream};
//!
//! let domain = "com.example.link";
//! let alice = Identity::new(domain, SecretKey::generate()?);
//! let server = Arc::new(Identity::new(domain, SecretKey::generate()?));
//! let (allowed, expected) = (*alice.public_key(), *server.public_key());
//!
//! let listener = TcpListener::bind("127.0.0.1:0")?;
//! let address = listener.local_addr()?;
//! let answering = std::thread::spawn(move || {
//!     let (connection, _) = listener.accept().unwrap();
//!     let mut stream = Stream::accept(connection, &server, |peer| *peer == allowed).unwrap();
//!     let mut question = String::new();
//!     stream.read_to_string(&mut question).unwrap();
//!     write!(stream, "you said {question}").unwrap();
//!     stream.close().unwrap();
//! });
//!
//! let mut stream = Stream::connect(TcpStream::connect(address)?, &alice, expected)?;
//! stream.write_all(b"hello")?;
//! stream.finish()?;
//! let mut answer = String::new();
//! stream.read_to_string(&mut answer)?;
//! assert_eq!(answer, "you said hello");
//! # answering.join().unwrap();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Bytes that are written are sealed once they fill a block of 65,535 bytes, and with `flush`. Reading gives bytes that are
//! authentic, and 0 only where the peer has ended what it sends: a connection that is cut is an error.
//!
//! # Time limits
//!
//! Are those of what it runs over: [`TcpStream::set_read_timeout`](std::net::TcpStream::set_read_timeout), or the executor's. Set
//! them before the handshake, which a peer may otherwise leave half done.

mod asynchronous;
mod blocking;
mod direction;
mod server;
mod transport;

use std::io;

pub use asynchronous::AsyncStream;
pub use blocking::{Reader, Stream, Writer};
pub use server::Server;

use crate::{HandshakeError, PublicKey, RandomnessError, Reason};

/// Why there is no stream.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// What it runs over failed, or ended within the handshake.
    #[error("the connection failed in the handshake: {0}")]
    Io(#[from] io::Error),
    /// The peer is not who it should be, or speaks something else.
    #[error(transparent)]
    Handshake(#[from] HandshakeError),
    /// The operating system has no randomness.
    #[error(transparent)]
    Randomness(#[from] RandomnessError),
    /// The connector with this key is not let in; it was told.
    #[error("the connector's key is not let in")]
    Refused(Box<PublicKey>),
}

/// The peer broke off what it sends: the inner error of an [`io::Error`] of the kind
/// [`ConnectionAborted`](io::ErrorKind::ConnectionAborted).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the other side broke off: {0}")]
pub struct BrokenOff(pub Reason);
