//! A session driven by a thread of the application, and the lease under which that thread reads.

use std::io;
use std::time::Duration;

use bytes::BytesMut;
use mio::{Registry, Token};

use super::{End, Session};
use crate::transport::Polled;
use crate::waiting::Use;

/// How long nobody may have waited for a session's bytes before the I/O thread reads again.
const LEASE: Duration = Duration::from_millis(10);

/// The reader of a session, and what a thread of the application polls for that.
#[derive(Default)]
pub(super) struct DirectReading {
    reader: Reader,
    /// Made the first time; a poll may still use it when the session is gone.
    polled: Option<Polled>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Reader {
    #[default]
    Engine,
    /// A thread of the application that waits for a message.
    Application,
    /// The same; at this time the I/O thread checks whether it still does.
    Watched(Duration),
}

impl DirectReading {
    /// Leaves reading to a thread of the application.
    fn begin(&mut self) {
        if self.reader == Reader::Engine {
            self.reader = Reader::Application;
        }
    }

    fn is_active(&self) -> bool {
        self.reader != Reader::Engine
    }

    /// Has the I/O thread check at this time, if it does not read itself.
    fn watch(&mut self, check_at: Duration) {
        if self.is_active() {
            self.reader = Reader::Watched(check_at);
        }
    }

    /// When the I/O thread checks whether a thread of the application still reads.
    pub(super) fn check_at(&self) -> Option<Duration> {
        match self.reader {
            Reader::Watched(at) => Some(at),
            Reader::Engine | Reader::Application => None,
        }
    }

    /// Whether to check now, once.
    fn is_due(&mut self, now: Duration) -> bool {
        let due = self.check_at().is_some_and(|at| at <= now);
        if due {
            self.reader = Reader::Application;
        }
        due
    }

    /// Gives the reading back to the I/O thread. `false` where it had it.
    fn end(&mut self) -> bool {
        std::mem::take(&mut self.reader) != Reader::Engine
    }

    /// Whether a thread of the application may still poll.
    pub(super) fn was_begun(&self) -> bool {
        self.polled.is_some()
    }
}

impl Session {
    /// No thread of the application may drive it from now on.
    pub(in crate::engine) fn mark_over(&mut self) {
        self.phase.over();
    }

    /// Whether a thread of the application may drive this session.
    pub(in crate::engine) fn is_usable(&self) -> bool {
        self.standing.is_attached() && self.phase.is_open()
    }

    /// Whether something is left that only the I/O thread does.
    pub(in crate::engine) fn needs_io_thread(&self) -> bool {
        let sooner = match (self.protocol.next_timeout(), self.timer) {
            (Some(next), Some(timer)) => next < timer,
            (next, None) => next.is_some(),
            (None, Some(_)) => false,
        };
        let unwritten =
            self.transport.writable && (self.outbound.waiting || self.protocol.pending_bytes() > 0);
        sooner || unwritten || self.phase.has_ended()
    }

    /// Reads once, unless there was something left to deliver. The caller found the pipe empty, so it has
    /// room.
    pub(in crate::engine) fn read_directly(&mut self, spare: &mut BytesMut, now: Duration) {
        if self.inbound.paused {
            self.input_wanted(now);
        }
        if self.protocol.has_events() {
            return self.deliver(now);
        }
        let outcome = self.receive(spare, now).and_then(|received| {
            let Some(received) = received else {
                return Ok(());
            };
            self.deliver(now);
            received.map_err(|error| self.fail(error))
        });
        if let Err(end) = outcome {
            self.phase.end(end);
        }
    }

    /// Writes up to `limit` times.
    pub(in crate::engine) fn write_directly(&mut self, limit: usize) {
        if self.phase.is_open()
            && let Err(end) = self.write(limit)
        {
            self.phase.end(end);
        }
    }

    pub(in crate::engine) fn lease(&mut self, registry: &Registry) -> io::Result<Polled> {
        let direct = &mut self.direct;
        let polled = match &direct.polled {
            Some(polled) => polled.clone(),
            None => direct.polled.insert(self.stream.polled()?).clone(),
        };
        if !direct.is_active() {
            self.stream.watch_writing(registry, Token(self.key.slot))?;
            direct.begin();
        }
        Ok(polled)
    }

    pub(in crate::engine) fn is_leased(&self) -> bool {
        self.direct.is_active()
    }

    pub(in crate::engine) fn watch_lease(&mut self, now: Duration) {
        self.direct.watch(now + LEASE);
    }

    pub(in crate::engine) fn check_lease(
        &mut self,
        registry: &Registry,
        now: Duration,
    ) -> Result<(), End> {
        if !self.direct.is_due(now) {
            return Ok(());
        }
        match self.core.lease().check() {
            Use::Now => Ok(()),
            Use::Lately => {
                self.watch_lease(now);
                Ok(())
            }
            Use::Over => self.end_lease(registry),
        }
    }

    pub(in crate::engine) fn end_lease(&mut self, registry: &Registry) -> Result<(), End> {
        if self.direct.end() {
            // No event told of the bytes that have arrived meanwhile.
            self.transport.readable = true;
            self.stream
                .reregister(registry, Token(self.key.slot))
                .map_err(|error| self.transport_failed(error))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_secs(1);
    const LATE: Duration = Duration::from_secs(9);

    #[test]
    fn a_thread_that_reads_is_checked_on_once_it_is_due() {
        let mut direct = DirectReading::default();
        direct.begin();
        assert_eq!(direct.check_at(), None);
        direct.watch(SOON);
        assert_eq!(direct.check_at(), Some(SOON));
        assert!(!direct.is_due(SOON - Duration::from_nanos(1)));
        assert!(direct.is_due(SOON));
        assert!(!direct.is_due(LATE));
        assert!(direct.is_active());
        // Begun again it goes on, and what was set stays.
        direct.watch(LATE);
        direct.begin();
        assert_eq!(direct.check_at(), Some(LATE));
    }

    #[test]
    fn reading_is_given_back_once_and_nobody_is_watched_then() {
        let mut direct = DirectReading::default();
        assert!(!direct.end());
        direct.watch(SOON);
        assert!(!direct.is_active() && direct.check_at().is_none());
        direct.begin();
        direct.watch(SOON);
        assert!(direct.end() && !direct.end());
        assert!(!direct.is_due(LATE));
    }
}
