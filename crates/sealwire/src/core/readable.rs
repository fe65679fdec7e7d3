//! Waiting for something to receive: any number of waiters for a signal, or one thread that polls
//! its peer's connection itself, under a [`Lease`].
//!
//! Such a thread polls, reads, opens and delivers on its own, while the I/O thread handles only
//! timers and writes. Every other event (another peer, a closing socket) wakes the thread through a
//! descriptor beside the connection's.
//!
//! As soon as a second thread or an async task waits on the same socket, all of them wait for the
//! signal, for good.

#[cfg(unix)]
pub(super) mod direct;

use std::sync::Arc;
#[cfg(unix)]
use std::sync::OnceLock;
use std::time::Duration;

use super::SocketCore;
use crate::pattern::DirectReader;
#[cfg(unix)]
use crate::waiting::Waker;
use crate::waiting::{Ended, Lease, Listening, Signal, Spinning};

/// The longest spin between two pieces of a long frame: what 64 KiB take within a machine, and as much again.
#[cfg(unix)]
const PIECE: Duration = Duration::from_micros(40);

/// The waiters, tasks and descriptors that are told that there is something to receive.
pub(crate) struct Readable {
    pub(super) signal: Signal,
    pub(super) lease: Arc<Lease>,
    /// For the thread that reads directly.
    #[cfg(unix)]
    spinning: Spinning,
    /// For the same between the pieces of a long frame.
    #[cfg(unix)]
    within_frames: Spinning,
    /// Made the first time; `None` when there are no descriptors to be had.
    #[cfg(unix)]
    waker: OnceLock<Option<Waker>>,
}

impl Readable {
    /// Threads that read directly spin for up to `spin`.
    pub(super) fn new(spin: Duration) -> Self {
        Readable {
            signal: Signal::default(),
            lease: Arc::default(),
            #[cfg(unix)]
            spinning: Spinning::up_to(spin),
            #[cfg(unix)]
            within_frames: Spinning::tried_first(PIECE, PIECE * 4),
            #[cfg(unix)]
            waker: OnceLock::new(),
        }
    }

    /// Tells up to `count` waiters.
    pub(crate) fn notify(&self, count: usize) {
        self.signal.notify(count);
        self.wake_direct_reader();
    }

    /// Tells up to `count` waiters that were not told yet, so that a receiver that takes one of several
    /// messages need not tell of the others.
    pub(crate) fn notify_more(&self, count: usize) {
        self.signal.notify_more(count);
        self.wake_direct_reader();
    }

    /// Whether anybody waits for something to receive.
    pub(crate) fn is_waited_for(&self) -> bool {
        self.lease.is_parked() || self.signal.waiters() > 0
    }

    pub(crate) fn wake_direct_reader(&self) {
        if self.lease.wake() {
            self.write_waker();
        }
    }

    fn write_waker(&self) {
        #[cfg(unix)]
        if let Some(Some(waker)) = self.waker.get() {
            waker.wake();
        }
    }
}

impl SocketCore {
    /// The lease that decides who reads its only connection.
    pub(crate) fn lease(&self) -> &Arc<Lease> {
        &self.readable.lease
    }

    /// Starts to wait for the signal beside others. From now on nobody reads directly.
    pub(crate) fn share_readable(&self) -> Listening {
        self.end_direct_reading();
        Listening::to(&self.readable.signal)
    }

    /// From now on nobody reads directly: all wait for the signal.
    pub(crate) fn end_direct_reading(&self) {
        self.lease_ended(&self.readable.lease.share());
    }

    /// Gives the reading back to the engine, which then learns at once what has arrived. While
    /// nobody waits, the end of a leased connection goes unnoticed for some milliseconds; when
    /// another peer comes that is too long, as messages would go to the one that is gone.
    pub(crate) fn end_lease(&self) {
        self.lease_ended(&self.readable.lease.revoke());
    }

    fn lease_ended(&self, ended: &Ended) {
        if ended.sleeps {
            self.readable.write_waker();
        }
        if ended.leased
            && let Some(reader) = self.sole_reader()
        {
            reader.end_lease();
        }
    }

    /// Reads what a leased connection holds, for those who do not want to wait.
    pub(crate) fn read_leased(&self) {
        if self.readable.lease.may_be_leased()
            && let Some(reader) = self.sole_reader()
        {
            reader.read_if_free();
        }
    }

    /// What reads from the only peer there is.
    fn sole_reader(&self) -> Option<Arc<dyn DirectReader>> {
        self.sole_link()?.direct_reader()
    }
}
