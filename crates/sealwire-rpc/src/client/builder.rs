//! What a client is made with.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use sealwire::options::ReconnectStop;
use sealwire::{Endpoint, Security, SocketBuilder};

use super::dialing::DialOptions;
use super::{Client, ClientInner};
use crate::conn::{Conn, ConnState};
use crate::handler::{Dispatch, Handler, Nothing, StateHandler};
use crate::hub::{Greeter, Hub, HubOptions};
use crate::limits::{DIAL_LIMIT, DoorLimits, HANDSHAKE_LIMIT, Limits, MAX_HELLO, attempt_limit};
use crate::link::LinkOptions;
use crate::outgoing::{Interceptor, Outgoing};
use crate::proto::Side;
use crate::sockets::{self, limited};
use crate::status::{Error, Status};

/// Sets the options of a [`Client`].
pub struct ClientBuilder {
    socket: SocketBuilder,
    limits: Limits,
    dial: DialOptions,
    dial_limit: Duration,
    handshake_limit: Duration,
    handler: Arc<dyn Handler>,
    hello: Vec<u8>,
    greeter: Option<Greeter>,
    on_state: Option<StateHandler>,
    interceptors: Vec<Interceptor>,
}

impl ClientBuilder {
    pub(super) fn new(security: Security) -> Self {
        ClientBuilder {
            socket: sockets::builder(security),
            limits: Limits::default(),
            dial: DialOptions {
                max_connections: 4,
                busy: 64,
                attempts: 1,
                limit: Duration::ZERO,
                retries: 2,
            },
            dial_limit: DIAL_LIMIT,
            handshake_limit: HANDSHAKE_LIMIT,
            handler: Arc::new(Nothing),
            hello: Vec::new(),
            greeter: None,
            on_state: None,
            interceptors: Vec::new(),
        }
    }

