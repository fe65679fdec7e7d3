//! The calls of the peer: what was asked and is not answered, or whose handler has not noticed that
//! nobody waits any more.

use std::collections::VecDeque;
use std::task::{Poll, Waker};
use std::time::Duration;

use super::flow::{Flow, Item};
use super::wire::{Header, Kind, decode_time};
use super::{Body, Connection, Event, NotSent, Violation, cost, failure};
use crate::limits::MAX_GONE;
use crate::status::{Code, Status};

/// Names a call of the peer for its handler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ServedKey {
    slot: usize,
    serial: u64,
}

/// What became of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answered {
    Sent,
    /// Nobody waits any more.
    TooLate,
    TooLarge {
        size: usize,
        limit: usize,
    },
    /// The caller does not read what others answered it.
    NotRead,
}

/// A request for a handler.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) key: ServedKey,
    pub(crate) body: Body,
    pub(crate) due: Option<Duration>,
    pub(crate) streams: bool,
}

/// Requests in the order in which they came. Those that were cancelled meanwhile are still named.
#[derive(Default)]
pub(super) struct Deferred(VecDeque<ServedKey>);

pub(super) struct Served {
    serial: u64,
    /// `None` once answered or cancelled.
    number: Option<u32>,
    /// A handler holds it.
    pub(super) owned: bool,
    /// What it takes of the budget.
    pub(super) cost: u64,
    /// It waits for its handler.
    waiting: Option<(Body, Option<Duration>)>,
    watcher: Option<Waker>,
    pub(super) flow: Option<Box<Flow>>,
}

impl Served {
    /// Nobody waits for the answer any more.
    pub(super) fn abandon(&mut self) -> impl Iterator<Item = Waker> + '_ {
        self.number = None;
        let flow = self.flow.as_mut().map(|flow| flow.end());
        self.watcher
            .take()
            .into_iter()
            .chain(flow.into_iter().flatten())
    }
}

impl Connection {
    pub(super) fn request(
        &mut self,
        header: Header,
        body: Body,
        now: Duration,
    ) -> Result<Event, Violation> {
        let number = header.number;
        if self.numbers.contains_key(&number) {
            return Err(Violation::NotItsNumber);
        }
        let cost = cost(body.len());
        if self.numbers.len() >= self.local.max_calls as usize || !self.requests.admits(cost) {
            return Err(Violation::BeyondCalls);
        }
        if self.going_away.is_announced() {
            self.refuse(number, Code::UNAVAILABLE, "shutting down");
            return Ok(Event::Nothing);
        }
        // Cancelled ones whose handlers have not let go count as well: the peer cannot know.
        if self.served.len() >= self.local.max_calls as usize || !self.requests_held.admits(cost) {
            self.refuse(number, Code::RESOURCE_EXHAUSTED, "too many calls at a time");
            return Ok(Event::Refused);
        }
        self.serial += 1;
        let streams = header.kind == Kind::Open;
        let flow = streams.then(|| Flow::new(self.local.stream_window, self.peer.stream_window));
        let due = decode_time(header.info).map(|time| now + time);
        // One behind another, so that none is overtaken.
        let defer = self.outbox.is_over_budget() || !self.deferred.0.is_empty();
        let mut body = Some(body);
        let waiting = if defer { body.take() } else { None };
        let slot = self.served.insert(Served {
            serial: self.serial,
            number: Some(number),
            owned: !defer,
            cost,
            waiting: waiting.map(|body| (body, due)),
            watcher: None,
            flow,
        });
        self.numbers.insert(number, slot);
        self.requests.take(cost);
        self.requests_held.take(cost);
        let key = ServedKey {
            slot,
            serial: self.serial,
        };
        Ok(match body {
            Some(body) => Event::Request(Asked {
                key,
                body,
                due,
                streams,
            }),
            None => {
                self.deferred.0.push_back(key);
                Event::Deferred
            }
        })
    }

    /// The next request that waited until the peer has read, if it has.
    pub(crate) fn next_request(&mut self, now: Duration) -> Option<Asked> {
        while !self.outbox.is_over_budget() {
            let key = self.deferred.0.pop_front()?;
            let Some(served) = self.served_mut(key) else {
                continue;
            };
            let Some((body, due)) = served.waiting.take() else {
                continue;
            };
            served.owned = true;
            if due.is_some_and(|due| due <= now) {
                let status = Status::from(Code::DEADLINE_EXCEEDED).not_started();
                self.fail(key, &status);
                self.release(key);
                continue;
            }
            let streams = served.flow.is_some();
            return Some(Asked {
                key,
                body,
                due,
                streams,
            });
        }
        None
    }

    #[cfg(test)]
    pub(super) fn deferred_names(&self) -> usize {
        self.deferred.0.len()
    }

    /// Whether requests wait until the peer has read.
    pub(crate) fn has_deferred(&self) -> bool {
        !self.deferred.0.is_empty()
    }

    fn refuse(&mut self, number: u32, code: Code, message: &str) {
        let body = failure::body(&Status::new(code, message), 0);
        self.outbox.push(Kind::Error, 1, number, &body);
    }

    fn served_mut(&mut self, key: ServedKey) -> Option<&mut Served> {
        let served = self.served.get_mut(key.slot)?;
        (served.serial == key.serial).then_some(served)
    }

    /// The number can mean another call from here on. Gives where the call stands.
    fn forget_number(&mut self, number: u32) -> Option<usize> {
        let slot = self.numbers.remove(&number)?;
        self.requests.give(self.served[slot].cost);
        Some(slot)
    }

