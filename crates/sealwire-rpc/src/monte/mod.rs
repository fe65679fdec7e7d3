//! The wire of Go's [`lithdew/monte`](https://github.com/lithdew/monte), to talk to peers that speak
//! nothing else.
//!
//! # Do not build anything new on this
//!
//! * **Nobody is authenticated.** Anyone on the path can be the other side, for both sides.
//! * **Nonces repeat.** One AES-256-GCM key serves both directions, and both count from zero. Anyone who
//!   records a connection learns the XOR of the first plaintext of each side, of the second of each side and
//!   so on, and can compute what it takes to forge frames.
//!
//! Types say so in their names, every connection says so in the log (target `sealwire::rpc`, level
//! WARN), and programs hear it as [`MonteEvent::Warning`]. Connections of this module have no time limits on the wire, no cancellation, no
//! streams and no backpressure beyond that of TCP: the protocol has none of it.
//!
//! ```
//! use std::time::Duration;
//! use sealwire_rpc::monte::{UnauthenticatedConn, UnauthenticatedServer};
//!
//! let server = UnauthenticatedServer::bind("127.0.0.1:0", |message| Some(message.body.to_vec()))?;
//! let conn = UnauthenticatedConn::connect(server.address(), Duration::from_secs(3), |_| None)?;
//! assert_eq!(conn.request(b"hello", Duration::from_secs(3))?, b"hello");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod builder;
mod conn;
mod event;
mod gate;
mod limits;
mod server;
mod session;

use std::io;

pub use builder::{
    Connecting, Listening, UnauthenticatedBuilder, UnauthenticatedConnBuilder,
    UnauthenticatedServerBuilder,
};
pub use conn::UnauthenticatedConn;
pub use event::{MonteEvent, Warning};
pub use limits::WireLimits;
pub use server::UnauthenticatedServer;
pub use session::{DEFAULT_MAX_FRAME, Exchange, FrameError, KEY, NonceRepeatingSession, OVERHEAD};

/// A call, or a message, that did not succeed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MonteError {
    /// The transport failed.
    #[error("the connection failed: {0}")]
    Io(#[from] io::Error),
    /// The peer is none of monte's, or the message does not fit.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// No answer came in time. The peer may have acted.
    #[error("no answer in time; the request may have been carried out")]
    TimedOut,
    /// The connection is gone. The peer may have acted.
    #[error("the connection was lost; the request may have been carried out")]
    Lost,
    /// It was made before the process forked, and this is the child.
    #[error("this was made before the process forked; make a new one in the child")]
    Forked,
    /// As many calls wait for answers as the numbers of the protocol allow.
    #[error("too many calls wait for answers on this connection: wait for some of them")]
    TooManyCalls,
}

/// What came from a peer that might be anybody.
pub struct MonteMessage<'a> {
    /// The connection it came through.
    pub conn: &'a UnauthenticatedConn,
    /// What it says.
    pub body: &'a [u8],
    /// Whether its sender waits for an answer. An answer to one that does not goes to the sender as a message
    /// of its own.
    pub is_request: bool,
}