    /// Sets the number of connections at most: 1 or more (0 counts as 1). Default 4.
    #[must_use]
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.dial.max_connections = connections.max(1);
        self
    }

    /// Sets the number of calls in flight on each connection before another is opened: 1 or more (0 counts as
    /// 1). Default 64. A single connection is the fastest way for a few concurrent calls.
    #[must_use]
    pub fn calls_per_connection(mut self, calls: usize) -> Self {
        self.dial.busy = calls.max(1);
        self
    }

    /// Sets how often connecting is tried before the waiting calls get an error: 1 or more (0 counts as 1).
    /// Default 1.
    #[must_use]
    pub fn dial_attempts(mut self, attempts: u32) -> Self {
        self.dial.attempts = attempts.max(1);
        self
    }

    /// Sets how long one attempt to connect may take, without the handshake. Default 3 s.
    /// [`build`](ClientBuilder::build) refuses zero.
    #[must_use]
    pub fn dial_limit(mut self, limit: Duration) -> Self {
        self.dial_limit = limit;
        self
    }

    /// Sets how long the handshake may take. Default 3 s. [`build`](ClientBuilder::build) refuses zero.
    #[must_use]
    pub fn handshake_limit(mut self, limit: Duration) -> Self {
        self.handshake_limit = limit;
        self
    }

    /// Sets how often a request that the server says it has not started is made again, on another connection
    /// if there is one. Default 2; 0 for never.
    #[must_use]
    pub fn retries(mut self, retries: u32) -> Self {
        self.dial.retries = retries;
        self
    }

    /// Sets the handler of the server's calls. Default: [`Nothing`](crate::handler::Nothing), which answers
    /// that nothing is served.
    #[must_use]
    pub fn handler(mut self, handler: impl Handler) -> Self {
        self.handler = Arc::new(handler);
        self
    }

    /// Sets the bytes for the server's [`greet`](crate::ServerBuilder::greet), which go inside the encrypted
    /// connection: a token, a version, whatever the application agrees on. At most 65,536. Default: none.
    #[must_use]
    pub fn hello(mut self, hello: impl Into<Vec<u8>>) -> Self {
        self.hello = hello.into();
        self
    }

    /// Looks at what the server's application answered to [`hello`](ClientBuilder::hello); an
    /// error, for the log, ends the connection. Must not block.
    #[must_use]
    pub fn greet(
        mut self,
        hook: impl Fn(&sealwire::Peer, &[u8]) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.greeter = Some(Arc::new(move |peer, hello| {
            hook(peer, hello).map(|()| Vec::new())
        }));
        self
    }

    /// Looks at each call and message before it leaves, may change it, and lets it out or ends it
    /// with [`Error::Intercepted`]. In the order in which they are given, once for each attempt;
    /// must not block.
    ///
    /// ```
    /// use std::time::Duration;
    /// use sealwire::{Generate as _, KeyPair, Security, auth::AllowAnyone};
    /// use sealwire_rpc::handler::Inline;
    /// use sealwire_rpc::{Client, Code, Error, Request, Server, Status};
    ///
    /// let keys = KeyPair::generate();
    /// let echo = |request: &Request| Ok::<_, Status>(request.body().clone());
    /// let server = Server::builder(Security::blake3_server(keys.clone(), AllowAnyone))
    ///     .build(Inline::new(echo))?;
    /// let client = Client::builder(Security::blake3_client(keys.public()))
    ///     .intercept(|call| {
    ///         if call.body.is_empty() {
    ///             return Err(Code::INVALID_ARGUMENT.into());
    ///         }
    ///         call.limit.get_or_insert(Duration::from_secs(5));
    ///         call.body.to_mut().extend_from_slice(b", signed");
    ///         Ok(())
    ///     })
    ///     .build(server.bind("tcp://127.0.0.1:0")?)?
    ///     .blocking();
    /// assert_eq!(&client.request(b"question")?[..], b"question, signed");
    /// assert_eq!(client.request(b""), Err(Error::Intercepted(Code::INVALID_ARGUMENT.into())));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn intercept(
        mut self,
        intercept: impl Fn(&mut Outgoing<'_>) -> Result<(), Status> + Send + Sync + 'static,
    ) -> Self {
        self.interceptors.push(Box::new(intercept));
        self
    }

    /// Calls this hook when a connection is ready and when it is gone. It must not block.
    #[must_use]
    pub fn on_state(mut self, hook: impl Fn(&Conn, ConnState) + Send + Sync + 'static) -> Self {
        self.on_state = Some(Arc::new(hook));
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

    /// Makes the client. It connects when it is first used.
    ///
    /// # Errors
    ///
    /// [`Error::Connect`] if the endpoint cannot be parsed, [`hello`](ClientBuilder::hello) has more than
    /// 65,536 bytes, an option of the socket is out of its range, or the system gives no threads.
    pub fn build<E>(self, endpoint: E) -> Result<Client, Error>
    where
        E: TryInto<Endpoint>,
        E::Error: Into<sealwire::Error>,
    {
        self.build_with(endpoint, Hub::start)
    }

    /// Makes it of a hub that is started so.
    pub(crate) fn build_with<E>(
        self,
        endpoint: E,
        start: impl FnOnce(HubOptions, sealwire::Socket) -> io::Result<Arc<Hub>>,
    ) -> Result<Client, Error>
    where
        E: TryInto<Endpoint>,
        E::Error: Into<sealwire::Error>,
    {
        let failed = |error: sealwire::Error| Error::Connect(error.to_string());
        let endpoint = endpoint.try_into().map_err(|error| failed(error.into()))?;
        if self.hello.len() > MAX_HELLO {
            let size = self.hello.len();
            return Err(Error::Connect(format!(
                "hello of {size} bytes exceeds {MAX_HELLO} bytes"
            )));
        }
        let dial_limit = attempt_limit(self.dial_limit, self.handshake_limit);
        let link = LinkOptions::of(Side::Client, &self.limits);
        let socket = limited(self.socket, &self.limits);
        let socket = socket
            .hello_message(link.settings.message(&self.hello))
            .reconnect_stop(ReconnectStop::ALWAYS)
            .connect_timeout(self.dial_limit)
            .handshake_timeout(self.handshake_limit)
            .build()
            .map_err(failed)?;
        let options = HubOptions {
            link,
            upcalls: Box::new(Dispatch {
                handler: self.handler,
                on_state: self.on_state,
            }),
            greeter: self.greeter,
            max_connections: usize::MAX,
            connection_wait: Duration::ZERO,
            door: DoorLimits::of_client(dial_limit),
            request_limit: self.limits.request,
            interceptors: self.interceptors,
        };
        let hub = start(options, socket).map_err(|error| Error::Connect(error.to_string()))?;
        let shared = ClientInner {
            hub,
            endpoint,
            options: DialOptions {
                limit: dial_limit,
                ..self.dial
            },
            dialing: Arc::default(),
            shutting_down: AtomicBool::new(false),
        };
        Ok(Client {
            shared: Arc::new(shared),
        })
    }
}
