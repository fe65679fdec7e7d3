//! The answering side.

use std::io;
use std::sync::Arc;
use std::time::Duration;

#[cfg(unix)]
use sealwire::Listener;
use sealwire::options::Withdrawn;
use sealwire::{Endpoint, Monitor, Security, SocketBuilder};

use crate::conn::{Conn, ConnState};
use crate::counters::Counters;
use crate::handler::{Dispatch, Handler, Intercepted, Interceptor, Request, StateHandler};
use crate::hub::{Greeter, Hub, HubOptions, shielded};
use crate::limits::{
    CONNECTION_WAIT, DoorLimits, HANDSHAKE_LIMIT, Limits, MAX_CONNECTIONS, bounded,
};
use crate::link::LinkOptions;
use crate::proto::Side;
use crate::sockets::{self, limited};
use crate::status::Status;

/// Answers calls, and can call its clients ([`Conn`]). Clones are handles to the same server; when
/// the last is dropped, it ends.
#[derive(Clone)]
pub struct Server {
    shared: Arc<ServerInner>,
}

struct ServerInner {
    hub: Arc<Hub>,
}

impl Drop for ServerInner {
    fn drop(&mut self) {
        self.hub.end();
    }
}

/// Sets the options of a [`Server`].
pub struct ServerBuilder {
    socket: SocketBuilder,
    limits: Limits,
    max_connections: usize,
    connection_wait: Duration,
    handshake_limit: Duration,
    greeter: Option<Greeter>,
    on_state: Option<StateHandler>,
    interceptors: Vec<Interceptor>,
}

impl ServerBuilder {
    /// Sets how many connections are served at once: 1 or more (0 counts as 1). Default 1,024. As many again
    /// and 64 wait, at most 1,088, and 4 MiB of their greetings; those beyond are turned away.
    #[must_use]
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.max_connections = connections.max(1);
        self
    }

    /// Sets how long a connection waits for its place before it is turned away. Default 3 s.
    #[must_use]
    pub fn connection_wait(mut self, limit: Duration) -> Self {
        self.connection_wait = bounded(limit);
        self
    }

    /// Sets how long a handshake may take, and after it the greeting. Default 3 s;
    /// [`build`](ServerBuilder::build) refuses zero. Connections without a greeting are at most a quarter of
    /// [`max_connections`](ServerBuilder::max_connections), at least 16 and at most 256; the oldest gives
    /// way.
    #[must_use]
    pub fn handshake_limit(mut self, limit: Duration) -> Self {
        self.handshake_limit = limit;
        self
    }

    /// Decides about a connection whose handshake is done: who it is, and the client's
    /// [`hello`](crate::ClientBuilder::hello). Gives bytes for the client, at most 65,536, or a
    /// reason, for the log, to end the connection. Must not block.
    #[must_use]
    pub fn greet(
        mut self,
        hook: impl Fn(&sealwire::Peer, &[u8]) -> Result<Vec<u8>, String> + Send + Sync + 'static,
    ) -> Self {
        self.greeter = Some(Arc::new(hook));
        self
    }

    /// Calls this hook when a connection is ready and when it is gone. It must not block.
    #[must_use]
    pub fn on_state(mut self, hook: impl Fn(&Conn, ConnState) + Send + Sync + 'static) -> Self {
        self.on_state = Some(Arc::new(hook));
        self
    }

    /// Calls this function for each request before the handler, which lets it through or answers it with an
    /// error. Several run in the order in which they are given. It must not block.
    #[must_use]
    pub fn intercept(
        mut self,
        before: impl Fn(&Request) -> Result<(), Status> + Send + Sync + 'static,
    ) -> Self {
        self.interceptors.push(Box::new(before));
        self
    }

    /// Sets sizes, windows and time limits.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets options of the socket below that have no method here: transport, provider, context.
    #[must_use]
    pub fn socket(mut self, change: impl FnOnce(SocketBuilder) -> SocketBuilder) -> Self {
        self.socket = change(self.socket);
        self
    }

    /// Makes the server, which listens nowhere yet.
    ///
    /// # Errors
    ///
    /// [`sealwire::Error::Options`] if an option of the socket is out of its range,
    /// [`sealwire::Error::System`] if the system gives no threads.
    pub fn build(self, handler: impl Handler) -> Result<Server, sealwire::Error> {
        self.build_with(handler, Hub::start)
    }

    /// Makes it of a hub that is started so.
    pub(crate) fn build_with(
        self,
        handler: impl Handler,
        start: impl FnOnce(HubOptions, sealwire::Socket) -> io::Result<Arc<Hub>>,
    ) -> Result<Server, sealwire::Error> {
        let door = DoorLimits::of_server(self.max_connections, self.handshake_limit);
        let socket = limited(self.socket, &self.limits)
            .handshake_timeout(self.handshake_limit)
            .max_connections(door.connections(self.max_connections))
            .build()?;
        let mut handler: Arc<dyn Handler> = Arc::new(handler);
        if !self.interceptors.is_empty() {
            handler = Arc::new(Intercepted {
                before: self.interceptors,
                handler,
            });
        }
        let options = HubOptions {
            link: LinkOptions::of(Side::Server, &self.limits),
            upcalls: Box::new(Dispatch {
                handler,
                on_state: self.on_state,
            }),
            greeter: self.greeter,
            max_connections: self.max_connections,
            connection_wait: self.connection_wait,
            door,
            request_limit: self.limits.request,
            interceptors: Vec::new(),
        };
        let hub = start(options, socket)?;
        Ok(Server {
            shared: Arc::new(ServerInner { hub }),
        })
    }
}

