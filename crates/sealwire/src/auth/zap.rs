//! ZAP (RFC 27): a handler in the same process decides about peers.
//!
//! ```text
//!   session ── 1.0, id, domain, address, identity, mechanism, credentials ──▶ handler
//!   session ◀── 1.0, id, 200 | 300 | 400 | 500, text, user id, metadata ───── handler
//! ```
//!
//! The handler is any REP or ROUTER socket of the same [`Context`](crate::Context), bound to
//! [`ENDPOINT`]. Sockets with a [`zap_domain`](crate::SocketBuilder::zap_domain) ask it, and so do
//! servers that leave the decision to it ([`AllowAnyone`](super::AllowAnyone)), on a thread for
//! decisions that block. Under every mechanism both sides report a connection only after the
//! handler has answered.
//!
//! | mechanism | credentials |
//! |---|---|
//! | NULL | none |
//! | PLAIN | username and password, a frame each |
//! | CURVE, BLAKE3 | the client's public key, 32 bytes |
//!
//! A server has its own authenticator too, which is asked first; with
//! [`AllowAnyone`](super::AllowAnyone) the handler alone decides, as with libzmq.

use std::time::Duration;

use thiserror::Error;

/// Where a handler binds.
pub const ENDPOINT: &str = "inproc://zeromq.zap.01";
/// How long a handler may take for one decision.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5);

/// Why there is no decision of a handler. The peer is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Fault {
    /// No handler is bound, and none was since the socket was made.
    #[error("no handler is bound to {ENDPOINT}")]
    NoHandler,
    /// There was a handler, and it went away before it answered.
    #[error("the handler went away")]
    Gone,
    /// The handler gave no answer in time.
    #[error("the handler gave no answer within its time limit")]
    NoAnswer,
    /// The handler could not be asked, for want of memory or as the context ends, for example.
    #[error("the handler could not be asked")]
    NotAsked,
    /// The answer does not have the six frames of RFC 27.
    #[error("the handler's answer does not have six frames")]
    Frames,
    /// The answer is of another version than 1.0.
    #[error("the handler answered with another version")]
    Version,
    /// The answer is to another question.
    #[error("the handler answered with another request id")]
    RequestId,
    /// The status is none of RFC 27.
    #[error("the handler answered with a status that ZAP does not have")]
    Status,
    /// The metadata cannot be read.
    #[error("the handler's metadata are malformed")]
    Metadata,
}

impl Fault {
    /// The status that stands for it: 300 where there is no answer, as a handler that comes or comes back is found;
    /// 500 for an answer that is none.
    pub(crate) fn status(self) -> u16 {
        match self {
            Fault::NoHandler | Fault::Gone | Fault::NoAnswer | Fault::NotAsked => 300,
            Fault::Frames | Fault::Version | Fault::RequestId | Fault::Status | Fault::Metadata => {
                500
            }
        }
    }
}
