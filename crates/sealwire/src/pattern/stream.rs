//! STREAM: plain TCP connections, each with a routing id in front of its data, sent and received.
//! There is no ZMTP, no handshake and no mechanism, as in libzmq (`zmq_socket(3)`, ZMQ_STREAM).

use std::collections::HashMap;
use std::mem;

use sealwire_zmtp::{Frame, Frames};

use super::fair_queue::FairQueue;
use super::invented_names::InventedNames;
use super::item::{FromPeer, Item};
use super::pipes::{PipeId, Pipes};
use super::{Delivery, Pattern, Received, SendFailure};
use crate::error::{Error, MessageError};
use crate::options::{Behaviour, SocketOptions};

pub(crate) struct Stream {
    notify: bool,
    routes: HashMap<Vec<u8>, PipeId>,
    /// The name of each pipe; kept after the peer has left, for what is still to be read.
    names: HashMap<PipeId, Frame>,
    invented: InventedNames,
    inbound: FairQueue,
}

impl Stream {
    /// The numbers of connections begin with the lower half of `first`: the application may choose those of the upper
    /// half.
    pub(crate) fn new(options: &SocketOptions, first: u32) -> Self {
        Stream {
            notify: !options.behaviour.stream_silent,
            routes: HashMap::new(),
            names: HashMap::new(),
            invented: InventedNames::from(first >> 1),
            inbound: FairQueue::default(),
        }
    }

    fn invent_name(&mut self) -> Vec<u8> {
        let routes = &self.routes;
        self.invented.invent(|name| routes.contains_key(name))
    }

    /// Whether neither side has closed the connection.
    fn is_open(&self, id: PipeId) -> bool {
        let name = self.names.get(&id);
        name.and_then(|name| self.routes.get(name.as_slice())) == Some(&id)
    }

    fn tell(&mut self, pipes: &mut Pipes, id: PipeId) {
        if self.notify {
            self.inbound.push(pipes, id, Frames::single(Frame::new()));
        }
    }
}

impl Pattern for Stream {
    fn attached(&mut self, pipes: &mut Pipes, id: PipeId) -> Result<(), &'static str> {
        let name = match pipes.chosen_routing_id(id) {
            Some(chosen) if self.routes.contains_key(&*chosen) => {
                return Err("the routing id is in use");
            }
            Some(chosen) => chosen.to_vec(),
            None => self.invent_name(),
        };
        self.names.insert(id, Frame::copy_from_slice(&name));
        self.routes.insert(name, id);
        if !pipes.is_awaited(id) {
            self.arrived(pipes, id);
        }
        Ok(())
    }

    fn queues_before(&mut self, _named: bool) -> bool {
        true
    }

    fn arrived(&mut self, pipes: &mut Pipes, id: PipeId) {
        match self.is_open(id) {
            true => self.tell(pipes, id),
            // It was closed from here before it stood.
            false => pipes.finish(id),
        }
    }

    fn detached(&mut self, pipes: &mut Pipes, id: PipeId, _unsent: &mut Vec<Frames>) {
        // A connection that was closed from here has lost its route already, and is not told of.
        if self.is_open(id) {
            self.routes.remove(self.names[&id].as_slice());
            if !pipes.is_awaited(id) {
                self.tell(pipes, id);
            }
        }
    }

    fn fair_queue(&mut self) -> Option<&mut FairQueue> {
        Some(&mut self.inbound)
    }

    fn delivered(&mut self, pipes: &mut Pipes, id: PipeId, item: FromPeer) -> Delivery {
        match item {
            FromPeer::Message(frames) if self.is_open(id) => {
                self.inbound.push(pipes, id, frames);
                Delivery::Queued
            }
            other => Delivery::Ignored(other),
        }
    }

    fn send(&mut self, pipes: &mut Pipes, frames: &mut Frames) -> Result<usize, SendFailure> {
        let [name, body] = frames.frames() else {
            return Err(Error::from(MessageError::NoConnection).into());
        };
        let Some(&id) = self.routes.get(name.as_slice()) else {
            return Err(Error::Unroutable(name.to_vec()).into());
        };
        if body.is_empty() {
            self.routes.remove(name.as_slice());
            pipes.finish(id);
            return Ok(0);
        }
        if !pipes.has_room(id) {
            pipes.note_full(id);
            return Err(SendFailure::WouldBlock);
        }
        if let Some(name) = frames.pop_front() {
            pipes.discard_frame(name);
        }
        pipes.push(id, Item::Message(mem::take(frames)));
        Ok(0)
    }

    fn receive(&mut self, pipes: &mut Pipes) -> Result<Option<Received>, Error> {
        Ok(self.inbound.pop(pipes).map(|(id, mut frames, peer)| {
            frames.push_front(self.names.get(&id).cloned().unwrap_or_default());
            (frames, peer)
        }))
    }

    fn configure(&mut self, _pipes: &Pipes, behaviour: &Behaviour) {
        self.notify = !behaviour.stream_silent;
    }

    fn takes(&self, pipes: &Pipes, head: &[u8]) -> Result<bool, Error> {
        match self.routes.get(head) {
            Some(&id) => Ok(pipes.has_room(id)),
            None => Err(Error::Unroutable(head.to_vec())),
        }
    }

    fn writable(&self, _pipes: &Pipes) -> bool {
        // It depends on the addressee.
        true
    }

    fn readable(&self) -> bool {
        !self.inbound.is_empty()
    }
}
