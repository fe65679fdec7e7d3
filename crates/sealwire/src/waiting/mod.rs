//! How threads, tasks and event loops wait: for a signal, for a descriptor, and whether to spin before they
//! sleep. This module does not know what they wait for.

mod blocking;
#[cfg(unix)]
mod interrupt;
mod lease;
mod listening;
#[cfg(unix)]
mod notifier;
#[cfg(unix)]
mod readiness;
mod spinning;
#[cfg(unix)]
mod waker;

pub(crate) use blocking::{Next, Unfinished, Until};
#[cfg(unix)]
pub(crate) use interrupt::{Interrupt, block_on};
pub(crate) use lease::Use;
#[cfg(unix)]
pub(crate) use lease::{Begun, Leaving};
pub(crate) use lease::{Ended, Lease};
pub(crate) use listening::{Listening, Signal};
#[cfg(unix)]
pub(crate) use readiness::{Pollable, Pollers};
#[cfg(unix)]
pub use readiness::{Readiness, Ready};
pub(crate) use spinning::Spinning;
#[cfg(unix)]
pub(crate) use waker::{Polled, Waker};

/// There are no signal handlers.
#[cfg(not(unix))]
#[derive(Debug, Clone)]
pub(crate) enum Interrupt {}

/// What the lease is made of: the tests put those of loom in their place.
mod atomic {
    pub(super) use std::sync::atomic::{AtomicU8, Ordering};
}
