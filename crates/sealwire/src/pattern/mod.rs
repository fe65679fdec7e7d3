//! What each socket type does with messages, as pure state machines: no I/O, no clock, no lock.
//!
//! | type | sends | receives | RFC |
//! |---|---|---|---|
//! | PAIR | to its one peer | from its one peer | 31 |
//! | PUB, XPUB | to every subscriber | (XPUB) subscriptions | 29 |
//! | SUB, XSUB | subscriptions | fair queue, by topic | 29 |
//! | REQ | round robin, one at a time | the answer | 28 |
//! | REP | back to the asker | fair queue, one at a time | 28 |
//! | DEALER | round robin | fair queue | 28 |
//! | ROUTER | by routing id | fair queue, routing id in front | 28 |
//! | PUSH | round robin | nothing | 30 |
//! | PULL | nothing | fair queue | 30 |
//! | CLIENT | as DEALER, one frame | as DEALER, one frame | 41 |
//! | SERVER, PEER | by routing id, one frame | fair queue, routing id in front | 41, 51 |
//! | RADIO | to every member of a group | nothing | 48 |
//! | DISH | nothing | fair queue, by group | 48 |
//! | SCATTER | as PUSH, one frame | nothing | 49 |
//! | GATHER | nothing | as PULL, one frame | 49 |
//! | CHANNEL | as PAIR, one frame | as PAIR, one frame | 52 |
//! | STREAM | by routing id | fair queue, routing id in front | |
//! | DGRAM | by address, one frame | fair queue, address in front | |

mod announcements;
mod changes;
mod credit;
mod dealer;
mod dgram;
mod dish;
mod drops;
mod fair_queue;
mod framing;
mod high_water_mark;
mod invented_names;
mod item;
mod link;
mod pair;
mod pipe;
mod pipe_state;
mod pipes;
mod publish;
mod pull;
mod push;
mod radio;
mod rep;
mod req;
mod round_robin;
mod router;
mod server;
mod signals;
#[cfg(test)]
mod silent;
mod single_part;
mod stream;
mod subscribe;
mod subscriptions;
mod waits;

use std::collections::VecDeque;
use std::sync::Arc;

use sealwire_zmtp::{Frame, Frames, SocketType};

pub(crate) use drops::DropEvent;
pub(crate) use framing::Framed;
pub(crate) use high_water_mark::{HighWaterMarks, Room};
pub(crate) use item::{FromPeer, Item};
pub(crate) use link::{DirectReader, Dismissal, Link, More};
#[cfg(unix)]
pub use pipes::PeerQueue;
pub(crate) use pipes::{Measurements, PipeId, Pipes, Provenance, Sole, Taken};
pub(crate) use signals::Signals;
pub(crate) use waits::Clock;

use fair_queue::FairQueue;
use round_robin::RoundRobin;
use single_part::SinglePart;

use crate::error::{Error, Operation};
use crate::message::Message;
use crate::options::{Behaviour, OptionsError, SocketOptions};
use crate::peer::Peer;

/// Why a message was not sent. It is as it was.
#[derive(Debug)]
pub(crate) enum SendFailure {
    /// No room now: wait and try again.
    WouldBlock,
    /// It will not go.
    Failed(Box<Error>),
}

impl From<Error> for SendFailure {
    fn from(error: Error) -> Self {
        SendFailure::Failed(Box::new(error))
    }
}

/// What became of a received item.
#[derive(Debug)]
#[must_use]
pub(crate) enum Delivery {
    /// The application can read it.
    Queued,
    /// The socket type has no use for it (a message to PUB, a topic nobody subscribed to).
    Ignored(FromPeer),
    /// It was handled inside the socket (a subscription).
    Handled,
}

/// What became of a batch of received items.
#[derive(Debug, Default)]
pub(crate) struct Delivered {
    /// Messages that the application can read, and their bytes.
    pub(crate) queued: usize,
    pub(crate) bytes: usize,
    /// Messages that the socket type has no use for.
    pub(crate) ignored: usize,
    /// The queue is full: there may be more.
    pub(crate) full: bool,
    /// The peer asked for topics or groups, or took that back.
    pub(crate) changed: bool,
}

/// Where received items come from.
pub(crate) trait Arrivals {
    fn next(&mut self) -> Option<FromPeer>;

