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

mod body;
mod buffers;
mod calls;
mod flow;
mod served;
mod wheel;
mod wire;

use std::collections::{HashMap, VecDeque};
use std::task::Waker;
use std::time::Duration;

use sealwire::Frame;
use slab::Slab;

pub use self::body::Body;
use self::buffers::Buffers;
use self::calls::Calls;
pub(crate) use self::calls::{CallKey, NotSent};
pub(crate) use self::flow::Item;
use self::served::Served;
pub(crate) use self::served::{Answered, ServedKey};
pub(crate) use self::wheel::TICK;
pub(crate) use self::wire::HEADER;
use self::wire::{Header, Kind, SETTINGS_BODY, VERSION};
use crate::status::{Code, Status};

/// Which numbers a side gives to its calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// Odd ones.
    Client,
    /// Even ones.
    Server,
}

/// What one side tells the other at first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Settings {
    /// Calls that the other side may have open at a time.
    pub(crate) max_calls: u32,
    /// One-way messages that may be under way before more are asked for.
    pub(crate) one_way_window: u32,
    /// The same for the items of each stream.
    pub(crate) stream_window: u32,
    /// Bytes of a body.
    pub(crate) max_body: u32,
}

impl Settings {
    /// The first message on a connection.
    pub(crate) fn message(self, hello: &[u8]) -> Frame {
        let mut message = Vec::with_capacity(HEADER + SETTINGS_BODY + hello.len());
        message.extend_from_slice(&Header::new(Kind::Settings, 0, 0).to_bytes());
        message.push(VERSION);
        for value in [
            self.max_calls,
            self.one_way_window,
            self.stream_window,
            self.max_body,
        ] {
            message.extend_from_slice(&value.to_be_bytes());
        }
        message.extend_from_slice(hello);
        message.into()
    }

    /// Reads the first message of the peer, and the bytes that its application put behind.
    pub(crate) fn parse(message: &[u8]) -> Result<(Self, &[u8]), Violation> {
        if Header::parse(message)?.kind != Kind::Settings {
            return Err(Violation::NoSettings);
        }
        let Some((fixed, hello)) = message[HEADER..].split_first_chunk::<SETTINGS_BODY>() else {
            return Err(Violation::Truncated);
        };
        if fixed[0] != VERSION {
            return Err(Violation::Version(fixed[0]));
        }
        let value = |index: usize| {
            let at = 1 + 4 * index;
            u32::from_be_bytes([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]])
        };
        let settings = Settings {
            max_calls: value(0),
            one_way_window: value(1),
            stream_window: value(2),
            max_body: value(3),
        };
        Ok((settings, hello))
    }
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
    #[error("more messages than were asked for")]
    BeyondCredit,
    #[error("a body larger than the limit")]
    TooLarge,
}

impl Violation {
    /// For the monitors of both sides.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Violation::Version(_) => "rpc: no common version of the protocol",
            Violation::TooLarge => "rpc: a body larger than the limit",
            Violation::BeyondCredit => "rpc: more messages than were asked for",
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
    Request {
        key: ServedKey,
        body: Body,
        due: Option<Duration>,
        streams: bool,
    },
    /// To take note.
    OneWay(Body),
    /// The peer takes no more requests.
    GoingAway,
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
    /// One-way messages dealt with since the peer was given more.
    one_way_done: u32,
    outbox: VecDeque<Frame>,
    outbox_bytes: usize,
    /// Messages that were taken out of the outbox and not put back: the peer may have seen them.
    handed_over: u64,
    queued: u64,
    buffers: Buffers,
    wakers: Vec<Waker>,
    /// Somebody who waits for room may look again.
    room: bool,
    we_go_away: bool,
    /// The peer has heard so and asks nothing more.
    farewell: bool,
    peer_goes_away: bool,
    closed: bool,
}

/// In the `info` of GO_AWAY: it answers the other side's, and no more requests follow.
const FAREWELL: u8 = 1;

/// Bytes that may wait to be sent before callers have to wait.
const OUTBOX_BYTES: usize = 1 << 20;
/// The same in messages.
const OUTBOX_MESSAGES: usize = 4_096;

