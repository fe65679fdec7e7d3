//! The calls of this side: a table whose slots are used again, under numbers that hold a slot and its
//! generation.

use std::task::{Poll, Waker};
use std::time::Duration;

use super::flow::Flow;
use super::outbox::{Outbox, Position};
use super::wakeups::Wakeups;
use super::wheel::{Entries, Entry, Wheel};
use super::wire::Kind;
use super::{Body, Budget, Settings, Side, Violation, cost};
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
    caller: Caller,
    answer: Answer,
    /// What the request takes of the peer's budget.
    cost: u64,
    /// Where the request stands among the messages of the connection.
    position: Position,
    /// The maximum for never.
    due: Duration,
    entry: Entry,
    flow: Option<Box<Flow>>,
}

/// The one who made a call.
#[derive(Default)]
enum Caller {
    /// Is done with it.
    #[default]
    Gone,
    /// Waits, or will come back, for the outcome.
    Waits(Option<Waker>),
    /// Has an outcome to take.
    IsAnswered(Result<Body, Error>),
    /// Has taken it.
    HasOutcome,
}

/// The peer's answer to a call.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Answer {
    /// Is not owed, or not any more.
    #[default]
    None,
    Owed,
    /// Is owed to nobody, which the peer was told.
    GivenUp,
}

impl Call {
    fn is_open(&self) -> bool {
        self.answer != Answer::None
    }
}

#[derive(Default)]
struct Slots(Vec<Call>);

impl Entries for Slots {
    fn entry(&mut self, slot: u32) -> &mut Entry {
        &mut self.0[slot as usize].entry
    }

    fn due(&self, slot: u32) -> Duration {
        self.0[slot as usize].due
    }
}

pub(super) struct Calls {
    side: Side,
    /// Calls that the peer allows at a time.
    max_open: usize,
    slots: Slots,
    free: Vec<u32>,
    wheel: Wheel,
    open: usize,
    /// Of these, those whose answer nobody waits for.
    given_up: usize,
    /// Requests of the open calls, as the peer allows.
    requests: Budget,
    /// A call found no room since the last was answered.
    turned_away: bool,
    /// Used again for each timeout.
    expired: Vec<u32>,
}

impl Calls {
    pub(super) fn new(side: Side, peer: &Settings) -> Self {
        Calls {
            side,
            max_open: peer.max_calls.min(MAX_CALLS) as usize,
            slots: Slots::default(),
            free: Vec::new(),
            wheel: Wheel::default(),
            open: 0,
            given_up: 0,
            requests: Budget::new(peer.request_budget),
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
    pub(super) fn open_numbers(&self) -> Vec<u32> {
        let slots = 0..self.slots.0.len() as u32;
        let open = slots.filter(|&slot| self.slots.0[slot as usize].is_open());
        open.map(|slot| self.number(slot)).collect()
    }

    pub(super) fn next_timeout(&self) -> Option<Duration> {
        self.wheel.next_timeout()
    }

    /// Whether calls of this side have this number.
    pub(super) fn are_numbered(&self, number: u32) -> bool {
        self.side.numbers(number)
    }

    fn find(&self, number: u32) -> Option<u32> {
        let index = (number - 1) >> 1;
        let (slot, generation) = (index & (MAX_CALLS - 1), index >> SLOT_BITS);
        let call = self.slots.0.get(slot as usize)?;
        (call.is_open() && call.generation == generation).then_some(slot)
    }

    fn number(&self, slot: u32) -> u32 {
        let generation = self.slots.0[slot as usize].generation;
        let index = generation << SLOT_BITS | slot;
        index * 2 + if self.side == Side::Client { 1 } else { 2 }
    }

    fn call_mut(&mut self, key: CallKey) -> &mut Call {
        &mut self.slots.0[key.slot as usize]
    }

    /// Whether there is room for a call with such a body. It is noted where there is not.
    pub(super) fn find_room(&mut self, body: usize) -> bool {
        let has_room = self.open < self.max_open
            && self.in_use() < MAX_CALLS as usize
            && self.requests.admits(cost(body));
        self.turned_away |= !has_room;
        has_room
    }

    /// Begins a call for which there is room, and gives its number. `due` is when its caller stops waiting.
    pub(super) fn begin(
        &mut self,
        body: usize,
        position: Position,
        due: Option<Duration>,
        flow: Option<Box<Flow>>,
    ) -> (CallKey, u32) {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.0.push(Call::default());
            (self.slots.0.len() - 1) as u32
        });
        let cost = cost(body);
        let call = &mut self.slots.0[slot as usize];
        call.caller = Caller::Waits(None);
        call.answer = Answer::Owed;
        call.cost = cost;
        call.position = position;
        call.flow = flow;
        call.due = due.unwrap_or(Duration::MAX);
        if due.is_some() {
            self.wheel.set(&mut self.slots, slot);
        }
        self.open += 1;
        self.requests.take(cost);
        (CallKey { slot }, self.number(slot))
    }

    /// The outcome of a call, once.
    pub(super) fn poll(&mut self, key: CallKey, waker: &Waker) -> Poll<Result<Body, Error>> {
        let call = self.call_mut(key);
        let has_taken_it = matches!(call.caller, Caller::HasOutcome | Caller::Gone);
        debug_assert!(!has_taken_it, "an outcome is taken once");
        match &mut call.caller {
            Caller::Waits(Some(old)) => old.clone_from(waker),
            Caller::Waits(none) => *none = Some(waker.clone()),
            Caller::IsAnswered(_) => {
                let outcome = std::mem::replace(&mut call.caller, Caller::HasOutcome);
                if let Caller::IsAnswered(outcome) = outcome {
                    return Poll::Ready(outcome);
                }
            }
            Caller::HasOutcome | Caller::Gone => {}
        }
        Poll::Pending
    }

