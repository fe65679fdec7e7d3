//! What waits to be sent, what it costs, and how much of it has left.

use std::collections::VecDeque;

use sealwire::Frame;

use super::Settings;
use super::buffers::Buffers;
use super::metadata::Content;
use super::wire::{HEADER, Header, Kind};
use crate::limits::{
    ANSWERS_UNDER_WAY, CONTROL_PER_CALL, MESSAGE_COST, OUTBOX_BYTES, OUTBOX_MESSAGES,
};

/// The largest message that the protocol makes by itself.
const LARGEST_CONTROL: usize = HEADER + 64;

/// Where a message stands among all that are ever sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Position(u64);

pub(super) struct Outbox {
    state: State,
    frames: VecDeque<Frame>,
    cost: usize,
    /// Of what was taken out and may come back: it is held as long as the socket has not taken it.
    in_hand: usize,
    /// Of `cost`, what the protocol sends by itself because of what the peer sent.
    control: usize,
    bounds: Bounds,
    /// Messages queued so far.
    queued: u64,
    /// Messages that were taken out and not put back: the peer may have seen them.
    handed_over: u64,
    buffers: Buffers,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    /// The connection is gone: what is queued now is dropped.
    Closed,
}

/// Limits on the messages that a peer does not read, in bytes of cost.
struct Bounds {
    /// From here on no more requests are given to handlers.
    answers: usize,
    /// From here on not even what handlers that run already answer is kept.
    under_way: usize,
    /// More than this of what the protocol sends by itself ends the connection.
    control: usize,
}

impl Bounds {
    fn new(answers: usize, local: &Settings) -> Self {
        let under_way = ANSWERS_UNDER_WAY.saturating_mul(local.max_body as usize);
        let control = CONTROL_PER_CALL.saturating_mul(local.max_calls as usize);
        Bounds {
            answers,
            under_way: answers.saturating_add(under_way),
            control: answers.saturating_add(control),
        }
    }
}

fn cost(frame: &Frame) -> usize {
    frame.len() + MESSAGE_COST
}

/// The cost of a frame that no application makes or answers.
fn control(frame: &Frame) -> usize {
    let by_itself =
        frame.len() <= LARGEST_CONTROL && frame.first().is_some_and(|&kind| Kind::is_control(kind));
    if by_itself { cost(frame) } else { 0 }
}

impl Outbox {
    /// `answers` bytes of answers may wait before requests do.
    pub(super) fn new(answers: usize, local: &Settings) -> Self {
        Outbox {
            state: State::Open,
            frames: VecDeque::new(),
            cost: 0,
            in_hand: 0,
            control: 0,
            bounds: Bounds::new(answers, local),
            queued: 0,
            handed_over: 0,
            buffers: Buffers::default(),
        }
    }

    pub(super) fn push(&mut self, kind: Kind, info: u8, number: u32, body: &[u8]) {
        self.push_content(kind, info, number, Content::plain(body));
    }

    /// The same, with metadata if there is some.
    pub(super) fn push_content(&mut self, kind: Kind, info: u8, number: u32, content: Content<'_>) {
        if self.state == State::Closed {
            return;
        }
        let header = Header::new(kind, info, number);
        let frame = self.buffers.message(header, content);
        self.cost += cost(&frame);
        self.control += control(&frame);
        self.frames.push_back(frame);
        self.queued += 1;
    }

    /// Whether callers have to wait.
    pub(super) fn is_congested(&self) -> bool {
        self.cost >= OUTBOX_BYTES || self.frames.len() >= OUTBOX_MESSAGES
    }

    /// Whether the peer is given no more requests to a handler until it has read.
    pub(super) fn is_over_budget(&self) -> bool {
        self.cost + self.in_hand >= self.bounds.answers
    }

    /// Whether not even what handlers that run already answer is kept.
    pub(super) fn is_full(&self) -> bool {
        self.cost + self.in_hand >= self.bounds.under_way
    }

    /// Whether more waits than a peer that reads can cause.
    pub(super) fn is_not_read(&self) -> bool {
        self.control > self.bounds.control
    }

    /// Bytes held, each message counted with what it takes beside its own.
    pub(super) fn cost(&self) -> usize {
        self.cost
    }

    pub(super) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Where the next message will stand.
    pub(super) fn next_position(&self) -> Position {
        Position(self.queued)
    }

    /// Whether the peer may have seen the message that stands here.
    pub(super) fn has_left(&self, position: Position) -> bool {
        position.0 < self.handed_over
    }

    /// Messages that left so far.
    pub(super) fn handed_over(&self) -> u64 {
        self.handed_over
    }

    /// Swaps what there is with an empty queue. [`put_back`](Self::put_back) says what became of it.
    pub(super) fn take(&mut self, into: &mut VecDeque<Frame>) {
        debug_assert!(into.is_empty(), "what was taken before is sent first");
        std::mem::swap(&mut self.frames, into);
        self.in_hand = self.cost;
        (self.cost, self.control) = (0, 0);
        // Before they are sent: the peer may act on them, and the connection end, any time now.
        self.handed_over += into.len() as u64;
    }

