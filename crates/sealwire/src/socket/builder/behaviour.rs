//! Options of single socket types. [`build`](super::SocketBuilder::build) refuses them for others, with
//! [`OptionsError::NotApplicable`](crate::options::OptionsError::NotApplicable).

use super::SocketBuilder;
use crate::message::Message;

/// # Options of single socket types
///
/// For other types [`build`](SocketBuilder::build) refuses them, with
/// [`OptionsError::NotApplicable`](crate::options::OptionsError::NotApplicable).
impl SocketBuilder {
    /// Puts a number in front of each request of a REQ, and takes only the answer that brings it back. The
    /// peer must return the whole envelope, as REP does. Default: off.
    pub fn req_correlate(mut self, correlate: bool) -> Self {
        self.options.behaviour.request_correlate = correlate;
        self
    }

    /// Lets a REQ send while an answer is awaited, which abandons the earlier request. Use it with
    /// [`req_correlate`](SocketBuilder::req_correlate), or a late answer to the earlier request may be taken
    /// for the new one's. Default: off.
    pub fn req_relaxed(mut self, relaxed: bool) -> Self {
        self.options.behaviour.request_relaxed = relaxed;
        self
    }

    /// Sends an empty message to each new peer of a REQ, DEALER or ROUTER, so that a ROUTER there hears of
    /// this socket's routing id at once. Default: off.
    pub fn probe_router(mut self, probe: bool) -> Self {
        self.options.behaviour.probe_router = probe;
        self
    }

    /// Makes sending to an unknown routing id an error of a ROUTER, and makes it wait for a full queue;
    /// without it, both drop the message and count it. Default: off.
    pub fn router_mandatory(mut self, mandatory: bool) -> Self {
        self.options.behaviour.router_mandatory = mandatory;
        self
    }

    /// Lets a new connection of a ROUTER take over a routing id that is in use. Without it, only one that
    /// proved the same key does. Default: off.
    pub fn router_handover(mut self, handover: bool) -> Self {
        self.options.behaviour.router_handover = handover;
        self
    }

    /// Makes the routing id of each peer of a ROUTER the user id that the authenticator or ZAP handler gave
    /// to its key or password. A peer that claims another is refused, and so is one without a user id, so
    /// that nobody takes a name before its owner does. Default: off.
    pub fn routing_id_is_user_id(mut self, bound: bool) -> Self {
        self.options.behaviour.routing_id_is_user_id = bound;
        self
    }

    /// Receives an empty message under a connection's routing id when a STREAM has made it, and another when
    /// the peer has ended it. Default: on.
    pub fn stream_notify(mut self, notify: bool) -> Self {
        self.options.behaviour.stream_silent = !notify;
        self
    }

    /// Receives an empty message under the peer's routing id for each peer of a ROUTER that came (`connect`)
    /// or left (`disconnect`). Default: neither.
    pub fn router_notify(mut self, connect: bool, disconnect: bool) -> Self {
        self.options.behaviour.router_notify_connect = connect;
        self.options.behaviour.router_notify_disconnect = disconnect;
        self
    }

    /// Receives every subscription at an XPUB, not only the first to a topic. Default: off.
    pub fn xpub_verbose(mut self, verbose: bool) -> Self {
        self.options.behaviour.xpub_verbose = verbose;
        self
    }

    /// Receives every subscription and every cancellation at an XPUB. Default: off.
    pub fn xpub_verboser(mut self, verboser: bool) -> Self {
        self.options.behaviour.xpub_verboser = verboser;
        self
    }

    /// Leaves subscriptions at an XPUB to the program: [`subscribe`](crate::Socket::subscribe) and
    /// [`unsubscribe`](crate::Socket::unsubscribe) grant and revoke topics to the peer whose subscription was
    /// received last. Default: off.
    pub fn xpub_manual(mut self, manual: bool) -> Self {
        self.options.behaviour.xpub_manual = manual;
        self
    }

    /// Leaves subscriptions at an XPUB to the program, as [`xpub_manual`](SocketBuilder::xpub_manual) does, and gives
    /// the next message after a subscription was received to that subscriber alone, if it was granted the topic: the
    /// last value of the topic, for example, which the others have. Default: off.
    pub fn xpub_manual_last_value(mut self, last_value: bool) -> Self {
        self.options.behaviour.xpub_manual_last_value = last_value;
        self
    }