    /// The caller is done with a call. One without an outcome is cancelled. Gives what the items cost that
    /// nobody has read.
    pub(super) fn let_go(&mut self, key: CallKey, outbox: &mut Outbox) -> u64 {
        let call = self.call_mut(key);
        call.caller = Caller::Gone;
        if call.is_open() {
            self.wheel.cancel(&mut self.slots, key.slot);
            self.give_up(key.slot, outbox);
        }
        self.release_if_done(key.slot)
    }

    fn give_up(&mut self, slot: u32, outbox: &mut Outbox) {
        let call = &mut self.slots.0[slot as usize];
        if call.answer == Answer::Owed {
            call.answer = Answer::GivenUp;
            self.given_up += 1;
            outbox.push(Kind::Cancel, 0, self.number(slot), &[]);
        }
    }

    fn release_if_done(&mut self, slot: u32) -> u64 {
        let call = &mut self.slots.0[slot as usize];
        if call.is_open() || !matches!(call.caller, Caller::Gone) {
            return 0;
        }
        call.generation = (call.generation + 1) % GENERATIONS;
        let unread = call.flow.take().map_or(0, |flow| flow.unread());
        self.free.push(slot);
        unread
    }

    /// Ends a call for the one who waits.
    fn conclude(&mut self, slot: u32, outcome: Result<Body, Error>, wakeups: &mut Wakeups) {
        self.wheel.cancel(&mut self.slots, slot);
        let call = &mut self.slots.0[slot as usize];
        if let Caller::Waits(waker) = &mut call.caller {
            wakeups.extend(waker.take());
            call.caller = Caller::IsAnswered(outcome);
        }
        if let Some(flow) = &mut call.flow {
            wakeups.extend(flow.end());
        }
    }

    /// The peer has answered. Gives what the items cost that nobody will read.
    pub(super) fn end(
        &mut self,
        number: u32,
        outcome: Result<Body, Error>,
        wakeups: &mut Wakeups,
    ) -> Result<u64, Violation> {
        let slot = self
            .are_numbered(number)
            .then(|| self.find(number))
            .flatten();
        let slot = slot.ok_or(Violation::NothingAsked)?;
        let call = &mut self.slots.0[slot as usize];
        let answer = std::mem::take(&mut call.answer);
        self.open -= 1;
        self.given_up -= usize::from(answer == Answer::GivenUp);
        self.requests.give(call.cost);
        self.turned_away = false;
        self.conclude(slot, outcome, wakeups);
        Ok(self.release_if_done(slot))
    }

    /// What ERROR means to the caller: when its time is over by its own clock too, that counts,
    /// whichever side noticed first.
    pub(super) fn error(&self, number: u32, status: Status, now: Duration) -> Error {
        let overdue = status.code == Code::DEADLINE_EXCEEDED
            && self
                .find(number)
                .is_some_and(|slot| self.slots.0[slot as usize].due <= now);
        if overdue {
            let may_have_run = !status.is_not_started();
            return Error::DeadlineExceeded { may_have_run };
        }
        Error::Remote(status)
    }

    /// Ends the calls whose time is over, and tells the peer.
    pub(super) fn expire(&mut self, now: Duration, outbox: &mut Outbox, wakeups: &mut Wakeups) {
        let mut expired = std::mem::take(&mut self.expired);
        self.wheel
            .advance(&mut self.slots, now, |_, slot| expired.push(slot));
        for slot in expired.drain(..) {
            let may_have_run = outbox.has_left(self.slots.0[slot as usize].position);
            let outcome = Err(Error::DeadlineExceeded { may_have_run });
            self.conclude(slot, outcome, wakeups);
            self.give_up(slot, outbox);
        }
        self.expired = expired;
    }

    /// The peer is gone: every open call ends.
    pub(super) fn close(&mut self, outbox: &Outbox, wakeups: &mut Wakeups) {
        self.free.clear();
        for slot in 0..self.slots.0.len() as u32 {
            let call = &mut self.slots.0[slot as usize];
            if std::mem::take(&mut call.answer) != Answer::None {
                let may_have_run = outbox.has_left(call.position);
                self.conclude(slot, Err(Error::ConnectionLost { may_have_run }), wakeups);
            }
            if matches!(self.slots.0[slot as usize].caller, Caller::Gone) {
                self.free.push(slot);
            }
        }
        self.open = 0;
        self.given_up = 0;
    }

    /// The items of an open call.
    pub(super) fn open_flow(&mut self, number: u32) -> Option<&mut Flow> {
        let slot = self.find(number)?;
        self.slots.0[slot as usize].flow.as_deref_mut()
    }

    /// The items of a call for its caller, and its number while it is open.
    pub(super) fn flow(&mut self, key: CallKey) -> Option<(Option<u32>, &mut Flow)> {
        let number = self.number(key.slot);
        let call = self.call_mut(key);
        let number = call.is_open().then_some(number);
        Some((number, call.flow.as_deref_mut()?))
    }

    /// The same while items can be sent: the caller waits, and has not said that it sends no more.
    pub(super) fn sending(&mut self, key: CallKey) -> Option<(u32, &mut Flow)> {
        let number = self.number(key.slot);
        let call = self.call_mut(key);
        let waits = matches!(call.caller, Caller::Waits(_));
        let flow = call.flow.as_deref_mut().filter(|flow| !flow.finished)?;
        waits.then_some((number, flow))
    }
}

#[cfg(test)]
mod tests;
