//! What programs hear of connections, first of all what is wrong with them.

use std::net::SocketAddr;

use super::MonteMessage;
use crate::guard::{LogGate, contain, log};

/// A weakness of every connection of this wire, which cannot be mended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Warning {
    /// Anyone on the path can be the other side, for both sides.
    #[error("nobody is authenticated on this connection")]
    Unauthenticated,
    /// One key serves both directions, with counters that both begin at zero.
    #[error("nonces repeat on this connection")]
    NoncesRepeat,
}

impl Warning {
    pub(super) const ALL: [Warning; 2] = [Warning::Unauthenticated, Warning::NoncesRepeat];
}

/// What happens to connections.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum MonteEvent {
    /// Said of every connection once it is there, before anything else comes through it.
    Warning {
        /// The address that is connected, or claims to be.
        peer: SocketAddr,
        /// The weakness.
        warning: Warning,
    },
    /// A server's peer connected and did not do what it takes.
    HandshakeFailed {
        /// What went wrong.
        reason: String,
    },
    /// A connection is over.
    Ended {
        /// The address that was connected.
        peer: SocketAddr,
    },
}

type Handler = dyn Fn(&MonteMessage<'_>) -> Option<Vec<u8>> + Send + Sync;

/// What a side does with what comes.
pub(super) struct Hooks {
    pub(super) handler: Box<Handler>,
    pub(super) on_event: Box<dyn Fn(&MonteEvent) + Send + Sync>,
    /// Lines in the log about connections, and about those that do not come about.
    warnings: LogGate,
    pub(super) failures: LogGate,
}

impl Hooks {
    pub(super) fn new(
        handler: impl Fn(&MonteMessage<'_>) -> Option<Vec<u8>> + Send + Sync + 'static,
    ) -> Self {
        Hooks {
            handler: Box::new(handler),
            on_event: Box::new(|_| {}),
            warnings: LogGate::default(),
            failures: LogGate::default(),
        }
    }

    /// Tells the application, whose panic ends nothing.
    pub(super) fn tell(&self, event: &MonteEvent) {
        contain("a function for events", || (self.on_event)(event));
    }

    pub(super) fn warn(&self, peer: SocketAddr) {
        let times = self.warnings.pass();
        for warning in Warning::ALL {
            if let Some(times) = times {
                log(|| {
                    tracing::warn!(target: "sealwire::rpc", %peer, times, "monte: {warning}");
                });
            }
            self.tell(&MonteEvent::Warning { peer, warning });
        }
    }
}
