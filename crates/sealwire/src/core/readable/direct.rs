//! The thread that reads its only peer directly.

use std::sync::Arc;
use std::thread;
use std::time::Instant;

use super::super::SocketCore;
use crate::guard;
use crate::pattern::DirectReader;
use crate::transport::Polled as Connection;
use crate::waiting::{Begun, Leaving, Polled, Until, Waker};

/// What became of the waiting.
pub(in crate::core) enum Waited {
    /// There may be something to receive.
    Retry,
    TimedOut,
    /// A signal handler ended it.
    Interrupted,
    /// Reading directly is over.
    Over,
}

/// A thread that reads its only peer directly.
pub(in crate::core) struct Reading<'a> {
    core: &'a SocketCore,
    reader: Arc<dyn DirectReader>,
    waker: &'a Waker,
    /// `None` when the connection is not to be read directly.
    connection: Option<Connection>,
    /// More can be read without polling first.
    more: bool,
    /// The engine shall read from now on.
    over: bool,
}

impl SocketCore {
    /// Takes the place of the thread that reads directly, if that can be and is free.
    pub(in crate::core) fn read_directly(&self) -> Option<Reading<'_>> {
        let readable = &self.readable;
        if readable.lease.is_shared() || guard::must_not_wait() {
            return None;
        }
        let waker = readable.waker.get_or_init(|| Waker::new().ok()).as_ref()?;
        let reader = self.sole_reader()?;
        match readable.lease.begin() {
            Begun::Reads => {}
            Begun::Taken { sleeps } => {
                if sleeps {
                    waker.wake();
                }
                return None;
            }
            Begun::Shared => return None,
        }
        let mut reading = Reading {
            core: self,
            reader,
            waker,
            connection: None,
            more: false,
            over: true,
        };
        reading.connection = reading.reader.lease();
        reading.over = reading.connection.is_none();
        (!reading.over).then_some(reading)
    }
}

impl Reading<'_> {
    /// From now on a signal ends the waiting. To be called before looking for a message.
    pub(in crate::core) fn park(&self) {
        self.core.readable.lease.park();
    }

    /// Waits for bytes or a signal and reads.
    pub(in crate::core) fn wait(&mut self, until: Until<'_>) -> Waited {
        let waited = self.wait_once(until);
        self.over = matches!(waited, Waited::Over);
        waited
    }

    fn wait_once(&mut self, until: Until<'_>) -> Waited {
        let lease = &self.core.readable.lease;
        let polled = match &self.connection {
            Some(_) if self.more => Polled::Readable,
            // Asked for before it sleeps: who ended it before this thread parked did not wake it.
            Some(connection) if !lease.is_ended() => self.poll(connection, until),
            _ => return Waited::Over,
        };
        match polled {
            // Whatever became of the lease: the handler is told of nowhere else.
            Polled::Interrupted => Waited::Interrupted,
            _ if !lease.unpark() => Waited::Over,
            Polled::Readable => match self.reader.read() {
                Some(more) => {
                    self.more = more;
                    Waited::Retry
                }
                None => Waited::Over,
            },
            Polled::Woken => match self.core.sole_link() {
                Some(_) => Waited::Retry,
                None => Waited::Over,
            },
            Polled::TimedOut => Waited::TimedOut,
        }
    }

    /// Polls again and again for a moment if that has paid lately, then sleeps.
    fn poll(&self, connection: &Connection, until: Until<'_>) -> Polled {
        let spinning = &self.core.readable.spinning;
        let now = Instant::now();
        let attempt = || match self.waker.poll(connection, Some(now)) {
            Polled::TimedOut => None,
            polled => Some(polled),
        };
        // The sender may need this core.
        let spun = spinning.spin(until.deadline, thread::yield_now, attempt);
        spun.unwrap_or_else(|| spinning.sleep(|| self.waker.poll_until(connection, until)))
    }
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        match self.core.readable.lease.leave(self.over) {
            Leaving::Watched => {}
            Leaving::Unwatched => self.reader.watch_lease(),
            Leaving::Over => self.reader.end_lease(),
        }
    }
}
