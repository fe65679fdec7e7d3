//! The same calls for programs without an executor: they block the thread. A thread that waits for
//! an answer reads the connection itself when nobody else does.

use std::time::Duration;

use crate::call::{Call, CallOptions};
use crate::conn::Link;
use crate::handler::Request;
use crate::proto::Body;
use crate::status::Error;

/// A connection whose calls block the thread; see [`crate::Conn`].
#[derive(Clone, Debug)]
pub struct Conn {
    conn: crate::Conn,
}

impl Conn {
    pub(crate) fn new(conn: crate::Conn) -> Self {
        Conn { conn }
    }

    /// See [`crate::Conn::send`].
    ///
    /// # Errors
    ///
    /// As there, and [`Error::WouldDeadlock`].
    pub fn send(&self, body: &[u8]) -> Result<(), Error> {
        match self.conn.send_no_wait(body) {
            Err(Error::WouldBlock) => self.conn.link().hub().block_on(self.conn.send(body))?,
            done => done,
        }
    }

    /// See [`crate::Conn::send_no_wait`].
    ///
    /// # Errors
    ///
    /// As there.
    pub fn send_no_wait(&self, body: &[u8]) -> Result<(), Error> {
        self.conn.send_no_wait(body)
    }

    /// See [`crate::Conn::request`].
    ///
    /// # Errors
    ///
    /// As there, and [`Error::WouldDeadlock`].
    pub fn request(&self, body: &[u8]) -> Result<Body, Error> {
        self.request_with(body, CallOptions::default())
    }

    /// Calls the peer and waits no longer than `limit` for its answer.
    ///
    /// # Errors
    ///
    /// As [`request`](Conn::request).
    pub fn request_timeout(&self, body: &[u8], limit: Duration) -> Result<Body, Error> {
        self.request_with(body, CallOptions::within(limit))
    }

    fn request_with(&self, body: &[u8], options: CallOptions) -> Result<Body, Error> {
        let hub = self.conn.link().hub();
        hub.block_on(self.conn.request_with(body, options))?
    }

    /// See [`crate::Conn::open`].
    ///
    /// # Errors
    ///
    /// As there, and [`Error::WouldDeadlock`].
    pub fn open(&self, body: &[u8], options: CallOptions) -> Result<CallStream, Error> {
        let stream = wait(self.conn.link(), self.conn.open(body, options))??;
        Ok(CallStream { stream })
    }

    /// See [`crate::Conn::start`].
    ///
    /// # Errors
    ///
    /// As there.
    pub fn start(&self, body: &[u8], options: CallOptions) -> Result<Call, Error> {
        self.conn.start(body, options)
    }
}

/// The caller's end of a call with streams, whose operations block the thread; see
/// [`crate::CallStream`]. Dropping it cancels the call.
pub struct CallStream {
    stream: crate::CallStream,
}

impl CallStream {
    /// See [`crate::CallStream::send`].
    ///
    /// # Errors
    ///
    /// As there, and [`Error::WouldDeadlock`].
    pub fn send(&self, item: &[u8]) -> Result<(), Error> {
        wait(self.stream.link(), self.stream.send(item))?
    }

    /// See [`crate::CallStream::finish`].
    pub fn finish(&self) {
        self.stream.finish();
    }

    /// See [`crate::CallStream::next`].
    ///
    /// # Errors
    ///
    /// [`Error::WouldDeadlock`].
    pub fn next(&self) -> Result<Option<Body>, Error> {
        wait(self.stream.link(), self.stream.next())
    }

    /// See [`crate::CallStream::answer`].
    ///
    /// # Errors
    ///
    /// As there, and [`Error::WouldDeadlock`].
    pub fn answer(self) -> Result<Body, Error> {
        let link = self.stream.link().clone();
        wait(&link, self.stream.answer())?
    }
}

/// The streams of a request, for handlers that may block, as those of a
/// [`Pool`](crate::handler::Pool) do.
pub struct RequestStream<'a> {
    request: &'a Request,
}

impl<'a> RequestStream<'a> {
    pub(crate) fn new(request: &'a Request) -> Self {
        RequestStream { request }
    }

    /// See [`Request::next`].
    ///
    /// # Errors
    ///
    /// [`Error::WouldDeadlock`].
    pub fn next(&self) -> Result<Option<Body>, Error> {
        wait(self.request.conn().link(), self.request.next())
    }

    /// See [`Request::send`].
    ///
    /// # Errors
    ///
    /// As there, and [`Error::WouldDeadlock`].
    pub fn send(&self, item: &[u8]) -> Result<(), Error> {
        wait(self.request.conn().link(), self.request.send(item))?
    }
}

/// Runs a future on this thread.
fn wait<F: Future>(link: &Link, future: F) -> Result<F::Output, Error> {
    link.hub().block_on(future)
}

/// A client whose calls block the thread; see [`crate::Client`].
#[derive(Clone, Debug)]
pub struct Client {
    client: crate::Client,
}

impl Client {
    pub(crate) fn new(client: crate::Client) -> Self {
        Client { client }
    }

    #[cfg(feature = "serde")]
    pub(crate) fn hub(&self) -> &std::sync::Arc<crate::hub::Hub> {
        self.client.hub()
    }

    /// See [`crate::Client::conn`].
    ///
    /// # Errors
    ///
    /// As there.
    pub fn conn(&self) -> Result<Conn, Error> {
        let conn = self.client.hub().block_on(self.client.conn())?;
        conn.map(Conn::new)
    }

    /// See [`crate::Client::send`].
    ///
    /// # Errors
    ///
    /// As there.
    pub fn send(&self, body: &[u8]) -> Result<(), Error> {
        self.client.hub().block_on(self.client.send(body))?
    }

    /// See [`crate::Client::send_timeout`].
    ///
    /// # Errors
    ///
    /// As there.
    pub fn send_timeout(&self, body: &[u8], limit: Duration) -> Result<(), Error> {
        let hub = self.client.hub();
        hub.block_on(self.client.send_timeout(body, limit))?
    }

    /// See [`crate::Client::send_no_wait`].
    ///
    /// # Errors
    ///
    /// As there.
    pub fn send_no_wait(&self, body: &[u8]) -> Result<(), Error> {
        self.client.send_no_wait(body)
    }

    /// See [`crate::Client::request`].
    ///
    /// # Errors
    ///
    /// As there.
    pub fn request(&self, body: &[u8]) -> Result<Body, Error> {
        self.request_with(body, CallOptions::default())
    }

    /// See [`crate::Client::request_with`].
    ///
    /// # Errors
    ///
    /// As there.
    pub fn request_with(&self, body: &[u8], options: CallOptions) -> Result<Body, Error> {
        let hub = self.client.hub();
        hub.block_on(self.client.request_with(body, options))?
    }

    /// See [`crate::Client::shutdown`].
    pub fn shutdown(&self, limit: Duration) -> bool {
        self.client.shutdown_blocking(limit)
    }
}
