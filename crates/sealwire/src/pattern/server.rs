//! SERVER and PEER: each connection has a routing id of 32 bits, which stands in front of received
//! messages and addresses sent ones (RFC 41 and 51). Beside it a message has exactly one frame.
//!
//! It is [`crate::Peer::connection_routing_id`]. Peers do not choose it, so no other peer can claim
//! it, unlike the routing id of a ROUTER's peer. As libzmq a socket gives its peers numbers of its own: the peer of a
//! `connect` has one before it is there, and keeps it when it connects again.

use std::collections::{HashMap, VecDeque};
use std::mem;

use sealwire_zmtp::{Frame, Frames};

use super::fair_queue::FairQueue;
use super::item::{FromPeer, Item};
use super::pipes::{PipeId, Pipes};
use super::{Delivery, Pattern, Received, SendFailure};
use crate::error::{Error, MessageError};
use crate::options::{Behaviour, SocketOptions};

pub(crate) struct Server {
    routes: HashMap<u32, PipeId>,
    inbound: FairQueue,
    /// The number stands beside a received message instead of in front of it.
    omit_routing_id: bool,
    /// The application reads when a connection begins and ends.
    connection_events: bool,
    own: Option<OwnNumbers>,
}

/// Numbers that the socket gives its peers itself.
struct OwnNumbers {
    next: u32,
    /// Those of all pipes; kept after the peer has left, for what is still to be read.
    of_pipes: HashMap<PipeId, u32>,
    /// Those of the peers of each `connect`.
    of_connectors: HashMap<u64, u32>,
}

impl OwnNumbers {
    /// Gives the pipe a number that no other has; never 0, which is none to libzmq.
    fn give(&mut self, pipes: &Pipes, id: PipeId, routes: &HashMap<u32, PipeId>) -> u32 {
        let connector = pipes.connector(id);
        let before = connector.and_then(|connector| self.of_connectors.get(&connector));
        let number = before.copied().unwrap_or_else(|| {
            loop {
                let number = self.next;
                self.next = number.wrapping_add(1);
                let given = self.of_connectors.values().any(|given| *given == number);
                if number != 0 && !given && !routes.contains_key(&number) {
                    return number;
                }
            }
        });
        if let Some(connector) = connector {
            // Those that are not connected to any more had their pipe until then.
            self.of_connectors.retain(|connector, _| {
                let mut pipes = routes.values().map(|id| pipes.connector(*id));
                pipes.any(|of| of == Some(*connector))
            });
            self.of_connectors.insert(connector, number);
        }
        self.of_pipes.insert(id, number);
        number
    }
}

impl Server {
    /// Numbers of its own begin with `first`.
    pub(crate) fn new(options: &SocketOptions, first: u32) -> Self {
        Server {
            own: options.as_libzmq.then(|| OwnNumbers {
                next: first,
                of_pipes: HashMap::new(),
                of_connectors: HashMap::new(),
            }),
            routes: HashMap::new(),
            inbound: FairQueue::default(),
            omit_routing_id: options.behaviour.omit_routing_id,
            connection_events: options.behaviour.connection_events,
        }
    }

    /// A message without a frame: what peers send has exactly one.
    fn tell(&mut self, pipes: &mut Pipes, id: PipeId) {
        if self.connection_events {
            self.inbound.push(pipes, id, Frames::new());
        }
    }

    fn pipe(&self, routing_id: u32) -> Result<PipeId, Error> {
        let unroutable = || Error::Unroutable(routing_id.to_be_bytes().to_vec());
        self.routes.get(&routing_id).copied().ok_or_else(unroutable)
    }
}

