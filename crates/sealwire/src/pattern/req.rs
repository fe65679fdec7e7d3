//! REQ: one request, one answer, in strict alternation (RFC 28).
//!
//! The answer is taken only from the peer that got the request. If that peer goes away, the request
//! is lost: `receive` says so and the socket may send again. libzmq waits for ever, and so does a socket that is as libzmq's.

use std::mem;

use sealwire_zmtp::{Frame, Frames};

use super::item::FromPeer;
use super::pipes::{PipeId, Pipes};
use super::round_robin::RoundRobin;
use super::{Delivery, Pattern, Received, SendFailure};
use crate::error::{Error, StateError};
use crate::options::{Behaviour, SocketOptions};

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
    /// The request under way has such a number.
    numbered: bool,
    /// A new request gives up the one before.
    relaxed: bool,
    /// Nobody is told that a request was lost.
    as_libzmq: bool,
    request: u32,
    outbound: RoundRobin,
    expecting: bool,
}

impl Req {
    /// `first` is the number before that of the first request.
    pub(crate) fn new(options: &SocketOptions, first: u32) -> Self {
        Req {
            state: State::Idle,
            correlate: options.behaviour.request_correlate,
            numbered: false,
            relaxed: options.behaviour.request_relaxed,
            as_libzmq: options.as_libzmq,
            // A start that differs keeps the answers to an earlier socket from fitting.
            request: first,
            outbound: RoundRobin::new(options),
            expecting: false,
        }
    }

    fn number(&self) -> [u8; 4] {
        self.request.to_be_bytes()
    }

    /// Sends the waiting request if a peer can take it.
    fn advance(&mut self, pipes: &mut Pipes) {
        if let State::Waiting(frames) = &mut self.state
            && let Some(id) = self.outbound.send_to_peer(pipes, frames)
        {
            self.state = State::Sent(id);
        }
    }
}

impl Pattern for Req {
    fn attached(&mut self, pipes: &mut Pipes, id: PipeId) -> Result<(), &'static str> {
        self.outbound.attach(pipes, id);
        self.advance(pipes);
        Ok(())
    }

    fn queues_before(&mut self, _named: bool) -> bool {
        true
    }

    fn detached(&mut self, pipes: &mut Pipes, id: PipeId, unsent: &mut Vec<Frames>) {
        self.outbound.detach(pipes, id, &mut Vec::new());
        if matches!(self.state, State::Sent(sent) if sent == id) {
            // A request that never left may go to another peer; one that did may have been acted on.
            self.state = match unsent.pop() {
                Some(frames) => State::Waiting(frames),
                None => State::Lost,
            };
            self.advance(pipes);
        }
        // Given up for a later request before.
        pipes.replace_all(mem::take(unsent));
    }

    fn delivered(&mut self, pipes: &mut Pipes, id: PipeId, item: FromPeer) -> Delivery {
        let mut frames = match item {
            FromPeer::Message(frames) => frames,
            other => return Delivery::Ignored(other),
        };
        let expected = matches!(self.state, State::Sent(sent) if sent == id);
        // What REQ put in front comes back in front of the answer.
        let answers = match frames.frames() {
            [number, delimiter, _, ..] if self.numbered => {
                number.as_slice() == self.number() && delimiter.is_empty()
            }
            [delimiter, _, ..] => !self.numbered && delimiter.is_empty(),
            _ => false,
        };
        if !expected || !answers {
            return Delivery::Ignored(FromPeer::Message(frames));
        }
        for _ in 0..1 + usize::from(self.numbered) {
            frames.pop_front();
        }
        pipes.push_inbound(id, frames);
        self.state = State::Answered(id);
        Delivery::Queued
    }

    fn forget(&mut self, pipes: &mut Pipes, id: PipeId) -> usize {
        if matches!(self.state, State::Answered(answered) if answered == id) {
            self.state = State::Lost;
        }
        pipes.discard_unread_of(id)
    }

    fn send(&mut self, pipes: &mut Pipes, frames: &mut Frames) -> Result<usize, SendFailure> {
        if !self.relaxed && !matches!(self.state, State::Idle) {
            return Err(Error::State(StateError::AnswerPending).into());
        }
        frames.push_front(Frame::new());
        self.request = self.request.wrapping_add(1);
        if self.correlate {
            frames.push_front(Frame::copy_from_slice(&self.number()));
        }
        let state = match self.outbound.send_to_peer(pipes, frames) {
            Some(id) => State::Sent(id),
            None if self.expecting => State::Waiting(mem::take(frames)),
            None => {
                if self.correlate {
                    frames.pop_front();
                }
                frames.pop_front();
                // The request under way keeps its number.
                self.request = self.request.wrapping_sub(1);
                return Err(SendFailure::WouldBlock);
            }
        };
        self.numbered = self.correlate;
        match mem::replace(&mut self.state, state) {
            State::Waiting(frames) => {
                pipes.discard(frames);
                Ok(1)
            }
            State::Answered(id) => {
                let answer = pipes.pop_inbound(id).map(|(frames, _)| frames);
                pipes.replace_all(answer.into_iter().collect());
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
            State::Lost if self.as_libzmq => Ok(None),
            State::Lost => {
                self.state = State::Idle;
                Err(Error::RequestLost)
            }
        }
    }

    fn configure(&mut self, _pipes: &Pipes, behaviour: &Behaviour) {
        self.correlate = behaviour.request_correlate;
        self.relaxed = behaviour.request_relaxed;
    }

    fn takes(&self, pipes: &Pipes, _head: &[u8]) -> Result<bool, Error> {
        if !self.relaxed && !matches!(self.state, State::Idle) {
            return Err(Error::State(StateError::AnswerPending));
        }
        Ok(self.writable(pipes))
    }

    fn writable(&self, pipes: &Pipes) -> bool {
        (self.relaxed || matches!(self.state, State::Idle))
            && (self.expecting || self.outbound.has_room(pipes))
    }

    fn readable(&self) -> bool {
        match self.state {
            State::Answered(_) => true,
            State::Lost => !self.as_libzmq,
            State::Idle | State::Waiting(_) | State::Sent(_) => false,
        }
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

    fn take_backlog(&mut self) -> Vec<Frames> {
        match &mut self.state {
            State::Waiting(frames) => {
                let waiting = vec![mem::take(frames)];
                self.state = State::Idle;
                waiting
            }
            _ => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use sealwire_zmtp::SocketType;

    use super::*;
    use crate::options::Behaviour;
    use crate::pattern::silent::Scene;
    use crate::pattern::{Item, Room, pattern};

    #[test]
    fn the_first_request_has_the_number_after_the_one_that_was_drawn() {
        let options = SocketOptions {
            behaviour: Behaviour {
                request_correlate: true,
                ..Behaviour::default()
            },
            ..SocketOptions::new(SocketType::Req)
        };
        let mut req = pattern(&options, |bytes| bytes.fill(7)).unwrap();
        let mut scene = Scene::new(options);
        let end = scene.attach(&mut *req, "192.0.2.1:1");
        let request = &mut Frames::from("question");
        req.send(&mut scene.pipes, request).unwrap();
        let (mut items, room) = (VecDeque::new(), Room::of_bytes(usize::MAX));
        scene.pipes.take_outbound(end.id, &mut items, room);
        let Some(Item::Message(sent)) = items.pop_front() else {
            panic!("no request among {items:?}")
        };
        assert_eq!(sent.frames()[0].as_slice(), [7, 7, 7, 8]);
    }
}
