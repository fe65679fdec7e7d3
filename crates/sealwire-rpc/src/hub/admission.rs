//! The connections of a client or server: those at the door, and the links of those that were let in.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use sealwire::Peer;

use super::door::{Door, FirstMessage, Greeted};
use crate::guard::LogGate;
use crate::limits::DoorLimits;
use crate::lock::lock;

/// `L` is what a connection gets that is let in, `P` the peer at its other end.
pub(super) struct Admission<L, P = Arc<Peer>> {
    max_connections: usize,
    door: Mutex<Door<P>>,
    /// By routing id.
    links: RwLock<BTreeMap<u32, L>>,
    last_admitted: AtomicU32,
    gate: Mutex<Gate>,
    /// Lines in the log about peers that violate the protocol.
    pub(super) violations: LogGate,
    /// Lines in the log about those that the greeter refuses.
    pub(super) refusals: LogGate,
}

/// Whether connections are let in. A peer that was told so may call at once, before its link is among the others.
#[derive(Default)]
struct Gate {
    /// Connections that are being let in.
    passing: usize,
    closed: bool,
}

/// A connection that is being let in. Dropped once its link is there, or it has gone.
pub(super) struct Passing<'a>(&'a Mutex<Gate>);

impl Drop for Passing<'_> {
    fn drop(&mut self) {
        lock(self.0).passing -= 1;
    }
}

/// A connection has begun or ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ConnectionChange<L> {
    Began {
        /// Another one, which has to go because too many are silent.
        gives_way: Option<u32>,
        /// When to check the door.
        check_at: Option<Duration>,
    },
    /// With its link, if it was let in.
    Ended(Option<L>),
}

/// The place of a connection that has sent SETTINGS.
pub(super) enum Placed<P> {
    /// It is let in.
    Free(Greeted<P>),
    /// It waits for one, until then.
    Waits(Duration),
    /// Too many wait already.
    Nowhere,
}

