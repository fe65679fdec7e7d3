//! The calls of this side: a table whose slots are used again, under numbers that hold a slot and its
//! generation.

use std::task::{Poll, Waker};
use std::time::Duration;

use super::flow::{Flow, Item};
use super::outbox::{Outbox, Position};
use super::wakeups::Wakeups;
use super::wheel::{Link, Linked, Wheel};
use super::wire::{Kind, encode_time};
use super::{Body, Budget, Connection, NotSent, Side, Violation, cost};
use crate::limits::{MAX_CALLS, MAX_GIVEN_UP};
use crate::status::{Code, Error, Status};

/// Bits of a number that name the slot.
const SLOT_BITS: u32 = MAX_CALLS.ilog2();
/// Generations of a slot before its numbers come again.
const GENERATIONS: u32 = (1 << (31 - SLOT_BITS)) - 1;

/// Names a call for the one who made it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CallKey {
    slot: u32,
}

#[derive(Default)]
struct Call {
    generation: u32,
    /// Somebody waits, or will come back, for the outcome.
    owned: bool,
    /// The peer owes an answer.
    open: bool,
    /// The peer was told that nobody waits.
    cancelled: bool,
    /// What the request takes of the peer's budget.
    cost: u64,
    /// Where the request stands among the messages of the connection.
    position: Position,
    /// The maximum for never.
    due: Duration,
    link: Link,
    outcome: Option<Result<Body, Error>>,
    waker: Option<Waker>,
    flow: Option<Box<Flow>>,
}

#[derive(Default)]
struct Slots(Vec<Call>);

impl Linked for Slots {
    fn link(&mut self, slot: u32) -> &mut Link {
        &mut self.0[slot as usize].link
    }

    fn due(&self, slot: u32) -> Duration {
        self.0[slot as usize].due
    }
}

pub(super) struct Calls {
    slots: Slots,
    free: Vec<u32>,
    wheel: Wheel,
    open: usize,
    /// Of these, the cancelled ones.
    given_up: usize,
    /// Requests of the open calls, as the peer allows.
    requests: Budget,
    /// A call found no room since the last was answered.
    turned_away: bool,
    /// Used again for each timeout.
    pub(super) expired: Vec<u32>,
}

impl Calls {
    pub(super) fn new(request_budget: u32) -> Self {
        Calls {
            slots: Slots::default(),
            free: Vec::new(),
            wheel: Wheel::default(),
            open: 0,
            given_up: 0,
            requests: Budget::new(request_budget),
            turned_away: false,
            expired: Vec::new(),
        }
    }

    /// Whether only answers that nobody waits for could make room for another call.
    pub(super) fn is_stuck(&self) -> bool {
        self.given_up >= MAX_GIVEN_UP
            || self.turned_away && self.given_up > 0 && self.given_up == self.open
    }

    pub(super) fn open(&self) -> usize {
        self.open
    }

    pub(super) fn in_use(&self) -> usize {
        self.slots.0.len() - self.free.len()
    }

    #[cfg(test)]
    fn open_numbers(&self, side: Side) -> Vec<u32> {
        let slots = 0..self.slots.0.len() as u32;
        let open = slots.filter(|&slot| self.slots.0[slot as usize].open);
        open.map(|slot| self.number(slot, side)).collect()
    }

    pub(super) fn next_timeout(&self) -> Option<Duration> {
        self.wheel.next_timeout()
    }

    pub(super) fn expire(&mut self, now: Duration, expired: &mut Vec<u32>) {
        self.wheel
            .advance(&mut self.slots, now, |_, slot| expired.push(slot));
    }

    fn find(&self, number: u32) -> Option<u32> {
        let index = (number - 1) >> 1;
        let (slot, generation) = (index & (MAX_CALLS - 1), index >> SLOT_BITS);
        let call = self.slots.0.get(slot as usize)?;
        (call.open && call.generation == generation).then_some(slot)
    }

    pub(super) fn flow_mut(&mut self, number: u32) -> Option<&mut Flow> {
        let slot = self.find(number)?;
        self.slots.0[slot as usize].flow.as_deref_mut()
    }

    fn number(&self, slot: u32, side: Side) -> u32 {
        let generation = self.slots.0[slot as usize].generation;
        let index = generation << SLOT_BITS | slot;
        index * 2 + if side == Side::Client { 1 } else { 2 }
    }

