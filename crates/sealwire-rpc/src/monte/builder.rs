//! What connections and servers are made with.

use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use super::conn::Role;
use super::event::{Hooks, MonteEvent};
use super::gate::Gate;
use super::{MonteError, MonteMessage, UnauthenticatedConn, UnauthenticatedServer, WireLimits};
use crate::limits::bounded;
use crate::limits::monte::{CONNECT_LIMIT, MAX_CONNECTIONS, MAX_HANDSHAKES};

/// Sets the options of an [`UnauthenticatedConn`].
pub type UnauthenticatedConnBuilder = UnauthenticatedBuilder<Connecting>;

/// Sets the options of an [`UnauthenticatedServer`].
pub type UnauthenticatedServerBuilder = UnauthenticatedBuilder<Listening>;

/// Sets the options of one side of this wire: of an [`UnauthenticatedConn`] that connects, or of an
/// [`UnauthenticatedServer`].
pub struct UnauthenticatedBuilder<Side> {
    hooks: Hooks,
    limits: WireLimits,
    side: Side,
}

/// Options of a side that connects alone.
pub struct Connecting {
    limit: Duration,
}

/// Options of a side that listens alone.
pub struct Listening {
    max_connections: usize,
    max_handshakes: usize,
}

impl<Side> UnauthenticatedBuilder<Side> {
    fn new(
        handler: impl Fn(&MonteMessage<'_>) -> Option<Vec<u8>> + Send + Sync + 'static,
        side: Side,
    ) -> Self {
        UnauthenticatedBuilder {
            hooks: Hooks::new(handler),
            limits: WireLimits::default(),
            side,
        }
    }

    /// Calls `on_event` for the events of the connection, or of each connection of a server. It must not block.
    #[must_use]
    pub fn on_event(mut self, on_event: impl Fn(&MonteEvent) + Send + Sync + 'static) -> Self {
        self.hooks.on_event = Box::new(on_event);
        self
    }

    /// Sets what a connection may hold, and how long it waits.
    #[must_use]
    pub fn limits(mut self, limits: WireLimits) -> Self {
        self.limits = limits;
        self
    }
}

impl UnauthenticatedConn {
    /// Begins the options of a connection whose peer's requests `handler` answers, on the thread that reads.
    pub fn builder(
        handler: impl Fn(&MonteMessage<'_>) -> Option<Vec<u8>> + Send + Sync + 'static,
    ) -> UnauthenticatedConnBuilder {
        let limit = CONNECT_LIMIT;
        UnauthenticatedBuilder::new(handler, Connecting { limit })
    }

    /// Connects to the first address that accepts, for up to `limit` for each. `handler` answers the peer's
    /// requests, on the thread that reads.
    ///
    /// # Errors
    ///
    /// Those of [`connect`](UnauthenticatedConnBuilder::connect) of the builder.
    pub fn connect(
        address: impl ToSocketAddrs,
        limit: Duration,
        handler: impl Fn(&MonteMessage<'_>) -> Option<Vec<u8>> + Send + Sync + 'static,
    ) -> Result<Self, MonteError> {
        Self::builder(handler).connect_limit(limit).connect(address)
    }
}

impl UnauthenticatedBuilder<Connecting> {
    /// Sets the time for each address to accept. Default 3 s.
    #[must_use]
    pub fn connect_limit(mut self, limit: Duration) -> Self {
        self.side.limit = limit;
        self
    }

    /// Connects to the first address that accepts.
    ///
    /// # Errors
    ///
    /// * [`MonteError::Io`] if a limit is out of its range, no address accepts in time, the peer's key does
    ///   not come in time, or the system gives no thread.
    /// * [`MonteError::Frame`] if the peer's key gives no secret.
    pub fn connect(self, address: impl ToSocketAddrs) -> Result<UnauthenticatedConn, MonteError> {
        self.limits.check()?;
        let limit = bounded(self.side.limit);
        let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
        for address in address.to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, limit) {
                Ok(stream) => {
                    return UnauthenticatedConn::start(
                        stream.into(),
                        Role::Client,
                        self.hooks.into(),
                        &self.limits,
                        None,
                    );
                }
                Err(error) => last = error,
            }
        }
        Err(last.into())
    }
}

impl UnauthenticatedServer {
    /// Begins the options of a server whose `handler` answers, on the thread that reads each connection.
    pub fn builder(
        handler: impl Fn(&MonteMessage<'_>) -> Option<Vec<u8>> + Send + Sync + 'static,
    ) -> UnauthenticatedServerBuilder {
        let side = Listening {
            max_connections: MAX_CONNECTIONS,
            max_handshakes: MAX_HANDSHAKES,
        };
        UnauthenticatedBuilder::new(handler, side)
    }

    /// Listens on an address. `handler` answers, on the thread that reads the connection.
    ///
    /// # Errors
    ///
    /// Those of [`bind`](UnauthenticatedServerBuilder::bind) of the builder.
    pub fn bind(
        address: impl ToSocketAddrs,
        handler: impl Fn(&MonteMessage<'_>) -> Option<Vec<u8>> + Send + Sync + 'static,
    ) -> io::Result<Self> {
        Self::builder(handler).bind(address)
    }
}

impl UnauthenticatedBuilder<Listening> {
    /// Sets the number of connections whose keys have been exchanged: 1 or more (0 counts as 1). Further ones
    /// are closed at once. Default 1,024.
    #[must_use]
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.side.max_connections = connections.max(1);
        self
    }

    /// Sets the number of exchanges of keys under way, of which one address has a quarter: 1 or more (0
    /// counts as 1). The oldest gives way. Default 256, fewer where the process may have few descriptors.
    #[must_use]
    pub fn max_handshakes(mut self, handshakes: usize) -> Self {
        self.side.max_handshakes = handshakes.max(1);
        self
    }

    /// Listens on an address.
    ///
    /// # Errors
    ///
    /// An [`io::Error`] if a limit is out of its range, the address is in use, or the system gives no thread.
    pub fn bind(self, address: impl ToSocketAddrs) -> io::Result<UnauthenticatedServer> {
        self.limits.check()?;
        let gate = Gate::new(self.side.max_handshakes, self.side.max_connections);
        UnauthenticatedServer::listen(address, self.hooks.into(), self.limits, gate)
    }
}
