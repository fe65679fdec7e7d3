//! PAIR: exactly one peer; a second one is turned away (RFC 31).

use sealwire_zmtp::Frames;

use super::dealer::Dealer;
use super::fair_queue::FairQueue;
use super::item::FromPeer;
use super::pipes::{PipeId, Pipes};
use super::round_robin::RoundRobin;
use super::{Delivery, Pattern, Received, SendFailure};
use crate::error::Error;
use crate::options::SocketOptions;

pub(crate) struct Pair {
    peer: Option<PipeId>,
    /// With one peer, round robin is talking to that one.
    dealer: Dealer,
}

impl Pair {
    pub(crate) fn new(options: &SocketOptions) -> Self {
        Pair {
            peer: None,
            dealer: Dealer::new(options),
        }
    }
}

impl Pattern for Pair {
    fn attached(&mut self, pipes: &mut Pipes, id: PipeId) -> Result<(), &'static str> {
        if self.peer.is_some() {
            return Err("this PAIR socket has a peer already");
        }
        self.peer = Some(id);
        self.dealer.attached(pipes, id)
    }

    fn detached(&mut self, pipes: &mut Pipes, id: PipeId, unsent: &mut Vec<Frames>) {
        self.peer = None;
        self.dealer.detached(pipes, id, unsent);
    }

    fn delivered(&mut self, pipes: &mut Pipes, id: PipeId, item: FromPeer) -> Delivery {
        self.dealer.delivered(pipes, id, item)
    }

    fn fair_queue(&mut self) -> Option<&mut FairQueue> {
        self.dealer.fair_queue()
    }

    fn send(&mut self, pipes: &mut Pipes, frames: &mut Frames) -> Result<usize, SendFailure> {
        self.dealer.send(pipes, frames)
    }

    fn receive(&mut self, pipes: &mut Pipes) -> Result<Option<Received>, Error> {
        self.dealer.receive(pipes)
    }

    fn receives_unchanged(&self) -> bool {
        self.dealer.receives_unchanged()
    }

    fn sends_unchanged(&self) -> bool {
        self.dealer.sends_unchanged()
    }

    fn writable(&self, pipes: &Pipes) -> bool {
        self.dealer.writable(pipes)
    }

    fn readable(&self) -> bool {
        self.dealer.readable()
    }

    fn round_robin(&mut self) -> Option<&mut RoundRobin> {
        self.dealer.round_robin()
    }
}
