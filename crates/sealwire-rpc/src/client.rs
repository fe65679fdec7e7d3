//! The calling side: a few connections to one endpoint, opened when they are needed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use sealwire::options::ReconnectStop;
use sealwire::{Endpoint, Event, Security, SocketBuilder, SocketType};

use crate::conn::{CallOptions, Conn, ConnState};
use crate::counters::{Counters, count};
use crate::handler::{Handler, Nothing};
use crate::hub::{Greeter, Hub, HubOptions, StateHandler, lock};
use crate::limits::Limits;
use crate::proto::{Body, Side};
use crate::status::{Code, Error};

/// Calls a server, over up to [`max_connections`](ClientBuilder::max_connections) connections of
/// which the least loaded is chosen. Clones are handles to the same client; when the last is
/// dropped, calls under way end with an error.
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
}

struct Shared {
    hub: Arc<Hub>,
    endpoint: Endpoint,
    options: DialOptions,
    dialing: Arc<Mutex<Dialing>>,
    shutting_down: AtomicBool,
}

#[derive(Clone, Copy)]
struct DialOptions {
    max_connections: usize,
    busy: usize,
    attempts: u32,
    limit: Duration,
    retries: u32,
}

#[derive(Default)]
struct Dialing {
    active: bool,
    /// Attempts that failed so far, and why the last did.
    failures: u64,
    last_failure: String,
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.hub.end();
    }
}

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
}

