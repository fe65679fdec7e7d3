//! Spells of dropping: from the first message for a peer that finds no room until half of the peer's queue is free. The
//! beginning and the end of a spell are told, once a second for a peer at most; those in between are counted with the next.
//!
//! ```text
//!   room ── a message is dropped ──▶ dropping ── half of the queue is free, or the peer is gone ──▶ room
//! ```

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use super::signals::Signals;
use crate::limits::MAX_DROP_EVENTS;
use crate::peer::Peer;

/// Between two spells of a peer that are told.
const BETWEEN_TOLD: Duration = Duration::from_secs(1);

/// The spells of one peer.
#[derive(Debug, Default)]
pub(super) struct Drops {
    dropping: bool,
    /// The beginning of this spell was told.
    told: bool,
    last_told: Option<Duration>,
    /// Messages dropped since an end was told.
    since_told: u64,
    /// Messages dropped in this spell.
    of_spell: u64,
}

impl Drops {
    /// A message was dropped. Returns whether a spell begins with it that is to be told.
    pub(super) fn note(&mut self, clock: impl FnOnce() -> Duration) -> bool {
        self.since_told += 1;
        self.of_spell += 1;
        if std::mem::replace(&mut self.dropping, true) {
            return false;
        }
        let now = clock();
        let due = |last| now.saturating_sub(last) >= BETWEEN_TOLD;
        self.told = self.last_told.is_none_or(due);
        if self.told {
            self.last_told = Some(now);
        }
        self.told
    }

    /// There is room, or nobody to drop for. Returns how many messages the spell had, and the number to be told with its end, if it is.
    pub(super) fn end(&mut self) -> Option<(u64, Option<u64>)> {
        if !std::mem::take(&mut self.dropping) {
            return None;
        }
        let told = std::mem::take(&mut self.told);
        let count = told.then(|| std::mem::take(&mut self.since_told));
        Some((std::mem::take(&mut self.of_spell), count))
    }
}

/// Messages that a peer says it has dropped.
#[derive(Debug, Default)]
pub(super) struct Missed {
    since_told: u64,
    last_told: Option<Duration>,
}

impl Missed {
    /// It has dropped more. Returns the number to be told now, if it is.
    pub(super) fn note(&mut self, messages: u64, clock: impl FnOnce() -> Duration) -> Option<u64> {
        self.since_told = self.since_told.saturating_add(messages);
        let now = clock();
        let due = |last| now.saturating_sub(last) >= BETWEEN_TOLD;
        if !self.last_told.is_none_or(due) {
            return None;
        }
        self.last_told = Some(now);
        self.end()
    }

    /// Returns what was not told yet.
    pub(super) fn end(&mut self) -> Option<u64> {
        Some(std::mem::take(&mut self.since_told)).filter(|count| *count > 0)
    }
}

/// A change of a peer that is told once the lock is released; with messages since the last such event.
#[derive(Debug)]
pub(crate) enum DropEvent {
    Began(Arc<Peer>),
    Ended(Arc<Peer>, u64),
    Missed(Arc<Peer>, u64),
}

/// Events in the order of what happened. One thread at a time tells them, also of what others leave meanwhile.
#[derive(Debug, Default)]
pub(crate) struct DropEvents {
    waiting: VecDeque<DropEvent>,
    telling: bool,
}

impl DropEvents {
    /// Adds an event, to be told with these signals. Where too many wait it is left out.
    pub(super) fn add(&mut self, event: DropEvent, signals: &mut Signals) {
        if self.waiting.len() < MAX_DROP_EVENTS {
            self.waiting.push_back(event);
            signals.tells = true;
        }
    }

    /// The next one, for the thread that tells them: `telling` says whether the caller is that one, and whether it is from
    /// now on.
    pub(crate) fn next(&mut self, telling: &mut bool) -> Option<DropEvent> {
        if self.telling && !*telling {
            return None;
        }
        let next = self.waiting.pop_front();
        self.telling = next.is_some();
        *telling = self.telling;
        next
    }
}

#[cfg(test)]
mod tests {
    use sealwire_zmtp::SocketType;

    use super::*;
    use crate::endpoint::Endpoint;
    use crate::peer::PeerAddress;

    #[test]
    fn a_spell_is_told_once_with_all_that_was_dropped() {
        let mut drops = Drops::default();
        assert_eq!(drops.end(), None);
        assert!(drops.note(|| Duration::ZERO));
        assert!(!drops.note(|| unreachable!("it goes on")));
        assert_eq!(drops.end(), Some((2, Some(2))));
        assert_eq!(drops.end(), None);
    }

    #[test]
    fn spells_that_follow_at_once_are_counted_with_the_next_that_is_told() {
        let mut drops = Drops::default();
        let at = Duration::from_millis;
        assert!(drops.note(|| at(5_000)));
        assert_eq!(drops.end(), Some((1, Some(1))));
        assert!(!drops.note(|| at(5_999)));
        assert!(!drops.note(|| at(5_999)));
        assert_eq!(drops.end(), Some((2, None)));
        assert!(drops.note(|| at(6_000)));
        assert_eq!(drops.end(), Some((1, Some(3))));
    }

    #[test]
    fn one_at_a_time_tells_and_notices_are_bounded() {
        let (mut drop_events, mut signals) = (DropEvents::default(), Signals::default());
        let endpoint = Endpoint::Inproc("name".into());
        let address = PeerAddress::Inproc("name".into());
        let peer = Arc::new(Peer::datagram(endpoint, address, 1, SocketType::Dish));
        let began = || DropEvent::Began(peer.clone());
        let (mut first, mut second) = (false, false);
        assert!(drop_events.next(&mut first).is_none() && !first);
        drop_events.add(began(), &mut signals);
        drop_events.add(began(), &mut signals);
        assert!(signals.tells && !signals.is_empty());
        assert!(drop_events.next(&mut first).is_some() && first);
        assert!(drop_events.next(&mut second).is_none() && !second);
        assert!(drop_events.next(&mut first).is_some() && first);
        assert!(drop_events.next(&mut first).is_none() && !first);
        (0..=MAX_DROP_EVENTS).for_each(|_| drop_events.add(began(), &mut signals));
        let told = std::iter::from_fn(|| drop_events.next(&mut second)).count();
        assert_eq!(told, MAX_DROP_EVENTS);
    }

    #[test]
    fn what_a_peer_has_dropped_is_told_once_a_second_and_at_its_end() {
        let mut missed = Missed::default();
        let at = |time: u64| move || Duration::from_millis(time);
        assert_eq!(missed.note(3, at(0)), Some(3));
        assert_eq!(missed.note(u64::MAX, at(999)), None);
        assert_eq!(missed.note(4, at(999)), None);
        assert_eq!(missed.note(0, at(1_000)), Some(u64::MAX));
        assert_eq!(missed.note(5, at(1_001)), None);
        assert_eq!(missed.end(), Some(5));
        assert_eq!(missed.end(), None);
    }
}
