//! What the peer programs have in common: arguments, payloads, the script a socket type follows,
//! and the report it prints.
//!
//! A program wraps one published implementation in [`PeerSocket`] and hands it to [`run`]. The
//! programs in C and Python beside this package follow the same script; `interop/README.md`
//! describes it for programs that drive them.

#![forbid(unsafe_code)]

mod arguments;
mod payload;
mod report;
mod script;

pub use arguments::{Arguments, Kind, Mechanism, Place, Security};
pub use payload::Parts;
pub use report::report;
pub use script::{PeerSocket, run};
