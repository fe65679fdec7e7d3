//! The functions of `zmq.h`. Pointers of programs are followed here and in [`message`](crate::message), in no other
//! place, and no panic leaves.

#![allow(
    unsafe_code,
    reason = "functions of C are given pointers, and their names are exported"
)]
#![allow(
    unreachable_pub,
    reason = "programs reach them by their names, not through the modules"
)]
#![allow(
    clippy::missing_safety_doc,
    reason = "what a caller has to keep to is the contract of zmq.h"
)]

pub mod capabilities;
pub mod clock;
pub mod contexts;
pub mod counters;
pub(crate) mod descriptors;
#[cfg(draft)]
pub mod drafts;
pub mod error;
mod guard;
mod handles;
pub mod keys;
pub mod messages;
pub mod monitors;
mod pointers;
pub mod polling;
pub mod proxies;
mod rights;
mod scheduling;
pub mod sockets;
mod tagged;
pub mod threads;
pub mod timers;
mod users;
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod verification;

pub(crate) use scheduling::Scheduling;

/// What counts the users of handles: the tests put what loom has in its place.
mod sync {
    pub(super) use std::sync::atomic::{AtomicUsize, Ordering};
}

#[cfg(test)]
mod tests;
