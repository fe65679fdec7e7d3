//! One connection, without I/O: messages in, events and messages out. Time is an argument.
//!
//! ```text
//!   call, one_way, reply ─▶ Connection ─▶ outbox ─▶ the peer
//!   events, outcomes    ◀─ Connection ◀─ receive ◀─ the peer
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
mod calls;
mod failure;
mod flow;
mod messages;
mod outbox;
mod served;
mod settings;
mod wheel;
mod wire;

use std::collections::{HashMap, VecDeque};
use std::task::Waker;
use std::time::Duration;

use sealwire::Frame;
use slab::Slab;

pub use self::body::Body;
use self::budget::{Budget, Incoming, cost};
use self::buffers::Buffers;
use self::calls::Calls;
pub(crate) use self::calls::{CallKey, NotSent};
pub(crate) use self::flow::Item;
use self::outbox::Outbox;
pub(crate) use self::served::{Answered, Asked, ServedKey};
use self::served::{Deferred, Served};
pub(crate) use self::settings::Settings;
pub(crate) use self::wheel::TICK;
pub(crate) use self::wire::HEADER;
use self::wire::{Header, Kind};
use crate::limits::{ANSWERS_UNDER_WAY, CONTROL_PER_CALL};

/// Which numbers a side gives to its calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// Odd ones.
    Client,
    /// Even ones.
    Server,
}

/// The peer does not speak the protocol: its connection is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Violation {
    #[error("a message is shorter than its fixed part")]
    Truncated,
    #[error("unknown kind of message {0}")]
    UnknownKind(u8),
    #[error("a message with the number {0}, which its kind cannot have")]
    Number(u32),
    #[error("the first message is not SETTINGS")]
    NoSettings,
    #[error("SETTINGS a second time")]
    SettingsAgain,
    #[error("version {0} of the protocol, which is not known here")]
    Version(u8),
    #[error("a request with a number of this side, or one in use")]
    NotItsNumber,
    #[error("an answer to a call that is not open")]
    NothingAsked,
    #[error("more messages, or bytes of them, than were asked for")]
    BeyondCredit,
    #[error("more calls at a time, or bytes of them, than are allowed")]
    BeyondCalls,
    #[error("a body where there is none")]
    UnexpectedBody,
    #[error("nothing that was sent is read")]
    NotRead,
    #[error("calls that were given up are not answered")]
    NotAnswered,
    #[error("a body larger than the limit")]
    TooLarge,
}

impl Violation {
    /// What there was too much of.
    pub(crate) fn kind(self) -> Option<sealwire::account::Kind> {
        match self {
            Violation::BeyondCredit => Some(sealwire::account::Kind::Unhandled),
            Violation::BeyondCalls => Some(sealwire::account::Kind::Requests),
            _ => None,
        }
    }

    /// For the monitors of both sides.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Violation::Version(_) => "rpc: no common version of the protocol",
            Violation::TooLarge => "rpc: a body larger than the limit",
            Violation::BeyondCredit => "rpc: more messages than were asked for",
            Violation::BeyondCalls => "rpc: more calls at a time than are allowed",
            Violation::NotRead => "rpc: answers are not read",
            Violation::NotAnswered => "rpc: calls that were given up are not answered",
            _ => "rpc: protocol violated",
        }
    }
}