impl Server {
    /// Returns a builder, to set options. `security` is that of the connections: [`Security::blake3_server`]
    /// with the authenticator of clients.
    pub fn builder(security: impl Into<Security>) -> ServerBuilder {
        ServerBuilder {
            socket: sockets::builder(security.into()),
            limits: Limits::default(),
            max_connections: MAX_CONNECTIONS,
            connection_wait: CONNECTION_WAIT,
            handshake_limit: HANDSHAKE_LIMIT,
            greeter: None,
            on_state: None,
            interceptors: Vec::new(),
        }
    }

    pub(crate) fn hub(&self) -> &Arc<Hub> {
        &self.shared.hub
    }

    /// Listens on an endpoint and returns it, with the port that the system chose for port 0. May be called
    /// for several endpoints.
    ///
    /// # Errors
    ///
    /// * [`sealwire::Error::Endpoint`] if the endpoint cannot be parsed.
    /// * [`sealwire::Error::UnusableEndpoint`] if the server cannot use it: `udp`, or one that needs a
    ///   certificate that is missing.
    /// * [`sealwire::Error::Bind`] if the system refuses, because the address is in use for example.
    /// * [`sealwire::Error::Closed`] after a shutdown, [`sealwire::Error::EngineFailed`] if the I/O thread of
    ///   its context has ended.
    pub fn bind<E>(&self, endpoint: E) -> Result<Endpoint, sealwire::Error>
    where
        E: TryInto<Endpoint>,
        E::Error: Into<sealwire::Error>,
    {
        self.hub().socket.bind(endpoint)
    }

    /// Listens on a socket that somebody else opened, as a service manager that [passed](Listener::passed) it, and returns
    /// its endpoint. The manager goes on listening where this server shuts down: who connects meanwhile waits for the
    /// next.
    ///
    /// # Errors
    ///
    /// * [`sealwire::Error::Listener`] if it is not a socket that listens for streams.
    /// * Those of [`bind`](Server::bind) otherwise.
    #[cfg(unix)]
    pub fn bind_listener(
        &self,
        listener: impl Into<Listener>,
    ) -> Result<Endpoint, sealwire::Error> {
        self.hub().socket.bind_listener(listener)
    }

