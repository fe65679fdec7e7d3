//! A connection between two sockets of one process: its ends, and how they part.

use std::collections::VecDeque;
use std::sync::atomic::fence;
use std::sync::{Arc, OnceLock};

use super::lane::{Delivered, Ends, Lane};
use super::sync::{AtomicBool, Ordering};
use super::{Registry, User};
use crate::core::SocketCore;
use crate::failure::{ConnectionFailure, FailureCause};
use crate::monitor::Event;
use crate::pattern::{Dismissal, Item, Link, PipeId, Provenance};
use crate::peer::{self, Peer};

/// The end that connected, and the one that was bound.
pub(super) const CLIENT: usize = 0;
pub(super) const SERVER: usize = 1;

pub(super) fn failure(
    name: &str,
    connection: Option<u64>,
    accepted: bool,
    cause: FailureCause,
    peer: Option<Arc<Peer>>,
) -> ConnectionFailure {
    ConnectionFailure {
        connection,
        ends: Arc::new(peer::Ends::within_the_process(name, accepted)),
        peer,
        cause,
    }
}

pub(super) struct InprocConnection {
    registry: Arc<Registry>,
    pub(super) name: String,
    pub(super) number: u64,
    pub(super) ends: [End; 2],
    /// `lanes[side]` carries what `ends[side]` sends.
    lanes: [Lane<Item>; 2],
    ended: AtomicBool,
}

pub(super) struct End {
    pub(super) core: Arc<SocketCore>,
    /// The number of the `bind` or `connect` that it came from.
    pub(super) id: u64,
    /// The name that it had when it was bound or connected.
    routing_id: Vec<u8>,
    pub(super) as_libzmq: bool,
    /// Set once the end is attached, with who is at the other one.
    pipe: OnceLock<(PipeId, Arc<Peer>)>,
    /// Its socket knows that the peer is gone.
    parted: AtomicBool,
}

impl End {
    pub(super) fn is(&self, core: &Arc<SocketCore>) -> bool {
        Arc::ptr_eq(&self.core, core)
    }

    /// Lets its socket know once that the connection has ended, if it was attached.
    fn part(&self) {
        // An end that is being attached meanwhile sees that the connection has ended, or is seen here.
        fence(Ordering::SeqCst);
        if let Some((pipe, peer)) = self.pipe.get()
            && !self.parted.swap(true, Ordering::Relaxed)
        {
            let by_peer = !self.core.detach(*pipe);
            let peer = peer.clone();
            self.core.hub.emit(Event::Disconnected { peer, by_peer });
        }
    }
}

impl InprocConnection {
    /// Between the end that connected and the one that was bound.
    pub(super) fn new(
        registry: Arc<Registry>,
        name: &str,
        number: u64,
        users: [User; 2],
    ) -> Arc<Self> {
        let ends = users.map(|user| End {
            core: user.core,
            id: user.id,
            routing_id: user.routing_id,
            as_libzmq: user.as_libzmq,
            pipe: OnceLock::new(),
            parted: AtomicBool::new(false),
        });
        Arc::new(InprocConnection {
            registry,
            name: name.into(),
            number,
            ends,
            lanes: [Lane::default(), Lane::default()],
            ended: AtomicBool::new(false),
        })
    }

    pub(super) fn attach(self: &Arc<Self>, side: usize) -> Result<(), Dismissal> {
        let (end, other) = (&self.ends[side], &self.ends[1 - side]);
        let connection_routing_id = end.core.context().routing_ids().assign();
        let peer = Peer::inproc(
            &self.name,
            self.number,
            side == SERVER,
            connection_routing_id,
            other.core.socket_type(),
            other.routing_id.clone(),
        );
        let peer = Arc::new(peer);
        let link = Arc::new(Side {
            connection: self.clone(),
            side,
        });
        // No authenticator is asked about peers within the process.
        let provenance = Provenance {
            connector: (side == CLIENT).then_some(end.id),
            listener: (side == SERVER).then_some(end.id),
            ..Provenance::default()
        };
        let pipe = end.core.attach(peer.clone(), link, provenance)?;
        // Set once per side, right here.
        let _ = end.pipe.set((pipe, peer.clone()));
        end.core.hub.emit(Event::Ready { peer });
        fence(Ordering::SeqCst);
        if self.ended.load(Ordering::SeqCst) {
            end.part();
        }
        Ok(())
    }