    /// Moves messages that come next into a queue, as many as it has room for, and stops before
    /// anything else. Returns their bytes.
    fn take_messages(&mut self, _into: &mut VecDeque<Frames>, _room: Room) -> usize {
        0
    }
}

/// Items that lie ready.
impl Arrivals for VecDeque<Item> {
    fn next(&mut self) -> Option<FromPeer> {
        std::iter::from_fn(|| self.pop_front()).find_map(Item::arrive)
    }

    fn take_messages(&mut self, into: &mut VecDeque<Frames>, room: Room) -> usize {
        let mut taken = 0;
        for _ in 0..room.messages {
            if taken >= room.bytes || !matches!(self.front(), Some(Item::Message(_))) {
                break;
            }
            if let Some(Item::Message(frames)) = self.pop_front() {
                taken += frames.size();
                into.push_back(frames);
            }
        }
        taken
    }
}

/// A received message with the peer that its connection belongs to.
pub(crate) type Received = (Frames, Arc<Peer>);

/// The behaviour of one socket type.
///
/// All this runs under the socket's lock, where no message may be dropped: the owner of its payload
/// may be foreign code, which may call the socket. So messages are lent, and what a pattern leaves
/// in place is dropped by its caller without the lock; or they are given back. What a pattern has
/// taken and is done with goes to [`Pipes::discard`].
pub(crate) trait Pattern: Send {
    /// A peer completed its handshake. An error turns it away; the text is for both sides.
    fn attached(&mut self, pipes: &mut Pipes, id: PipeId) -> Result<(), &'static str>;

    /// Whether messages may be queued for the peer of a `connect` before it is there; `named` where the application
    /// chose a routing id for it. Then [`Pattern::attached`] comes at once, and [`Pattern::arrived`] later.
    fn queues_before(&mut self, _named: bool) -> bool {
        self.round_robin().is_some()
    }

    /// The peer of a pipe that was attached before is there.
    fn arrived(&mut self, _pipes: &mut Pipes, _id: PipeId) {}

    /// The peer is gone. Messages that were queued for it and never left are in `unsent`. Messages that are
    /// left there are lost.
    fn detached(&mut self, pipes: &mut Pipes, id: PipeId, unsent: &mut Vec<Frames>);

    /// An item arrived from a peer. There is room for it.
    fn delivered(&mut self, pipes: &mut Pipes, id: PipeId, item: FromPeer) -> Delivery;

    /// Where messages go as they are, where the socket type has use for all of them.
    fn queue_of_all(&mut self) -> Option<&mut FairQueue> {
        None
    }

    /// Where messages wait to be received from one peer after the other.
    fn fair_queue(&mut self) -> Option<&mut FairQueue> {
        self.queue_of_all()
    }

    /// Discards what came from a peer and was not read. Returns how many messages it was.
    fn forget(&mut self, pipes: &mut Pipes, id: PipeId) -> usize {
        let queue = self.fair_queue();
        queue.map_or(0, |queue| queue.forget(pipes, id))
    }

    /// Takes items from a peer until there are no more or its queue is full.
    fn deliver_all(
        &mut self,
        pipes: &mut Pipes,
        id: PipeId,
        source: &mut dyn Arrivals,
    ) -> Delivered {
        let mut delivered = Delivered::default();
        loop {
            if !pipes.accepts_input(id) {
                delivered.full = true;
                return delivered;
            }
            let (messages, bytes) = match self.queue_of_all() {
                Some(queue) => queue.fill(pipes, id, source),
                None => (0, 0),
            };
            if messages > 0 {
                delivered.queued += messages;
                delivered.bytes += bytes;
                continue;
            }
            let Some(item) = source.next() else {
                return delivered;
            };
            let (message, size) = match &item {
                FromPeer::Message(frames) => (true, frames.size()),
                FromPeer::Subscribe(_) | FromPeer::Cancel(_) => (false, 0),
                FromPeer::Missed(count) => {
                    pipes.note_missed(id, *count);
                    continue;
                }
            };
            delivered.changed |= !message;
            match self.delivered(pipes, id, item) {
                Delivery::Queued => {
                    delivered.queued += 1;
                    delivered.bytes += size;
                }
                Delivery::Ignored(item) => {
                    delivered.ignored += usize::from(message);
                    pipes.discard_from_peer(item);
                }
                Delivery::Handled => {}
            }
        }
    }

