//! Options that change what a socket type does, and which types have them.

use sealwire_zmtp::{Frame, Frames, SocketType};

use super::OptionsError;

/// The value of an option.
enum Setting<'a> {
    Flag(bool),
    Text(&'a Option<Frames>),
}

impl Setting<'_> {
    fn is_set(&self) -> bool {
        match self {
            Setting::Flag(set) => *set,
            Setting::Text(text) => text.is_some(),
        }
    }
}

/// Options of single socket types. The defaults change nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
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
    pub(crate) xpub_manual_last_value: bool,
    pub(crate) xsub_verbose_unsubscribe: bool,
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

    /// Each option: its name, its value, and the types that have it.
    fn all(&self) -> [(&'static str, Setting<'_>, &'static [SocketType]); 23] {
        use SocketType::{
            Channel, Client, Dealer, Gather, Pair, Peer, Pub, Pull, Push, Radio, Req, Router,
            Scatter, Server, Stream, Sub, XPub, XSub,
        };
        const SENDERS: &[SocketType] = &[
            Dealer, Router, Pair, Push, Client, Server, Peer, Scatter, Channel,
        ];
        const RECEIVERS: &[SocketType] = &[
            Dealer, Router, Pair, Pull, Client, Server, Peer, Gather, Channel,
        ];
        use Setting::{Flag, Text};
        [
            ("req_correlate", Flag(self.request_correlate), &[Req]),
            ("req_relaxed", Flag(self.request_relaxed), &[Req]),
            (
                "probe_router",
                Flag(self.probe_router),
                &[Req, Dealer, Router],
            ),
            ("router_mandatory", Flag(self.router_mandatory), &[Router]),
            ("router_handover", Flag(self.router_handover), &[Router]),
            (
                "routing_id_is_user_id",
                Flag(self.routing_id_is_user_id),
                &[Router],
            ),
            ("router_notify", Flag(self.router_notify_connect), &[Router]),
            (
                "router_notify",
                Flag(self.router_notify_disconnect),
                &[Router],
            ),
            ("stream_notify", Flag(self.stream_silent), &[Stream]),
            ("xpub_verbose", Flag(self.xpub_verbose), &[XPub]),
            ("xpub_verboser", Flag(self.xpub_verboser), &[XPub]),
            ("xpub_manual", Flag(self.xpub_manual), &[XPub]),
            (
                "xpub_manual_last_value",
                Flag(self.xpub_manual_last_value),
                &[XPub],
            ),
            (
                "xsub_verbose_unsubscribe",
                Flag(self.xsub_verbose_unsubscribe),
                &[XSub],
            ),
            (
                "xpub_no_drop",
                Flag(self.publish_no_drop),
                &[XPub, Pub, Radio],
            ),
            (
                "xpub_welcome_message",
                Text(&self.welcome_message),
                &[XPub, Pub],
            ),
            (
                "invert_matching",
                Flag(self.invert_matching),
                &[Pub, XPub, Sub],
            ),
            (
                "conflate",
                Flag(self.conflate),
                &[Pull, Push, Sub, Pub, Dealer],
            ),
            ("hello_message", Text(&self.hello_message), SENDERS),
            (
                "disconnect_message",
                Text(&self.disconnect_message),
                RECEIVERS,
            ),
            ("hiccup_message", Text(&self.hiccup_message), RECEIVERS),
            (
                "omit_routing_id",
                Flag(self.omit_routing_id),
                &[Server, Peer],
            ),
            (
                "connection_events",
                Flag(self.connection_events),
                &[Server, Peer],
            ),
        ]
    }

    /// Refuses what is set and means nothing to the type.
    pub(super) fn check(&self, socket_type: SocketType) -> Result<(), OptionsError> {
        let mut all = self.all().into_iter();
        match all.find(|(_, value, types)| value.is_set() && !types.contains(&socket_type)) {
            Some((option, ..)) => Err(OptionsError::NotApplicable {
                option,
                socket_type,
            }),
            None => Ok(()),
        }
    }
}