    /// Passes every cancellation that an XSUB sends to its publishers, also of a topic that it has subscribed to more
    /// than once or not at all: of use where each stands for a subscriber behind the socket. A publisher ends a topic
    /// with the first cancellation. Default: off, only the last of a topic is passed.
    pub fn xsub_verbose_unsubscribe(mut self, verbose: bool) -> Self {
        self.options.behaviour.xsub_verbose_unsubscribe = verbose;
        self
    }

    /// Makes an XPUB, PUB or RADIO wait while the queue of any subscriber of the message is full, instead of
    /// dropping for that one. The slowest subscriber decides the rate. Default: off.
    pub fn xpub_no_drop(mut self, no_drop: bool) -> Self {
        self.options.behaviour.publish_no_drop = no_drop;
        self
    }

    /// Sends this message of an XPUB or PUB to each new subscriber; one that did not subscribe to it drops it.
    /// Default: none.
    pub fn xpub_welcome_message(mut self, message: impl Into<Message>) -> Self {
        self.options.behaviour.welcome_message = Some(message.into().into_frames());
        self
    }

    /// Sends subscribers of a PUB or XPUB the messages that they did **not** subscribe to; SUB needs it, too.
    /// Must be set on both sides. Default: off.
    pub fn invert_matching(mut self, invert: bool) -> Self {
        self.options.behaviour.invert_matching = invert;
        self
    }

    /// Keeps only the latest message in each queue of a PUSH, PULL, PUB, SUB or DEALER, whatever the
    /// high-water marks. Default: off.
    pub fn conflate(mut self, conflate: bool) -> Self {
        self.options.behaviour.conflate = conflate;
        self
    }

    /// Sends this message first to each new peer of a DEALER, ROUTER, PAIR, PUSH, CLIENT, SERVER, PEER,
    /// SCATTER or CHANNEL. Default: none.
    pub fn hello_message(mut self, message: impl Into<Message>) -> Self {
        self.options.behaviour.hello_message = Some(message.into().into_frames());
        self
    }

    /// Receives this message, as if from the peer, when a peer of a DEALER, ROUTER, PAIR, PULL, CLIENT,
    /// SERVER, PEER, GATHER or CHANNEL is gone. Default: none. A peer can send the same bytes itself, so this
    /// tells nothing about one that is not trusted; [`connection_events`](SocketBuilder::connection_events)
    /// cannot be sent.
    pub fn disconnect_message(mut self, message: impl Into<Message>) -> Self {
        self.options.behaviour.disconnect_message = Some(message.into().into_frames());
        self
    }

    /// Receives this message, as if from the peer, when a connection that a DEALER, ROUTER, PAIR, PULL,
    /// CLIENT, SERVER, PEER, GATHER or CHANNEL made is lost and made again. Default: none.
    pub fn hiccup_message(mut self, message: impl Into<Message>) -> Self {
        self.options.behaviour.hiccup_message = Some(message.into().into_frames());
        self
    }

    /// Receives messages of a SERVER or PEER as their payload alone; the routing id of the connection stands
    /// in [`Message::peer`] ([`Peer::connection_routing_id`](crate::Peer::connection_routing_id)) and not in
    /// front. Saves a list of frames per message. Default: off.
    pub fn omit_routing_id(mut self, omit: bool) -> Self {
        self.options.behaviour.omit_routing_id = omit;
        self
    }

    /// Receives a message without any frame ([`Message::is_empty`]) before the first message of each
    /// connection of a SERVER or PEER, and a second one behind its last, when it has ended. [`Message::peer`]
    /// says whose. No peer can send such a message: its messages have one frame. Default: off.
    pub fn connection_events(mut self, events: bool) -> Self {
        self.options.behaviour.connection_events = events;
        self
    }

    /// See [`embed::as_libzmq`](crate::embed::as_libzmq).
    #[cfg(unix)]
    pub(in crate::socket) fn doing_as_libzmq(mut self, zap_enforced: bool) -> Self {
        self.options.as_libzmq = true;
        self.options.queue_per_endpoint = true;
        self.options.zap_enforced = zap_enforced;
        self
    }
}