    /// Takes datagrams with their senders, until there are no more or the queue is full.
    fn deliver_datagrams(
        &mut self,
        _pipes: &mut Pipes,
        _id: PipeId,
        _next: &mut dyn FnMut() -> Option<Received>,
    ) -> Delivered {
        Delivered::default()
    }

    /// Routes one message. `Ok` carries the number of copies that were dropped, at a full queue or for want of an
    /// address; what is left of the message then is of no more use.
    fn send(&mut self, pipes: &mut Pipes, frames: &mut Frames) -> Result<usize, SendFailure>;

    /// Queues payloads for the connection of this routing id as long as it has room, and says how
    /// many.
    fn send_many_to(
        &mut self,
        _pipes: &mut Pipes,
        _routing_id: u32,
        _payloads: &mut VecDeque<Frame>,
    ) -> Result<usize, Error> {
        Err(Error::Unsupported(Operation::RoutingId))
    }

    /// The number by which messages go to the peer of this pipe, in the types that have such.
    fn routing_id(&self, pipes: &Pipes, id: PipeId) -> u32 {
        pipes
            .peer(id)
            .map_or(0, |peer| peer.connection_routing_id())
    }

    /// Whether there is room for a message to the peer of this name.
    #[cfg(unix)]
    fn has_room_for(&self, _pipes: &Pipes, _name: &[u8]) -> Result<bool, Error> {
        Err(Error::Unsupported(Operation::ChooseRoutingId))
    }

    /// Ends the connection of this routing id.
    fn disconnect(
        &mut self,
        _pipes: &mut Pipes,
        _routing_id: u32,
        _reason: &'static str,
    ) -> Result<(), Error> {
        Err(Error::Unsupported(Operation::RoutingId))
    }

    /// Takes one received message; `None` when there is none yet.
    fn receive(&mut self, pipes: &mut Pipes) -> Result<Option<Received>, Error>;

    /// Takes up to `limit` received messages. An error comes only when there is none before it.
    fn receive_many(
        &mut self,
        pipes: &mut Pipes,
        into: &mut Vec<Message>,
        limit: usize,
    ) -> Result<usize, Error> {
        for taken in 0..limit {
            match self.receive(pipes) {
                Ok(Some((frames, peer))) => into.push(Message::received(frames, peer)),
                Err(error) if taken == 0 => return Err(error),
                Ok(None) | Err(_) => return Ok(taken),
            }
        }
        Ok(limit)
    }

    /// Whether [`Pattern::receive`] gives messages as they came and keeps no count of them, so
    /// that they may be taken past it.
    fn receives_unchanged(&self) -> bool {
        false
    }

    /// Whether [`Pattern::send`] passes messages on as they are, to its peers in turn, and keeps no
    /// count of them, so that they may go past it where there is one peer.
    fn sends_unchanged(&self) -> bool {
        false
    }

    /// Whether [`Pattern::send`] takes a message now, for any addressee. Where that depends on the
    /// addressee, whether it may.
    fn writable(&self, pipes: &Pipes) -> bool;

    /// Whether [`Pattern::send`] takes a message now that begins with this frame.
    ///
    /// # Errors
    ///
    /// Those of [`Pattern::send`] that the rest of the message changes nothing about.
    fn takes(&self, pipes: &Pipes, _head: &[u8]) -> Result<bool, Error> {
        Ok(self.writable(pipes))
    }

    /// Whether [`Pattern::receive`] has something to say.
    fn readable(&self) -> bool;

    /// Where messages wait for a peer, in the types that send to one of several in turn.
    fn round_robin(&mut self) -> Option<&mut RoundRobin> {
        None
    }

    /// Room may have become free in a queue towards a peer.
    fn room_freed(&mut self, pipes: &mut Pipes) {
        if let Some(outbound) = self.round_robin() {
            outbound.drain_backlog(pipes);
        }
    }

    /// Changes how much may wait for a peer. Messages above a lower limit stay.
    fn limit_backlog(&mut self, marks: HighWaterMarks) {
        if let Some(outbound) = self.round_robin() {
            outbound.limit(marks);
        }
    }

    /// Changes the options that the type has for itself, from now on.
    fn configure(&mut self, _pipes: &Pipes, _behaviour: &Behaviour) {}

