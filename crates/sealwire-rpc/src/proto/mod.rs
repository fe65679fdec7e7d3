//! One connection, without I/O: messages in, events and messages out. Time is an argument.
//!
//! ```text
//!   call, one_way, reply ─▶ Protocol ─▶ outbox ─▶ the peer
//!   events, outcomes     ◀─ Protocol ◀─ receive ◀─ the peer
//! ```
//!
//! Each call that was begun ends exactly once: with what the peer answers, or when the connection
//! is closed. A call whose caller has lost interest keeps its number until the peer has answered,
//! so a number never means two calls at a time. After warm-up nothing here allocates per message.
//!
//! What a peer can make this side hold is bounded in number and in bytes: its requests, its
//! one-way messages and items, and what it does not read.

mod body;
mod budget;
mod buffers;
mod calling;
mod calls;
mod credit;
mod failure;
mod flow;
mod going_away;
mod messages;
mod metadata;
mod outbox;
mod served;
mod serving;
mod settings;
mod violation;
mod wakeups;
mod wheel;
mod wire;

use std::collections::VecDeque;
use std::task::Waker;
use std::time::Duration;

use sealwire::Frame;

pub use self::body::Body;
use self::budget::{Budget, cost};
pub(crate) use self::calls::CallKey;
use self::calls::Calls;
use self::credit::MessageCredit;
pub(crate) use self::flow::Item;
use self::going_away::{FAREWELL, GoingAway};
pub(crate) use self::metadata::Content;
pub use self::metadata::{Metadata, MetadataError};
use self::outbox::Outbox;
use self::served::ServedCalls;
pub(crate) use self::served::{Asked, Closed, ServedKey};
pub(crate) use self::serving::Answered;
pub(crate) use self::settings::Settings;
pub(crate) use self::violation::Violation;
use self::wakeups::Wakeups;
pub(crate) use self::wheel::TICK;
pub(crate) use self::wire::HEADER;
use self::wire::{Header, Kind};

/// Which numbers a side gives to its calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// Odd ones.
    Client,
    /// Even ones.
    Server,
}

impl Side {
    /// Whether calls of this side have this number.
    fn numbers(self, number: u32) -> bool {
        (number % 2 == 1) == (self == Side::Client)
    }
}

/// Nothing was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotSent {
    /// There may be room later.
    Full,
    GoingAway,
    Closed,
    /// This is a child of the process to which the connection belongs.
    Forked,
    TooLarge {
        size: usize,
        limit: usize,
    },
}

/// What a received message asks of this side.
#[derive(Debug)]
pub(crate) enum CallEvent {
    /// Nothing, or what the wakers say.
    Nothing,
    /// To answer.
    Request(Asked),
    /// To ask for requests with [`Protocol::next_request`] once the peer has read.
    Deferred,
    /// A request was turned away.
    Refused,
    /// To take note.
    OneWay(Body),
    /// The peer takes no more requests.
    GoingAway,
}

/// Bytes held for the peer, each message counted with what it takes beside its own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Held {
    /// Requests that a handler has not let go of.
    pub(crate) requests: usize,
    /// One-way messages and items that nobody has taken.
    pub(crate) unhandled: usize,
    /// Bytes of answers to send.
    pub(crate) answers: usize,
}

/// The protocol on one connection: what either side has asked, what may be under way, and what is to
/// be sent.
pub(crate) struct Protocol {
    local: Settings,
    peer: Settings,
    calls: Calls,
    served: ServedCalls,
    messages: MessageCredit,
    outbox: Outbox,
    wakeups: Wakeups,
    going_away: GoingAway,
}

impl Protocol {
    pub(crate) fn new(side: Side, local: Settings, peer: Settings, answer_budget: usize) -> Self {
        Protocol {
            local,
            peer,
            calls: Calls::new(side, &peer),
            served: ServedCalls::new(&local),
            messages: MessageCredit::new(&local, &peer),
            outbox: Outbox::new(answer_budget, &local),
            wakeups: Wakeups::default(),
            going_away: GoingAway::default(),
        }
    }

    // ---- what is sent ---------------------------------------------------------------------------

    /// Whether the peer is given no more requests to a handler until it has read.
    pub(crate) fn is_over_budget(&self) -> bool {
        self.outbox.is_over_budget()
    }

    pub(crate) fn held(&self) -> Held {
        Held {
            requests: self.served.held() as usize,
            unhandled: self.messages.held() as usize,
            answers: self.outbox.cost(),
        }
    }

    /// Why nothing of this size can be sent now.
    fn check(&self, size: usize) -> Result<(), NotSent> {
        if self.outbox.is_closed() {
            return Err(NotSent::Closed);
        }
        let limit = self.peer.max_body as usize;
        if size > limit {
            return Err(NotSent::TooLarge { size, limit });
        }
        if self.outbox.is_congested() {
            return Err(NotSent::Full);
        }
        Ok(())
    }

