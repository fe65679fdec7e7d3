//! Which thread reads a session's transport: the I/O thread, or under a lease one of the application.

use std::io;
use std::time::Duration;

use crate::transport::{Polled, Stream, has_ended};

/// How long nobody may have waited for a session's bytes before the I/O thread reads again.
const LEASE: Duration = Duration::from_millis(10);

/// How long after a read the end of the stream is not looked for: a request that follows an answer at once would pay
/// for it each time.
const JUST_READ: Duration = Duration::from_micros(50);

/// The reader of a session, and what a thread of the application polls for that.
#[derive(Default)]
pub(super) struct DirectReading {
    reader: Reader,
    /// When a thread of the application read last.
    read_at: Duration,
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
    pub(super) fn begin(&mut self) {
        if self.reader == Reader::Engine {
            self.reader = Reader::Application;
        }
    }

    pub(super) fn is_active(&self) -> bool {
        self.reader != Reader::Engine
    }

    /// Has the I/O thread check before long, if it does not read itself.
    pub(super) fn watch(&mut self, now: Duration) {
        if self.is_active() {
            self.reader = Reader::Watched(now + LEASE);
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
    pub(super) fn is_due(&mut self, now: Duration) -> bool {
        let due = self.check_at().is_some_and(|at| at <= now);
        if due {
            self.reader = Reader::Application;
        }
        due
    }

    /// Gives the reading back to the I/O thread. `false` where it had it.
    pub(super) fn end(&mut self) -> bool {
        std::mem::take(&mut self.reader) != Reader::Engine
    }

    /// What a thread polls that reads this stream.
    pub(super) fn polled(&mut self, stream: &Stream) -> io::Result<Polled> {
        Ok(match &self.polled {
            Some(polled) => polled.clone(),
            None => self.polled.insert(stream.polled()?).clone(),
        })
    }

    /// A thread of the application reads now.
    pub(super) fn reads(&mut self, now: Duration) {
        self.read_at = now;
    }

    /// Whether the peer has ended its side of the stream while nobody may have looked: bytes may be before that.
    pub(super) fn peer_has_ended(&self, now: Duration) -> bool {
        let may_have = self.is_active() && now.saturating_sub(self.read_at) >= JUST_READ;
        may_have && self.polled.as_ref().is_some_and(has_ended)
    }

    /// Whether a thread of the application may still poll.
    pub(super) fn was_begun(&self) -> bool {
        self.polled.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_secs(1);
    const LATE: Duration = Duration::from_secs(9);
    /// When a thread is checked on that was left to read at [`SOON`].
    const DUE: Duration = SOON.saturating_add(LEASE);

    #[test]
    fn a_thread_that_reads_is_checked_on_once_it_is_due() {
        let mut direct = DirectReading::default();
        direct.begin();
        assert_eq!(direct.check_at(), None);
        direct.watch(SOON);
        assert_eq!(direct.check_at(), Some(DUE));
        assert!(!direct.is_due(DUE - Duration::from_nanos(1)));
        assert!(direct.is_due(DUE));
        assert!(!direct.is_due(LATE));
        assert!(direct.is_active());
        // Begun again it goes on, and what was set stays.
        direct.watch(LATE);
        direct.begin();
        assert_eq!(direct.check_at(), Some(LATE + LEASE));
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
