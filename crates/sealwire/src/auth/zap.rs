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

/// Where a handler binds.
pub const ENDPOINT: &str = "inproc://zeromq.zap.01";
/// How long a handler may take for one decision.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5);
