//! The engine: threads that move bytes between transports and protocol state machines, and
//! messages between those and the sockets' pipes, in batches.
//!
//! ```text
//!  application threads                      I/O thread
//!  ───────────────────                      ──────────────────────────────────────────
//!  send ─▶ pipe.outbound ─▶ mailbox ─▶ session: protocol.send*, one seal, one write
//!  recv ◀─ pipe.inbound ◀───────────── session: one read, one open, one delivery
//!                                           listener: accept ─▶ session
//!                                           connector: resolve, connect ─▶ session, retry
//! ```
//!
//! A thread of the application that sends one message and waits for the answer drives its session
//! itself (see `shared`): on an idle connection a hand-over between threads takes most of the time.

mod bursts;
#[cfg(test)]
mod bursts_tests;
#[cfg(test)]
mod closing_listener_tests;
mod connector;
mod datagrams;
mod decisions;
mod expiry;
#[cfg(test)]
mod held_thread;
mod inbox;
#[cfg(test)]
mod inbox_tests;
mod io_thread;
mod listener;
mod load;
mod mailbox;
#[cfg(test)]
mod moving_tests;
mod neighbours;
#[cfg(test)]
mod peer_end_tests;
mod raw;
mod reactor;
mod session;
mod session_key;
mod shared;
#[cfg(any(test, feature = "simulation"))]
mod simulated_host;
mod task;
#[cfg(test)]
mod task_tests;
mod tasks;
#[cfg(test)]
mod tests;
mod threads;
mod timeouts;
mod timers;
mod udp_endpoints;
mod wire;
mod world;
mod zmtp;

pub(crate) use mailbox::{Command, Mailbox};
#[cfg(any(test, feature = "simulation"))]
pub(crate) use simulated_host::SimulatedHost;
pub use task::Work;
pub(crate) use tasks::RunningTask;
pub(crate) use threads::{OnStart, Placed, Threads};
pub(crate) use timeouts::Timeout;
pub(crate) use udp_endpoints::{bind as bind_datagrams, connect as connect_datagrams};

/// What `bursts`, `inbox`, `shared` and `task` are made of: the tests put what loom has in its place, and stand-ins for
/// the modules that they name by way of this one.
mod sync {
    pub(super) use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
    pub(super) use std::sync::{Mutex, MutexGuard};
    pub(super) use std::thread_local;
}

use crate::{failure, guard, pattern, transport, waiting};
