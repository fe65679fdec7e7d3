//! The socket types of ZeroMQ and which of them may talk to each other.
//!
//! Sources: ZMTP 3.1 (RFC 37), "The Socket-Type Property"; RFC 41 (CLIENT and SERVER), RFC 48
//! (RADIO and DISH), RFC 49 (SCATTER and GATHER), RFC 51 (PEER), RFC 52 (CHANNEL). DGRAM has no RFC: libzmq's
//! `dgram.cpp`.

use core::fmt;
use core::str::FromStr;

use thiserror::Error;

/// A socket type as named in the metadata property `Socket-Type`, with libzmq's number of it.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug)]
#[non_exhaustive]
pub enum SocketType {
    /// One peer, both ways.
    Pair = 0,
    /// Publishes to every subscriber.
    Pub = 1,
    /// Receives what it subscribed to.
    Sub = 2,
    /// Sends a request, then waits for its reply.
    Req = 3,
    /// Receives a request, then replies to it.
    Rep = 4,
    /// Sends round robin and receives fairly, without the lock-step of REQ.
    Dealer = 5,
    /// Addresses peers by routing id.
    Router = 6,
    /// Receives from a pipeline.
    Pull = 7,
    /// Sends into a pipeline.
    Push = 8,
    /// PUB that sees the subscriptions.
    XPub = 9,
    /// SUB that sends its subscriptions as messages.
    XSub = 10,
    /// DEALER for messages of one frame, talking to SERVER.
    Client = 13,
    /// ROUTER for messages of one frame; peers have numbers instead of names.
    Server = 12,
    /// Publishes to groups.
    Radio = 14,
    /// Receives what is sent to the groups that it joined.
    Dish = 15,
    /// Receives from a pipeline, messages of one frame.
    Gather = 16,
    /// Sends into a pipeline, messages of one frame.
    Scatter = 17,
    /// SERVER among equals.
    Peer = 19,
    /// PAIR for messages of one frame.
    Channel = 20,
    /// Plain TCP, without ZMTP: never a peer's type.
    Stream = 11,
    /// Plain UDP datagrams to and from any address, without ZMTP.
    Dgram = 18,
}

impl SocketType {
    /// Every socket type.
    pub const ALL: [Self; 21] = [
        Self::Pair,
        Self::Pub,
        Self::Sub,
        Self::Req,
        Self::Rep,
        Self::Dealer,
        Self::Router,
        Self::Pull,
        Self::Push,
        Self::XPub,
        Self::XSub,
        Self::Client,
        Self::Server,
        Self::Radio,
        Self::Dish,
        Self::Gather,
        Self::Scatter,
        Self::Peer,
        Self::Channel,
        Self::Stream,
        Self::Dgram,
    ];

    /// The name on the wire, in upper case.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pair => "PAIR",
            Self::Pub => "PUB",
            Self::Sub => "SUB",
            Self::Req => "REQ",
            Self::Rep => "REP",
            Self::Dealer => "DEALER",
            Self::Router => "ROUTER",
            Self::Pull => "PULL",
            Self::Push => "PUSH",
            Self::XPub => "XPUB",
            Self::XSub => "XSUB",
            Self::Client => "CLIENT",
            Self::Server => "SERVER",
            Self::Radio => "RADIO",
            Self::Dish => "DISH",
            Self::Gather => "GATHER",
            Self::Scatter => "SCATTER",
            Self::Peer => "PEER",
            Self::Channel => "CHANNEL",
            Self::Stream => "STREAM",
            Self::Dgram => "DGRAM",
        }
    }

    /// The number that libzmq has for it: `ZMQ_PAIR` is 0.
    pub const fn number(self) -> i32 {
        self as i32
    }

    /// The type that libzmq has this number for.
    pub fn from_number(number: i32) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.number() == number)
    }

    /// Returns whether a socket of this type may be connected to one of type `peer`. Symmetric. STREAM and
    /// DGRAM speak no ZMTP and accept none.
    pub const fn accepts(self, peer: Self) -> bool {
        use SocketType::{
            Channel, Client, Dealer, Dish, Gather, Pair, Peer, Pub, Pull, Push, Radio, Rep, Req,
            Router, Scatter, Server, Sub, XPub, XSub,
        };
        matches!(
            (self, peer),
            (Pair, Pair)
                | (Pub | XPub, Sub | XSub)
                | (Sub | XSub, Pub | XPub)
                | (Req, Rep | Router)
                | (Rep, Req | Dealer)
                | (Dealer, Rep | Dealer | Router)
                | (Router, Req | Dealer | Router)
                | (Push, Pull)
                | (Pull, Push)
                | (Client, Server)
                | (Server, Client)
                | (Radio, Dish)
                | (Dish, Radio)
                | (Gather, Scatter)
                | (Scatter, Gather)
                | (Peer, Peer)
                | (Channel, Channel)
        )
    }

    /// Returns whether this type receives subscriptions (PUB and XPUB).
    pub const fn takes_subscriptions(self) -> bool {
        matches!(self, Self::Pub | Self::XPub)
    }

    /// Returns whether libzmq has this type only when built with its drafts.
    pub const fn is_draft(self) -> bool {
        use SocketType::{Channel, Client, Dgram, Dish, Gather, Peer, Radio, Scatter, Server};
        matches!(
            self,
            Client | Server | Radio | Dish | Gather | Scatter | Dgram | Peer | Channel
        )
    }

    /// Returns whether this type hears of the groups that its peers join (RADIO).
    pub const fn takes_groups(self) -> bool {
        matches!(self, Self::Radio)
    }
}

impl fmt::Display for SocketType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The text is not the name of a socket type.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "not a socket type; use one of PAIR, PUB, SUB, REQ, REP, DEALER, ROUTER, PULL, PUSH, XPUB, \
     XSUB, CLIENT, SERVER, RADIO, DISH, GATHER, SCATTER, PEER, CHANNEL, STREAM, DGRAM"
)]
pub struct UnknownSocketType;

impl FromStr for SocketType {
    type Err = UnknownSocketType;

    /// Reads a name in any case.
    fn from_str(text: &str) -> Result<Self, UnknownSocketType> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.name().eq_ignore_ascii_case(text))
            .ok_or(UnknownSocketType)
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn acceptance_is_symmetric_and_every_type_has_a_peer() {
        for a in SocketType::ALL {
            assert_eq!(
                SocketType::ALL.into_iter().any(|b| a.accepts(b)),
                !matches!(a, SocketType::Stream | SocketType::Dgram),
                "{a}"
            );
            for b in SocketType::ALL {
                assert_eq!(a.accepts(b), b.accepts(a), "{a} and {b}");
            }
        }
    }

    #[test]
    fn numbers_are_read_back() {
        for kind in SocketType::ALL {
            assert_eq!(SocketType::from_number(kind.number()), Some(kind));
        }
        for unknown in [-1, 21] {
            assert_eq!(SocketType::from_number(unknown), None);
        }
    }

    #[test]
    fn names_are_read_in_any_case() {
        for kind in SocketType::ALL {
            assert_eq!(kind.to_string().parse(), Ok(kind));
            assert_eq!(kind.name().to_lowercase().parse(), Ok(kind));
        }
        assert_eq!("STREAMS".parse::<SocketType>(), Err(UnknownSocketType));
        assert_eq!("".parse::<SocketType>(), Err(UnknownSocketType));
    }
}
