//! REQ: one request, one answer, in strict alternation (RFC 28).
//!
//! The answer is taken only from the peer that got the request. When that peer goes away the
//! request is lost: `receive` says so and the socket may send again, where libzmq would wait
//! for ever.

use sealwire_zmtp::{Frame, Message as Frames};

use super::pipe::{Item, PipeId, Pipes};
use super::round_robin::RoundRobin;
use super::{Delivery, Pattern, Received, SendFailure};
use crate::error::{Error, StateError};

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
    outbound: RoundRobin,
    expecting: bool,
}

impl Req {
    pub(crate) fn new() -> Self {
        Req {
            state: State::Idle,
            outbound: RoundRobin::new(0),
            expecting: false,
        }
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
        // The delimiter that REQ put in front comes back in front of the answer.
        let delimited = frames.pop_front().is_some_and(|frame| frame.is_empty());
        if !expected || !delimited || frames.is_empty() {
            return Delivery::Ignored;
        }
        pipes.push_inbound(id, frames);
        self.state = State::Answered(id);
        Delivery::Queued
    }

    fn send(&mut self, pipes: &mut Pipes, mut frames: Frames) -> Result<usize, SendFailure> {
        if !matches!(self.state, State::Idle) {
            return Err(SendFailure::Failed(
                Error::State(StateError::AnswerPending),
                frames,
            ));
        }
        frames.push_front(Frame::new());
        match self.outbound.send(pipes, frames) {
            Ok(Some(id)) => self.state = State::Sent(id),
            Ok(None) => unreachable!("the backlog of REQ is never used"),
            Err(frames) if self.expecting => self.state = State::Waiting(frames),
            Err(mut frames) => {
                frames.pop_front();
                return Err(SendFailure::WouldBlock(frames));
            }
        }
        Ok(0)
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