/// What a received message asks of this side.
#[derive(Debug)]
pub(crate) enum Event {
    /// Nothing, or what the wakers say.
    Nothing,
    /// To answer.
    Request(Asked),
    /// To ask for requests with [`Connection::next_request`] once the peer has read.
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

pub(crate) struct Connection {
    side: Side,
    local: Settings,
    peer: Settings,
    calls: Calls,
    /// What the peer has asked and this side has not let go of.
    served: Slab<Served>,
    /// Where the numbers of the peer's open calls stand in `served`.
    numbers: HashMap<u32, usize>,
    serial: u64,
    /// One-way messages that may be sent.
    one_way_credit: u32,
    /// One-way messages that the peer may still send.
    one_way_granted: u32,
    /// One-way messages handled since the peer was given more.
    one_way_done: u32,
    /// One-way messages and items that the peer sends.
    incoming: Incoming,
    /// The same of this side.
    outgoing: Budget,
    /// Requests of the calls that the peer has open.
    requests: Budget,
    /// Requests in `served`.
    requests_held: Budget,
    /// Requests that wait until the peer has read.
    deferred: Deferred,
    outbox: Outbox,
    answer_budget: usize,
    /// Messages that were taken out of the outbox and not put back: the peer may have seen them.
    handed_over: u64,
    queued: u64,
    buffers: Buffers,
    wakers: Vec<Waker>,
    /// Somebody who waits for room may try again.
    room: bool,
    we_go_away: bool,
    /// The peer has heard so and asks nothing more.
    farewell: bool,
    peer_goes_away: bool,
    closed: bool,
}

/// In the `info` of GO_AWAY: it answers the other side's, and no more requests follow.
const FAREWELL: u8 = 1;

impl Connection {
    pub(crate) fn new(side: Side, local: Settings, peer: Settings, answer_budget: usize) -> Self {
        Connection {
            side,
            local,
            peer,
            calls: Calls::new(peer.request_budget),
            served: Slab::new(),
            numbers: HashMap::new(),
            serial: 0,
            one_way_credit: peer.one_way_window,
            one_way_granted: local.one_way_window,
            one_way_done: 0,
            incoming: Incoming::new(local.message_budget, local.max_body),
            outgoing: Budget::new(peer.message_budget),
            requests: Budget::new(local.request_budget),
            requests_held: Budget::new(local.request_budget),
            deferred: Deferred::default(),
            outbox: Outbox::default(),
            answer_budget,
            handed_over: 0,
            queued: 0,
            buffers: Buffers::default(),
            wakers: Vec::new(),
            room: false,
            we_go_away: false,
            farewell: false,
            peer_goes_away: false,
            closed: false,
        }
    }

    // ---- what is sent ---------------------------------------------------------------------------

    fn push(&mut self, kind: Kind, info: u8, number: u32, body: &[u8], rest: &[u8]) {
        if self.closed {
            return;
        }
        let frame = self
            .buffers
            .message(Header::new(kind, info, number), body, rest);
        self.outbox.push(frame);
        self.queued += 1;
    }

    /// Whether the peer is given no more requests to a handler until it has read.
    pub(crate) fn is_over_budget(&self) -> bool {
        self.outbox.cost() >= self.answer_budget
    }

    /// Whether not even what handlers that run already answer is kept.
    fn is_full(&self) -> bool {
        let under_way = ANSWERS_UNDER_WAY.saturating_mul(self.local.max_body as usize);
        self.outbox.cost() >= self.answer_budget.saturating_add(under_way)
    }

    fn control_limit(&self) -> usize {
        let calls = CONTROL_PER_CALL.saturating_mul(self.local.max_calls as usize);
        self.answer_budget.saturating_add(calls)
    }

    pub(crate) fn held(&self) -> Held {
        Held {
            requests: self.requests_held.used() as usize,
            unhandled: self.incoming.held() as usize,
            answers: self.outbox.cost(),
        }
    }

