//! Samples how long messages wait in a queue: of one message in many, chosen where a batch is moved. So no
//! message pays for it, and only a sampled one asks for the time.
//!
//! ```text
//!   idle ── 64 batches ──▶ due ── something is queued ──▶ waiting ── all before it and it are taken ──▶ idle
//! ```

use std::time::Duration;

/// Batches between two samples.
const EVERY: u32 = 64;

/// Whether the queue has a message whose time is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Probe {
    /// The number of batches that come first.
    Idle(u32),
    /// The next message that is queued.
    Due,
    /// The last of these messages was queued then.
    Waiting { messages: usize, since: Duration },
}

impl Default for Probe {
    /// The first message is one.
    fn default() -> Self {
        Probe::Due
    }
}

impl Probe {
    /// Whether the message that is queued now is to be sampled.
    #[inline]
    pub(crate) fn is_due(self) -> bool {
        self == Probe::Due
    }

    /// `messages` are in the queue, and the last of them has just come.
    pub(crate) fn begin(&mut self, messages: usize, now: Duration) {
        *self = Probe::Waiting {
            messages,
            since: now,
        };
    }

    /// A batch was moved.
    #[inline]
    pub(crate) fn moved(&mut self) {
        if let Probe::Idle(batches) = self {
            *self = match *batches {
                0 => Probe::Due,
                batches => Probe::Idle(batches - 1),
            };
        }
    }

    /// This number of messages was taken out. Returns the time since which the sampled one waited, if it was among them.
    #[inline]
    pub(crate) fn taken(&mut self, taken: usize) -> Option<Duration> {
        let Probe::Waiting { messages, since } = self else {
            return None;
        };
        if taken < *messages {
            *messages -= taken;
            return None;
        }
        let since = *since;
        *self = Probe::Idle(EVERY);
        Some(since)
    }

    /// The messages of the queue are gone without having been taken.
    pub(crate) fn cancel(&mut self) {
        if let Probe::Waiting { .. } = self {
            *self = Probe::Idle(EVERY);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Duration = Duration::from_secs(7);

    #[test]
    fn the_sampled_message_is_the_last_of_those_that_are_there() {
        let mut probe = Probe::default();
        assert!(probe.is_due() && probe.taken(1).is_none());
        probe.begin(3, AT);
        assert!(!probe.is_due());
        assert_eq!(
            [1, 1, 1, 1].map(|one| probe.taken(one)),
            [None, None, Some(AT), None]
        );
        probe.begin(2, AT);
        assert_eq!(probe.taken(5), Some(AT));
    }

    #[test]
    fn one_batch_in_many_is_sampled() {
        let mut probe = Probe::default();
        probe.begin(1, AT);
        assert_eq!(probe.taken(1), Some(AT));
        let batches = std::iter::from_fn(|| (!probe.is_due()).then(|| probe.moved()));
        assert_eq!(batches.count(), EVERY as usize + 1);
        probe.moved();
        assert!(probe.is_due(), "it waits for a message");
    }

    #[test]
    fn what_is_not_taken_is_not_sampled() {
        let mut probe = Probe::default();
        probe.cancel();
        assert!(probe.is_due());
        probe.begin(1, AT);
        probe.cancel();
        assert_eq!(probe, Probe::Idle(EVERY));
    }
}