    pub(super) fn pump(&self, side: usize) {
        self.lanes[side].pump(&Direction::from(self, side));
    }

    pub(super) fn finish(&self, side: usize) {
        self.lanes[side].finish(&Direction::from(self, side));
    }

    /// Ends the connection once what its end on this side has given away is at the other.
    pub(super) fn stop(&self, side: usize) {
        self.lanes[side].stop(&Direction::from(self, side));
    }

    /// Ends the connection once what is queued on this side is at the other, as far as there is room.
    pub(super) fn abandon(&self, side: usize) {
        self.lanes[side].abandon(&Direction::from(self, side));
    }

    pub(super) fn end(&self) {
        if self.ended.swap(true, Ordering::SeqCst) {
            return;
        }
        let client = &self.ends[CLIENT];
        let given_up = self.registry.forget(self);
        if given_up {
            // Before its pipe goes, which no queue for another peer follows then.
            client.core.give_up(client.id);
        }
        for end in &self.ends {
            end.part();
            end.core.remove_attachment();
        }
        if given_up {
            client.core.remove_attachment();
        }
        for end in &self.ends {
            self.registry.settle(&end.core);
        }
    }
}

/// What an end sends, to the other one.
struct Direction<'a> {
    connection: &'a InprocConnection,
    from: &'a End,
    to: &'a End,
}

impl<'a> Direction<'a> {
    fn from(connection: &'a InprocConnection, side: usize) -> Self {
        Direction {
            connection,
            from: &connection.ends[side],
            to: &connection.ends[1 - side],
        }
    }

    /// The pipes of both ends, once they are attached.
    fn pipes(&self) -> Option<[PipeId; 2]> {
        let (from, to) = (self.from.pipe.get()?, self.to.pipe.get()?);
        Some([from.0, to.0])
    }
}

impl Ends<Item> for Direction<'_> {
    fn deliver(&self, moving: &mut VecDeque<Item>) -> Delivered {
        let Some([_, sink]) = self.pipes() else {
            return Delivered {
                some: false,
                full: true,
            };
        };
        let delivered = self.to.core.deliver(sink, moving);
        Delivered {
            some: delivered.queued > 0,
            full: delivered.full,
        }
    }

    fn fetch(&self, moving: &mut VecDeque<Item>) -> bool {
        let Some([source, sink]) = self.pipes() else {
            return false;
        };
        let Some(room) = self.to.core.input_room(sink) else {
            return false;
        };
        let taken = self.from.core.take_outbound(source, moving, room);
        if taken.untold {
            self.from.core.notify_writable();
        }
        true
    }

    fn may_wait(&self) -> bool {
        !self.from.core.conflates() && !self.to.core.takes_at_once()
    }

    fn are_joined(&self) -> bool {
        self.pipes().is_some()
    }

    fn are_parted(&self) -> bool {
        self.connection.ended.load(Ordering::SeqCst)
    }

    fn part(&self) {
        self.connection.end();
    }
}

/// The link of one end.
struct Side {
    connection: Arc<InprocConnection>,
    side: usize,
}

impl Link for Side {
    fn output_ready(&self, _alone: bool) {
        self.connection.pump(self.side);
    }

    fn input_wanted(&self) {
        self.connection.pump(1 - self.side);
    }

    fn keeps_output_back(&self) -> bool {
        true
    }

    fn disconnect(&self, reason: Dismissal) {
        let InprocConnection { name, number, .. } = &*self.connection;
        let cause = reason.cause();
        for (side, end) in self.connection.ends.iter().enumerate() {
            let peer = end.pipe.get().map(|(_, peer)| peer.clone());
            let accepted = side == SERVER;
            let failure = failure(name, Some(*number), accepted, cause.clone(), peer);
            end.core.tell_failure(failure);
        }
        self.connection.end();
    }

    fn finish(&self) {
        self.connection.abandon(self.side);
    }
}
