//! ROUTER: receives from its peers in turn with their routing id in front, and sends to the peer
//! that the first frame names (RFC 28).
//!
//! A routing id is a name that a peer claims: it routes messages and proves nothing. [`crate::Peer`] says
//! who a peer *is*.

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

pub(crate) struct Router {
    as_libzmq: bool,
    mandatory: bool,
    handover: bool,
    by_user_id: bool,
    notify_connect: bool,
    notify_disconnect: bool,
    routes: HashMap<Vec<u8>, PipeId>,
    /// The routing id of each pipe; kept after the peer has left, for what is still to be read.
    names: HashMap<PipeId, Frame>,
    invented: InventedNames,
    inbound: FairQueue,
}

impl Router {
    /// The numbers of peers that gave no routing id begin with `first`.
    pub(crate) fn new(options: &SocketOptions, first: u32) -> Self {
        let mut router = Router {
            as_libzmq: options.as_libzmq,
            mandatory: false,
            handover: false,
            by_user_id: false,
            notify_connect: false,
            notify_disconnect: false,
            routes: HashMap::new(),
            names: HashMap::new(),
            invented: InventedNames::from(first),
            inbound: FairQueue::default(),
        };
        router.take(&options.behaviour);
        router
    }

    fn take(&mut self, behaviour: &Behaviour) {
        self.mandatory = behaviour.router_mandatory;
        self.handover = behaviour.router_handover;
        self.by_user_id = behaviour.routing_id_is_user_id;
        self.notify_connect = behaviour.router_notify_connect;
        self.notify_disconnect = behaviour.router_notify_disconnect;
    }

    /// A routing id for a peer that gave none.
    fn invent_name(&mut self) -> Vec<u8> {
        let routes = &self.routes;
        self.invented.invent(|name| routes.contains_key(name))
    }

    /// Knows a pipe by the routing id that the application chose for its peer, whatever that calls itself.
    fn attach_as(
        &mut self,
        pipes: &mut Pipes,
        id: PipeId,
        chosen: &[u8],
    ) -> Result<(), &'static str> {
        if self.routes.contains_key(chosen) {
            return Err("the routing id is in use");
        }
        self.names.insert(id, Frame::copy_from_slice(chosen));
        self.routes.insert(chosen.to_vec(), id);
        if !pipes.is_awaited(id) {
            self.arrived(pipes, id);
        }
        Ok(())
    }

    /// Whether a new connection may take over the routing id of one that is still there: never one that the
    /// application chose; always when both proved the same key (a client that reconnects before we saw it leave),
    /// else only where the option allows it.
    fn may_replace(&self, pipes: &Pipes, old: PipeId, new: PipeId) -> bool {
        if pipes.chosen_routing_id(old).is_some() {
            return false;
        }
        let key = |id| pipes.peer(id).and_then(|peer| peer.public_key());
        self.handover || (key(old).is_some() && key(old) == key(new))
    }
}

