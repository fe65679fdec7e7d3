//! DGRAM: each message goes to an address, or came from one, as a raw datagram: it has two frames, the text of the
//! address and the body. There is no RFC; libzmq's `dgram.cpp` and `udp_engine.cpp`.
//!
//! A socket has one endpoint. One that it was unbound from goes on until what is queued there has been sent, and what
//! came through it can be read.
//!
//! As libzmq an address that is received ends with a zero octet, one that is sent may, and a message to what is not an
//! address is dropped.

use std::mem;
use std::net::SocketAddr;

use sealwire_zmtp::{Frame, Frames};

use super::fair_queue::FairQueue;
use super::item::{FromPeer, Item};
use super::pipes::{PipeId, Pipes};
use super::{Delivered, Delivery, Pattern, Received, SendFailure};
use crate::error::{Error, MessageError, StateError};
use crate::message::{AddressError, address_frame, parse_address};
use crate::options::SocketOptions;
use crate::peer::PeerAddress;
use crate::transport::udp::{MAX_DATAGRAM, check_reach};

pub(crate) struct Dgram {
    as_libzmq: bool,
    /// With the address that each is bound to. The last one is sent through.
    pipes: Vec<(PipeId, SocketAddr)>,
    inbound: FairQueue,
}

impl Dgram {
    pub(crate) fn new(options: &SocketOptions) -> Self {
        Dgram {
            as_libzmq: options.as_libzmq,
            pipes: Vec::new(),
            inbound: FairQueue::default(),
        }
    }

    /// Where a message with this frame in front goes.
    fn target(&self, head: &[u8]) -> Result<SocketAddr, AddressError> {
        let end = head.iter().position(|octet| self.as_libzmq && *octet == 0);
        let target = parse_address(&head[..end.unwrap_or(head.len())])?;
        match self.pipes.last() {
            // libzmq leaves it to the system whom a socket reaches.
            Some((_, local)) if !self.as_libzmq => check_reach(*local, target).map(|()| target),
            _ => Ok(target),
        }
    }

    /// The pipe to send through.
    fn outlet(&self) -> Result<PipeId, SendFailure> {
        match self.pipes.last() {
            Some((id, _)) => Ok(*id),
            None if self.as_libzmq => Err(SendFailure::WouldBlock),
            None => Err(Error::from(StateError::NotBound).into()),
        }
    }
}

impl Pattern for Dgram {
    fn attached(&mut self, pipes: &mut Pipes, id: PipeId) -> Result<(), &'static str> {
        match pipes.peer(id).map(|peer| peer.address()) {
            Some(PeerAddress::Udp(local)) => self.pipes.push((id, *local)),
            _ => return Err("a DGRAM socket has datagrams only"),
        }
        Ok(())
    }

    fn detached(&mut self, _pipes: &mut Pipes, id: PipeId, _unsent: &mut Vec<Frames>) {
        self.pipes.retain(|(other, _)| *other != id);
    }

    fn fair_queue(&mut self) -> Option<&mut FairQueue> {
        Some(&mut self.inbound)
    }

    fn delivered(&mut self, _pipes: &mut Pipes, _id: PipeId, item: FromPeer) -> Delivery {
        Delivery::Ignored(item)
    }

    fn deliver_datagrams(
        &mut self,
        pipes: &mut Pipes,
        id: PipeId,
        next: &mut dyn FnMut() -> Option<Received>,
    ) -> Delivered {
        let mut delivered = Delivered::default();
        while pipes.accepts_input(id) {
            let Some((frames, sender)) = next() else {
                return delivered;
            };
            delivered.queued += 1;
            delivered.bytes += frames.size();
            self.inbound.push_from(pipes, id, frames, sender);
        }
        delivered.full = true;
        delivered
    }

    fn send(&mut self, pipes: &mut Pipes, frames: &mut Frames) -> Result<usize, SendFailure> {
        let [head, body] = frames.frames() else {
            return Err(Error::from(MessageError::NoAddress).into());
        };
        let size = body.len();
        if size > MAX_DATAGRAM {
            return Err(Error::from(MessageError::DatagramTooLarge { size }).into());
        }
        let target = match self.target(head) {
            Ok(target) => target,
            Err(_) if self.as_libzmq => return Ok(1),
            Err(error) => return Err(Error::from(MessageError::Address(error)).into()),
        };
        let id = self.outlet()?;
        if !pipes.has_room(id) {
            pipes.note_full(id);
            return Err(SendFailure::WouldBlock);
        }
        let mut message = mem::take(frames);
        if let Some(head) = message.pop_front() {
            pipes.discard_frame(head);
        }
        message.push_front(address_frame(target));
        pipes.push(id, Item::Message(message));
        Ok(0)
    }

    fn receive(&mut self, pipes: &mut Pipes) -> Result<Option<Received>, Error> {
        let received = self.inbound.pop(pipes);
        Ok(received.map(|(_, mut frames, peer)| {
            if self.as_libzmq
                && let Some(address) = frames.pop_front()
            {
                frames.push_front(Frame::copy_from_slice(&[&address[..], &[0]].concat()));
            }
            (frames, peer)
        }))
    }

    fn takes(&self, pipes: &Pipes, head: &[u8]) -> Result<bool, Error> {
        match self.target(head) {
            Err(error) if !self.as_libzmq => return Err(MessageError::Address(error).into()),
            _ => {}
        }
        match self.outlet() {
            Ok(id) => Ok(pipes.has_room(id)),
            Err(SendFailure::WouldBlock) => Ok(false),
            Err(SendFailure::Failed(error)) => Err(*error),
        }
    }

    fn writable(&self, pipes: &Pipes) -> bool {
        let last = self.pipes.last();
        last.is_some_and(|(id, _)| pipes.has_room(*id))
    }

    fn readable(&self) -> bool {
        !self.inbound.is_empty()
    }
}