impl<L: Clone, P> Admission<L, P> {
    pub(super) fn new(max_connections: usize, door: DoorLimits) -> Self {
        Admission {
            max_connections,
            door: Mutex::new(Door::new(door)),
            links: RwLock::default(),
            last_admitted: AtomicU32::new(0),
            gate: Mutex::default(),
            violations: LogGate::default(),
            refusals: LogGate::default(),
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, BTreeMap<u32, L>> {
        self.links.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, BTreeMap<u32, L>> {
        self.links.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The connection has begun, or ended if it had begun before.
    pub(super) fn changed(&self, routing_id: u32, now: Duration) -> ConnectionChange<L> {
        let mut door = lock(&self.door);
        if door.ended(routing_id) {
            drop(door);
            return ConnectionChange::Ended(self.write().remove(&routing_id));
        }
        let gives_way = door.began(routing_id, now);
        ConnectionChange::Began {
            gives_way,
            check_at: door.next_timeout(),
        }
    }

    /// What the first message of a connection means.
    pub(super) fn greeted(&self, routing_id: u32) -> FirstMessage {
        lock(&self.door).greeted(routing_id)
    }

    /// Finds a place for a connection that has sent SETTINGS.
    pub(super) fn place(&self, new: Greeted<P>) -> Placed<P> {
        if self.count() < self.max_connections {
            return Placed::Free(new);
        }
        let until = new.until;
        if lock(&self.door).wait(new) {
            Placed::Waits(until)
        } else {
            Placed::Nowhere
        }
    }

    /// The connection that has waited longest, if there is a place for it now.
    pub(super) fn next(&self) -> Option<Greeted<P>> {
        let has_place = self.count() < self.max_connections;
        has_place.then(|| lock(&self.door).next_waiting()).flatten()
    }

    /// The connection is let in.
    pub(super) fn admit(&self, routing_id: u32, link: L) {
        self.write().insert(routing_id, link);
        self.last_admitted.store(routing_id, Ordering::SeqCst);
    }

    /// A connection is about to be told that it is let in. `None` once the gate is closed: it must not be.
    pub(super) fn begin_to_pass(&self) -> Option<Passing<'_>> {
        let mut gate = lock(&self.gate);
        if gate.closed {
            return None;
        }
        gate.passing += 1;
        Some(Passing(&self.gate))
    }

    /// Lets nobody in any more if all links are finished, and no connection is on its way to be one. The question
    /// may take the locks of links.
    pub(super) fn close_if(&self, is_finished: impl Fn(&L) -> bool) -> bool {
        let mut gate = lock(&self.gate);
        gate.closed |= gate.passing == 0 && self.links().iter().all(is_finished);
        gate.closed
    }

    /// The connection is asked to go: nothing that it says matters any more.
    pub(super) fn leave(&self, routing_id: u32) {
        lock(&self.door).leave(routing_id);
    }

    /// Those whose time is over, silent ones and those that waited, and when to check next.
    pub(super) fn overdue(&self, now: Duration) -> (Vec<u32>, Vec<u32>, Option<Duration>) {
        lock(&self.door).overdue(now)
    }

    /// The connection that was let in last, by its routing id; 0 before the first. It may have ended since.
    pub(super) fn last_admitted(&self) -> u32 {
        self.last_admitted.load(Ordering::SeqCst)
    }

    pub(super) fn link(&self, routing_id: u32) -> Option<L> {
        self.read().get(&routing_id).cloned()
    }

    pub(super) fn links(&self) -> Vec<L> {
        self.read().values().cloned().collect()
    }

    /// Some of the links, by routing id from this one on.
    pub(super) fn links_from(&self, first: u32, most: usize) -> Vec<L> {
        let links = self.read();
        let from = links.range(first..).take(most);
        from.map(|(_, link)| link.clone()).collect()
    }

    /// Whether one of the links is so. The question takes no lock.
    pub(super) fn any(&self, is_so: impl Fn(&L) -> bool) -> bool {
        self.read().values().any(is_so)
    }

    pub(super) fn count(&self) -> usize {
        self.read().len()
    }

    /// The link with the least load, of several the one with the lowest routing id. One without a load is not
    /// chosen.
    pub(super) fn least_loaded(&self, load: impl Fn(&L) -> Option<usize>) -> Option<L> {
        let links = self.read();
        let loaded = links.values().filter_map(|link| Some((load(link)?, link)));
        let least = loaded.min_by_key(|(load, _)| *load);
        least.map(|(_, link)| link.clone())
    }

    /// Takes all links: their connections have ended.
    pub(super) fn take_links(&self) -> impl Iterator<Item = L> + use<L, P> {
        std::mem::take(&mut *self.write()).into_values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::{Limits, WAITING_BYTES};
    use crate::proto::Settings;

    const LIMITS: DoorLimits = DoorLimits {
        silent: 3,
        silent_time: Duration::from_secs(3),
        waiting: 2,
    };

    type Tested = Admission<char, ()>;

    /// A server that shuts down ends no connection that was just told to call.
    #[test]
    fn the_gate_closes_when_nobody_is_passing_and_all_links_are_finished() {
        let admission = Tested::new(2, LIMITS);
        let (first, second) = (admission.begin_to_pass(), admission.begin_to_pass());
        assert!(first.is_some() && second.is_some());
        admission.admit(1, 'a');
        drop(first);
        assert!(!admission.close_if(|_| true), "another one is passing");
        drop(second);
        assert!(
            !admission.close_if(|link| *link != 'a'),
            "a link is not finished"
        );
        assert!(admission.begin_to_pass().is_some(), "it is open");
        assert!(admission.close_if(|link| *link == 'a'));
        assert!(admission.begin_to_pass().is_none());
        assert!(admission.close_if(|_| false), "it stays closed");
    }

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    /// One that serves two connections, which have these links.
    fn full() -> Tested {
        let admission = Admission::new(2, LIMITS);
        for (routing_id, link) in [(1, 'a'), (2, 'b')] {
            assert!(matches!(arrive(&admission, routing_id, 0), Placed::Free(_)));
            admission.admit(routing_id, link);
        }
        admission
    }

    /// A connection begins, and greets with as many bytes.
    fn arrive(admission: &Tested, routing_id: u32, bytes: usize) -> Placed<()> {
        let change = admission.changed(routing_id, at(0));
        assert!(matches!(
            change,
            ConnectionChange::Began {
                gives_way: None,
                ..
            }
        ));
        assert_eq!(admission.greeted(routing_id), FirstMessage::First);
        admission.place(Greeted {
            routing_id,
            peer: (),
            settings: Settings::of(&Limits::default()),
            hello: vec![0; bytes],
            until: at(5),
        })
    }

    #[test]
    fn a_connection_that_ends_makes_room_for_the_one_that_has_waited_longest() {
        let admission = full();
        assert_eq!((admission.count(), admission.last_admitted()), (2, 2));
        assert!(matches!(arrive(&admission, 3, 0), Placed::Waits(until) if until == at(5)));
        assert!(matches!(arrive(&admission, 4, 0), Placed::Waits(_)));
        assert!(matches!(arrive(&admission, 5, 0), Placed::Nowhere));
        assert!(admission.next().is_none(), "there is no place");
        assert_eq!(
            admission.changed(1, at(1)),
            ConnectionChange::Ended(Some('a'))
        );
        assert_eq!(admission.next().unwrap().routing_id, 3);
        admission.admit(3, 'c');
        assert!(admission.next().is_none());
        assert_eq!(
            (admission.links(), admission.last_admitted()),
            (vec!['b', 'c'], 3)
        );
        // Those that were never let in have no link.
        for routing_id in [4, 5] {
            assert_eq!(
                admission.changed(routing_id, at(1)),
                ConnectionChange::Ended(None)
            );
        }
        assert_eq!((admission.link(2), admission.link(4)), (Some('b'), None));
    }

    #[test]
    fn greetings_that_wait_are_bounded_in_bytes() {
        let admission = full();
        assert!(matches!(
            arrive(&admission, 3, WAITING_BYTES),
            Placed::Waits(_)
        ));
        assert!(matches!(arrive(&admission, 4, 1), Placed::Nowhere));
        admission.leave(3);
        assert!(matches!(arrive(&admission, 5, 1), Placed::Waits(_)));
    }

    #[test]
    fn one_that_waits_is_turned_away_in_time_or_for_greeting_twice() {
        let admission = full();
        assert!(matches!(arrive(&admission, 3, 0), Placed::Waits(_)));
        assert!(matches!(arrive(&admission, 4, 0), Placed::Waits(_)));
        assert_eq!(admission.greeted(3), FirstMessage::Again);
        admission.changed(6, at(4));
        assert_eq!(admission.overdue(at(5)), (vec![], vec![4], Some(at(7))));
        assert_eq!(admission.overdue(at(7)), (vec![6], vec![], None));
        assert_eq!(admission.greeted(6), FirstMessage::Ignored);
    }

    #[test]
    fn the_least_loaded_link_is_chosen_among_those_that_take_calls() {
        let admission = full();
        let least = |loads: [Option<usize>; 2]| {
            admission.least_loaded(|link| loads[usize::from(*link == 'b')])
        };
        assert_eq!(least([Some(2), Some(1)]), Some('b'));
        assert_eq!(least([Some(1), Some(1)]), Some('a'));
        assert_eq!(least([None, Some(9)]), Some('b'));
        assert_eq!(least([None, None]), None);
        assert_eq!(admission.take_links().collect::<Vec<_>>(), ['a', 'b']);
        assert_eq!(admission.count(), 0);
    }
}
