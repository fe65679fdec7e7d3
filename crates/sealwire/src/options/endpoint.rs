//! The options of an endpoint: those that its socket had when it was bound or connected, until others take their place.

use std::mem;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

use sealwire_zmtp::Config;

use super::SocketOptions;

/// What becomes of connections under keys that an endpoint does not have any more
/// ([`Socket::reconfigure_endpoint`](crate::Socket::reconfigure_endpoint)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Withdrawn {
    /// They stay for as long as both sides want, with the options that they began with.
    Stay,
    /// They end in good order: what is queued for the peer goes out, and what it has sent arrives, within the
    /// [linger time](crate::SocketBuilder::linger).
    End,
}

/// What a listener or connector and its connections keep of their socket's options. What changes there later is for
/// other endpoints.
#[derive(Debug)]
pub(crate) struct EndpointOptions {
    options: SocketOptions,
    protocol: Arc<Config>,
}

impl EndpointOptions {
    pub(crate) fn new(options: SocketOptions, protocol: Config) -> Self {
        EndpointOptions {
            options,
            protocol: Arc::new(protocol),
        }
    }

    /// What the protocol of each connection begins with.
    pub(crate) fn protocol(&self) -> &Arc<Config> {
        &self.protocol
    }
}

/// The options that an endpoint has now: connections that begin have these, and keep them. The endpoint's part of the
/// engine owns them, and who replaces them reaches them there.
#[derive(Debug)]
pub(crate) struct CurrentOptions(Mutex<Arc<EndpointOptions>>);

impl CurrentOptions {
    pub(crate) fn new(options: Arc<EndpointOptions>) -> Arc<Self> {
        Arc::new(CurrentOptions(Mutex::new(options)))
    }

    pub(crate) fn get(&self) -> Arc<EndpointOptions> {
        let options = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        options.clone()
    }

    /// Returns those before. What the application gave may end with them.
    pub(crate) fn replace(&self, options: Arc<EndpointOptions>) -> Arc<EndpointOptions> {
        let mut current = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        mem::replace(&mut *current, options)
    }
}

impl Deref for EndpointOptions {
    type Target = SocketOptions;

    fn deref(&self) -> &SocketOptions {
        &self.options
    }
}
