//! Requests of the peer and their answers.

use std::task::{Poll, Waker};
use std::time::Duration;

use super::flow::{Flow, Item};
use super::wire::{Header, Kind, decode_time};
use super::{Asked, Body, CallEvent, NotSent, Protocol, ServedKey, Violation, failure};
use crate::status::{Code, Status};

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

impl Protocol {
    pub(super) fn request(
        &mut self,
        header: Header,
        body: Body,
        now: Duration,
    ) -> Result<CallEvent, Violation> {
        let number = header.number;
        self.served.check(number, body.size())?;
        if self.going_away.is_announced() {
            self.refuse(number, Code::UNAVAILABLE, "shutting down");
            return Ok(CallEvent::Nothing);
        }
        if !self.served.has_room(body.size()) {
            self.refuse(number, Code::RESOURCE_EXHAUSTED, "too many calls at a time");
            return Ok(CallEvent::Refused);
        }
        let streams = header.kind == Kind::Open;
        let flow = streams.then(|| Flow::new(self.local.stream_window, self.peer.stream_window));
        let due = decode_time(header.info).map(|time| now + time);
        let must_wait = self.outbox.is_over_budget();
        Ok(self.served.admit(number, body, due, flow, must_wait))
    }

    /// The next request that waited until the peer has read, if it has.
    pub(crate) fn next_request(&mut self, now: Duration) -> Option<Asked> {
        while !self.outbox.is_over_budget() {
            let asked = self.served.next_deferred()?;
            if asked.due.is_none_or(|due| due > now) {
                return Some(asked);
            }
            let status = Status::from(Code::DEADLINE_EXCEEDED).not_started();
            self.fail_and_release(asked.key, &status);
        }
        None
    }

    /// Whether requests wait until the peer has read.
    pub(crate) fn has_deferred(&self) -> bool {
        self.served.deferred() > 0
    }

    fn refuse(&mut self, number: u32, code: Code, message: &str) {
        let body = failure::body(&Status::new(code, message), 0);
        self.outbox.push(Kind::Error, 1, number, &body);
    }

    pub(crate) fn reply(&mut self, key: ServedKey, body: &[u8]) -> Answered {
        let (size, limit) = (body.len(), self.peer.max_body as usize);
        if size > limit {
            return Answered::TooLarge { size, limit };
        }
        if self.outbox.is_full() {
            return Answered::NotRead;
        }
        match self.served.conclude(key) {
            Some(number) => {
                self.outbox.push(Kind::Reply, 0, number, body);
                Answered::Sent
            }
            None => Answered::TooLate,
        }
    }

    pub(crate) fn fail(&mut self, key: ServedKey, status: &Status) -> Answered {
        match self.served.conclude(key) {
            Some(number) => {
                let body = if self.outbox.is_full() {
                    // For programs that is all that matters.
                    failure::body(&Status::from(status.code), 0)
                } else {
                    failure::body(status, self.peer.max_body)
                };
                let not_started = u8::from(status.not_started);
                self.outbox.push(Kind::Error, not_started, number, &body);
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
        let unread = self.served.release(key);
        self.items_taken(unread);
    }

    /// Whether nobody waits for the answer any more.
    pub(crate) fn is_cancelled(&mut self, key: ServedKey) -> bool {
        self.served.is_cancelled(key)
    }

    pub(crate) fn poll_cancelled(&mut self, key: ServedKey, waker: &Waker) -> Poll<()> {
        self.served.poll_cancelled(key, waker)
    }

    /// CANCEL: answered at once, so that the number is free; the handler is told.
    pub(super) fn cancelled(&mut self, number: u32) {
        if let Some(unread) = self.served.cancel(number, &mut self.wakeups) {
            self.items_taken(unread);
            let body = failure::body(&Status::from(Code::CANCELLED), 0);
            self.outbox.push(Kind::Error, 0, number, &body);
        }
    }

    pub(super) fn end_of_items(&mut self, number: u32) {
        if let Some(flow) = self.served.open_flow(number) {
            self.wakeups.extend(flow.end());
        }
    }

    /// The next item of the peer's stream.
    pub(crate) fn poll_served_item(&mut self, key: ServedKey, waker: &Waker) -> Poll<Item> {
        let Some((number, flow)) = self.served.flow(key) else {
            return Poll::Ready(Item::End);
        };
        let Poll::Ready((item, more)) = flow.poll_next(waker) else {
            return Poll::Pending;
        };
        if let (Some(number), Some(more)) = (number, more) {
            self.credit_items(number, more);
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
        let Some((Some(number), flow)) = self.served.flow(key) else {
            return Poll::Ready(Err(NotSent::Closed));
        };
        let sent = flow.poll_to_send(has_room, waker);
        if sent == Poll::Ready(Ok(())) {
            self.push_item(number, body);
        }
        sent
    }
}
