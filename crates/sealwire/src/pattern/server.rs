//! SERVER and PEER: each connection has a routing id of 32 bits, which stands in front of received
//! messages and addresses sent ones (RFC 41 and 51). Beside it a message has exactly one frame.
//!
//! It is [`crate::Peer::connection_routing_id`]. Peers do not choose it, so no other peer can claim
//! it, unlike the routing id of a ROUTER's peer.

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
}

impl Server {
    pub(crate) fn new(options: &SocketOptions) -> Self {
        Server {
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
        let routing_id = pipes
            .peer(id)
            .map_or(0, |peer| peer.connection_routing_id());
        // Peers of one context have different numbers.
        if self.routes.contains_key(&routing_id) {
            return Err("the routing id of the connection is in use");
        }
        self.routes.insert(routing_id, id);
        self.tell(pipes, id);
        Ok(())
    }

    fn detached(&mut self, pipes: &mut Pipes, id: PipeId, _unsent: &mut Vec<Frames>) {
        if let Some(peer) = pipes.peer(id) {
            self.routes.remove(&peer.connection_routing_id());
        }
        self.tell(pipes, id);
    }

    fn fair_queue(&mut self) -> Option<&mut FairQueue> {
        Some(&mut self.inbound)
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
        Ok(self.inbound.pop(pipes).map(|(_, mut frames, peer)| {
            if !self.omit_routing_id && !frames.is_empty() {
                frames.push_front(Frame::copy_from_slice(
                    &peer.connection_routing_id().to_be_bytes(),
                ));
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
