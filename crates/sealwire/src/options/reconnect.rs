//! When a socket reconnects, and when it gives up.

use std::time::Duration;

/// After which ends of a connection its endpoint is given up instead of connected to again
/// (libzmq's `RECONNECT_STOP`). An [event](crate::Event::GaveUp) says so. Default: after none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReconnectStop {
    /// The system refused the connection: nobody listens there.
    pub connection_refused: bool,
    /// The handshake failed, for whatever reason.
    pub handshake_failed: bool,
    /// The connection ended, or broke, after its handshake.
    pub after_disconnect: bool,
    /// Any other failure to get a connection: the name does not resolve, nobody answers.
    pub unreachable: bool,
}

impl ReconnectStop {
    /// One attempt and no more (libzmq's `RECONNECT_IVL` of -1).
    pub const ALWAYS: ReconnectStop = ReconnectStop {
        connection_refused: true,
        handshake_failed: true,
        after_disconnect: true,
        unreachable: true,
    };
}

#[derive(Debug, Clone)]
pub(crate) struct ReconnectOptions {
    pub(crate) interval: Duration,
    pub(crate) maximum: Duration,
    pub(crate) stop: ReconnectStop,
    /// How long one attempt to connect may take; `None` for as long as a handshake.
    pub(crate) connect_timeout: Option<Duration>,
}

impl Default for ReconnectOptions {
    fn default() -> Self {
        ReconnectOptions {
            interval: super::DEFAULT_RECONNECT_INTERVAL,
            maximum: super::DEFAULT_RECONNECT_MAXIMUM,
            stop: ReconnectStop::default(),
            connect_timeout: None,
        }
    }
}
