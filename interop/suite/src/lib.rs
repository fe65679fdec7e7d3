//! Sealwire's sockets against published ZeroMQ peers: what the tests in `tests/interop` share.
//!
//! A published implementation is a [`Program`] that `interop/setup.sh` built; a running one is a
//! [`Peer`]. A [`Path`] says how the two sides reach and protect each other, a [`Pairing`] which
//! socket types meet and who speaks first. [`Path::open`] gives both sides of a connection as a
//! [`Link`], and [`Path::exchange`] is the body of most tests: it runs
//! one pairing over one path and checks every byte at both ends.
//!
//! ```no_run
//! use interop::{LIBZMQ, PAIRINGS, Path, Protection, SINGLE_PARTS, Side, Transport};
//!
//! let path = Path {
//!     program: LIBZMQ,
//!     transport: Transport::Tcp,
//!     binds: Side::Ours,
//!     protection: Protection::Null,
//! };
//! for pairing in PAIRINGS {
//!     path.exchange(pairing, &SINGLE_PARTS);
//! }
//! ```

#![forbid(unsafe_code)]

mod exchange;
mod link;
mod own;
mod pairing;
mod path;
mod payload;
mod peer;
mod program;
mod proxy;
mod watch;

pub use link::Link;
pub use own::Own;
pub use pairing::{Flow, PAIRINGS, Pairing};
pub use path::{Path, Protection, Side, Sides, Transport};
pub use payload::{FEW, MULTIPART, SINGLE_PARTS, Shape, describe, is_sync, sync};
pub use peer::Peer;
pub use program::{
    CZMQ, LIBZMQ, LIBZMQ_DRAFTS, MICROSOCKS, MONTE, OMQ, OMQ_CODEC, OMQ_GEM, PYZMQ, Program,
    SEALWIRE, TLS_RELAY, ZMQ_RS, ZMQ_UDP,
};
pub use proxy::Proxy;
pub use watch::{TIMEOUT, await_event, await_failure, await_ready, eventually, options};
