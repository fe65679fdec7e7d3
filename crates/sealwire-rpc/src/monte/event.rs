//! What programs hear of connections, first of all what is wrong with them.

use std::net::SocketAddr;
use std::sync::Arc;

use super::Message;

/// What is wrong with every connection of this wire, and cannot be put right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Warning {
    /// Whoever is on the path can be the other side, for both sides.
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
pub enum Event {
    /// Said of every connection once it is there, before anything else comes through it.
    Warning {
        /// Who is connected, or claims to be.
        peer: SocketAddr,
        /// What is wrong.
        warning: Warning,
    },
    /// A server's peer connected and did not do what it takes.
    HandshakeFailed {
        /// What went wrong.
        reason: String,
    },
    /// A connection is over.
    Ended {
        /// Who was connected.
        peer: SocketAddr,
    },
}

type Handler = dyn Fn(&Message<'_>) -> Option<Vec<u8>> + Send + Sync;

/// What a side does with what comes.
pub(super) struct Hooks {
    pub(super) handler: Box<Handler>,
    pub(super) on_event: Box<dyn Fn(&Event) + Send + Sync>,
}

impl Hooks {
    pub(super) fn new(
        handler: impl Fn(&Message<'_>) -> Option<Vec<u8>> + Send + Sync + 'static,
        on_event: impl Fn(&Event) + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Hooks {
            handler: Box::new(handler),
            on_event: Box::new(on_event),
        })
    }

    pub(super) fn warn(&self, peer: SocketAddr) {
        for warning in Warning::ALL {
            tracing::warn!(target: "sealwire::rpc", %peer, "monte: {warning}");
            (self.on_event)(&Event::Warning { peer, warning });
        }
    }
}