    /// Ends the peer's call, if somebody still waits for that.
    fn take_number(&mut self, key: ServedKey) -> Option<u32> {
        let number = self.served_mut(key)?.number.take()?;
        self.forget_number(number);
        Some(number)
    }

    pub(crate) fn reply(&mut self, key: ServedKey, body: &[u8]) -> Answered {
        let (size, limit) = (body.len(), self.peer.max_body as usize);
        if size > limit {
            return Answered::TooLarge { size, limit };
        }
        if self.outbox.is_full() {
            return Answered::NotRead;
        }
        match self.take_number(key) {
            Some(number) => {
                self.outbox.push(Kind::Reply, 0, number, body);
                Answered::Sent
            }
            None => Answered::TooLate,
        }
    }

    pub(crate) fn fail(&mut self, key: ServedKey, status: &Status) -> Answered {
        match self.take_number(key) {
            Some(number) => {
                let body = if self.outbox.is_full() {
                    // For programs that is all that matters.
                    failure::body(&Status::from(status.code), 0)
                } else {
                    failure::body(status, self.peer.max_body)
                };
                self.outbox
                    .push(Kind::Error, u8::from(status.not_started), number, &body);
                Answered::Sent
            }
            None => Answered::TooLate,
        }
    }

    /// Answers for a handler that lets go with that: the caller may ask again as soon as it has
    /// the answer, and finds room then.
    pub(crate) fn reply_and_release(&mut self, key: ServedKey, body: &[u8]) -> Answered {
        let answered = self.reply(key, body);
        if matches!(answered, Answered::Sent | Answered::TooLate) {
            self.release(key);
        }
        answered
    }

    /// The same for an error.
    pub(crate) fn fail_and_release(&mut self, key: ServedKey, status: &Status) -> Answered {
        let answered = self.fail(key, status);
        self.release(key);
        answered
    }

    /// The handler lets go.
    pub(crate) fn release(&mut self, key: ServedKey) {
        if self.served_mut(key).is_some() {
            debug_assert!(
                self.served[key.slot].number.is_none(),
                "answered before it is let go"
            );
            self.remove(key.slot);
        }
    }

    fn remove(&mut self, slot: usize) {
        let served = self.served.remove(slot);
        self.requests_held.give(served.cost);
        self.items_taken(served.flow.map_or(0, |flow| flow.unread()));
    }

    /// Whether nobody waits for the answer any more.
    pub(crate) fn is_cancelled(&mut self, key: ServedKey) -> bool {
        self.served_mut(key)
            .is_none_or(|served| served.number.is_none())
    }

    pub(crate) fn poll_cancelled(&mut self, key: ServedKey, waker: &Waker) -> Poll<()> {
        match self.served_mut(key) {
            Some(served) if served.number.is_some() => {
                served.watcher = Some(waker.clone());
                Poll::Pending
            }
            _ => Poll::Ready(()),
        }
    }

    /// CANCEL: answered at once, so that the number is free; the handler is told.
    pub(super) fn cancelled(&mut self, number: u32) {
        let Some(slot) = self.forget_number(number) else {
            return;
        };
        let served = &mut self.served[slot];
        self.wakeups.extend(served.abandon());
        if !served.owned {
            self.remove(slot);
            let (deferred, served) = (&mut self.deferred.0, &self.served);
            if deferred.len() > 2 * served.len() + MAX_GONE {
                let there = |key: &ServedKey| {
                    let served = served.get(key.slot);
                    served.is_some_and(|served| served.serial == key.serial)
                };
                deferred.retain(there);
            }
        }
        let body = failure::body(&Status::from(Code::CANCELLED), 0);
        self.outbox.push(Kind::Error, 0, number, &body);
    }

    pub(super) fn end_of_items(&mut self, number: u32) {
        let slot = self.numbers.get(&number);
        if let Some(flow) = slot.and_then(|slot| self.served[*slot].flow.as_deref_mut()) {
            self.wakeups.extend(flow.end());
        }
    }

    /// The next item of the peer's stream.
    pub(crate) fn poll_served_item(&mut self, key: ServedKey, waker: &Waker) -> Poll<Item> {
        let Some(served) = self.served_mut(key) else {
            return Poll::Ready(Item::End);
        };
        let number = served.number;
        let Some(flow) = &mut served.flow else {
            return Poll::Ready(Item::End);
        };
        let Poll::Ready((item, more)) = flow.poll_next(waker) else {
            return Poll::Pending;
        };
        if let (Some(number), Some(more)) = (number, more) {
            self.outbox
                .push(Kind::Credit, 0, number, &more.to_be_bytes());
        }
        self.items_taken(item.cost());
        Poll::Ready(item)
    }

    /// Sends an item to the caller.
    pub(crate) fn send_served_item(
        &mut self,
        key: ServedKey,
        body: &[u8],
        waker: &Waker,
    ) -> Poll<Result<(), NotSent>> {
        let has_room = match self.check_item(body.len()) {
            Ok(has_room) => has_room,
            Err(error) => return Poll::Ready(Err(error)),
        };
        let Some((number, flow)) = self
            .served_mut(key)
            .and_then(|served| Some((served.number?, served.flow.as_mut()?)))
        else {
            return Poll::Ready(Err(NotSent::Closed));
        };
        if !has_room {
            flow.wait_to_send(waker);
            return Poll::Ready(Err(NotSent::Full));
        }
        if flow.poll_credit(waker).is_pending() {
            return Poll::Pending;
        }
        self.messages.take_item(body.len());
        self.outbox.push(Kind::Item, 0, number, body);
        Poll::Ready(Ok(()))
    }
}
