//! Which socket types meet, and who speaks first.

use sealwire::SocketType::{self, *};

/// The sender, and whether its messages come back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// We send, the peer sends everything back.
    WeAsk,
    /// The peer sends, we send everything back.
    TheyAsk,
    /// We send, the peer receives.
    WeSend,
    /// The peer sends, we receive.
    TheySend,
}

/// Our socket type, the peer's, and the flow between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pairing {
    /// The type of our socket.
    pub ours: SocketType,
    /// The type of the peer's socket.
    pub theirs: SocketType,
    /// The sender.
    pub flow: Flow,
}

const fn pairing(ours: SocketType, theirs: SocketType, flow: Flow) -> Pairing {
    Pairing { ours, theirs, flow }
}

/// Every legal pairing of the eleven socket types, in every direction that messages can take.
///
/// A ROUTER learns who its peers are from what they send, so the programs with one never ask.
pub const PAIRINGS: [Pairing; 23] = [
    pairing(Pair, Pair, Flow::WeAsk),
    pairing(Pair, Pair, Flow::TheyAsk),
    pairing(Req, Rep, Flow::WeAsk),
    pairing(Rep, Req, Flow::TheyAsk),
    pairing(Req, Router, Flow::WeAsk),
    pairing(Router, Req, Flow::TheyAsk),
    pairing(Dealer, Rep, Flow::WeAsk),
    pairing(Rep, Dealer, Flow::TheyAsk),
    pairing(Dealer, Dealer, Flow::WeAsk),
    pairing(Dealer, Dealer, Flow::TheyAsk),
    pairing(Dealer, Router, Flow::WeAsk),
    pairing(Router, Dealer, Flow::TheyAsk),
    pairing(Router, Router, Flow::WeAsk),
    pairing(Push, Pull, Flow::WeSend),
    pairing(Pull, Push, Flow::TheySend),
    pairing(Pub, Sub, Flow::WeSend),
    pairing(Sub, Pub, Flow::TheySend),
    pairing(Pub, XSub, Flow::WeSend),
    pairing(XSub, Pub, Flow::TheySend),
    pairing(XPub, Sub, Flow::WeSend),
    pairing(Sub, XPub, Flow::TheySend),
    pairing(XPub, XSub, Flow::WeSend),
    pairing(XSub, XPub, Flow::TheySend),
];

impl Pairing {
    /// The pairing of these types, by its first entry in the table.
    ///
    /// # Panics
    ///
    /// When they do not fit.
    pub fn of(ours: SocketType, theirs: SocketType) -> Self {
        let fits = |pairing: &&Pairing| (pairing.ours, pairing.theirs) == (ours, theirs);
        *PAIRINGS.iter().find(fits).expect("a legal pairing")
    }

    /// The peer's part where nothing will be said.
    pub fn silent_script(&self) -> [String; 4] {
        let kind = self.theirs.name().to_lowercase();
        let waits_to = match self.theirs {
            Push | Req => "--send",
            _ => "--recv",
        };
        ["--type".into(), kind, waits_to.into(), "1".into()]
    }

    /// The frames before the body of each message on our side: the routing id of the peer that a
    /// ROUTER shows and takes, and the delimiter that REQ and REP hide.
    pub(crate) fn our_envelope<'a>(&self, their_id: &'a [u8]) -> Vec<&'a [u8]> {
        match (self.ours, self.theirs) {
            (Router, Req) => vec![their_id, b""],
            (Router, _) => vec![their_id],
            (Dealer, Rep) => vec![b""],
            _ => vec![],
        }
    }

    /// The same on the peer's side, but for the delimiter that a peer's DEALER takes off itself.
    pub(crate) fn their_envelope<'a>(&self, our_id: &'a [u8]) -> Vec<&'a [u8]> {
        match (self.ours, self.theirs) {
            (Req, Router) => vec![our_id, b""],
            (_, Router) => vec![our_id],
            _ => vec![],
        }
    }

    /// Whether each message must be answered before the next is sent. A REP of omq-tokio 0.13
    /// forgets where a request came from when the next one comes.
    pub(crate) fn in_step(&self) -> bool {
        [self.ours, self.theirs]
            .iter()
            .any(|kind| matches!(kind, Req | Rep))
    }
}
