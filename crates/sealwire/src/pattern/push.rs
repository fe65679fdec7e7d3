//! PUSH: sends to its peers in turn, and waits if none has room (RFC 30).

use sealwire_zmtp::Frames;

use super::item::FromPeer;
use super::pipes::{PipeId, Pipes};
use super::round_robin::RoundRobin;
use super::{Delivery, Pattern, Received, SendFailure};
use crate::error::{Error, Operation};
use crate::options::SocketOptions;

pub(crate) struct Push {
    outbound: RoundRobin,
}

impl Push {
    pub(crate) fn new(options: &SocketOptions) -> Self {
        Push {
            outbound: RoundRobin::new(options),
        }
    }
}

impl Pattern for Push {
    fn attached(&mut self, pipes: &mut Pipes, id: PipeId) -> Result<(), &'static str> {
        self.outbound.attach(pipes, id);
        Ok(())
    }

    fn detached(&mut self, pipes: &mut Pipes, id: PipeId, unsent: &mut Vec<Frames>) {
        self.outbound.detach(pipes, id, unsent);
    }

    fn delivered(&mut self, _pipes: &mut Pipes, _id: PipeId, item: FromPeer) -> Delivery {
        Delivery::Ignored(item)
    }

    fn send(&mut self, pipes: &mut Pipes, frames: &mut Frames) -> Result<usize, SendFailure> {
        self.outbound
            .send(pipes, frames)
            .then_some(0)
            .ok_or(SendFailure::WouldBlock)
    }

    fn receive(&mut self, _pipes: &mut Pipes) -> Result<Option<Received>, Error> {
        Err(Error::Unsupported(Operation::Receive))
    }

    fn sends_unchanged(&self) -> bool {
        true
    }

    fn writable(&self, pipes: &Pipes) -> bool {
        self.outbound.has_room(pipes)
    }

    fn readable(&self) -> bool {
        false
    }

    fn round_robin(&mut self) -> Option<&mut RoundRobin> {
        Some(&mut self.outbound)
    }
}
