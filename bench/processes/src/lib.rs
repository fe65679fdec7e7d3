//! What the program `sealwire` measures between two of its processes: `sealwire bench throughput`,
//! `latency` and `handshake` in [`sockets`], `sealwire rpc bench` in [`calls`].
//!
//! The program says how a process of its own is started, and each process lives as long as its standard
//! input is open, so that none is left behind.

#![forbid(unsafe_code)]

pub mod calls;
mod process;
pub mod sockets;

use std::io;

pub use process::this_program;

/// Why something could not be measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A process, a core or a connection failed.
    #[error("{0}")]
    Failed(String),
    /// The other process did not do something in time.
    #[error("{0}")]
    TimedOut(String),
    /// A socket failed.
    #[error(transparent)]
    Socket(#[from] sealwire::Error),
    /// A call failed.
    #[error(transparent)]
    Call(#[from] sealwire_rpc::Error),
    /// One process could not write to the other.
    #[error("cannot write to standard output: {0}")]
    Output(#[source] io::Error),
}