    /// Why nothing of this size can be sent now.
    fn check(&self, size: usize) -> Result<(), NotSent> {
        if self.closed {
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
            Ok(()) => Ok(self.outgoing.admits(cost(size))),
            Err(NotSent::Full) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Swaps what is to be sent with an empty queue.
    pub(crate) fn take_outbox(&mut self, into: &mut VecDeque<Frame>) {
        self.room |= self.outbox.is_congested();
        self.outbox.take(into);
        // Before they are sent: the peer may act on them, and the connection end, any time now.
        self.handed_over += into.len() as u64;
    }

    /// What [`take_outbox`](Self::take_outbox) gave was sent but for these, which go first next
    /// time.
    pub(crate) fn put_back(&mut self, left: &mut VecDeque<Frame>) {
        self.handed_over -= left.len() as u64;
        if !left.is_empty() {
            self.outbox.put_back(left);
        }
    }

    /// Messages that left so far.
    pub(crate) fn handed_over(&self) -> u64 {
        self.handed_over
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
        if !std::mem::replace(&mut self.we_go_away, true) {
            self.push(Kind::GoAway, 0, 0, &[], &[]);
            self.room = true;
        }
    }

    /// Whether new calls can be made.
    pub(crate) fn takes_calls(&self) -> bool {
        !self.closed && !self.we_go_away && !self.peer_goes_away
    }

    /// Whether nothing is left to be answered, here or there, or to be sent.
    pub(crate) fn is_idle(&self) -> bool {
        self.closed || self.calls.open() == 0 && self.numbers.is_empty() && self.outbox.is_empty()
    }

    /// Whether that is so for good: what the peer sent before it heard that we go is here.
    pub(crate) fn is_finished(&self) -> bool {
        self.closed || self.farewell && self.is_idle()
    }

    pub(crate) fn has_farewell(&self) -> bool {
        self.farewell
    }

    // ---- what is received -----------------------------------------------------------------------

    pub(crate) fn receive(&mut self, frame: Frame, now: Duration) -> Result<Event, Violation> {
        if self.closed {
            return Ok(Event::Nothing);
        }
        let header = Header::parse(&frame)?;
        header.check_body(frame.len() - HEADER, self.local.max_body)?;
        if self.outbox.control() > self.control_limit() {
            return Err(Violation::NotRead);
        }
        let body = Body::of(frame);
        let ours = (header.number % 2 == 1) == (self.side == Side::Client);
        match header.kind {
            Kind::Settings => return Err(Violation::SettingsAgain),
            Kind::OneWay => {
                let left = self.one_way_granted.checked_sub(1);
                self.one_way_granted = left.ok_or(Violation::BeyondCredit)?;
                if !self.incoming.received(cost(body.len())) {
                    return Err(Violation::BeyondCredit);
                }
                return Ok(Event::OneWay(body));
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
                self.end_call(header.number, Err(self.failure(header.number, status, now)))?;
            }
            Kind::Cancel => self.cancelled(header.number),
            Kind::Item => self.item(header.number, ours, body)?,
            Kind::End => self.end_of_items(header.number),
            Kind::Credit => {
                let (amount, bytes) = body.split_first_chunk().ok_or(Violation::Truncated)?;
                let bytes = bytes
                    .first_chunk()
                    .map_or(0, |bytes| u32::from_be_bytes(*bytes));
                self.outgoing.give(bytes.into());
                self.credit(header.number, ours, u32::from_be_bytes(*amount));
            }
            Kind::GoAway if header.info & FAREWELL != 0 => self.farewell = self.we_go_away,
            Kind::GoAway if self.peer_goes_away => {}
            Kind::GoAway => {
                self.peer_goes_away = true;
                self.push(Kind::GoAway, FAREWELL, 0, &[], &[]);
                self.room = true;
                return Ok(Event::GoingAway);
            }
        }
        Ok(Event::Nothing)
    }

    // ---- for the code that drives this ----------------------------------------------------------------

    pub(crate) fn handle_timeout(&mut self, now: Duration) {
        let mut expired = std::mem::take(&mut self.calls.expired);
        self.calls.expire(now, &mut expired);
        for slot in expired.drain(..) {
            self.call_expired(slot);
        }
        self.calls.expired = expired;
    }

    pub(crate) fn next_timeout(&self) -> Option<Duration> {
        self.calls.next_timeout()
    }

    /// Whether there is somebody to wake.
    pub(crate) fn has_wakers(&self) -> bool {
        !self.wakers.is_empty()
    }

    /// Whom to wake; taken into a list that is used again.
    pub(crate) fn take_wakers(&mut self, into: &mut Vec<Waker>) {
        into.append(&mut self.wakers);
    }

    /// Whether somebody who waits for room should try again.
    pub(crate) fn take_room(&mut self) -> bool {
        std::mem::take(&mut self.room)
    }

    /// Calls without an answer so far.
    pub(crate) fn open_calls(&self) -> usize {
        self.calls.open()
    }

    /// Entries of both tables that are in use, also by those who have not let go yet.
    pub(crate) fn entries(&self) -> usize {
        self.calls.in_use() + self.served.len()
    }

    /// The connection is gone: everything that is open ends.
    pub(crate) fn close(&mut self) {
        if std::mem::replace(&mut self.closed, true) {
            return;
        }
        self.room = true;
        self.drop_outbox();
        self.calls.fail_all(self.handed_over, &mut self.wakers);
        self.numbers.clear();
        self.deferred = Deferred::default();
        for (_, served) in &mut self.served {
            self.wakers.extend(served.abandon());
        }
        self.calls.release_unowned();
        let held = &mut self.requests_held;
        self.served.retain(|_, served| {
            if !served.owned {
                held.give(served.cost);
            }
            served.owned
        });
    }
}

#[cfg(test)]
mod tests;
