//! One direction of one pattern, message by message, so that someone can tamper with a known one.

use std::time::Duration;

use sealwire::blocking::Socket;
use sealwire::{Frame, Message, SocketType};
use sealwire_relay::{Direction, Manipulation, Outcome};

use crate::support::{eventually, texts};

/// A pattern, and which of its directions is tampered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    /// PUSH to PULL.
    Push,
    /// PUB to SUB.
    Publish,
    /// SUB to XPUB, which tells of subscriptions.
    Subscribe,
    /// REQ to REP.
    Request,
    /// REP to REQ.
    Reply,
    /// DEALER to ROUTER.
    Deal,
    /// ROUTER to DEALER.
    Route,
}

impl Flow {
    pub(super) const ALL: [Flow; 7] = [
        Flow::Push,
        Flow::Publish,
        Flow::Subscribe,
        Flow::Request,
        Flow::Reply,
        Flow::Deal,
        Flow::Route,
    ];

    pub(super) fn direction(self) -> Direction {
        match self {
            Flow::Push | Flow::Subscribe | Flow::Request | Flow::Deal => Direction::ToServer,
            Flow::Publish | Flow::Reply | Flow::Route => Direction::ToClient,
        }
    }

    /// The type that binds, and the type that connects.
    pub(super) fn types(self) -> (SocketType, SocketType) {
        match self {
            Flow::Push => (SocketType::Pull, SocketType::Push),
            Flow::Publish => (SocketType::Pub, SocketType::Sub),
            Flow::Subscribe => (SocketType::XPub, SocketType::Sub),
            Flow::Request | Flow::Reply => (SocketType::Rep, SocketType::Req),
            Flow::Deal | Flow::Route => (SocketType::Router, SocketType::Dealer),
        }
    }

    /// Whether a message waits for the answer to the one before it. Such a message has two frames on the wire:
    /// its envelope is one.
    pub(super) fn takes_turns(self) -> bool {
        matches!(self, Flow::Request | Flow::Reply)
    }

    /// Whether this shows such an outcome. PUB says nothing of a client that is played again and believed; XPUB does.
    pub(super) fn shows(self, manipulation: Manipulation, outcome: Outcome) -> bool {
        (self, manipulation, outcome) != (Flow::Publish, Manipulation::Replay, Outcome::Delivered)
    }
}

/// A server, and the client that it talks to.
pub(super) struct Conversation<'s> {
    flow: Flow,
    server: &'s Socket,
    pub(super) client: Socket,
    /// The routing id of the client, where the server is a ROUTER.
    route: Option<Frame>,
}

impl<'s> Conversation<'s> {
    /// The client is not connected yet.
    pub(super) fn new(flow: Flow, server: &'s Socket, client: Socket) -> Self {
        if flow == Flow::Publish {
            client.subscribe("").unwrap();
        }
        Conversation {
            flow,
            server,
            client,
            route: None,
        }
    }

    /// Says what has to be said before messages can flow.
    pub(super) fn begin(&mut self) {
        match self.flow {
            Flow::Publish => {
                self.publish_until_heard("probe", &self.client);
                self.send("ready");
                while self.next() != "ready" {}
            }
            Flow::Route => {
                self.client.send("hello").unwrap();
                let hello = self.server.recv().unwrap();
                self.route = hello.frames().first().cloned();
            }
            _ => {}
        }
    }

    /// A publisher does not know when a subscription has arrived.
    fn publish_until_heard(&self, text: &str, subscriber: &Socket) {
        eventually("a subscriber hears", || {
            self.server.send(text).unwrap();
            let heard = subscriber.recv_timeout(Duration::from_millis(10));
            heard.is_ok_and(|heard| heard.as_bytes() == text.as_bytes())
        });
    }

