//! What a socket says about the end of a connection.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use sealwire::{Event, FailureCause, Monitor, PeerAddress, ProtocolError};
use sealwire_relay::Outcome;
use sealwire_zmtp::error::CloseKind;

use crate::support::TIMEOUT;

/// How a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) outcome: Outcome,
    /// The number of the frame that did not verify, where it is ZMTP that says so.
    pub(super) frame: Option<u64>,
}

impl From<Outcome> for Seen {
    fn from(outcome: Outcome) -> Self {
        Seen {
            outcome,
            frame: None,
        }
    }
}

impl Seen {
    /// What the next event says of the connection with this peer, or of the only one. Waits a little for it.
    pub(super) fn next(monitor: &Monitor, of: Option<SocketAddr>) -> Option<Self> {
        let event = monitor.wait_next_timeout(Duration::from_millis(1))?;
        let (address, seen) = match &event {
            Event::Disconnected { peer, .. } => (peer.address(), Outcome::LikeAnEnd.into()),
            Event::Failed(failure) if !failure.was_ready() => {
                (failure.address(), Outcome::Refused.into())
            }
            Event::Failed(failure) => (failure.address(), Seen::of(failure.cause())),
            _ => return None,
        };
        let is_it = of.is_none_or(|of| *address == PeerAddress::Tcp(of));
        is_it.then_some(seen)
    }

    /// Of a connection that was ready.
    fn of(cause: &FailureCause) -> Self {
        let outcome = match cause {
            FailureCause::Protocol(ProtocolError::FrameNotVerified { index, .. }) => {
                return Seen {
                    outcome: Outcome::NotAuthentic,
                    frame: Some(*index),
                };
            }
            FailureCause::Protocol(ProtocolError::Closed(CloseKind::MidMessage)) => {
                Outcome::CutShort
            }
            FailureCause::Protocol(ProtocolError::Closed(_)) | FailureCause::Transport(_) => {
                Outcome::LikeAnEnd
            }
            FailureCause::Protocol(_) => Outcome::Malformed,
            #[cfg(feature = "ws")]
            FailureCause::WebSocket(_) => Outcome::Malformed,
            #[cfg(feature = "wss")]
            FailureCause::Tls(error) => match error.to_string().contains("decrypt") {
                true => Outcome::NotAuthentic,
                false => Outcome::Malformed,
            },
            other => panic!("{other}"),
        };
        outcome.into()
    }
}

/// Asks until there is an answer.
pub(super) fn wait_for(what: impl Fn() -> String, mut seen: impl FnMut() -> Option<Seen>) -> Seen {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        if let Some(seen) = seen() {
            return seen;
        }
        assert!(Instant::now() < deadline, "{}: no end", what());
    }
}