impl Connection {
    pub(crate) fn new(side: Side, local: Settings, peer: Settings) -> Self {
        Connection {
            side,
            local,
            peer,
            calls: Calls::default(),
            served: Slab::new(),
            numbers: HashMap::new(),
            serial: 0,
            one_way_credit: peer.one_way_window,
            one_way_granted: local.one_way_window,
            one_way_done: 0,
            outbox: VecDeque::new(),
            outbox_bytes: 0,
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
        self.outbox_bytes += frame.len();
        self.outbox.push_back(frame);
        self.queued += 1;
    }

    fn congested(&self) -> bool {
        self.outbox_bytes >= OUTBOX_BYTES || self.outbox.len() >= OUTBOX_MESSAGES
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
        if self.congested() {
            return Err(NotSent::Full);
        }
        Ok(())
    }

    /// Swaps what is to be sent with an empty queue.
    pub(crate) fn take_outbox(&mut self, into: &mut VecDeque<Frame>) {
        debug_assert!(into.is_empty(), "what was taken before is sent first");
        self.room |= self.congested();
        std::mem::swap(&mut self.outbox, into);
        self.outbox_bytes = 0;
        // Before they are sent: the peer may act on them, and the connection end, any time now.
        self.handed_over += into.len() as u64;
    }

    /// What [`take_outbox`](Self::take_outbox) gave was sent but for these, which go first next
    /// time.
    pub(crate) fn put_back(&mut self, left: &mut VecDeque<Frame>) {
        self.handed_over -= left.len() as u64;
        if left.is_empty() {
            return;
        }
        left.append(&mut self.outbox);
        std::mem::swap(&mut self.outbox, left);
        self.outbox_bytes = self.outbox.iter().map(|frame| frame.len()).sum();
    }

    /// Nothing can be sent any more.
    pub(crate) fn drop_outbox(&mut self) {
        self.outbox.clear();
        self.outbox_bytes = 0;
    }

    pub(crate) fn has_output(&self) -> bool {
        !self.outbox.is_empty()
    }

    /// Sends a message that nobody answers.
    pub(crate) fn one_way(&mut self, body: &[u8]) -> Result<(), NotSent> {
        self.check(body.len())?;
        if self.we_go_away || self.peer_goes_away {
            return Err(NotSent::GoingAway);
        }
        if self.one_way_credit == 0 {
            return Err(NotSent::Full);
        }
        self.one_way_credit -= 1;
        self.push(Kind::OneWay, 0, 0, body, &[]);
        Ok(())
    }

    /// A received one-way message has been dealt with.
    pub(crate) fn one_way_done(&mut self) {
        self.one_way_done += 1;
        if self.one_way_done >= self.local.one_way_window.div_ceil(2) {
            let credit = std::mem::take(&mut self.one_way_done);
            self.one_way_granted += credit;
            self.push(Kind::Credit, 0, 0, &credit.to_be_bytes(), &[]);
        }
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

    // ---- what is received -----------------------------------------------------------------------

    pub(crate) fn receive(&mut self, frame: Frame, now: Duration) -> Result<Event, Violation> {
        let header = Header::parse(&frame)?;
        if frame.len() - HEADER > self.local.max_body as usize + 4 && header.kind != Kind::Error {
            return Err(Violation::TooLarge);
        }
        let body = Body::of(frame);
        let ours = (header.number % 2 == 1) == (self.side == Side::Client);
        match header.kind {
            Kind::Settings => return Err(Violation::SettingsAgain),
            Kind::OneWay => {
                let left = self.one_way_granted.checked_sub(1);
                self.one_way_granted = left.ok_or(Violation::BeyondCredit)?;
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
                let status = read_status(header.info, &body)?;
                self.end_call(header.number, Err(self.failure(header.number, status, now)))?;
            }
            Kind::Cancel => self.cancelled(header.number),
            Kind::Item if ours => self.item_for_call(header.number, body)?,
            Kind::Item => self.item_for_served(header.number, body)?,
            Kind::End => self.end_of_items(header.number),
            Kind::Credit => {
                let amount = body.first_chunk().ok_or(Violation::Truncated)?;
                self.credit(header.number, ours, u32::from_be_bytes(*amount));
            }
            Kind::GoAway if header.info & FAREWELL != 0 => self.farewell = self.we_go_away,
            Kind::GoAway => {
                if !std::mem::replace(&mut self.peer_goes_away, true) {
                    self.push(Kind::GoAway, FAREWELL, 0, &[], &[]);
                }
                self.room = true;
                return Ok(Event::GoingAway);
            }
        }
        Ok(Event::Nothing)
    }

    fn credit(&mut self, number: u32, ours: bool, amount: u32) {
        if number == 0 {
            self.one_way_credit = self.one_way_credit.saturating_add(amount);
            self.room = true;
            return;
        }
        let flow = if ours {
            self.calls.flow_mut(number)
        } else {
            let slot = self.numbers.get(&number);
            slot.and_then(|slot| self.served[*slot].flow.as_deref_mut())
        };
        if let Some(flow) = flow {
            self.wakers.extend(flow.credited(amount));
        }
    }

    // ---- for whoever drives this ----------------------------------------------------------------

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

    /// Whether somebody who waits for room should look again.
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
        for (_, served) in &mut self.served {
            self.wakers.extend(served.abandon());
        }
        let (calls, served) = (&mut self.calls, &mut self.served);
        calls.release_unowned();
        served.retain(|_, served| served.owned);
    }
}

/// ERROR: code, length of the message, message, details.
fn status_body(status: &Status) -> Vec<u8> {
    let mut end = status.message.len().min(usize::from(u16::MAX));
    while !status.message.is_char_boundary(end) {
        end -= 1;
    }
    let message = &status.message.as_bytes()[..end];
    let mut body = Vec::with_capacity(4 + message.len() + status.details.len());
    body.extend_from_slice(&status.code.0.to_be_bytes());
    body.extend_from_slice(&(message.len() as u16).to_be_bytes());
    body.extend_from_slice(message);
    body.extend_from_slice(&status.details);
    body
}

fn read_status(info: u8, body: &[u8]) -> Result<Status, Violation> {
    let Some((&[a, b, c, d], rest)) = body.split_first_chunk() else {
        return Err(Violation::Truncated);
    };
    let length = usize::from(u16::from_be_bytes([c, d]));
    let Some((message, details)) = rest.split_at_checked(length) else {
        return Err(Violation::Truncated);
    };
    let mut status = Status::new(
        Code(u16::from_be_bytes([a, b])),
        String::from_utf8_lossy(message),
    );
    status.details = details.to_vec();
    status.not_started = info & 1 == 1;
    Ok(status)
}

#[cfg(test)]
mod tests;