    /// Whether any endpoint is being connected to, so that messages may wait for a peer.
    fn expect_peers(&mut self, expecting: bool) {
        if let Some(outbound) = self.round_robin() {
            outbound.expect_peers(expecting);
        }
    }

    /// Messages accepted for sending that no peer has been chosen for yet.
    fn backlog(&mut self) -> usize {
        self.round_robin()
            .map_or(0, |outbound| outbound.backlog_len())
    }

    /// Takes the backlog away.
    #[must_use]
    fn take_backlog(&mut self) -> Vec<Frames> {
        self.round_robin()
            .map_or_else(Vec::new, RoundRobin::take_backlog)
    }

    /// Adds a subscription.
    fn subscribe(&mut self, _pipes: &mut Pipes, _topic: &[u8]) -> Result<(), Error> {
        Err(Error::Unsupported(Operation::Subscribe))
    }

    /// Removes a subscription.
    fn unsubscribe(&mut self, _pipes: &mut Pipes, _topic: &[u8]) -> Result<(), Error> {
        Err(Error::Unsupported(Operation::Subscribe))
    }

    /// How many different topics are subscribed to: by the application, or by peers.
    fn topics(&self) -> Result<usize, Error> {
        Err(Error::Unsupported(Operation::Subscribe))
    }

    /// How many peers asked for a message that begins like this, or for this group; `None` where peers
    /// ask for nothing.
    fn subscribers(&mut self, _pipes: &Pipes, _topic: &[u8]) -> Option<usize> {
        None
    }

    /// Joins a group.
    fn join(&mut self, _pipes: &mut Pipes, _group: &[u8]) -> Result<(), Error> {
        Err(Error::Unsupported(Operation::Join))
    }

    /// Leaves a group.
    fn leave(&mut self, _pipes: &mut Pipes, _group: &[u8]) -> Result<(), Error> {
        Err(Error::Unsupported(Operation::Join))
    }
}

/// The pattern for a socket of this type. `fill_random` is asked for bytes that nobody can foresee.
///
/// # Errors
///
/// [`OptionsError::SocketType`] for a type that has no pattern here.
pub(crate) fn pattern(
    options: &SocketOptions,
    fill_random: impl FnOnce(&mut [u8]),
) -> Result<Box<dyn Pattern>, OptionsError> {
    let random_if = |wanted: bool| {
        let mut octets = [0; 4];
        if wanted {
            fill_random(&mut octets);
        }
        u32::from_ne_bytes(octets)
    };
    // A program may know the peers of all its sockets by these numbers.
    let apart = options.as_libzmq;
    Ok(match options.socket_type {
        SocketType::Pair => Box::new(pair::Pair::new(options)),
        SocketType::Pub => Box::new(publish::Publish::new(publish::Upstream::Hidden, options)),
        SocketType::XPub => Box::new(publish::Publish::new(publish::Upstream::Readable, options)),
        SocketType::Sub => Box::new(subscribe::Subscribe::new(
            subscribe::Upstream::Closed,
            options,
        )),
        SocketType::XSub => Box::new(subscribe::Subscribe::new(
            subscribe::Upstream::Open,
            options,
        )),
        SocketType::Req => Box::new(req::Req::new(options, random_if(true))),
        SocketType::Rep => Box::new(rep::Rep::new(options)),
        SocketType::Dealer => Box::new(dealer::Dealer::new(options)),
        SocketType::Router => Box::new(router::Router::new(options, random_if(apart))),
        SocketType::Push => Box::new(push::Push::new(options)),
        SocketType::Pull => Box::new(pull::Pull::default()),
        SocketType::Client => Box::new(SinglePart(dealer::Dealer::new(options))),
        SocketType::Server | SocketType::Peer => {
            Box::new(server::Server::new(options, random_if(apart)))
        }
        SocketType::Radio => Box::new(radio::Radio::new(&options.behaviour)),
        SocketType::Dish => Box::new(dish::Dish::default()),
        SocketType::Gather => Box::new(SinglePart(pull::Pull::default())),
        SocketType::Scatter => Box::new(SinglePart(push::Push::new(options))),
        SocketType::Channel => Box::new(SinglePart(pair::Pair::new(options))),
        SocketType::Stream => Box::new(stream::Stream::new(options, random_if(apart))),
        SocketType::Dgram => Box::new(dgram::Dgram::new(options)),
        other => return Err(OptionsError::SocketType(other)),
    })
}
