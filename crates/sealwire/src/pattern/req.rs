//! REQ: one request, one answer, in strict alternation (RFC 28).
//!
//! The answer is taken only from the peer that got the request. When that peer goes away the
//! request is lost: `receive` says so and the socket may send again, where libzmq would wait
//! for ever.

use sealwire_zmtp::{Frame, Message as Frames};

use super::item::Item;
use super::pipes::{PipeId, Pipes};
use super::round_robin::RoundRobin;
use super::{Delivery, Pattern, Received, SendFailure};
use crate::entropy;
use crate::error::{Error, StateError};
use crate::options::SocketOptions;

enum State {
    Idle,
    /// Accepted for sending before any peer was there.
    Waiting(Frames),
    Sent(PipeId),
    /// The answer is in the pipe's inbound queue.
    Answered(PipeId),
    Lost,
}

pub(crate) struct Req {
    state: State,
    /// A number in front of each request, that its answer must bring back.
    correlate: bool,
    /// A new request gives up the one before.
    relaxed: bool,
    request: u32,
    outbound: RoundRobin,
    expecting: bool,
}

impl Req {
    pub(crate) fn new(options: &SocketOptions) -> Self {
        Req {
            state: State::Idle,
            correlate: options.behaviour.request_correlate,
            relaxed: options.behaviour.request_relaxed,
            // A start that differs keeps the answers to an earlier socket from fitting.
            request: entropy::below(u64::from(u32::MAX)) as u32,
            outbound: RoundRobin::new(options),
            expecting: false,
        }
    }

    fn number(&self) -> [u8; 4] {
        self.request.to_be_bytes()
    }

    /// Sends the waiting request if a peer can take it.
    fn advance(&mut self, pipes: &mut Pipes) {
        self.state = match std::mem::replace(&mut self.state, State::Idle) {
            State::Waiting(frames) => match self.outbound.send(pipes, frames) {
                Ok(Some(id)) => State::Sent(id),
                Ok(None) => unreachable!("the backlog of REQ is never used"),
                Err(frames) => State::Waiting(frames),
            },
            other => other,
        };
    }
}

impl Pattern for Req {
    fn attached(&mut self, pipes: &mut Pipes, id: PipeId) -> Result<(), &'static str> {
        self.outbound.attach(pipes, id);
        self.advance(pipes);
        Ok(())
    }

    fn detached(&mut self, pipes: &mut Pipes, id: PipeId, mut unsent: Vec<Frames>) -> usize {
        self.outbound.detach(pipes, id, Vec::new());
        if matches!(self.state, State::Sent(sent) if sent == id) {
            // A request that never left may go to another peer; one that did may have been acted on.
            self.state = match unsent.pop() {
                Some(frames) => State::Waiting(frames),
                None => State::Lost,
            };
            self.advance(pipes);
        }
        0
    }

    fn delivered(&mut self, pipes: &mut Pipes, id: PipeId, item: Item) -> Delivery {
        let Item::Message(mut frames) = item else {
            return Delivery::Ignored;
        };
        let expected = matches!(self.state, State::Sent(sent) if sent == id);
        // What REQ put in front comes back in front of the answer.
        let numbered = !self.correlate
            || frames
                .pop_front()
                .is_some_and(|frame| frame.as_slice() == self.number());
        let delimited = frames.pop_front().is_some_and(|frame| frame.is_empty());
        if !expected || !numbered || !delimited || frames.is_empty() {
            return Delivery::Ignored;
        }
        pipes.push_inbound(id, frames);
        self.state = State::Answered(id);
        Delivery::Queued
    }

    fn send(&mut self, pipes: &mut Pipes, mut frames: Frames) -> Result<usize, SendFailure> {
        if !self.relaxed && !matches!(self.state, State::Idle) {
            return Err(SendFailure::failed(
                Error::State(StateError::AnswerPending),
                frames,
            ));
        }
        frames.push_front(Frame::new());
        self.request = self.request.wrapping_add(1);
        if self.correlate {
            frames.push_front(Frame::copy_from_slice(&self.number()));
        }
        let state = match self.outbound.send(pipes, frames) {
            Ok(Some(id)) => State::Sent(id),
            Ok(None) => unreachable!("the backlog of REQ is never used"),
            Err(frames) if self.expecting => State::Waiting(frames),
            Err(mut frames) => {
                if self.correlate {
                    frames.pop_front();
                }
                frames.pop_front();
                // The request under way keeps its number.
                self.request = self.request.wrapping_sub(1);
                return Err(SendFailure::WouldBlock(frames));
            }
        };
        match std::mem::replace(&mut self.state, state) {
            State::Waiting(_) => Ok(1),
            State::Answered(id) => {
                pipes.pop_inbound(id);
                Ok(0)
            }
            State::Idle | State::Sent(_) | State::Lost => Ok(0),
        }
    }

    fn receive(&mut self, pipes: &mut Pipes) -> Result<Option<Received>, Error> {
        match self.state {
            State::Idle => Err(Error::State(StateError::NothingAsked)),
            State::Waiting(_) | State::Sent(_) => Ok(None),
            State::Answered(id) => {
                self.state = State::Idle;
                Ok(pipes.pop_inbound(id))
            }
            State::Lost => {
                self.state = State::Idle;
                Err(Error::RequestLost)
            }
        }
    }

    fn writable(&self, pipes: &Pipes) -> bool {
        (self.relaxed || matches!(self.state, State::Idle))
            && (self.expecting || self.outbound.has_room(pipes))
    }

    fn readable(&self) -> bool {
        matches!(self.state, State::Answered(_) | State::Lost)
    }

    fn room_freed(&mut self, pipes: &mut Pipes) {
        self.advance(pipes);
    }

    fn expect_peers(&mut self, expecting: bool) {
        self.expecting = expecting;
    }

    fn backlog(&mut self) -> usize {
        usize::from(matches!(self.state, State::Waiting(_)))
    }

    fn clear_backlog(&mut self) -> usize {
        let waiting = self.backlog();
        if waiting > 0 {
            self.state = State::Idle;
        }
        waiting
    }
}
