//! Options of single socket types. [`build`](super::SocketBuilder::build) refuses them for others.

use super::SocketBuilder;
use crate::message::Message;

impl SocketBuilder {
    /// REQ: puts a number in front of each request and takes only the answer that brings it back.
    /// The peer must return the whole envelope, as REP does. Default: off.
    pub fn req_correlate(mut self, correlate: bool) -> Self {
        self.options.behaviour.request_correlate = correlate;
        self
    }

    /// REQ: sending while an answer is awaited gives the earlier request up. Use it with
    /// [`req_correlate`](SocketBuilder::req_correlate), or a late answer to the earlier request
    /// may be taken for the new one's. Default: off.
    pub fn req_relaxed(mut self, relaxed: bool) -> Self {
        self.options.behaviour.request_relaxed = relaxed;
        self
    }

    /// REQ, DEALER, ROUTER: sends an empty message to each new peer, so that a ROUTER there hears
    /// of this socket's routing id at once. Default: off.
    pub fn probe_router(mut self, probe: bool) -> Self {
        self.options.behaviour.probe_router = probe;
        self
    }

    /// ROUTER: sending to an unknown routing id is an error, and to a full queue waits; without
    /// it, both drop the message and count it. Default: off.
    pub fn router_mandatory(mut self, mandatory: bool) -> Self {
        self.options.behaviour.router_mandatory = mandatory;
        self
    }

    /// ROUTER: a new connection takes over a routing id that is in use. Without it, only one that
    /// proved the same key does. Default: off.
    pub fn router_handover(mut self, handover: bool) -> Self {
        self.options.behaviour.router_handover = handover;
        self
    }

    /// ROUTER: a peer's routing id is the user id that the authenticator or ZAP handler gave to its
    /// key or password. A peer that claims another is refused, and so is one without a user id, so
    /// that nobody takes a name before its owner does. Default: off.
    pub fn routing_id_is_user_id(mut self, bound: bool) -> Self {
        self.options.behaviour.routing_id_is_user_id = bound;
        self
    }

    /// STREAM: an empty message under a connection's routing id tells that it was made, another
    /// that the peer has ended it. Default: on.
    pub fn stream_notify(mut self, notify: bool) -> Self {
        self.options.behaviour.stream_silent = !notify;
        self
    }

    /// ROUTER: an empty message under the peer's routing id tells of each peer that came
    /// (`connect`) or left (`disconnect`). Default: neither.
    pub fn router_notify(mut self, connect: bool, disconnect: bool) -> Self {
        self.options.behaviour.router_notify_connect = connect;
        self.options.behaviour.router_notify_disconnect = disconnect;
        self
    }

    /// XPUB: reads every subscription, not only the first to a topic. Default: off.
    pub fn xpub_verbose(mut self, verbose: bool) -> Self {
        self.options.behaviour.xpub_verbose = verbose;
        self
    }

    /// XPUB: reads every subscription and every cancellation. Default: off.
    pub fn xpub_verboser(mut self, verboser: bool) -> Self {
        self.options.behaviour.xpub_verboser = verboser;
        self
    }

    /// XPUB: subscriptions are only read; what the peer of the last one read shall get is said
    /// with [`subscribe`](crate::Socket::subscribe) and
    /// [`unsubscribe`](crate::Socket::unsubscribe). Default: off.
    pub fn xpub_manual(mut self, manual: bool) -> Self {
        self.options.behaviour.xpub_manual = manual;
        self
    }

    /// XPUB, PUB: sending waits while the queue of any subscriber of the message is full, instead
    /// of dropping for that one. The slowest subscriber decides the rate. Default: off.
    pub fn xpub_no_drop(mut self, no_drop: bool) -> Self {
        self.options.behaviour.publish_no_drop = no_drop;
        self
    }

    /// XPUB: a message to each new subscriber; one that did not subscribe to it drops it.
    /// Default: none.
    pub fn xpub_welcome_message(mut self, message: impl Into<Message>) -> Self {
        self.options.behaviour.welcome_message = Some(message.into().into_frames());
        self
    }

    /// PUB, XPUB, SUB: subscribers get what they did **not** subscribe to. Must be set on both
    /// sides. Default: off.
    pub fn invert_matching(mut self, invert: bool) -> Self {
        self.options.behaviour.invert_matching = invert;
        self
    }

    /// PUSH, PULL, PUB, SUB, DEALER: each queue holds the latest message only, and the high-water
    /// marks mean nothing. Default: off.
    pub fn conflate(mut self, conflate: bool) -> Self {
        self.options.behaviour.conflate = conflate;
        self
    }

    /// DEALER, ROUTER, PAIR, PUSH, CLIENT, SERVER, PEER, SCATTER, CHANNEL: the first message to each new peer. Default: none.
    pub fn hello_message(mut self, message: impl Into<Message>) -> Self {
        self.options.behaviour.hello_message = Some(message.into().into_frames());
        self
    }

    /// DEALER, ROUTER, PAIR, PULL, CLIENT, SERVER, PEER, GATHER, CHANNEL: what this socket receives, as if from the peer, when a peer is
    /// gone. Default: nothing. A peer can send the same bytes itself, so this tells nothing about one that is not
    /// trusted; [`connection_events`](SocketBuilder::connection_events) cannot be sent.
    pub fn disconnect_message(mut self, message: impl Into<Message>) -> Self {
        self.options.behaviour.disconnect_message = Some(message.into().into_frames());
        self
    }

    /// DEALER, ROUTER, PAIR, PULL, CLIENT, SERVER, PEER, GATHER, CHANNEL: what this socket receives, as if from the peer, when a
    /// connection that it made is lost and made again. Default: nothing.
    pub fn hiccup_message(mut self, message: impl Into<Message>) -> Self {
        self.options.behaviour.hiccup_message = Some(message.into().into_frames());
        self
    }

    /// SERVER, PEER: a received message is its payload alone; the routing id of the connection stands
    /// in [`Message::peer`] ([`Peer::connection_routing_id`](crate::Peer::connection_routing_id)) and
    /// not in front. Saves a list of frames per message. Default: no.
    pub fn omit_routing_id(mut self, omit: bool) -> Self {
        self.options.behaviour.omit_routing_id = omit;
        self
    }

    /// SERVER, PEER: receives a message without any frame ([`Message::is_empty`]) before the first message of
    /// each connection, and a second one behind its last, when it has ended.
    /// [`Message::peer`] says whose. No peer can send such a message: whatever it sends has one
    /// frame. Default: no.
    pub fn connection_events(mut self, events: bool) -> Self {
        self.options.behaviour.connection_events = events;
        self
    }
}
