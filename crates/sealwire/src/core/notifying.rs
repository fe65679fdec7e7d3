//! Telling those who wait for a socket, and what they find.

use super::SocketCore;
#[cfg(unix)]
use super::{Phase, State};
#[cfg(unix)]
use crate::waiting::{Pollable, Ready};

impl SocketCore {
    /// Tells up to `count` waiters that there is something to receive.
    pub(crate) fn notify_readable(&self, count: usize) {
        self.readable.notify(count);
        #[cfg(unix)]
        self.pollers.signal();
    }

    /// Tells up to `count` waiters that were not told yet.
    pub(super) fn notify_readable_more(&self, count: usize) {
        self.readable.notify_more(count);
        #[cfg(unix)]
        self.pollers.signal();
    }

    /// Tells all waiters that there may be room to send.
    pub(crate) fn notify_writable(&self) {
        self.writable.notify(usize::MAX);
        #[cfg(unix)]
        self.pollers.signal();
    }
}

#[cfg(unix)]
impl Pollable for SocketCore {
    fn ready(&self) -> Ready {
        let state = self.lock();
        let State { pattern, pipes, .. } = &*state;
        let open = state.phase == Phase::Open;
        Ready {
            receive: open && state.readable(),
            send: open && pattern.writable(pipes),
            closed: !open,
        }
    }
}