    /// Sends a message. The connection may be over by now; then there is nobody to send to.
    pub(super) fn send(&self, text: &str) {
        match self.flow {
            Flow::Push | Flow::Request | Flow::Deal => drop(self.client.try_send(text)),
            Flow::Publish => drop(self.server.try_send(text)),
            Flow::Subscribe => self.client.subscribe(text).unwrap(),
            Flow::Reply => {
                self.client.send("request").unwrap();
                assert_eq!(self.server.recv().unwrap().as_bytes(), b"request");
                self.server.send(text).unwrap();
            }
            Flow::Route => {
                let route = self.route.clone().unwrap();
                let parts = [route, Frame::from(text)];
                drop(self.server.try_send(Message::from_iter(parts)));
            }
        }
    }

    /// Sends a message and waits until it is delivered, and until the next one may be sent.
    pub(super) fn exchange(&self, text: &str) {
        match self.flow {
            // Waits for a peer.
            Flow::Push | Flow::Request | Flow::Deal => self.client.send(text).unwrap(),
            _ => self.send(text),
        }
        assert_eq!(self.next(), text);
        if self.flow == Flow::Request {
            self.server.send("reply").unwrap();
            assert_eq!(self.client.recv().unwrap().as_bytes(), b"reply");
        }
    }

    /// A message that was delivered and not taken yet, if there is one.
    pub(super) fn try_next(&self) -> Option<String> {
        loop {
            let message = self.receiver().try_recv().ok()?;
            if let Some(text) = self.text_of(&message) {
                return Some(text);
            }
        }
    }

    /// Waits for what is delivered next.
    pub(super) fn next(&self) -> String {
        loop {
            let message = self.receiver().recv().unwrap();
            if let Some(text) = self.text_of(&message) {
                return text;
            }
        }
    }

    /// What the sender receives of its own where that comes back and is believed; `None` where its socket
    /// receives nothing, or no such thing.
    pub(super) fn returned(&self) -> Option<String> {
        let sender = match self.flow {
            Flow::Route => self.server,
            Flow::Deal => &self.client,
            Flow::Push | Flow::Publish | Flow::Subscribe | Flow::Request | Flow::Reply => {
                return None;
            }
        };
        texts(&sender.recv().unwrap()).pop()
    }

    /// The client leaves. XPUB tells of each subscription that ends with it, and of none that somebody else has
    /// then.
    pub(super) fn leave(self, messages: usize) {
        let subscriptions = match self.flow {
            Flow::Subscribe => messages,
            _ => 0,
        };
        drop(self.client);
        for _ in 0..subscriptions {
            let left = self.server.recv().unwrap();
            assert!(left.as_bytes().starts_with(b"\0"), "{left:?}");
        }
    }

    fn receiver(&self) -> &Socket {
        match self.flow.direction() {
            Direction::ToServer => self.server,
            Direction::ToClient => &self.client,
        }
    }

    /// `None` for a message of a subscriber that is not a subscription.
    fn text_of(&self, message: &Message) -> Option<String> {
        let text = texts(message).pop().unwrap();
        match self.flow {
            Flow::Subscribe => text.strip_prefix('\x01').map(str::to_owned),
            _ => Some(text),
        }
    }

    /// Another client is served. What the server received before.
    pub(super) fn serves(self, other: &Socket, endpoint: &str) -> Vec<String> {
        let (flow, server) = (self.flow, self.server);
        if flow == Flow::Request {
            // A request that was delivered is answered before the next one is read.
            drop(server.try_send("reply"));
        }
        let subscribes = flow.types().1 == SocketType::Sub;
        if subscribes {
            other.subscribe("honest").unwrap();
        }
        other.connect(endpoint).unwrap();
        if flow == Flow::Publish {
            self.publish_until_heard("honest", other);
            return Vec::new();
        }
        if !subscribes {
            other.send("honest").unwrap();
        }
        let mut before = Vec::new();
        let message = loop {
            let message = server.recv().unwrap();
            let text = texts(&message).pop().unwrap();
            if text.ends_with("honest") {
                break message;
            }
            // The subscriber that was attacked leaves.
            before.extend((!text.starts_with('\0')).then_some(text));
        };
        if subscribes {
            server.send("honest").unwrap();
        } else if flow != Flow::Push {
            server.send(message).unwrap();
        }
        if flow != Flow::Push {
            let answer = other.recv().unwrap();
            assert_eq!(answer.as_bytes(), b"honest");
        }
        before
    }
}
