//! How threads, tasks and event loops wait: for a signal, for a descriptor, and whether to spin before they
//! sleep. This module does not know what they wait for.

mod blocking;
#[cfg(unix)]
mod interrupt;
mod lease;
mod lease_state;
mod listening;
#[cfg(unix)]
mod notifier;
#[cfg(unix)]
mod readiness;
mod spinning;
mod tasks;
#[cfg(test)]
mod tests;
mod until;
#[cfg(unix)]
mod waker;

#[cfg(unix)]
pub(crate) use interrupt::block_on;
pub(crate) use lease::Use;
#[cfg(unix)]
pub(crate) use lease::{Begun, Leaving};
pub(crate) use lease::{Ended, Lease};
pub(crate) use listening::{Listening, Signal};
#[cfg(unix)]
pub(crate) use notifier::Notifier;
#[cfg(unix)]
pub(crate) use readiness::{Pollable, Pollers};
#[cfg(unix)]
pub use readiness::{Readiness, Ready};
pub(crate) use spinning::Spinning;
pub(crate) use until::{Interrupt, Next, Unfinished, Until};
#[cfg(unix)]
pub(crate) use waker::{PollEnd, Waker};

use crate::guard;

/// What signals and the lease are made of: the tests put what loom has in its place.
mod sync {
    #[cfg(unix)]
    pub(super) use std::sync::atomic::AtomicBool;
    pub(super) use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering, fence};
    pub(super) use std::sync::{Mutex, MutexGuard};

    pub(super) use event_listener::{Event, IntoNotification};
}
