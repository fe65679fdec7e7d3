//! The eleven socket types of ZeroMQ and which of them may talk to each other.
//!
//! Source: ZMTP 3.1 (RFC 37), "The Socket-Type Property".

use core::fmt;
use core::str::FromStr;

use thiserror::Error;

/// A socket type as named in the metadata property `Socket-Type`.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug)]
#[non_exhaustive]
pub enum SocketType {
    /// One peer, both ways.
    Pair,
    /// Publishes to every subscriber.
    Pub,
    /// Receives what it subscribed to.
    Sub,
    /// Sends a request, then waits for its reply.
    Req,
    /// Receives a request, then replies to it.
    Rep,
    /// Sends round robin and receives fairly, without the lock-step of REQ.
    Dealer,
    /// Addresses peers by routing id.
    Router,
    /// Receives from a pipeline.
    Pull,
    /// Sends into a pipeline.
    Push,
    /// PUB that sees the subscriptions.
    XPub,
    /// SUB that sends its subscriptions as messages.
    XSub,
}

impl SocketType {
    /// Every socket type.
    pub const ALL: [Self; 11] = [
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
        }
    }

    /// Whether a socket of this type may be connected to one of type `peer`. Symmetric.
    pub const fn accepts(self, peer: Self) -> bool {
        use SocketType::{Dealer, Pair, Pub, Pull, Push, Rep, Req, Router, Sub, XPub, XSub};
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
        )
    }

    /// Whether this type receives subscriptions (PUB and XPUB).
    pub const fn takes_subscriptions(self) -> bool {
        matches!(self, Self::Pub | Self::XPub)
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
    "not a socket type; use one of PAIR, PUB, SUB, REQ, REP, DEALER, ROUTER, PULL, PUSH, XPUB, XSUB"
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
            assert!(
                SocketType::ALL.into_iter().any(|b| a.accepts(b)),
                "{a} accepts nobody"
            );
            for b in SocketType::ALL {
                assert_eq!(a.accepts(b), b.accepts(a), "{a} and {b}");
            }
        }
    }

    #[test]
    fn names_are_read_in_any_case() {
        for kind in SocketType::ALL {
            assert_eq!(kind.to_string().parse(), Ok(kind));
            assert_eq!(kind.name().to_lowercase().parse(), Ok(kind));
        }
        assert_eq!("STREAM".parse::<SocketType>(), Err(UnknownSocketType));
        assert_eq!("".parse::<SocketType>(), Err(UnknownSocketType));
    }
}
