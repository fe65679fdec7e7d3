//! Options that change what a socket type does, and which types have them.

use sealwire_zmtp::{Frame, Frames, SocketType};

use super::OptionsError;

/// Options of single socket types. The defaults change nothing.
#[derive(Debug, Clone, Default)]
pub(crate) struct Behaviour {
    pub(crate) request_correlate: bool,
    pub(crate) request_relaxed: bool,
    pub(crate) probe_router: bool,
    pub(crate) router_mandatory: bool,
    pub(crate) router_handover: bool,
    pub(crate) routing_id_is_user_id: bool,
    pub(crate) router_notify_connect: bool,
    pub(crate) router_notify_disconnect: bool,
    pub(crate) xpub_verbose: bool,
    pub(crate) xpub_verboser: bool,
    pub(crate) xpub_manual: bool,
    pub(crate) publish_no_drop: bool,
    pub(crate) welcome_message: Option<Frames>,
    pub(crate) stream_silent: bool,
    pub(crate) invert_matching: bool,
    pub(crate) conflate: bool,
    pub(crate) hello_message: Option<Frames>,
    pub(crate) disconnect_message: Option<Frames>,
    pub(crate) hiccup_message: Option<Frames>,
    pub(crate) omit_routing_id: bool,
    pub(crate) connection_events: bool,
}

impl Behaviour {
    /// The messages that each new peer gets first.
    pub(crate) fn greetings(&self) -> impl Iterator<Item = Frames> + '_ {
        let probe = self.probe_router.then(|| Frames::single(Frame::new()));
        let others = [&self.hello_message, &self.welcome_message];
        probe
            .into_iter()
            .chain(others.into_iter().flatten().cloned())
    }

    /// Refuses what is set and means nothing to the type.
    pub(super) fn check(&self, socket_type: SocketType) -> Result<(), OptionsError> {
        use SocketType::{
            Channel, Client, Dealer, Gather, Pair, Peer, Pub, Pull, Push, Req, Router, Scatter,
            Server, Stream, Sub, XPub,
        };
        const SENDERS: &[SocketType] = &[
            Dealer, Router, Pair, Push, Client, Server, Peer, Scatter, Channel,
        ];
        const RECEIVERS: &[SocketType] = &[
            Dealer, Router, Pair, Pull, Client, Server, Peer, Gather, Channel,
        ];
        let all: [(&'static str, bool, &[SocketType]); 21] = [
            ("req_correlate", self.request_correlate, &[Req]),
            ("req_relaxed", self.request_relaxed, &[Req]),
            ("probe_router", self.probe_router, &[Req, Dealer, Router]),
            ("router_mandatory", self.router_mandatory, &[Router]),
            ("router_handover", self.router_handover, &[Router]),
            (
                "routing_id_is_user_id",
                self.routing_id_is_user_id,
                &[Router],
            ),
            ("router_notify", self.router_notify_connect, &[Router]),
            ("router_notify", self.router_notify_disconnect, &[Router]),
            ("stream_notify", self.stream_silent, &[Stream]),
            ("xpub_verbose", self.xpub_verbose, &[XPub]),
            ("xpub_verboser", self.xpub_verboser, &[XPub]),
            ("xpub_manual", self.xpub_manual, &[XPub]),
            ("xpub_no_drop", self.publish_no_drop, &[XPub, Pub]),
            (
                "xpub_welcome_message",
                self.welcome_message.is_some(),
                &[XPub],
            ),
            ("invert_matching", self.invert_matching, &[Pub, XPub, Sub]),
            ("conflate", self.conflate, &[Pull, Push, Sub, Pub, Dealer]),
            ("hello_message", self.hello_message.is_some(), SENDERS),
            (
                "disconnect_message",
                self.disconnect_message.is_some(),
                RECEIVERS,
            ),
            ("hiccup_message", self.hiccup_message.is_some(), RECEIVERS),
            ("omit_routing_id", self.omit_routing_id, &[Server, Peer]),
            ("connection_events", self.connection_events, &[Server, Peer]),
        ];
        match all
            .iter()
            .find(|(_, set, types)| *set && !types.contains(&socket_type))
        {
            Some(&(option, ..)) => Err(OptionsError::NotApplicable {
                option,
                socket_type,
            }),
            None => Ok(()),
        }
    }
}