impl ClientBuilder {
    /// How many connections there may be; default 4, at least 1.
    #[must_use]
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.dial.max_connections = connections.max(1);
        self
    }

    /// Calls in flight on each connection before another connection is opened; default 64. A
    /// single connection is the fastest way for a few calls at a time.
    #[must_use]
    pub fn calls_per_connection(mut self, calls: usize) -> Self {
        self.dial.busy = calls.max(1);
        self
    }

    /// How often connecting is tried before those who wait for it get an error; default 1.
    #[must_use]
    pub fn dial_attempts(mut self, attempts: u32) -> Self {
        self.dial.attempts = attempts.max(1);
        self
    }

    /// How long connecting may take, without the handshake; default 3 s.
    #[must_use]
    pub fn dial_limit(mut self, limit: Duration) -> Self {
        self.dial_limit = limit;
        self
    }

    /// How long the handshake may take; default 3 s.
    #[must_use]
    pub fn handshake_limit(mut self, limit: Duration) -> Self {
        self.handshake_limit = limit;
        self
    }

    /// How often a request that the server says it has not started is made again, on another
    /// connection if there is one; default 2.
    #[must_use]
    pub fn retries(mut self, retries: u32) -> Self {
        self.dial.retries = retries;
        self
    }

    /// What answers the server's calls; by default nothing does.
    #[must_use]
    pub fn handler(mut self, handler: impl Handler) -> Self {
        self.handler = Arc::new(handler);
        self
    }

    /// Bytes for the server's [`greet`](crate::ServerBuilder::greet), inside the encrypted
    /// connection: a token, a version, whatever the application agrees on.
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

    /// Told when a connection is ready and when it is gone. Must not block.
    #[must_use]
    pub fn on_state(mut self, hook: impl Fn(&Conn, ConnState) + Send + Sync + 'static) -> Self {
        self.on_state = Some(Arc::new(hook));
        self
    }

    /// Sizes, windows and time limits.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Options of the socket below that have no name here: transport, provider, context.
    #[must_use]
    pub fn socket(mut self, change: impl FnOnce(SocketBuilder) -> SocketBuilder) -> Self {
        self.socket = change(self.socket);
        self
    }

    /// The client. Connects when it is first used.
    ///
    /// # Errors
    ///
    /// [`Error::Connect`] for an endpoint that cannot be understood, for options of the socket
    /// that do not fit, and when the system gives no threads.
    pub fn build<E>(self, endpoint: E) -> Result<Client, Error>
    where
        E: TryInto<Endpoint>,
        E::Error: Into<sealwire::Error>,
    {
        let failed = |error: sealwire::Error| Error::Connect(error.to_string());
        let endpoint = endpoint.try_into().map_err(|error| failed(error.into()))?;
        let settings = self.limits.settings();
        let socket = self.limits.apply(self.socket);
        let socket = socket
            .hello_message(settings.message(&self.hello))
            .reconnect_stop(ReconnectStop::ALWAYS)
            .connect_timeout(self.dial_limit)
            .handshake_timeout(self.handshake_limit)
            .build()
            .map_err(failed)?;
        let options = HubOptions {
            side: Side::Client,
            settings,
            handler: self.handler,
            greeter: self.greeter,
            on_state: self.on_state,
            max_connections: usize::MAX,
            connection_wait: Duration::ZERO,
            write_limit: self.limits.write,
            request_limit: self.limits.request,
        };
        let hub = Hub::start(options, socket).map_err(|error| Error::Connect(error.to_string()))?;
        let shared = Shared {
            hub,
            endpoint,
            options: DialOptions {
                limit: self.dial_limit + self.handshake_limit + Duration::from_secs(1),
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

impl Client {
    /// Starts to set options. `security` is that of the connection:
    /// [`Security::blake3_client_with_keys`] where both sides know each other,
    /// [`Security::blake3_client`] where only the server is known.
    pub fn builder(security: Security) -> ClientBuilder {
        ClientBuilder {
            socket: sealwire::Socket::builder(SocketType::Peer).security(security),
            limits: Limits::default(),
            dial: DialOptions {
                max_connections: 4,
                busy: 64,
                attempts: 1,
                limit: Duration::ZERO,
                retries: 2,
            },
            dial_limit: Duration::from_secs(3),
            handshake_limit: Duration::from_secs(3),
            handler: Arc::new(Nothing),
            hello: Vec::new(),
            greeter: None,
            on_state: None,
        }
    }

    pub(crate) fn hub(&self) -> &Arc<Hub> {
        &self.shared.hub
    }

    /// The same client with calls that block the thread.
    pub fn blocking(&self) -> crate::blocking::Client {
        crate::blocking::Client::new(self.clone())
    }

    /// Connections that are ready.
    pub fn connections(&self) -> Vec<Conn> {
        self.hub().links().into_iter().map(Conn::new).collect()
    }

    /// What this client has done so far.
    pub fn counters(&self) -> Counters {
        self.hub().counters.snapshot()
    }

    /// The least loaded connection, if one takes calls; opens another one beside it when it is
    /// busy.
    fn ready(&self) -> Option<Conn> {
        let link = self.hub().least_loaded()?;
        let options = &self.shared.options;
        if link.load() >= options.busy && self.hub().link_count() < options.max_connections {
            self.shared.dial();
        }
        Some(Conn::new(link))
    }

    /// The least loaded connection; opens one if there is none.
    ///
    /// # Errors
    ///
    /// [`Error::Connect`], [`Error::ShuttingDown`].
    pub async fn conn(&self) -> Result<Conn, Error> {
        if self.shared.shutting_down.load(Ordering::SeqCst) || self.hub().has_ended() {
            return Err(Error::ShuttingDown);
        }
        if let Some(conn) = self.ready() {
            return Ok(conn);
        }
        let failures = lock(&self.shared.dialing).failures;
        loop {
            let changed = self.hub().changed.listen();
            if self.shared.shutting_down.load(Ordering::SeqCst) || self.hub().has_ended() {
                return Err(Error::ShuttingDown);
            }
            if let Some(conn) = self.ready() {
                return Ok(conn);
            }
            if let Some(reason) = self.shared.failed_since(failures) {
                return Err(Error::Connect(reason));
            }
            self.shared.dial();
            changed.await;
        }
    }

    /// Sends a message that nobody answers; see [`Conn::send`].
    ///
    /// # Errors
    ///
    /// As [`Conn::send`] and [`conn`](Client::conn).
    pub async fn send(&self, body: &[u8]) -> Result<(), Error> {
        self.conn().await?.send(body).await
    }

    /// Sends a message that nobody answers if a connection with room is there.
    ///
    /// # Errors
    ///
    /// As [`Conn::send_no_wait`]; without a connection [`Error::WouldBlock`], and one is opened.
    pub fn send_no_wait(&self, body: &[u8]) -> Result<(), Error> {
        if self.shared.shutting_down.load(Ordering::SeqCst) {
            return Err(Error::ShuttingDown);
        }
        match self.ready() {
            Some(conn) => conn.send_no_wait(body),
            None => {
                self.shared.dial();
                Err(Error::WouldBlock)
            }
        }
    }

    /// Calls the server; see [`Conn::request`]. What the server says it has not started is asked
    /// again, up to [`retries`](ClientBuilder::retries) times.
    ///
    /// # Errors
    ///
    /// As [`Conn::request`] and [`conn`](Client::conn).
    pub async fn request(&self, body: &[u8]) -> Result<Body, Error> {
        self.request_with(body, CallOptions::default()).await
    }

    /// The same with options. The time limit is for all attempts together.
    ///
    /// # Errors
    ///
    /// As [`request`](Client::request).
    pub async fn request_with(&self, body: &[u8], options: CallOptions) -> Result<Body, Error> {
        let limit = options.limit.or(self.hub().options.request_limit);
        let due = limit.map(|limit| Instant::now() + limit);
        let mut retries = self.shared.options.retries;
        loop {
            let left = due.map(|due| due.saturating_duration_since(Instant::now()));
            let options = CallOptions { limit: left };
            let outcome = self.conn().await?.request_with(body, options).await;
            match outcome {
                Err(error) if retries > 0 && worth_another_try(&error) => {
                    retries -= 1;
                    count(&self.hub().counters.calls_retried);
                }
                outcome => return outcome,
            }
        }
    }

    /// Lets calls under way end, takes no new ones, then closes the connections. `false` when
    /// `limit` was not enough for all calls; what was left ended with an error.
    pub async fn shutdown(&self, limit: Duration) -> bool {
        let done = Arc::new(event_listener::Event::new());
        let listener = done.listen();
        let client = self.clone();
        let outcome = Arc::new(AtomicBool::new(false));
        let result = outcome.clone();
        let spawned = thread::Builder::new()
            .name("sealwire-rpc-shutdown".into())
            .spawn(move || {
                result.store(client.shutdown_blocking(limit), Ordering::SeqCst);
                done.notify(usize::MAX);
            });
        if spawned.is_err() {
            return self.shutdown_blocking(limit);
        }
        listener.await;
        outcome.load(Ordering::SeqCst)
    }

    pub(crate) fn shutdown_blocking(&self, limit: Duration) -> bool {
        self.shared.shutting_down.store(true, Ordering::SeqCst);
        self.hub().shut_down(limit)
    }
}

/// Only what certainly was not started, and not for want of room there.
fn worth_another_try(error: &Error) -> bool {
    match error {
        Error::Remote(status) => status.is_not_started() && status.code == Code::UNAVAILABLE,
        Error::ConnectionLost { may_have_run } => !may_have_run,
        Error::ShuttingDown => true,
        _ => false,
    }
}

impl Shared {
    /// Why the last attempt failed, if more have failed than these.
    fn failed_since(&self, failures: u64) -> Option<String> {
        let dialing = lock(&self.dialing);
        (dialing.failures > failures).then(|| dialing.last_failure.clone())
    }

    /// Opens a connection in the background, unless that is under way.
    fn dial(&self) {
        if std::mem::replace(&mut lock(&self.dialing).active, true) {
            return;
        }
        let (hub, dialing) = (self.hub.clone(), self.dialing.clone());
        let (endpoint, options) = (self.endpoint.clone(), self.options);
        let spawned = thread::Builder::new()
            .name("sealwire-rpc-dial".into())
            .spawn(move || {
                let mut outcome = Ok(());
                for _ in 0..options.attempts {
                    outcome = connect(&hub, &endpoint, options.limit);
                    if outcome.is_ok() || hub.has_ended() {
                        break;
                    }
                }
                finish(&dialing, outcome);
                hub.changed.notify(usize::MAX);
            });
        if let Err(error) = spawned {
            finish(&self.dialing, Err(error.to_string()));
            self.hub.changed.notify(usize::MAX);
        }
    }
}

fn finish(dialing: &Mutex<Dialing>, outcome: Result<(), String>) {
    let mut dialing = lock(dialing);
    dialing.active = false;
    if let Err(reason) = outcome {
        dialing.failures += 1;
        dialing.last_failure = reason;
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client")
            .field("endpoint", &self.shared.endpoint)
            .field("connections", &self.hub().link_count())
            .finish()
    }
}

/// One attempt: from connecting to a connection that takes calls.
fn connect(hub: &Hub, endpoint: &Endpoint, limit: Duration) -> Result<(), String> {
    let deadline = Instant::now() + limit;
    let monitor = hub.socket.monitor();
    hub.socket
        .connect(endpoint.clone())
        .map_err(|error| error.to_string())?;
    let mut route = None;
    let mut reason = String::from("no answer in time");
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if let Some(route) = route {
            return await_settings(hub, &monitor, route, left);
        }
        match monitor.wait_next_for(left) {
            Some(Event::Ready { peer }) if !hub.has_link(peer.route()) => {
                route = Some(peer.route());
            }
            Some(Event::Failed(failure)) if !failure.was_ready() => reason = failure.to_string(),
            Some(Event::GaveUp { .. }) | None => return Err(reason),
            Some(_) => {}
        }
    }
}

/// The handshake is done; the server has to take the connection yet.
fn await_settings(
    hub: &Hub,
    monitor: &sealwire::Monitor,
    route: u32,
    limit: Duration,
) -> Result<(), String> {
    use event_listener::Listener as _;
    let deadline = Instant::now() + limit;
    loop {
        let changed = hub.changed.listen();
        if hub.has_link(route) {
            return Ok(());
        }
        while let Some(event) = monitor.try_next() {
            match event {
                Event::Failed(failure) if failure.connection().map(|c| c as u32) == Some(route) => {
                    return Err(failure.to_string());
                }
                Event::Disconnected { peer } if peer.route() == route => {
                    return Err("the server ended the connection".into());
                }
                _ => {}
            }
        }
        if hub.has_ended() || Instant::now() >= deadline {
            return Err("the server did not take the connection in time".into());
        }
        let look_again = Instant::now() + Duration::from_millis(20);
        let _ = changed.wait_deadline(look_again.min(deadline));
    }
}
