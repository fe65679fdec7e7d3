//! Peers that are awaited, are there, and are left, by connections that move nothing by themselves.

mod accepted;
mod awaiting;
mod leaving;
mod leaving_late;

use std::cell::Cell;
use std::collections::VecDeque;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use bytes::Bytes;
use sealwire_zmtp::{Frame, Frames, SocketType};

use super::{Registration, RegistrationKind, SocketCore};
use crate::account::Kind;
use crate::endpoint::Endpoint;
use crate::error::{Error, Presence};
use crate::message::Message;
use crate::monitor::Counters;
use crate::pattern::{Dismissal, Item, Link, PipeId, Provenance, Room};
use crate::peer::Peer;
use crate::socket::{Socket, SocketBuilder};

/// How often the connection was told that more is wanted, and that it is to end.
#[derive(Default)]
struct Silent(AtomicUsize, AtomicUsize);

impl Link for Silent {
    fn output_ready(&self, _alone: bool) {}
    fn disconnect(&self, _reason: Dismissal) {}

    fn finish(&self) {
        self.1.fetch_add(1, Ordering::Relaxed);
    }

    fn input_wanted(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Silent {
    fn is_finishing(&self) -> bool {
        self.1.load(Ordering::Relaxed) > 0
    }
}

/// How often a task was woken.
#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Woken {
    /// Whether it was since this was last asked.
    fn take(&self) -> bool {
        self.0.swap(0, Ordering::Relaxed) > 0
    }
}

/// A socket that is connected to endpoints with a name each.
struct Scene {
    socket: Socket,
    next: Cell<u64>,
}

/// One connection of it, from the other side.
struct End {
    core: Arc<SocketCore>,
    endpoint: Endpoint,
    connector: Option<u64>,
    peer: Arc<Peer>,
    pipe: PipeId,
    link: Arc<Silent>,
}

impl Scene {
    fn new(socket_type: SocketType) -> Self {
        Self::with(Socket::builder(socket_type))
    }

    fn with(builder: SocketBuilder) -> Self {
        Scene {
            socket: builder.build().unwrap(),
            next: Cell::new(1_000),
        }
    }

    fn core(&self) -> &Arc<SocketCore> {
        self.socket.core().unwrap()
    }

    /// Begins to connect. Returns the number of that.
    fn expect(&self, name: &str) -> (Endpoint, u64) {
        self.try_expect(name, None).unwrap()
    }

    fn register(&self, name: &str, kind: RegistrationKind) -> (Endpoint, u64) {
        self.try_register(name, kind, None).unwrap()
    }

    /// Begins to connect, with a routing id for the peer.
    fn try_expect(&self, name: &str, routing_id: Option<&str>) -> Result<(Endpoint, u64), Error> {
        self.try_register(name, RegistrationKind::Connected, routing_id)
    }

    fn try_register(
        &self,
        name: &str,
        kind: RegistrationKind,
        routing_id: Option<&str>,
    ) -> Result<(Endpoint, u64), Error> {
        let id = self.next.get() + 1;
        self.next.set(id);
        let (core, endpoint) = (self.core(), Endpoint::Inproc(name.into()));
        let registration = Registration::new(endpoint.clone(), id, kind, &core.options());
        let routing_id = routing_id.map(|it| it.as_bytes().into());
        core.register(registration.with_routing_id(routing_id))?;
        Ok((endpoint, id))
    }

    fn connect(&self, name: &str) -> End {
        let (endpoint, connector) = self.expect(name);
        self.attach(endpoint, connector).unwrap()
    }

    /// The connection of a `connect` is ready.
    fn attach(&self, endpoint: Endpoint, connector: u64) -> Result<End, Dismissal> {
        let provenance = Provenance {
            connector: Some(connector),
            ..Provenance::default()
        };
        self.attach_from(endpoint, provenance)
    }

