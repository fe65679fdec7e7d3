//! STREAM: plain TCP connections, each with a routing id in front of its data, sent and received.
//! There is no ZMTP, no handshake and no mechanism, as in libzmq (`zmq_socket(3)`, ZMQ_STREAM).

use std::collections::HashMap;
use std::mem;

use sealwire_zmtp::{Frame, Frames};

use super::fair_queue::FairQueue;
use super::item::{FromPeer, Item};
use super::pipes::{PipeId, Pipes};
use super::{Delivery, Pattern, Received, SendFailure};
use crate::error::{Error, MessageError};
use crate::options::{Behaviour, SocketOptions};

pub(crate) struct Stream {
    notify: bool,
    routes: HashMap<[u8; 5], PipeId>,
    /// The name of each pipe; kept after the peer has left, for what is still to be read.
    names: HashMap<PipeId, [u8; 5]>,
    next_name: u32,
    inbound: FairQueue,
}

impl Stream {
    pub(crate) fn new(options: &SocketOptions) -> Self {
        Stream {
            notify: !options.behaviour.stream_silent,
            routes: HashMap::new(),
            names: HashMap::new(),
            next_name: 0,
            inbound: FairQueue::default(),
        }
    }

    /// A zero octet and a number of 4 bytes, as libzmq has it.
    fn invent_name(&mut self) -> [u8; 5] {
        loop {
            let mut name = [0; 5];
            name[1..].copy_from_slice(&self.next_name.to_be_bytes());
            self.next_name = self.next_name.wrapping_add(1);
            if !self.routes.contains_key(&name) {
                return name;
            }
        }
    }

    /// Whether neither side has closed the connection.
    fn is_open(&self, id: PipeId) -> bool {
        let name = self.names.get(&id);
        name.and_then(|name| self.routes.get(name)) == Some(&id)
    }

    fn tell(&mut self, pipes: &mut Pipes, id: PipeId) {
        if self.notify {
            self.inbound.push(pipes, id, Frames::single(Frame::new()));
        }
    }
}

impl Pattern for Stream {
    fn attached(&mut self, pipes: &mut Pipes, id: PipeId) -> Result<(), &'static str> {
        let name = self.invent_name();
        self.names.insert(id, name);
        self.routes.insert(name, id);
        self.tell(pipes, id);
        Ok(())
    }

    fn detached(&mut self, pipes: &mut Pipes, id: PipeId, _unsent: &mut Vec<Frames>) {
        // A connection that was closed from here has lost its route already, and is not told of.
        if self.is_open(id) {
            self.routes.remove(&self.names[&id]);
            self.tell(pipes, id);
        }
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
        let closing = body.is_empty();
        let route = name.as_slice().try_into().ok();
        let Some((route, &id)) = route.and_then(|name: [u8; 5]| self.routes.get_key_value(&name))
        else {
            return Err(Error::Unroutable(name.to_vec()).into());
        };
        if closing {
            let route = *route;
            self.routes.remove(&route);
            pipes.finish(id);
            return Ok(0);
        }
        if !pipes.has_room(id) {
            pipes.note_full(id);
            return Err(SendFailure::WouldBlock);
        }
        // Five bytes, which are held in place.
        frames.pop_front();
        pipes.push(id, Item::Message(mem::take(frames)));
        Ok(0)
    }

    fn receive(&mut self, pipes: &mut Pipes) -> Result<Option<Received>, Error> {
        Ok(self.inbound.pop(pipes).map(|(id, mut frames, peer)| {
            let name = self.names.get(&id).copied().unwrap_or_default();
            frames.push_front(Frame::copy_from_slice(&name));
            (frames, peer)
        }))
    }

    fn configure(&mut self, _pipes: &Pipes, behaviour: &Behaviour) {
        self.notify = !behaviour.stream_silent;
    }

    fn takes(&self, pipes: &Pipes, head: &[u8]) -> Result<bool, Error> {
        let route = head.try_into().ok();
        match route.and_then(|name: [u8; 5]| self.routes.get(&name)) {
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
