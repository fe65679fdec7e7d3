//! The options of an endpoint: those that its socket had when it was bound or connected.

use std::ops::Deref;
use std::sync::Arc;

use sealwire_zmtp::Config;

use super::SocketOptions;

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

impl Deref for EndpointOptions {
    type Target = SocketOptions;

    fn deref(&self) -> &SocketOptions {
        &self.options
    }
}