impl Pattern for Router {
    fn attached(&mut self, pipes: &mut Pipes, id: PipeId) -> Result<(), &'static str> {
        if let Some(chosen) = pipes.chosen_routing_id(id) {
            return self.attach_as(pipes, id, &chosen);
        }
        let claimed = pipes
            .peer(id)
            .map_or(Vec::new(), |peer| peer.routing_id().to_vec());
        // libzmq's programs take any octets for one.
        if claimed.first() == Some(&0) && !self.as_libzmq {
            return Err("a routing id must not start with a zero octet");
        }
        let name = if self.by_user_id {
            let user_id = pipes.peer(id).and_then(|peer| peer.user_id());
            match user_id.map(str::as_bytes) {
                None | Some([] | [0, ..]) => {
                    return Err("a peer without a user id has no routing id");
                }
                Some(user_id) if claimed.is_empty() || claimed == user_id => user_id.to_vec(),
                Some(_) => return Err("the routing id is another than the user id"),
            }
        } else if claimed.is_empty() {
            self.invent_name()
        } else {
            claimed
        };
        if let Some(&old) = self.routes.get(&name) {
            if !self.may_replace(pipes, old, id) {
                return Err("the routing id is in use");
            }
            pipes.disconnect(
                old,
                "replaced by a newer connection with the same routing id",
            );
        }
        self.names.insert(id, Frame::copy_from_slice(&name));
        self.routes.insert(name, id);
        self.arrived(pipes, id);
        Ok(())
    }

    fn queues_before(&mut self, named: bool) -> bool {
        named
    }

    fn arrived(&mut self, pipes: &mut Pipes, id: PipeId) {
        if self.notify_connect {
            self.inbound.push(pipes, id, Frames::single(Frame::new()));
        }
    }

    fn detached(&mut self, pipes: &mut Pipes, id: PipeId, _unsent: &mut Vec<Frames>) {
        if self.notify_disconnect && !pipes.is_awaited(id) {
            self.inbound.push(pipes, id, Frames::single(Frame::new()));
        }
        if let Some(name) = self.names.get(&id)
            && self.routes.get(name.as_slice()) == Some(&id)
        {
            self.routes.remove(name.as_slice());
        }
    }

    fn fair_queue(&mut self) -> Option<&mut FairQueue> {
        Some(&mut self.inbound)
    }

    fn delivered(&mut self, pipes: &mut Pipes, id: PipeId, item: FromPeer) -> Delivery {
        let frames = match item {
            FromPeer::Message(frames) => frames,
            other => return Delivery::Ignored(other),
        };
        self.inbound.push(pipes, id, frames);
        Delivery::Queued
    }

    fn send(&mut self, pipes: &mut Pipes, frames: &mut Frames) -> Result<usize, SendFailure> {
        let Some(name) = frames.pop_front() else {
            return Err(Error::from(MessageError::NoRoutingId).into());
        };
        match self.routes.get(name.as_slice()) {
            Some(&id) if pipes.has_room(id) => {
                if frames.is_empty() {
                    frames.push_back(Frame::new());
                }
                pipes.push(id, Item::Message(mem::take(frames)));
                pipes.discard_frame(name);
                Ok(0)
            }
            route if self.mandatory => {
                let known = route.is_some();
                route.inspect(|&&id| pipes.note_full(id));
                let unroutable = Error::Unroutable(name.to_vec());
                frames.push_front(name);
                Err(if known {
                    SendFailure::WouldBlock
                } else {
                    unroutable.into()
                })
            }
            route => {
                route.inspect(|&&id| pipes.note_dropped(id));
                pipes.discard_frame(name);
                Ok(1)
            }
        }
    }

    fn receive(&mut self, pipes: &mut Pipes) -> Result<Option<Received>, Error> {
        Ok(self.inbound.pop(pipes).map(|(id, mut frames, peer)| {
            frames.push_front(self.names.get(&id).cloned().unwrap_or_default());
            (frames, peer)
        }))
    }

    fn configure(&mut self, _pipes: &Pipes, behaviour: &Behaviour) {
        self.take(behaviour);
    }

    fn takes(&self, pipes: &Pipes, head: &[u8]) -> Result<bool, Error> {
        match self.routes.get(head) {
            _ if !self.mandatory => Ok(true),
            Some(&id) => Ok(pipes.has_room(id)),
            None => Err(Error::Unroutable(head.to_vec())),
        }
    }

    #[cfg(unix)]
    fn has_room_for(&self, pipes: &Pipes, name: &[u8]) -> Result<bool, Error> {
        match self.routes.get(name) {
            Some(&id) => Ok(pipes.has_room(id)),
            None => Err(Error::Unroutable(name.to_vec())),
        }
    }

    fn writable(&self, pipes: &Pipes) -> bool {
        // It depends on the addressee, and without the option nothing waits. libzmq asks for any with room.
        let waits = self.as_libzmq && self.mandatory;
        !waits || self.routes.values().any(|&id| pipes.has_room(id))
    }

    fn readable(&self) -> bool {
        !self.inbound.is_empty()
    }
}
