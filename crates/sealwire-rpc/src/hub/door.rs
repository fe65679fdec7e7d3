//! The connections at the door, by their state. Pure data; time is an argument.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use sealwire::Peer;

use crate::limits::{DoorLimits, WAITING_BYTES};
use crate::proto::Settings;

/// A connection that has sent SETTINGS, and may have to wait for a place.
pub(super) struct Greeted<P = Arc<Peer>> {
    pub(super) routing_id: u32,
    pub(super) peer: P,
    pub(super) settings: Settings,
    pub(super) hello: Vec<u8>,
    pub(super) until: Duration,
}

/// What a connection of the socket has come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DoorState {
    /// It has not sent SETTINGS.
    Silent,
    /// It has, and waits for a place.
    Waiting,
    /// It has been let in.
    Inside,
    /// It was asked to go: nothing that it says matters any more.
    Leaving,
}

pub(super) struct Door<P = Arc<Peer>> {
    limits: DoorLimits,
    places: HashMap<u32, DoorState>,
    /// In the order in which they came.
    silent: VecDeque<(u32, Duration)>,
    waiting: VecDeque<Greeted<P>>,
    waiting_bytes: usize,
}

/// What the first message of a connection, or what is taken for it, means.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FirstMessage {
    /// It is the first.
    First,
    /// A second one, before the connection has a place.
    Again,
    /// Nobody cares any more.
    Ignored,
}

impl<P> Door<P> {
    pub(super) fn new(limits: DoorLimits) -> Self {
        Door {
            limits,
            places: HashMap::new(),
            silent: VecDeque::new(),
            waiting: VecDeque::new(),
            waiting_bytes: 0,
        }
    }

    /// Whether a connection has ended of which is told now; else it has begun.
    pub(super) fn ended(&mut self, routing_id: u32) -> bool {
        let Some(place) = self.places.remove(&routing_id) else {
            return false;
        };
        self.forget(routing_id, place);
        true
    }

    fn forget(&mut self, routing_id: u32, place: DoorState) {
        match place {
            DoorState::Silent => self.silent.retain(|&(other, _)| other != routing_id),
            DoorState::Waiting => {
                self.take_waiting(|waiting| waiting.routing_id == routing_id);
            }
            DoorState::Inside | DoorState::Leaving => {}
        }
    }

    /// A connection has begun. Gives another one that has to go because too many are silent.
    pub(super) fn began(&mut self, routing_id: u32, now: Duration) -> Option<u32> {
        self.places.insert(routing_id, DoorState::Silent);
        self.silent.push_back((routing_id, now));
        let oldest = (self.silent.len() > self.limits.silent).then(|| self.silent.pop_front());
        let (oldest, _) = oldest.flatten()?;
        self.places.insert(oldest, DoorState::Leaving);
        Some(oldest)
    }

    pub(super) fn greeted(&mut self, routing_id: u32) -> FirstMessage {
        match self.places.get(&routing_id) {
            Some(DoorState::Silent) => {
                self.forget(routing_id, DoorState::Silent);
                self.places.insert(routing_id, DoorState::Inside);
                FirstMessage::First
            }
            Some(DoorState::Waiting) => {
                self.leave(routing_id);
                FirstMessage::Again
            }
            Some(DoorState::Inside | DoorState::Leaving) | None => FirstMessage::Ignored,
        }
    }

    /// Whether there is room to wait for a place.
    pub(super) fn wait(&mut self, new: Greeted<P>) -> bool {
        let bytes = self.waiting_bytes + new.hello.len();
        let room = self.waiting.len() < self.limits.waiting && bytes <= WAITING_BYTES;
        if room {
            self.waiting_bytes = bytes;
            self.places.insert(new.routing_id, DoorState::Waiting);
            self.waiting.push_back(new);
        } else {
            self.leave(new.routing_id);
        }
        room
    }

