//! DEALER: sends to its peers in turn and receives from them in turn (RFC 28).

use sealwire_zmtp::Frames;

use super::fair_queue::FairQueue;
use super::item::FromPeer;
use super::pipes::{PipeId, Pipes};
use super::round_robin::RoundRobin;
use super::{Delivery, Pattern, Received, SendFailure};
use crate::error::Error;
use crate::options::SocketOptions;

pub(crate) struct Dealer {
    outbound: RoundRobin,
    inbound: FairQueue,
}

impl Dealer {
    pub(crate) fn new(options: &SocketOptions) -> Self {
        Dealer {
            outbound: RoundRobin::new(options),
            inbound: FairQueue::default(),
        }
    }
}

impl Pattern for Dealer {
    fn attached(&mut self, pipes: &mut Pipes, id: PipeId) -> Result<(), &'static str> {
        self.outbound.attach(pipes, id);
        Ok(())
    }

    fn detached(&mut self, pipes: &mut Pipes, id: PipeId, unsent: &mut Vec<Frames>) {
        self.outbound.detach(pipes, id, unsent);
    }

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

    fn send(&mut self, pipes: &mut Pipes, frames: &mut Frames) -> Result<usize, SendFailure> {
        self.outbound
            .send(pipes, frames)
            .then_some(0)
            .ok_or(SendFailure::WouldBlock)
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

    fn sends_unchanged(&self) -> bool {
        true
    }

    fn writable(&self, pipes: &Pipes) -> bool {
        self.outbound.has_room(pipes)
    }

    fn readable(&self) -> bool {
        !self.inbound.is_empty()
    }

    fn round_robin(&mut self) -> Option<&mut RoundRobin> {
        Some(&mut self.outbound)
    }
}
