//! The calling side: a few connections to one endpoint, opened when they are needed.

mod builder;
mod dialing;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sealwire::{Endpoint, Monitor, Security};

pub use self::builder::ClientBuilder;
use self::dialing::{DialOptions, Dialing};
use crate::conn::Conn;
use crate::counters::{Counters, count};
use crate::hub::{Hub, shielded};
use crate::limits::bounded;
use crate::lock::lock;
use crate::outgoing::CallOptions;
use crate::proto::Body;
use crate::status::{Code, Error};

/// Calls a server, over up to [`max_connections`](ClientBuilder::max_connections) connections of
/// which the least loaded is chosen. Clones are handles to the same client; when the last is
/// dropped, calls under way end with an error.
#[derive(Clone)]
pub struct Client {
    shared: Arc<ClientInner>,
}

struct ClientInner {
    hub: Arc<Hub>,
    endpoint: Endpoint,
    options: DialOptions,
    dialing: Arc<Mutex<Dialing>>,
    shutting_down: AtomicBool,
}

impl Drop for ClientInner {
    fn drop(&mut self) {
        self.hub.end();
    }
}

impl Client {
    /// Returns a builder, to set options. `security` is that of the connection:
    /// [`Security::blake3_client_with_keys`] where both sides know each other, [`Security::blake3_client`]
    /// where only the server is known.
    pub fn builder(security: impl Into<Security>) -> ClientBuilder {
        ClientBuilder::new(security.into())
    }

    pub(crate) fn hub(&self) -> &Arc<Hub> {
        &self.shared.hub
    }

    /// Returns the connections that are ready.
    pub fn connections(&self) -> Vec<Conn> {
        self.hub().links().into_iter().map(Conn::new).collect()
    }

    /// Returns a monitor, which reads the events of the connections below: attempts, handshakes, failures.
    pub fn monitor(&self) -> Monitor {
        self.hub().socket.monitor()
    }

    /// Returns the numbers of calls and messages of this client so far, and how they ended.
    pub fn counters(&self) -> Counters {
        self.hub().counters.snapshot()
    }

    /// Why no call can be made any more, if that is so.
    fn check_open(&self) -> Result<(), Error> {
        self.hub().check()?;
        self.hub().check_open()?;
        if self.shared.shutting_down.load(Ordering::SeqCst) {
            return Err(Error::ShuttingDown);
        }
        Ok(())
    }

    /// The least loaded connection, if one takes calls; opens another one beside it when it is
    /// busy.
    fn ready(&self) -> Option<Conn> {
        let link = self.hub().least_loaded()?;
        let options = &self.shared.options;
        let has_room = |hub: &Hub| hub.link_count() < options.max_connections;
        if link.load() >= options.busy && has_room(self.hub()) {
            self.shared.dial(has_room);
        }
        Some(Conn::new(link))
    }

    /// Returns the least loaded connection; opens one if there is none.
    ///
    /// # Errors
    ///
    /// * [`Error::Connect`] if all [attempts](ClientBuilder::dial_attempts) fail, with the reason of the
    ///   last.
    /// * [`Error::ShuttingDown`] after [`shutdown`](Client::shutdown).
    /// * [`Error::EngineFailed`] if a thread of the client has ended by a fault.
    pub async fn conn(&self) -> Result<Conn, Error> {
        self.conn_by(None).await
    }

    /// The same, until it is so late.
    async fn conn_by(&self, due: Option<Duration>) -> Result<Conn, Error> {
        self.check_open()?;
        if let Some(conn) = self.ready() {
            return Ok(conn);
        }
        let failures = lock(&self.shared.dialing).failures;
        loop {
            let changed = self.hub().changes.listen();
            self.check_open()?;
            if let Some(conn) = self.ready() {
                return Ok(conn);
            }
            if due.is_some_and(|due| due <= self.hub().now()) {
                return Err(Error::DeadlineExceeded {
                    may_have_run: false,
                });
            }
            if let Some(reason) = self.shared.failed_since(failures) {
                return Err(Error::Connect(reason));
            }
            self.shared.dial(Hub::takes_no_calls);
            if let Some(due) = due {
                self.hub().limit_wait_for_change(due);
            }
            shielded(self.hub(), changed).await;
        }
    }