    /// The one that has waited longest.
    pub(super) fn next_waiting(&mut self) -> Option<Greeted<P>> {
        let next = self.take_waiting(|_| true)?;
        self.places.insert(next.routing_id, DoorState::Inside);
        Some(next)
    }

    fn take_waiting(&mut self, which: impl Fn(&Greeted<P>) -> bool) -> Option<Greeted<P>> {
        let index = self.waiting.iter().position(which)?;
        let taken = self.waiting.remove(index)?;
        self.waiting_bytes -= taken.hello.len();
        Some(taken)
    }

    /// The connection was asked to go. It may have gone already, where another thread noticed.
    pub(super) fn leave(&mut self, routing_id: u32) {
        if let Some(place) = self.places.get_mut(&routing_id) {
            let before = std::mem::replace(place, DoorState::Leaving);
            self.forget(routing_id, before);
        }
    }

    /// Those whose time is over, silent ones and those that waited, and when to check next.
    pub(super) fn overdue(&mut self, now: Duration) -> (Vec<u32>, Vec<u32>, Option<Duration>) {
        let mut silent = Vec::new();
        while let Some(&(routing_id, since)) = self.silent.front()
            && since + self.limits.silent_time <= now
        {
            silent.push(routing_id);
            self.leave(routing_id);
        }
        let mut waited = Vec::new();
        while let Some(routing_id) = self
            .waiting
            .front()
            .filter(|waiting| waiting.until <= now)
            .map(|waiting| waiting.routing_id)
        {
            waited.push(routing_id);
            self.leave(routing_id);
        }
        (silent, waited, self.next_timeout())
    }

    pub(super) fn next_timeout(&self) -> Option<Duration> {
        let silent = self.silent.front();
        let silent = silent.map(|&(_, since)| since + self.limits.silent_time);
        let waiting = self.waiting.front().map(|waiting| waiting.until);
        silent.into_iter().chain(waiting).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: DoorLimits = DoorLimits {
        silent: 2,
        silent_time: Duration::from_secs(3),
        waiting: 2,
    };

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn the_oldest_silent_connection_gives_way_and_time_ends_the_others() {
        let mut door = Door::<()>::new(LIMITS);
        assert_eq!(door.began(1, at(0)), None);
        assert_eq!(door.began(2, at(1)), None);
        assert_eq!(door.began(3, at(2)), Some(1));
        assert_eq!(door.greeted(1), FirstMessage::Ignored);
        assert_eq!(door.greeted(2), FirstMessage::First);
        assert_eq!(door.next_timeout(), Some(at(5)));
        assert_eq!(door.overdue(at(5)), (vec![3], vec![], None));
        // Each is told of once more, when it has gone, and then nothing is left.
        for routing_id in [1, 2, 3] {
            assert!(door.ended(routing_id));
            assert!(!door.ended(routing_id));
        }
        assert!(door.places.is_empty() && door.silent.is_empty());
    }

    #[test]
    fn a_connection_that_is_asked_to_go_once_it_has_gone_leaves_nothing() {
        let mut door = Door::<()>::new(LIMITS);
        door.began(7, at(0));
        assert!(door.ended(7));
        door.leave(7);
        assert!(door.places.is_empty());
        // Its number may be given to another one.
        assert!(!door.ended(7));
    }

    #[test]
    fn one_million_connections_that_come_and_go_leave_nothing() {
        let mut door = Door::<()>::new(LIMITS);
        for routing_id in 0..1_000_000 {
            door.began(routing_id, at(0));
            if routing_id % 3 == 0 {
                door.greeted(routing_id);
            }
            if routing_id % 5 == 0 {
                door.leave(routing_id);
            }
            assert!(door.silent.len() <= LIMITS.silent);
            if let Some(gone) = routing_id.checked_sub(10) {
                assert!(door.ended(gone));
            }
        }
        assert_eq!(door.places.len(), 10);
    }
}
