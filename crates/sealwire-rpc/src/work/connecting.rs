//! What the builders of both sides set alike: the socket below, and when a silent connection is given up.

use std::time::Duration;

use sealwire::{Security, SocketBuilder};

use crate::limits::Limits;
use crate::limits::work::SILENCE_LIMIT;
use crate::sockets::{self, limited};

/// The options of the connections of one side.
pub(super) struct Connecting {
    pub(super) socket: SocketBuilder,
    pub(super) silence: Duration,
}

impl Connecting {
    pub(super) fn new(security: Security) -> Self {
        Connecting {
            socket: sockets::builder(security),
            silence: SILENCE_LIMIT,
        }
    }

    /// Gives the socket its limits, where the largest message has a body of this many bytes.
    pub(super) fn limited(self, max_body: u32) -> SocketBuilder {
        let limits = Limits {
            max_body,
            read: self.silence,
            ..Limits::default()
        };
        limited(self.socket, &limits)
    }
}

/// The methods of a builder for its field `connecting`.
macro_rules! connecting_methods {
    () => {
        /// Sets after which time without a sign of life a connection is given up. The other side is asked for one
        /// after a third of that. Default 15 s.
        #[must_use]
        pub fn silence_limit(mut self, limit: Duration) -> Self {
            self.connecting.silence = limit;
            self
        }

        /// Sets options of the socket below that have no method here: transport, provider, context, reconnecting.
        #[must_use]
        pub fn socket(mut self, change: impl FnOnce(SocketBuilder) -> SocketBuilder) -> Self {
            self.connecting.socket = change(self.connecting.socket);
            self
        }
    };
}
pub(super) use connecting_methods;
