//! The calls of the peer: a table of those that were asked and are not answered, or whose handler has
//! not noticed that nobody waits any more.

use std::collections::{HashMap, VecDeque};
use std::task::{Poll, Waker};
use std::time::Duration;

use slab::Slab;

use super::flow::Flow;
use super::wakeups::Wakeups;
use super::{Body, Budget, CallEvent, Settings, Violation, cost};
use crate::limits::MAX_GONE;

/// Names a call of the peer for its handler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ServedKey {
    slot: usize,
    serial: u64,
}

/// A request for a handler.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) key: ServedKey,
    pub(crate) body: Body,
    pub(crate) due: Option<Duration>,
    pub(crate) streams: bool,
}

pub(super) struct ServedCalls {
    /// Calls that the peer may have open.
    max_open: usize,
    table: Slab<Served>,
    /// Where the numbers of the peer's open calls stand in the table.
    numbers: HashMap<u32, usize>,
    serial: u64,
    /// Requests of the calls that the peer has open.
    open: Budget,
    /// Requests in the table.
    held: Budget,
    /// Requests that wait for their handler, in the order in which they came. Those that were cancelled
    /// meanwhile are still named.
    deferred: VecDeque<ServedKey>,
}

/// Requests that no handler had as the connection ended. Their payloads may be of the program's making: they are
/// dropped where no lock is held.
#[derive(Default)]
#[must_use]
pub(crate) struct Closed(#[expect(dead_code, reason = "only dropped")] Vec<Served>);

struct Served {
    serial: u64,
    /// `None` once answered or cancelled.
    number: Option<u32>,
    holder: Holder,
    /// What it takes of the budgets.
    cost: u64,
    watcher: Option<Waker>,
    flow: Option<Box<Flow>>,
}

/// The holder of a request.
enum Holder {
    /// Nobody yet.
    Queue {
        body: Body,
        due: Option<Duration>,
    },
    Handler,
}

impl Served {
    /// Nobody waits for the answer any more.
    fn abandon(&mut self, wakeups: &mut Wakeups) {
        self.number = None;
        wakeups.extend(self.watcher.take());
        if let Some(flow) = &mut self.flow {
            wakeups.extend(flow.end());
        }
    }

    fn is_with_handler(&self) -> bool {
        matches!(self.holder, Holder::Handler)
    }
}

impl ServedCalls {
    pub(super) fn new(local: &Settings) -> Self {
        ServedCalls {
            max_open: local.max_calls as usize,
            table: Slab::new(),
            numbers: HashMap::new(),
            serial: 0,
            open: Budget::new(local.request_budget),
            held: Budget::new(local.request_budget),
            deferred: VecDeque::new(),
        }
    }

    /// Whether the peer may send such a request.
    pub(super) fn check(&self, number: u32, body: usize) -> Result<(), Violation> {
        if self.numbers.contains_key(&number) {
            return Err(Violation::NotItsNumber);
        }
        if self.open_calls() >= self.max_open || !self.open.admits(cost(body)) {
            return Err(Violation::BeyondCalls);
        }
        Ok(())
    }

    /// Whether there is room for such a request. Cancelled ones whose handlers have not let go count as
    /// well: the peer cannot know.
    pub(super) fn has_room(&self, body: usize) -> bool {
        self.entries() < self.max_open && self.held.admits(cost(body))
    }

    /// Puts a request into the table, for which there is room, and says who has it: its handler, unless it
    /// waits, because it has to or behind another one that it must not overtake.
    pub(super) fn admit(
        &mut self,
        number: u32,
        body: Body,
        due: Option<Duration>,
        flow: Option<Box<Flow>>,
        must_wait: bool,
    ) -> CallEvent {
        self.serial += 1;
        let cost = cost(body.size());
        let served = |holder, flow| Served {
            serial: self.serial,
            number: Some(number),
            holder,
            cost,
            watcher: None,
            flow,
        };
        let entry = self.table.vacant_entry();
        let (slot, serial) = (entry.key(), self.serial);
        let key = ServedKey { slot, serial };
        self.numbers.insert(number, slot);
        self.open.take(cost);
        self.held.take(cost);
        let streams = flow.is_some();
        if must_wait || !self.deferred.is_empty() {
            entry.insert(served(Holder::Queue { body, due }, flow));
            self.deferred.push_back(key);
            return CallEvent::Deferred;
        }
        entry.insert(served(Holder::Handler, flow));
        CallEvent::Request(Asked {
            key,
            body,
            due,
            streams,
        })
    }

    /// The request that has waited longest, for its handler.
    pub(super) fn next_deferred(&mut self) -> Option<Asked> {
        loop {
            let key = self.deferred.pop_front()?;
            let Some(served) = self.get_mut(key) else {
                continue;
            };
            let holder = std::mem::replace(&mut served.holder, Holder::Handler);
            let streams = served.flow.is_some();
            if let Holder::Queue { body, due } = holder {
                return Some(Asked {
                    key,
                    body,
                    due,
                    streams,
                });
            }
        }
    }

    /// Names of requests that wait for their handlers.
    pub(super) fn deferred(&self) -> usize {
        self.deferred.len()
    }

    fn get_mut(&mut self, key: ServedKey) -> Option<&mut Served> {
        let served = self.table.get_mut(key.slot)?;
        (served.serial == key.serial).then_some(served)
    }

    /// The number can mean another call from here on. Gives where the call stands.
    fn forget_number(&mut self, number: u32) -> Option<usize> {
        let slot = self.numbers.remove(&number)?;
        self.open.give(self.table[slot].cost);
        Some(slot)
    }

    /// Ends a call, if somebody still waits for that: gives its number for the answer.
    pub(super) fn conclude(&mut self, key: ServedKey) -> Option<u32> {
        let number = self.get_mut(key)?.number.take()?;
        self.forget_number(number);
        Some(number)
    }

    /// The handler lets go. Gives what the items cost that it has not read.
    pub(super) fn release(&mut self, key: ServedKey) -> u64 {
        let Some(served) = self.get_mut(key) else {
            return 0;
        };
        debug_assert!(served.number.is_none(), "answered before it is let go");
        self.remove(key.slot)
    }

    fn remove(&mut self, slot: usize) -> u64 {
        let served = self.table.remove(slot);
        self.held.give(served.cost);
        served.flow.map_or(0, |flow| flow.unread())
    }

    /// The peer takes a call back, which its handler is told. `None` if there is no such call; otherwise
    /// what the items cost that are held no longer.
    pub(super) fn cancel(&mut self, number: u32, wakeups: &mut Wakeups) -> Option<u64> {
        let slot = self.forget_number(number)?;
        let served = &mut self.table[slot];
        served.abandon(wakeups);
        if served.is_with_handler() {
            return Some(0);
        }
        let unread = self.remove(slot);
        if self.deferred.len() > 2 * self.entries() + MAX_GONE {
            let table = &self.table;
            self.deferred.retain(|key| {
                let served = table.get(key.slot);
                served.is_some_and(|served| served.serial == key.serial)
            });
        }
        Some(unread)
    }

    /// Whether nobody waits for the answer any more.
    pub(super) fn is_cancelled(&mut self, key: ServedKey) -> bool {
        self.get_mut(key)
            .is_none_or(|served| served.number.is_none())
    }

    pub(super) fn poll_cancelled(&mut self, key: ServedKey, waker: &Waker) -> Poll<()> {
        match self.get_mut(key) {
            Some(served) if served.number.is_some() => {
                served.watcher = Some(waker.clone());
                Poll::Pending
            }
            _ => Poll::Ready(()),
        }
    }

    /// The items of an open call.
    pub(super) fn open_flow(&mut self, number: u32) -> Option<&mut Flow> {
        let slot = self.numbers.get(&number)?;
        self.table[*slot].flow.as_deref_mut()
    }

    /// The items of a call for its handler, and its number while it is open.
    pub(super) fn flow(&mut self, key: ServedKey) -> Option<(Option<u32>, &mut Flow)> {
        let served = self.get_mut(key)?;
        Some((served.number, served.flow.as_deref_mut()?))
    }

    /// Calls that the peer has open.
    pub(super) fn open_calls(&self) -> usize {
        self.numbers.len()
    }

    /// Calls in the table, also those that handlers have not let go of.
    pub(super) fn entries(&self) -> usize {
        self.table.len()
    }

    /// Bytes of requests in the table.
    pub(super) fn held(&self) -> u64 {
        self.held.used()
    }

    /// The peer is gone. What handlers hold stays until they let go; the caller gets the rest.
    pub(super) fn close(&mut self, wakeups: &mut Wakeups) -> Closed {
        self.numbers.clear();
        self.deferred = VecDeque::new();
        let mut waited = Vec::new();
        for (slot, served) in &mut self.table {
            served.abandon(wakeups);
            if !served.is_with_handler() {
                waited.push(slot);
            }
        }
        let closed = waited.into_iter().map(|slot| self.table.remove(slot));
        let closed: Vec<_> = closed.collect();
        for served in &closed {
            self.held.give(served.cost);
        }
        Closed(closed)
    }
}

#[cfg(test)]
mod tests {
    use sealwire::Frame;

    use super::super::wire::HEADER;
    use super::*;

    const LOCAL: Settings = Settings {
        max_calls: 3,
        one_way_window: 1,
        stream_window: 2,
        max_body: 100,
        request_budget: 1_000,
        message_budget: 0,
    };

    /// A request of a stream, without a body.
    fn admit(served: &mut ServedCalls, number: u32, must_wait: bool) -> CallEvent {
        let body = Body::of(Frame::copy_from_slice(&[0; HEADER]));
        served.admit(number, body, None, Some(Flow::new(2, 2)), must_wait)
    }

    fn asked(served: &mut ServedCalls, number: u32) -> ServedKey {
        match admit(served, number, false) {
            CallEvent::Request(asked) => asked.key,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_number_can_be_used_again_once_its_call_has_ended() {
        let mut served = ServedCalls::new(&LOCAL);
        let key = asked(&mut served, 1);
        assert_eq!(served.check(1, 0), Err(Violation::NotItsNumber));
        assert_eq!(served.conclude(key), Some(1));
        assert_eq!(served.check(1, 0), Ok(()));
        assert_eq!(served.conclude(key), None);
        let next = asked(&mut served, 1);
        assert!(served.is_cancelled(key) && !served.is_cancelled(next));
        // The slot is used again, and the key of before names nothing in it.
        served.release(key);
        let third = asked(&mut served, 3);
        assert_eq!((third.slot, served.release(key)), (key.slot, 0));
        assert_eq!((served.open_calls(), served.entries()), (2, 2));
    }

    #[test]
    fn calls_that_handlers_have_not_let_go_of_take_room_and_are_not_open() {
        let mut served = ServedCalls::new(&LOCAL);
        let mut wakeups = Wakeups::default();
        let key = asked(&mut served, 1);
        for number in [3, 5] {
            asked(&mut served, number);
        }
        assert_eq!(served.check(7, 0), Err(Violation::BeyondCalls));
        assert!(served.poll_cancelled(key, Waker::noop()).is_pending());
        assert_eq!(served.cancel(1, &mut wakeups), Some(0));
        assert!(wakeups.has_tasks() && served.is_cancelled(key));
        assert_eq!(served.check(7, 0), Ok(()));
        assert!(!served.has_room(0));
        served.release(key);
        assert!(served.has_room(0));
        assert_eq!(served.cancel(1, &mut wakeups), None);
        assert_eq!(served.held(), 2 * cost(0));
    }

    #[test]
    fn requests_that_wait_go_on_in_their_order_without_those_taken_back() {
        let mut served = ServedCalls::new(&LOCAL);
        let mut wakeups = Wakeups::default();
        assert!(matches!(admit(&mut served, 1, true), CallEvent::Deferred));
        // Behind another one, though it need not wait itself.
        assert!(matches!(admit(&mut served, 3, false), CallEvent::Deferred));
        assert!(matches!(admit(&mut served, 5, false), CallEvent::Deferred));
        let item = Body::of(Frame::copy_from_slice(&[0; HEADER + 10]));
        let (is_kept, _) = served.open_flow(3).unwrap().received(item).unwrap();
        assert!(is_kept);
        assert_eq!(served.cancel(3, &mut wakeups), Some(cost(10)));
        let first = served.next_deferred().unwrap().key;
        let second = served.next_deferred().unwrap().key;
        assert!(served.next_deferred().is_none() && served.deferred() == 0);
        assert_eq!(served.conclude(first), Some(1));
        assert_eq!(served.conclude(second), Some(5));
    }

    #[test]
    fn a_close_leaves_what_handlers_hold() {
        let mut served = ServedCalls::new(&LOCAL);
        let key = asked(&mut served, 1);
        admit(&mut served, 3, true);
        let mut wakeups = Wakeups::default();
        assert!(served.poll_cancelled(key, Waker::noop()).is_pending());
        drop(served.close(&mut wakeups));
        assert!(wakeups.has_tasks() && served.is_cancelled(key));
        assert_eq!((served.open_calls(), served.entries()), (0, 1));
        assert_eq!(served.held(), cost(0));
        served.release(key);
        assert_eq!((served.entries(), served.held()), (0, 0));
    }
}