    /// Sends a message that nobody answers, over the least loaded connection; waits for one, and for room up
    /// to the [write limit](crate::Limits::write).
    ///
    /// # Errors
    ///
    /// Those of [`Conn::send`], and those of [`conn`](Client::conn) if there is no connection.
    pub async fn send(&self, body: &[u8]) -> Result<(), Error> {
        self.send_with(body, CallOptions::default()).await
    }

    /// Sends a message that nobody answers as [`send`](Client::send) does, with options. Their time limit is for
    /// connecting and for the wait for room together.
    ///
    /// # Errors
    ///
    /// Those of [`send`](Client::send); [`Error::DeadlineExceeded`] if no connection is there within the limit,
    /// [`Error::Congested`] if it has no room.
    pub async fn send_with(&self, body: &[u8], options: CallOptions<'_>) -> Result<(), Error> {
        let due = options.limit.map(|limit| self.hub().now() + bounded(limit));
        let conn = self.conn_by(due).await?;
        conn.send_by(body, options, due).await
    }

    /// Sends a message that nobody answers, waiting at most `limit` for a connection and for room together.
    ///
    /// # Errors
    ///
    /// Those of [`send`](Client::send); [`Error::DeadlineExceeded`] if no connection is there within `limit`,
    /// [`Error::Congested`] if it has no room.
    pub async fn send_timeout(&self, body: &[u8], limit: Duration) -> Result<(), Error> {
        self.send_with(body, CallOptions::within(limit)).await
    }

    /// Sends a message that nobody answers if a connection with room is there.
    ///
    /// # Errors
    ///
    /// [`Error::WouldBlock`] if there is none, which also starts connecting. Otherwise those of
    /// [`Conn::send_no_wait`].
    pub fn send_no_wait(&self, body: &[u8]) -> Result<(), Error> {
        self.check_open()?;
        match self.ready() {
            Some(conn) => conn.send_no_wait(body),
            None => {
                self.shared.dial(Hub::takes_no_calls);
                Err(Error::WouldBlock)
            }
        }
    }

    /// Calls the server and waits for its answer, as [`Conn::request`]. A request that the server says it has
    /// not started is made again, up to [`retries`](ClientBuilder::retries) times.
    ///
    /// # Errors
    ///
    /// Those of [`Conn::request`], and those of [`conn`](Client::conn) if there is no connection.
    pub async fn request(&self, body: &[u8]) -> Result<Body, Error> {
        self.request_with(body, CallOptions::default()).await
    }

    /// Calls the server as [`request`](Client::request) does, with options. The time limit is for all
    /// attempts together, and for connecting.
    ///
    /// # Errors
    ///
    /// Those of [`request`](Client::request).
    pub async fn request_with(&self, body: &[u8], options: CallOptions<'_>) -> Result<Body, Error> {
        let due = self.hub().due(self.hub().now(), options.limit);
        let mut retries = self.shared.options.retries;
        loop {
            let conn = self.conn_by(due).await?;
            let left = due.map(|due| due.saturating_sub(self.hub().now()));
            let options = CallOptions {
                limit: left,
                ..options
            };
            let outcome = conn.request_with(body, options).await;
            match outcome {
                Err(error) if retries > 0 && worth_another_try(&error) => {
                    retries -= 1;
                    count(&self.hub().counters.calls_retried);
                }
                outcome => return outcome,
            }
        }
    }

    /// Shuts the client down: it takes no new calls, lets those under way end, for up to `limit`, then closes
    /// the connections. Returns whether `limit` was enough; if not, the remaining calls ended with an error.
    pub async fn shutdown(&self, limit: Duration) -> bool {
        let client = self.clone();
        let shut_down = move || client.shutdown_blocking(limit);
        self.hub().shut_down_beside(shut_down).await
    }

    pub(crate) fn shutdown_blocking(&self, limit: Duration) -> bool {
        self.refuse_calls();
        self.hub().shut_down(limit)
    }

    /// Takes no new calls any more.
    pub(crate) fn refuse_calls(&self) {
        self.shared.shutting_down.store(true, Ordering::SeqCst);
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

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client")
            .field("endpoint", &self.shared.endpoint)
            .field("connections", &self.hub().link_count())
            .finish()
    }
}
