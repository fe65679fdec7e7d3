//! PULL: receives from its peers in turn (RFC 30).

use sealwire_zmtp::Frames;

use super::fair_queue::FairQueue;
use super::item::FromPeer;
use super::pipes::{PipeId, Pipes};
use super::{Delivery, Pattern, Received, SendFailure};
use crate::error::{Error, Operation};

#[derive(Default)]
pub(crate) struct Pull {
    inbound: FairQueue,
}

impl Pattern for Pull {
    fn attached(&mut self, _pipes: &mut Pipes, _id: PipeId) -> Result<(), &'static str> {
        Ok(())
    }

    fn detached(&mut self, _pipes: &mut Pipes, _id: PipeId, _unsent: &mut Vec<Frames>) {}

    fn delivered(&mut self, pipes: &mut Pipes, id: PipeId, item: FromPeer) -> Delivery {
        let frames = match item {
            FromPeer::Message(frames) => frames,
            other => return Delivery::Ignored(other),
        };
        self.inbound.push(pipes, id, frames);
        Delivery::Queued
    }

    fn queue_of_all(&mut self) -> Option<&mut FairQueue> {
        Some(&mut self.inbound)
    }

    fn send(&mut self, _pipes: &mut Pipes, _frames: &mut Frames) -> Result<usize, SendFailure> {
        Err(Error::Unsupported(Operation::Send).into())
    }

    fn receive(&mut self, pipes: &mut Pipes) -> Result<Option<Received>, Error> {
        Ok(self
            .inbound
            .pop(pipes)
            .map(|(_, frames, peer)| (frames, peer)))
    }

    fn receives_unchanged(&self) -> bool {
        true
    }

    fn takes(&self, _pipes: &Pipes, _head: &[u8]) -> Result<bool, Error> {
        Err(Error::Unsupported(Operation::Send))
    }

    fn writable(&self, _pipes: &Pipes) -> bool {
        false
    }

    fn readable(&self) -> bool {
        !self.inbound.is_empty()
    }
}