    fn take_slot(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.slots.0.push(Call::default());
            (self.slots.0.len() - 1) as u32
        })
    }

    /// Gives what the items cost that nobody has read.
    fn release_if_done(&mut self, slot: u32) -> u64 {
        let call = &mut self.slots.0[slot as usize];
        if call.owned || call.open {
            return 0;
        }
        call.generation = (call.generation + 1) % GENERATIONS;
        call.outcome = None;
        call.waker = None;
        let unread = call.flow.take().map_or(0, |flow| flow.unread());
        self.free.push(slot);
        unread
    }

    /// Ends a call for the one who waits.
    fn conclude(&mut self, slot: u32, outcome: Result<Body, Error>, wakeups: &mut Wakeups) {
        self.wheel.cancel(&mut self.slots, slot);
        let call = &mut self.slots.0[slot as usize];
        if call.owned && call.outcome.is_none() {
            call.outcome = Some(outcome);
            wakeups.extend(call.waker.take());
        }
        if let Some(flow) = &mut call.flow {
            wakeups.extend(flow.end());
        }
    }

    pub(super) fn fail_all(&mut self, outbox: &Outbox, wakeups: &mut Wakeups) {
        for slot in 0..self.slots.0.len() as u32 {
            let call = &mut self.slots.0[slot as usize];
            if std::mem::take(&mut call.open) {
                let may_have_run = outbox.has_left(call.position);
                self.conclude(slot, Err(Error::ConnectionLost { may_have_run }), wakeups);
            }
        }
        self.open = 0;
        self.given_up = 0;
    }

    pub(super) fn release_unowned(&mut self) {
        self.free.clear();
        for (slot, call) in self.slots.0.iter().enumerate() {
            if !call.owned {
                self.free.push(slot as u32);
            }
        }
    }
}

impl Connection {
    /// Begins a call. `due` is when its caller stops waiting.
    pub(crate) fn call(
        &mut self,
        body: &[u8],
        now: Duration,
        due: Option<Duration>,
        streams: bool,
    ) -> Result<CallKey, NotSent> {
        self.check(body.len())?;
        if self.going_away.has_begun() {
            return Err(NotSent::GoingAway);
        }
        let cost = cost(body.len());
        if self.calls.open >= self.peer.max_calls.min(MAX_CALLS) as usize
            || self.calls.in_use() >= MAX_CALLS as usize
            || !self.calls.requests.admits(cost)
        {
            self.calls.turned_away = true;
            return Err(NotSent::Full);
        }
        let slot = self.calls.take_slot();
        let number = self.calls.number(slot, self.side);
        let flow = streams.then(|| Flow::new(self.local.stream_window, self.peer.stream_window));
        let call = &mut self.calls.slots.0[slot as usize];
        call.owned = true;
        call.open = true;
        call.cancelled = false;
        call.cost = cost;
        call.position = self.outbox.next_position();
        call.flow = flow;
        self.calls.open += 1;
        self.calls.requests.take(cost);
        call.due = due.unwrap_or(Duration::MAX);
        if due.is_some() {
            self.calls.wheel.set(&mut self.calls.slots, slot);
        }
        let time = encode_time(due.map(|due| due.saturating_sub(now)));
        let kind = if streams { Kind::Open } else { Kind::Request };
        self.outbox.push(kind, time, number, body);
        Ok(CallKey { slot })
    }

    /// The outcome of a call, once; the caller is done with it then unless it streams.
    pub(crate) fn poll_call(&mut self, key: CallKey, waker: &Waker) -> Poll<Result<Body, Error>> {
        let call = &mut self.calls.slots.0[key.slot as usize];
        debug_assert!(call.owned, "an outcome is taken once");
        match call.outcome.take() {
            Some(outcome) => Poll::Ready(outcome),
            None => {
                match &mut call.waker {
                    Some(old) => old.clone_from(waker),
                    none => *none = Some(waker.clone()),
                }
                Poll::Pending
            }
        }
    }

    /// The caller is done with a call. One without an outcome is cancelled.
    pub(crate) fn drop_call(&mut self, key: CallKey) {
        let call = &mut self.calls.slots.0[key.slot as usize];
        call.owned = false;
        call.outcome = None;
        call.waker = None;
        if call.open {
            self.calls.wheel.cancel(&mut self.calls.slots, key.slot);
            self.cancel(key.slot);
        }
        let unread = self.calls.release_if_done(key.slot);
        self.items_taken(unread);
    }