    /// Whether there is room for an item of this size, or why it can never be sent.
    fn check_item(&self, size: usize) -> Result<bool, NotSent> {
        match self.check(size) {
            Ok(()) => Ok(self.messages.admits_item(size)),
            Err(NotSent::Full) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Swaps what is to be sent with an empty queue.
    pub(crate) fn take_outbox(&mut self, into: &mut VecDeque<Frame>) {
        if self.outbox.is_congested() {
            self.wakeups.tell_of_room();
        }
        self.outbox.take(into);
    }

    /// What [`take_outbox`](Self::take_outbox) gave was sent but for these, which go first next
    /// time.
    pub(crate) fn put_back(&mut self, left: &mut VecDeque<Frame>) {
        self.outbox.put_back(left);
    }

    /// Messages that left so far.
    pub(crate) fn handed_over(&self) -> u64 {
        self.outbox.handed_over()
    }

    /// Nothing can be sent any more.
    pub(crate) fn drop_outbox(&mut self) {
        self.outbox.clear();
    }

    pub(crate) fn has_output(&self) -> bool {
        !self.outbox.is_empty()
    }

    /// Asks the peer for no more requests; those that come all the same are turned away.
    pub(crate) fn go_away(&mut self) {
        if self.going_away.announce() {
            self.outbox.push(Kind::GoAway, 0, 0, &[]);
            self.wakeups.tell_of_room();
        }
    }

    /// Whether new calls can be made.
    pub(crate) fn takes_calls(&self) -> bool {
        !self.outbox.is_closed() && !self.going_away.has_begun()
    }

    /// Whether nothing is left to be answered, here or there, or to be sent.
    pub(crate) fn is_idle(&self) -> bool {
        let is_done = || self.calls.open() == 0 && self.served.open_calls() == 0;
        self.outbox.is_closed() || is_done() && self.outbox.is_empty()
    }

    /// Whether that is so for good: what the peer sent before it heard that we go is here.
    pub(crate) fn is_finished(&self) -> bool {
        self.outbox.is_closed() || self.has_farewell() && self.is_idle()
    }

    pub(crate) fn has_farewell(&self) -> bool {
        self.going_away.is_acknowledged()
    }

    // ---- what is received -----------------------------------------------------------------------

    pub(crate) fn receive(&mut self, frame: Frame, now: Duration) -> Result<CallEvent, Violation> {
        if self.outbox.is_closed() {
            return Ok(CallEvent::Nothing);
        }
        let header = Header::parse(&frame)?;
        let body = Body::parse(frame, header)?;
        header.check_body(body.len(), self.local.max_body)?;
        if self.outbox.is_not_read() {
            return Err(Violation::NotRead);
        }
        let ours = self.calls.are_numbered(header.number);
        match header.kind {
            Kind::Settings => return Err(Violation::SettingsAgain),
            Kind::OneWay => {
                self.messages.received_message(body.size())?;
                return Ok(CallEvent::OneWay(body));
            }
            Kind::Request | Kind::Open => {
                if ours {
                    return Err(Violation::NotItsNumber);
                }
                return self.request(header, body, now);
            }
            Kind::Reply => self.end_call(header.number, Ok(body))?,
            Kind::Error => {
                let status = failure::read(header.info, &body, self.local.max_body)?;
                let error = self.calls.error(header.number, status, now);
                self.end_call(header.number, Err(error))?;
            }
            Kind::Cancel => self.cancelled(header.number),
            Kind::Item => self.item(header.number, ours, body)?,
            Kind::End => self.end_of_items(header.number),
            Kind::Credit => self.credit(header.number, ours, &body)?,
            Kind::GoAway if header.info & FAREWELL != 0 => self.going_away.acknowledged(),
            Kind::GoAway => {
                if self.going_away.peer_announced() {
                    self.outbox.push(Kind::GoAway, FAREWELL, 0, &[]);
                    self.wakeups.tell_of_room();
                    return Ok(CallEvent::GoingAway);
                }
            }
        }
        Ok(CallEvent::Nothing)
    }

    // ---- for the code that drives this ----------------------------------------------------------------

    pub(crate) fn handle_timeout(&mut self, now: Duration) {
        self.calls.expire(now, &mut self.outbox, &mut self.wakeups);
    }

    pub(crate) fn next_timeout(&self) -> Option<Duration> {
        self.calls.next_timeout()
    }

    /// Whether there is somebody to wake.
    pub(crate) fn has_wakers(&self) -> bool {
        self.wakeups.has_tasks()
    }

    /// Whom to wake; taken into a list that is used again.
    pub(crate) fn take_wakers(&mut self, into: &mut Vec<Waker>) {
        self.wakeups.take_tasks(into);
    }

    /// Whether somebody who waits for room should try again.
    pub(crate) fn take_room(&mut self) -> bool {
        self.wakeups.take_room()
    }

    /// Entries of both tables that are in use, also by those who have not let go yet.
    pub(crate) fn entries(&self) -> usize {
        self.calls.in_use() + self.served.entries()
    }

    /// The connection is gone: everything that is open ends.
    pub(crate) fn close(&mut self) -> Closed {
        if !self.outbox.close() {
            return Closed::default();
        }
        self.wakeups.tell_of_room();
        self.calls.close(&self.outbox, &mut self.wakeups);
        self.served.close(&mut self.wakeups)
    }
}

#[cfg(test)]
mod tests;