    fn attach_from(&self, endpoint: Endpoint, provenance: Provenance) -> Result<End, Dismissal> {
        let connector = provenance.connector;
        let core = self.core().clone();
        let routing_id = core.context().routing_ids().assign();
        let name = endpoint.to_string().into_bytes();
        let peer = Peer::inproc("peer", 1, false, routing_id, SocketType::Pair, name);
        let (peer, link) = (Arc::new(peer), Arc::new(Silent::default()));
        let pipe = core.attach(peer.clone(), link.clone(), provenance)?;
        Ok(End {
            core,
            endpoint,
            connector,
            peer,
            pipe,
            link,
        })
    }

    /// The socket disconnects, as far as the caller does it.
    fn leave(&self, end: &End) {
        let kind = RegistrationKind::Connected;
        self.core().unregister(&end.endpoint, kind).unwrap();
    }

    fn sends(&self, frames: &[&str]) -> Result<(), Error> {
        let message: Message = frames.iter().map(|frame| Frame::from(*frame)).collect();
        self.socket.try_send(message).map_err(Error::from)
    }

    fn send(&self, text: &str) {
        self.sends(&[text]).unwrap();
    }

    fn would_block(&self) -> bool {
        matches!(self.sends(&["more"]), Err(Error::WouldBlock))
    }

    /// The messages that came, in words, with `/` between frames.
    fn received(&self) -> Vec<String> {
        std::iter::from_fn(|| self.receive().ok()).collect()
    }

    fn receive(&self) -> Result<String, Error> {
        let message = self.socket.try_recv()?;
        let frames = message.frames().iter().map(Frame::as_slice);
        let frames = frames.map(|frame| String::from_utf8_lossy(frame).into_owned());
        Ok(frames.collect::<Vec<_>>().join("/"))
    }

    fn counters(&self) -> Counters {
        self.core().counters()
    }
}

impl End {
    /// What the connection takes for the application, in words.
    fn taken(&self) -> Vec<String> {
        let mut taken = self.taken_with_own();
        taken.retain(|it| !it.starts_with("(own"));
        taken
    }

    /// The same, with what the socket says itself.
    fn taken_with_own(&self) -> Vec<String> {
        let (mut items, mut all) = (VecDeque::new(), Vec::new());
        loop {
            let room = Room::of_bytes(usize::MAX);
            self.core.take_outbound(self.pipe, &mut items, room);
            if items.is_empty() {
                return all;
            }
            let joined = |frames: Frames| {
                let frames = frames.frames().iter();
                let frames = frames.map(|it| String::from_utf8_lossy(it.as_slice()).into());
                frames.collect::<Vec<String>>().join("/")
            };
            all.extend(items.drain(..).map(|item| match item {
                Item::Message(frames) => joined(frames),
                Item::OwnMessage(frames) => format!("(own {})", joined(frames)).replace(" )", ")"),
                Item::Subscribe(topic) => format!("+{}", text(&topic)),
                Item::Cancel(topic) => format!("-{}", text(&topic)),
                other => panic!("{other:?}"),
            }));
        }
    }

    fn deliver(&self, items: impl IntoIterator<Item = Item>) {
        let mut source: VecDeque<Item> = items.into_iter().collect();
        let _ = self.core.deliver(self.pipe, &mut source);
        assert!(source.is_empty(), "the connection would wait");
    }

    fn says(&self, frames: &[&str]) {
        let frames: Frames = frames.iter().map(|frame| (*frame).into()).collect();
        self.deliver([Item::Message(frames)]);
    }

    fn subscribes(&self, topic: &str) {
        self.deliver([Item::Subscribe(Bytes::copy_from_slice(topic.as_bytes()))]);
    }

    /// The connection is over.
    fn ends(self) {
        let core = self.core.clone();
        self.ends_unattached();
        core.remove_attachment();
    }

    /// The same for one that is not counted among what works for the socket.
    fn ends_unattached(self) {
        self.core.detach(self.pipe);
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into()
}
