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
        self.inbound.push_datagrams(pipes, id, next, |_| true)
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

#[cfg(test)]
mod tests {
    use sealwire_zmtp::SocketType;

    use super::super::silent::{End, Scene};
    use super::*;
    use crate::account::Kind;

    fn options(as_libzmq: bool) -> SocketOptions {
        let mut options = SocketOptions::new(SocketType::Dgram);
        options.as_libzmq = as_libzmq;
        options.send_high_water_mark = 2;
        options
    }

    fn scene(as_libzmq: bool) -> (Scene, Dgram) {
        let options = options(as_libzmq);
        (Scene::new(options.clone()), Dgram::new(&options))
    }

    fn bind(scene: &mut Scene, dgram: &mut Dgram, address: &str) -> End {
        scene.attach_at(dgram, PeerAddress::Udp(address.parse().unwrap()))
    }

    fn message(frames: &[&str]) -> Frames {
        frames.iter().map(|text| Frame::from(*text)).collect()
    }

    fn send(scene: &mut Scene, dgram: &mut Dgram, head: &str) -> Result<usize, SendFailure> {
        dgram.send(&mut scene.pipes, &mut message(&[head, "body"]))
    }

    #[test]
    fn the_endpoint_that_was_bound_last_sends_until_it_is_gone() {
        let (mut scene, mut dgram) = scene(false);
        let [first, second] =
            ["127.0.0.1:1", "127.0.0.1:2"].map(|local| bind(&mut scene, &mut dgram, local));
        assert_eq!(send(&mut scene, &mut dgram, "127.0.0.1:9").unwrap(), 0);
        assert_eq!(scene.take(&first), [""; 0]);
        assert_eq!(scene.take(&second), ["127.0.0.1:9 body"]);
        scene.detach(&mut dgram, &first);
        assert!(dgram.writable(&scene.pipes));
        scene.detach(&mut dgram, &second);
        assert!(!dgram.writable(&scene.pipes));
        let unbound = send(&mut scene, &mut dgram, "127.0.0.1:9");
        assert!(
            matches!(unbound, Err(SendFailure::Failed(error)) if matches!(*error, Error::State(StateError::NotBound)))
        );
        let unbound = dgram.takes(&scene.pipes, b"127.0.0.1:9");
        assert!(matches!(unbound, Err(Error::State(StateError::NotBound))));
    }

    #[test]
    fn a_full_queue_is_waited_for_and_its_message_stays() {
        let (mut scene, mut dgram) = scene(false);
        let end = bind(&mut scene, &mut dgram, "127.0.0.1:1");
        for _ in 0..2 {
            assert!(dgram.takes(&scene.pipes, b"127.0.0.1:9").unwrap());
            send(&mut scene, &mut dgram, "127.0.0.1:9").unwrap();
        }
        assert!(!dgram.takes(&scene.pipes, b"127.0.0.1:9").unwrap());
        let mut refused = message(&["127.0.0.1:9", "body"]);
        let sent = dgram.send(&mut scene.pipes, &mut refused);
        assert!(matches!(sent, Err(SendFailure::WouldBlock)));
        assert_eq!(refused, message(&["127.0.0.1:9", "body"]));
        assert_eq!(end.account().exceeded(Kind::Queued), 1);
        assert_eq!(scene.take(&end).len(), 2);
        assert!(dgram.writable(&scene.pipes));
    }

    #[test]
    fn what_cannot_be_sent_to_is_said_of_the_first_frame_alone() {
        let (mut scene, mut dgram) = scene(false);
        bind(&mut scene, &mut dgram, "127.0.0.1:1");
        for (head, reason) in [
            ("nowhere", AddressError::Unreadable),
            ("127.0.0.1:9\0", AddressError::Unreadable),
            ("192.0.2.1:9", AddressError::LeavesTheMachine),
        ] {
            let taken = dgram.takes(&scene.pipes, head.as_bytes());
            assert!(
                matches!(taken, Err(Error::Message(MessageError::Address(found))) if found == reason)
            );
        }
    }

    #[test]
    fn as_libzmq_an_address_ends_with_a_zero_octet_and_nothing_else_is_refused() {
        let (mut scene, mut dgram) = scene(true);
        assert!(!dgram.takes(&scene.pipes, b"nowhere").unwrap());
        assert!(matches!(
            send(&mut scene, &mut dgram, "127.0.0.1:9"),
            Err(SendFailure::WouldBlock)
        ));
        let end = bind(&mut scene, &mut dgram, "127.0.0.1:1");
        assert!(dgram.takes(&scene.pipes, b"nowhere").unwrap());
        // One is dropped, and counted.
        assert_eq!(send(&mut scene, &mut dgram, "nowhere").unwrap(), 1);
        for head in ["127.0.0.1:9\0", "192.0.2.1:9"] {
            assert_eq!(send(&mut scene, &mut dgram, head).unwrap(), 0);
        }
        assert_eq!(scene.take(&end), ["127.0.0.1:9 body", "192.0.2.1:9 body"]);
        let mut arrived = vec![(message(&["127.0.0.1:9", "answer"]), end.peer.clone())];
        let delivered = dgram.deliver_datagrams(&mut scene.pipes, end.id, &mut || arrived.pop());
        assert_eq!((delivered.queued, delivered.full), (1, false));
        let (frames, _) = dgram.receive(&mut scene.pipes).unwrap().unwrap();
        assert_eq!(frames, message(&["127.0.0.1:9\0", "answer"]));
    }
}
