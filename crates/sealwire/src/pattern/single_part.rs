//! CLIENT, SCATTER, GATHER and CHANNEL: DEALER, PUSH, PULL and PAIR for messages of exactly one
//! frame (RFC 41, 49 and 52). Messages of several frames are dropped, as in libzmq.

use sealwire_zmtp::Frames;

use super::item::FromPeer;
use super::pipes::{PipeId, Pipes};
use super::round_robin::RoundRobin;
use super::{Delivery, Pattern, Received, SendFailure};
use crate::error::{Error, MessageError};

pub(crate) struct SinglePart<P>(pub(crate) P);

impl<P: Pattern> Pattern for SinglePart<P> {
    fn attached(&mut self, pipes: &mut Pipes, id: PipeId) -> Result<(), &'static str> {
        self.0.attached(pipes, id)
    }

    fn detached(&mut self, pipes: &mut Pipes, id: PipeId, unsent: &mut Vec<Frames>) {
        self.0.detached(pipes, id, unsent);
    }

    fn delivered(&mut self, pipes: &mut Pipes, id: PipeId, item: FromPeer) -> Delivery {
        match &item {
            FromPeer::Message(frames) if frames.len() == 1 => self.0.delivered(pipes, id, item),
            _ => Delivery::Ignored(item),
        }
    }

    fn send(&mut self, pipes: &mut Pipes, frames: &mut Frames) -> Result<usize, SendFailure> {
        if frames.len() != 1 {
            return Err(Error::from(MessageError::SinglePart).into());
        }
        self.0.send(pipes, frames)
    }

    fn receive(&mut self, pipes: &mut Pipes) -> Result<Option<Received>, Error> {
        self.0.receive(pipes)
    }

    fn receives_unchanged(&self) -> bool {
        self.0.receives_unchanged()
    }

    fn takes(&self, pipes: &Pipes, head: &[u8]) -> Result<bool, Error> {
        self.0.takes(pipes, head)
    }

    fn writable(&self, pipes: &Pipes) -> bool {
        self.0.writable(pipes)
    }

    fn readable(&self) -> bool {
        self.0.readable()
    }

    fn round_robin(&mut self) -> Option<&mut RoundRobin> {
        self.0.round_robin()
    }
}
