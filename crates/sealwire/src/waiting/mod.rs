//! How threads, tasks and event loops wait: for a signal, for a descriptor, and whether to look again
//! before they sleep. What they wait for is nothing to this module.

mod listening;
#[cfg(unix)]
mod readiness;
mod spinning;

pub(crate) use listening::{Listening, Signal};
#[cfg(unix)]
pub(crate) use readiness::{Pollable, Pollers};
#[cfg(unix)]
pub use readiness::{Readiness, Ready};
pub(crate) use spinning::Spinning;