    /// Puts in front what was taken and not sent, and leaves an empty queue.
    pub(super) fn put_back(&mut self, left: &mut VecDeque<Frame>) {
        self.in_hand = 0;
        if left.is_empty() {
            return;
        }
        self.handed_over -= left.len() as u64;
        self.cost += left.iter().map(cost).sum::<usize>();
        self.control += left.iter().map(control).sum::<usize>();
        left.append(&mut self.frames);
        std::mem::swap(&mut self.frames, left);
    }

    /// Nothing of it can be sent any more.
    pub(super) fn clear(&mut self) {
        self.frames = VecDeque::new();
        (self.cost, self.control) = (0, 0);
    }

    /// Nothing is sent any more. `false` where that was so before.
    pub(super) fn close(&mut self) -> bool {
        let is_first = !self.is_closed();
        self.state = State::Closed;
        if is_first {
            self.clear();
        }
        is_first
    }

    pub(super) fn is_closed(&self) -> bool {
        self.state == State::Closed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCAL: Settings = Settings {
        max_calls: 2,
        one_way_window: 1,
        stream_window: 1,
        max_body: 100,
        request_budget: 0,
        message_budget: 0,
    };

    /// Bytes of a message without a body, as they are counted.
    const EMPTY: usize = HEADER + MESSAGE_COST;

    fn outbox() -> Outbox {
        Outbox::new(1_000, &LOCAL)
    }

    #[test]
    fn a_message_has_left_unless_it_was_put_back() {
        let mut outbox = outbox();
        let positions: Vec<_> = (1..=3)
            .map(|number| {
                let position = outbox.next_position();
                outbox.push(Kind::Request, 0, number, b"");
                position
            })
            .collect();
        let has_left = |outbox: &Outbox| {
            let left = positions.iter().map(|&position| outbox.has_left(position));
            left.collect::<Vec<_>>()
        };
        assert_eq!(has_left(&outbox), [false; 3]);
        let mut frames = VecDeque::new();
        outbox.take(&mut frames);
        assert_eq!(has_left(&outbox), [true; 3]);
        assert!(outbox.is_empty() && outbox.cost() == 0);
        // One was sent, and another one is queued meanwhile.
        frames.pop_front();
        outbox.push(Kind::Request, 0, 4, b"");
        outbox.put_back(&mut frames);
        assert_eq!(has_left(&outbox), [true, false, false]);
        assert_eq!((outbox.handed_over(), outbox.cost()), (1, 3 * EMPTY));
        outbox.take(&mut frames);
        let numbers: Vec<_> = frames.iter().map(|frame| frame[5]).collect();
        assert_eq!(numbers, [2, 3, 4]);
    }

    #[test]
    fn answers_wait_up_to_their_budget_and_those_under_way_beyond() {
        let mut outbox = outbox();
        let reply = |outbox: &mut Outbox| outbox.push(Kind::Reply, 0, 1, &[0; 100]);
        while !outbox.is_over_budget() {
            reply(&mut outbox);
        }
        assert_eq!(outbox.cost(), 1_000_usize.next_multiple_of(EMPTY + 100));
        while !outbox.is_full() {
            reply(&mut outbox);
        }
        let limit = 1_000 + ANSWERS_UNDER_WAY * 100;
        assert_eq!(outbox.cost(), limit.next_multiple_of(EMPTY + 100));
        assert!(!outbox.is_not_read(), "an application says them");
    }

    /// A thread may have it in its hands for long, and bring all of it back.
    #[test]
    fn what_was_taken_counts_until_the_socket_has_it() {
        for is_sent in [true, false] {
            let mut outbox = outbox();
            while !outbox.is_full() {
                outbox.push(Kind::Reply, 0, 1, &[0; 100]);
            }
            let mut frames = VecDeque::new();
            outbox.take(&mut frames);
            assert!(outbox.is_empty() && outbox.is_over_budget() && outbox.is_full());
            if is_sent {
                frames.clear();
            }
            outbox.put_back(&mut frames);
            assert_eq!(outbox.is_over_budget(), !is_sent);
            assert_eq!(outbox.is_full(), !is_sent);
        }
    }

    #[test]
    fn what_the_protocol_says_by_itself_is_bounded_apart() {
        let mut outbox = outbox();
        let mut count = 0;
        while !outbox.is_not_read() {
            outbox.push(Kind::Cancel, 0, 1, b"");
            count += 1;
        }
        assert_eq!(count, (1_000 + 2 * CONTROL_PER_CALL) / EMPTY + 1);
        // Taken and put back it counts as before.
        let mut frames = VecDeque::new();
        outbox.take(&mut frames);
        assert!(!outbox.is_not_read());
        outbox.put_back(&mut frames);
        assert!(outbox.is_not_read());
    }

    #[test]
    fn callers_wait_while_too_many_messages_do() {
        let mut outbox = outbox();
        for _ in 0..OUTBOX_MESSAGES {
            assert!(!outbox.is_congested());
            outbox.push(Kind::OneWay, 0, 0, b"");
        }
        assert!(outbox.is_congested());
        outbox.clear();
        assert!(!outbox.is_congested() && !outbox.is_closed());
    }

    #[test]
    fn a_closed_one_keeps_nothing() {
        let mut outbox = outbox();
        outbox.push(Kind::OneWay, 0, 0, b"");
        assert!(outbox.close() && !outbox.close() && outbox.is_closed());
        outbox.push(Kind::OneWay, 0, 0, b"");
        assert!(outbox.is_empty() && outbox.cost() == 0);
    }
}