    fn cancel(&mut self, slot: u32) {
        let call = &mut self.calls.slots.0[slot as usize];
        if !std::mem::replace(&mut call.cancelled, true) {
            self.calls.given_up += 1;
            let number = self.calls.number(slot, self.side);
            self.outbox.push(Kind::Cancel, 0, number, &[]);
        }
    }

    pub(super) fn call_expired(&mut self, slot: u32) {
        let call = &self.calls.slots.0[slot as usize];
        let may_have_run = self.outbox.has_left(call.position);
        let outcome = Err(Error::DeadlineExceeded { may_have_run });
        self.calls.conclude(slot, outcome, &mut self.wakeups);
        self.cancel(slot);
    }

    /// What ERROR means to the caller: when its time is over by its own clock too, that counts,
    /// whichever side noticed first.
    pub(super) fn failure(&self, number: u32, status: Status, now: Duration) -> Error {
        let overdue = status.code == Code::DEADLINE_EXCEEDED
            && self
                .calls
                .find(number)
                .is_some_and(|slot| self.calls.slots.0[slot as usize].due <= now);
        if overdue {
            let may_have_run = !status.is_not_started();
            return Error::DeadlineExceeded { may_have_run };
        }
        Error::Remote(status)
    }

    pub(super) fn end_call(
        &mut self,
        number: u32,
        outcome: Result<Body, Error>,
    ) -> Result<(), Violation> {
        let ours = self.side.numbers(number);
        let slot = ours.then(|| self.calls.find(number)).flatten();
        let slot = slot.ok_or(Violation::NothingAsked)?;
        let call = &mut self.calls.slots.0[slot as usize];
        call.open = false;
        self.calls.open -= 1;
        self.calls.given_up -= usize::from(call.cancelled);
        self.calls.requests.give(call.cost);
        self.calls.turned_away = false;
        self.wakeups.tell_of_room();
        self.calls.conclude(slot, outcome, &mut self.wakeups);
        let unread = self.calls.release_if_done(slot);
        self.items_taken(unread);
        Ok(())
    }

    #[cfg(test)]
    pub(super) fn open_numbers(&self) -> Vec<u32> {
        self.calls.open_numbers(self.side)
    }

    /// Whether the connection is of no use for calls as long as those that were given up are not
    /// answered.
    pub(crate) fn is_stuck(&self) -> bool {
        self.calls.is_stuck()
    }

    /// The next item of the peer's stream.
    pub(crate) fn poll_call_item(&mut self, key: CallKey, waker: &Waker) -> Poll<Item> {
        let number = self.calls.number(key.slot, self.side);
        let call = &mut self.calls.slots.0[key.slot as usize];
        let open = call.open;
        let Some(flow) = &mut call.flow else {
            return Poll::Ready(Item::End);
        };
        let Poll::Ready((item, more)) = flow.poll_next(waker) else {
            return Poll::Pending;
        };
        if let Some(more) = more.filter(|_| open) {
            self.outbox
                .push(Kind::Credit, 0, number, &more.to_be_bytes());
        }
        self.items_taken(item.cost());
        Poll::Ready(item)
    }

    /// Sends an item to the peer. `Full` registers the waker for the end of the call, and asks for another
    /// try when there is room.
    pub(crate) fn send_call_item(
        &mut self,
        key: CallKey,
        body: &[u8],
        waker: &Waker,
    ) -> Poll<Result<(), NotSent>> {
        let has_room = match self.check_item(body.len()) {
            Ok(has_room) => has_room,
            Err(error) => return Poll::Ready(Err(error)),
        };
        let number = self.calls.number(key.slot, self.side);
        let call = &mut self.calls.slots.0[key.slot as usize];
        let open = call.open && call.outcome.is_none();
        match &mut call.flow {
            Some(flow) if open && !flow.finished => {
                let sent = flow.poll_to_send(has_room, waker);
                if sent == Poll::Ready(Ok(())) {
                    self.push_item(number, body);
                }
                sent
            }
            _ => Poll::Ready(Err(NotSent::Closed)),
        }
    }

    /// This side sends no more items.
    pub(crate) fn finish_call_items(&mut self, key: CallKey) {
        let number = self.calls.number(key.slot, self.side);
        let call = &mut self.calls.slots.0[key.slot as usize];
        if let Some(flow) = call.flow.as_mut().filter(|_| call.open)
            && !std::mem::replace(&mut flow.finished, true)
        {
            self.outbox.push(Kind::End, 0, number, &[]);
        }
    }
}