    /// Gives all its endpoints, and those that are bound later, other keys and another authenticator while it serves. Nobody is
    /// turned away meanwhile. For an overlap give the old key and the new one
    /// ([`Blake3Server::with_additional_keys`](sealwire::Blake3Server::with_additional_keys)), and later the new one alone:
    /// `withdrawn` says what becomes of connections under keys that `security` does not have. With [`Withdrawn::End`]
    /// they end as if the peer had left, calls that they carry too: clients call again where that does no harm. Connections of keys
    /// that stay are decided about by the new authenticator.
    ///
    /// # Errors
    ///
    /// Those of [`sealwire::Socket::reconfigure_endpoint`], with endpoints before the one that failed changed already.
    pub fn renew_security(
        &self,
        security: impl Into<Security>,
        withdrawn: Withdrawn,
    ) -> Result<(), sealwire::Error> {
        sockets::renew(&self.hub().socket, security.into(), withdrawn)
    }

    /// Returns the connections that are served.
    pub fn connections(&self) -> Vec<Conn> {
        self.hub().links().into_iter().map(Conn::new).collect()
    }

    /// Returns a monitor, which reads the events of the connections below: handshakes, failures.
    pub fn monitor(&self) -> Monitor {
        self.hub().socket.monitor()
    }

    /// Returns the numbers of calls and messages of this server so far, and how they ended.
    pub fn counters(&self) -> Counters {
        self.hub().counters.snapshot()
    }

    /// Waits until this server has ended, by a shutdown or by a fault.
    ///
    /// # Errors
    ///
    /// [`sealwire::Error::EngineFailed`] when the I/O thread of its context, or a thread of its own,
    /// ended by a fault; [`sealwire::Error::Forked`] in a child of the process that made it.
    pub async fn closed(&self) -> Result<(), sealwire::Error> {
        loop {
            if !self.hub().is_here() {
                return Err(sealwire::Error::Forked);
            }
            let changed = self.hub().changes.listen();
            match (self.hub().has_ended(), self.hub().has_failed()) {
                (false, _) => shielded(self.hub(), changed).await,
                (true, false) => return Ok(()),
                (true, true) => return Err(sealwire::Error::EngineFailed),
            }
        }
    }

    /// Blocks until this server has ended, by a shutdown or by a fault: [`closed`](Server::closed) for
    /// programs without an executor.
    ///
    /// # Errors
    ///
    /// As [`closed`](Server::closed), and [`sealwire::Error::WouldBlock`] in a handler, which this server
    /// would wait for.
    pub fn closed_blocking(&self) -> Result<(), sealwire::Error> {
        let closed = self.hub().block_on(self.closed());
        closed.unwrap_or(Err(sealwire::Error::WouldBlock))
    }

    /// Shuts the server down: it accepts no connections any more, turns new requests away as not started,
    /// lets those under way end, for up to `limit`, then closes the connections. Returns whether `limit` was
    /// enough. If so, answers are sent and endpoints are free again (files of `ipc` gone) when it returns.
    pub async fn shutdown(&self, limit: Duration) -> bool {
        let server = self.clone();
        let shut_down = move || server.shutdown_blocking(limit);
        self.hub().shut_down_beside(shut_down).await
    }

    /// Shuts the server down as [`shutdown`](Server::shutdown) does, and blocks the thread for up to `limit`.
    pub fn shutdown_blocking(&self, limit: Duration) -> bool {
        self.unbind_all();
        self.hub().shut_down(limit)
    }

    /// Accepts no connections any more.
    pub(crate) fn unbind_all(&self) {
        for endpoint in self.hub().socket.bound_endpoints() {
            // Unbound by somebody else is as good.
            let _ = self.hub().socket.unbind(endpoint);
        }
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server")
            .field("bound", &self.hub().socket.bound_endpoints())
            .field("connections", &self.hub().link_count())
            .finish()
    }
}
