//! Peers that were left, by connections that move nothing by themselves.

mod accepted;
mod patterns;
mod waiting;

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

/// How often the connection was told that more is wanted.
#[derive(Default)]
struct Silent(AtomicUsize);

impl Link for Silent {
    fn output_ready(&self, _alone: bool) {}
    fn disconnect(&self, _reason: Dismissal) {}
    fn finish(&self) {}

    fn input_wanted(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
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
        self.register(name, RegistrationKind::Connected)
    }

    fn register(&self, name: &str, kind: RegistrationKind) -> (Endpoint, u64) {
        let id = self.next.get() + 1;
        self.next.set(id);
        let (core, endpoint) = (self.core(), Endpoint::Inproc(name.into()));
        let registration = Registration::new(endpoint.clone(), id, kind, &core.options());
        core.register(registration).unwrap();
        (endpoint, id)
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
        let core = self.core().clone();
        let routing_id = core.context().routing_ids().assign();
        let name = endpoint.to_string().into_bytes();
        let peer = Peer::inproc("peer", 1, routing_id, SocketType::Pair, name);
        let (peer, link) = (Arc::new(peer), Arc::new(Silent::default()));
        let pipe = core.attach(peer.clone(), link.clone(), provenance)?;
        Ok(End {
            core,
            endpoint,
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
    /// What the connection takes, in words.
    fn taken(&self) -> Vec<String> {
        let (mut items, mut all) = (VecDeque::new(), Vec::new());
        loop {
            let room = Room::of_bytes(usize::MAX);
            self.core.take_outbound(self.pipe, &mut items, room);
            if items.is_empty() {
                return all;
            }
            all.extend(items.drain(..).map(|item| match item {
                Item::Message(frames) => {
                    let frames = frames.frames().iter();
                    let frames = frames.map(|it| String::from_utf8_lossy(it.as_slice()).into());
                    frames.collect::<Vec<String>>().join("/")
                }
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
        self.core.detach(self.pipe);
        self.core.remove_attachment();
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into()
}