impl Pattern for Server {
    fn attached(&mut self, pipes: &mut Pipes, id: PipeId) -> Result<(), &'static str> {
        let routing_id = match &mut self.own {
            Some(own) => own.give(pipes, id, &self.routes),
            None => self.routing_id(pipes, id),
        };
        // Peers of one context have different numbers.
        if self.routes.contains_key(&routing_id) {
            return Err("the routing id of the connection is in use");
        }
        self.routes.insert(routing_id, id);
        if !pipes.is_awaited(id) {
            self.tell(pipes, id);
        }
        Ok(())
    }

    fn queues_before(&mut self, _named: bool) -> bool {
        self.own.is_some()
    }

    fn arrived(&mut self, pipes: &mut Pipes, id: PipeId) {
        self.tell(pipes, id);
    }

    fn fair_queue(&mut self) -> Option<&mut FairQueue> {
        Some(&mut self.inbound)
    }

    fn detached(&mut self, pipes: &mut Pipes, id: PipeId, _unsent: &mut Vec<Frames>) {
        self.routes.remove(&self.routing_id(pipes, id));
        if !pipes.is_awaited(id) {
            self.tell(pipes, id);
        }
    }

    fn routing_id(&self, pipes: &Pipes, id: PipeId) -> u32 {
        match &self.own {
            Some(own) => own.of_pipes.get(&id).copied().unwrap_or(0),
            None => pipes
                .peer(id)
                .map_or(0, |peer| peer.connection_routing_id()),
        }
    }

    fn delivered(&mut self, pipes: &mut Pipes, id: PipeId, item: FromPeer) -> Delivery {
        match item {
            FromPeer::Message(frames) if frames.len() == 1 => {
                self.inbound.push(pipes, id, frames);
                Delivery::Queued
            }
            other => Delivery::Ignored(other),
        }
    }

    fn send(&mut self, pipes: &mut Pipes, frames: &mut Frames) -> Result<usize, SendFailure> {
        let routing_id = match frames.frames() {
            [routing_id, _] => routing_id
                .as_slice()
                .try_into()
                .ok()
                .map(u32::from_be_bytes),
            _ => None,
        };
        let Some(routing_id) = routing_id else {
            return Err(Error::from(MessageError::NoRoutingId).into());
        };
        let id = self.pipe(routing_id)?;
        if !pipes.has_room(id) {
            pipes.note_full(id);
            return Err(SendFailure::WouldBlock);
        }
        // Four bytes, which are held in place.
        frames.pop_front();
        pipes.push(id, Item::Message(mem::take(frames)));
        Ok(0)
    }

    fn receive(&mut self, pipes: &mut Pipes) -> Result<Option<Received>, Error> {
        Ok(self.inbound.pop(pipes).map(|(id, mut frames, peer)| {
            if !self.omit_routing_id && !frames.is_empty() {
                // The pipe may be gone with this, its last message.
                let routing_id = match &self.own {
                    Some(_) => self.routing_id(pipes, id),
                    None => peer.connection_routing_id(),
                };
                frames.push_front(Frame::copy_from_slice(&routing_id.to_be_bytes()));
            }
            (frames, peer)
        }))
    }

    fn send_many_to(
        &mut self,
        pipes: &mut Pipes,
        routing_id: u32,
        payloads: &mut VecDeque<Frame>,
    ) -> Result<usize, Error> {
        let id = self.pipe(routing_id)?;
        let before = payloads.len();
        while pipes.has_room(id)
            && let Some(payload) = payloads.pop_front()
        {
            pipes.push(id, Item::Message(Frames::single(payload)));
        }
        if !payloads.is_empty() {
            pipes.note_full(id);
        }
        Ok(before - payloads.len())
    }

    fn disconnect(
        &mut self,
        pipes: &mut Pipes,
        routing_id: u32,
        reason: &'static str,
    ) -> Result<(), Error> {
        pipes.disconnect(self.pipe(routing_id)?, reason);
        Ok(())
    }

    fn configure(&mut self, _pipes: &Pipes, behaviour: &Behaviour) {
        self.omit_routing_id = behaviour.omit_routing_id;
        self.connection_events = behaviour.connection_events;
    }

    fn writable(&self, _pipes: &Pipes) -> bool {
        // It depends on the addressee.
        true
    }

    fn readable(&self) -> bool {
        !self.inbound.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Weak;

    use sealwire_zmtp::SocketType;

    use super::super::high_water_mark::HighWaterMarks;
    use super::super::pipes::Provenance;
    use super::super::silent::Scene;
    use super::*;

    fn as_libzmq(first: u32) -> (Scene, Server, SocketOptions) {
        let options = SocketOptions {
            as_libzmq: true,
            ..SocketOptions::new(SocketType::Peer)
        };
        let server = Server::new(&options, first);
        (Scene::new(options.clone()), server, options)
    }

    /// The peer of a `connect` is not there yet.
    fn awaited(
        scene: &mut Scene,
        server: &mut Server,
        options: &SocketOptions,
        connector: u64,
    ) -> (PipeId, u32) {
        let provenance = Provenance {
            connector: Some(connector),
            listener: None,
            routing_id: None,
            options: Weak::new(),
            undecided: false,
        };
        let marks = HighWaterMarks::of(options);
        let id = scene.pipes.await_peer(marks, provenance);
        server.attached(&mut scene.pipes, id).unwrap();
        (id, server.routing_id(&scene.pipes, id))
    }

    fn gone(scene: &mut Scene, server: &mut Server, id: PipeId) {
        server.detached(&mut scene.pipes, id, &mut Vec::new());
        scene.pipes.end(id);
        scene.pipes.release(id);
    }

    #[test]
    fn as_libzmq_a_peer_keeps_the_number_that_connecting_gave_it() {
        let (mut scene, mut server, options) = as_libzmq(41);
        let (first, number) = awaited(&mut scene, &mut server, &options, 1);
        let (second, other) = awaited(&mut scene, &mut server, &options, 2);
        assert_eq!((number, other), (41, 42));
        let mut frames = crate::Message::with_routing_id(41, "waits").into_frames();
        server.send(&mut scene.pipes, &mut frames).unwrap();
        // The connection was lost, and another may come.
        gone(&mut scene, &mut server, first);
        assert!(server.pipe(41).is_err());
        let (again, number) = awaited(&mut scene, &mut server, &options, 1);
        assert_eq!((number, server.pipe(41).ok()), (41, Some(again)));
        // An endpoint that is left leaves nothing behind.
        gone(&mut scene, &mut server, again);
        gone(&mut scene, &mut server, second);
        awaited(&mut scene, &mut server, &options, 3);
        assert_eq!(server.own.unwrap().of_connectors.len(), 1);
    }

    #[test]
    fn as_libzmq_numbers_come_round_and_none_is_zero_or_given_twice() {
        let (mut scene, mut server, options) = as_libzmq(u32::MAX);
        let (_, last) = awaited(&mut scene, &mut server, &options, 1);
        let accepted = scene.attach(&mut server, "192.0.2.1:1");
        let next = server.routing_id(&scene.pipes, accepted.id);
        assert_eq!((last, next), (u32::MAX, 1));
        server.own.as_mut().unwrap().next = u32::MAX;
        let (_, free) = awaited(&mut scene, &mut server, &options, 2);
        assert_eq!(free, 2);
    }

    #[test]
    fn otherwise_nobody_is_sent_to_before_it_is_there() {
        let options = SocketOptions::new(SocketType::Server);
        assert!(!Server::new(&options, 7).queues_before(false));
    }
}
