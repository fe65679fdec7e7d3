//! The same calls for programs without an executor: they block the thread. A thread that waits for
//! an answer reads the connection itself when nobody else does.

use std::time::Duration;

use crate::call::Call;
use crate::handler::Request;
use crate::hub::HubLink;
use crate::outgoing::CallOptions;
use crate::proto::Body;
use crate::status::Error;

/// A connection whose calls block the thread, for programs without an executor. [`crate::Conn`] has the same
/// calls as futures.
///
/// A call that waits for a peer cannot run on the thread that reads the connection, which is where handlers
/// such as [`Inline`](crate::handler::Inline) run: it gives [`Error::WouldDeadlock`] there.
#[derive(Clone, Debug)]
pub struct Conn {
    conn: crate::Conn,
}

impl crate::Conn {
    /// Returns the same connection with calls that block the thread.
    pub fn blocking(&self) -> Conn {
        Conn { conn: self.clone() }
    }
}

impl Conn {
    /// Sends a message that nobody answers. Blocks while the connection has no room, for up to the [write
    /// limit](crate::Limits::write) (default 3 s). The message is handed to the connection when this returns;
    /// whether it arrives is not known.
    ///
    /// # Errors
    ///
    /// * [`Error::Congested`] if the peer makes no room within the write limit.
    /// * [`Error::TooLarge`] if the peer does not take a body of this size.
    /// * [`Error::ConnectionLost`] if the connection has ended, [`Error::ShuttingDown`] if one of both sides
    ///   is ending.
    /// * [`Error::Intercepted`] if an [interceptor](crate::ClientBuilder::intercept) does not let it out.
    /// * [`Error::WouldDeadlock`] if it would have to wait on the thread that reads the connection.
    pub fn send(&self, body: &[u8]) -> Result<(), Error> {
        self.send_with(body, CallOptions::default())
    }

    /// Sends a message that nobody answers as [`send`](Conn::send) does, with options. Their time limit is for
    /// the wait for room, beside the write limit.
    ///
    /// # Errors
    ///
    /// Those of [`send`](Conn::send).
    pub fn send_with(&self, body: &[u8], options: CallOptions<'_>) -> Result<(), Error> {
        match self.conn.send_no_wait_with(body, options) {
            Err(Error::WouldBlock) => {
                let hub = self.conn.link().hub();
                hub.block_on(self.conn.send_with(body, options))?
            }
            done => done,
        }
    }

    /// Sends a message that nobody answers if there is room now, without blocking.
    ///
    /// # Errors
    ///
    /// [`Error::WouldBlock`] if there is no room. Otherwise those of [`send`](Conn::send) but
    /// [`Error::Congested`] and [`Error::WouldDeadlock`].
    pub fn send_no_wait(&self, body: &[u8]) -> Result<(), Error> {
        self.conn.send_no_wait(body)
    }

    /// Calls the peer and blocks until its answer is there, for up to the [request
    /// limit](crate::Limits::request) (default 30 s).
    ///
    /// # Errors
    ///
    /// [`Error::may_have_run`] tells whether the peer may have acted.
    ///
    /// * [`Error::Remote`] if the peer answers with an error.
    /// * [`Error::DeadlineExceeded`] if no answer comes in time.
    /// * [`Error::ConnectionLost`] if the connection ends first, [`Error::ShuttingDown`] if one of both sides
    ///   is ending.
    /// * [`Error::Congested`] if the peer makes no room for the request within the write limit,
    ///   [`Error::TooLarge`] if it does not take a body of this size.
    /// * [`Error::Intercepted`] if an [interceptor](crate::ClientBuilder::intercept) does not let it out.
    /// * [`Error::WouldDeadlock`] on the thread that reads the connection.
    pub fn request(&self, body: &[u8]) -> Result<Body, Error> {
        self.request_with(body, CallOptions::default())
    }

    /// Calls the peer and blocks until its answer is there, for up to `limit`.
    ///
    /// # Errors
    ///
    /// Those of [`request`](Conn::request), with [`Error::DeadlineExceeded`] after `limit`.
    pub fn request_timeout(&self, body: &[u8], limit: Duration) -> Result<Body, Error> {
        self.request_with(body, CallOptions::within(limit))
    }

    /// Calls the peer as [`request`](Conn::request) does, with options.
    ///
    /// # Errors
    ///
    /// Those of [`request`](Conn::request).
    pub fn request_with(&self, body: &[u8], options: CallOptions<'_>) -> Result<Body, Error> {
        let hub = self.conn.link().hub();
        hub.block_on(self.conn.request_with(body, options))?
    }

    /// Opens a call with a stream of items in each direction. Blocks while the connection has no room for the
    /// request, for up to the [write limit](crate::Limits::write).
    ///
    /// # Errors
    ///
    /// * [`Error::Congested`] if the peer makes no room for the request within the write limit,
    ///   [`Error::DeadlineExceeded`] if the time limit of the call is over before.
    /// * [`Error::TooLarge`] if the peer does not take a body of this size.
    /// * [`Error::ConnectionLost`] if the connection has ended, [`Error::ShuttingDown`] if one of both sides
    ///   is ending.
    /// * [`Error::Intercepted`] if an [interceptor](crate::ClientBuilder::intercept) does not let it out.
    /// * [`Error::WouldDeadlock`] on the thread that reads the connection.
    pub fn open(&self, body: &[u8], options: CallOptions<'_>) -> Result<CallStream, Error> {
        let stream = wait(self.conn.link(), self.conn.open(body, options))??;
        Ok(CallStream { stream })
    }

    /// Starts a call without blocking. [`Call::wait`] blocks for its answer, and dropping the call cancels
    /// it.
    ///
    /// # Errors
    ///
    /// [`Error::WouldBlock`] if there is no room for the request now; [`Error::TooLarge`],
    /// [`Error::ConnectionLost`], [`Error::ShuttingDown`] and [`Error::Intercepted`] as for
    /// [`request`](Conn::request).
    pub fn start(&self, body: &[u8], options: CallOptions<'_>) -> Result<Call, Error> {
        self.conn.start(body, options)
    }
}

/// The caller's end of a call with streams, whose operations block the thread. Dropping it cancels the call.
pub struct CallStream {
    stream: crate::CallStream,
}

impl CallStream {
    /// Sends an item to the peer. Blocks until the peer wants one.
    ///
    /// # Errors
    ///
    /// * [`Error::StreamEnded`] if the call has ended, for the reason that [`answer`](CallStream::answer)
    ///   gives, or after [`finish`](CallStream::finish).
    /// * [`Error::TooLarge`] if the peer does not take an item of this size.
    /// * [`Error::WouldDeadlock`] on the thread that reads the connection.
    pub fn send(&self, item: &[u8]) -> Result<(), Error> {
        wait(self.stream.link(), self.stream.send(item))?
    }

    /// Sends an item to the peer. Blocks for up to `limit` until the peer wants one. The call goes on after an
    /// error.
    ///
    /// # Errors
    ///
    /// [`Error::Congested`] if the peer wants none within `limit`. Otherwise those of
    /// [`send`](CallStream::send).
    pub fn send_timeout(&self, item: &[u8], limit: Duration) -> Result<(), Error> {
        wait(self.stream.link(), self.stream.send_timeout(item, limit))?
    }

    /// Sends an item to the peer if it wants one now, without blocking.
    ///
    /// # Errors
    ///
    /// [`Error::WouldBlock`] if it does not. Otherwise those of [`send`](CallStream::send) but
    /// [`Error::WouldDeadlock`].
    pub fn send_no_wait(&self, item: &[u8]) -> Result<(), Error> {
        self.stream.send_no_wait(item)
    }

    /// Ends the items of this side. The peer may go on sending its own.
    pub fn finish(&self) {
        self.stream.finish();
    }

    /// Receives the next item of the peer. Blocks until there is one; `None` after the last, because the call
    /// has ended.
    ///
    /// # Errors
    ///
    /// [`Error::WouldDeadlock`] on the thread that reads the connection.
    pub fn next(&self) -> Result<Option<Body>, Error> {
        wait(self.stream.link(), self.stream.next())
    }

    /// Receives the next item of the peer. Blocks for up to `limit` until there is one; `None` after the last.
    ///
    /// # Errors
    ///
    /// * [`Error::TimedOut`] if none comes within `limit`: the call goes on.
    /// * [`Error::WouldDeadlock`] on the thread that reads the connection.
    pub fn next_timeout(&self, limit: Duration) -> Result<Option<Body>, Error> {
        wait(self.stream.link(), self.stream.next_timeout(limit))?
    }

    /// Receives the next item of the peer if it is here, without blocking; `None` after the last.
    ///
    /// # Errors
    ///
    /// [`Error::WouldBlock`] if it is not.
    pub fn next_no_wait(&self) -> Result<Option<Body>, Error> {
        self.stream.next_no_wait()
    }

    /// Blocks until the answer that ends the call is there, for up to the time limit of the call. Items that
    /// were not read are dropped.
    ///
    /// # Errors
    ///
    /// Those of [`request`](Conn::request).
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

impl Request {
    /// Returns the streams of the call, for handlers that may block the thread.
    pub fn blocking(&self) -> RequestStream<'_> {
        RequestStream { request: self }
    }
}

impl RequestStream<'_> {
    /// Receives the next item of the caller. Blocks until there is one; `None` if the caller sends no more.
    /// It has said so, or it is gone or has stopped waiting: then [`is_cancelled`](Request::is_cancelled) is
    /// true, and items may be missing.
    ///
    /// # Errors
    ///
    /// [`Error::WouldDeadlock`] on the thread that reads the connection.
    pub fn next(&self) -> Result<Option<Body>, Error> {
        wait(self.request.conn().link(), self.request.next())
    }

    /// Receives the next item of the caller. Blocks for up to `limit` until there is one; `None` as for
    /// [`next`](RequestStream::next). [`Request::next_no_wait`] does not block.
    ///
    /// # Errors
    ///
    /// * [`Error::TimedOut`] if none comes within `limit`: the call goes on.
    /// * [`Error::WouldDeadlock`] on the thread that reads the connection.
    pub fn next_timeout(&self, limit: Duration) -> Result<Option<Body>, Error> {
        wait(self.request.conn().link(), self.request.next_timeout(limit))?
    }

    /// Sends an item to the caller. Blocks until the caller wants one.
    ///
    /// # Errors
    ///
    /// * [`Error::StreamEnded`] if the caller has gone.
    /// * [`Error::TooLarge`] if the caller does not take an item of this size.
    /// * [`Error::WouldDeadlock`] on the thread that reads the connection.
    pub fn send(&self, item: &[u8]) -> Result<(), Error> {
        wait(self.request.conn().link(), self.request.send(item))?
    }

    /// Sends an item to the caller. Blocks for up to `limit` until the caller wants one.
    /// [`Request::send_no_wait`] does not block.
    ///
    /// # Errors
    ///
    /// [`Error::Congested`] if the caller wants none within `limit`. Otherwise those of
    /// [`send`](RequestStream::send).
    pub fn send_timeout(&self, item: &[u8], limit: Duration) -> Result<(), Error> {
        let sent = self.request.send_timeout(item, limit);
        wait(self.request.conn().link(), sent)?
    }
}

/// Runs a future on this thread.
fn wait<F: Future>(link: &HubLink, future: F) -> Result<F::Output, Error> {
    link.hub().block_on(future)
}

/// A client whose calls block the thread, for programs without an executor. [`crate::Client`] has the same
/// calls as futures.
#[derive(Clone, Debug)]
pub struct Client {
    client: crate::Client,
}

impl crate::Client {
    /// Returns the same client with calls that block the thread.
    pub fn blocking(&self) -> Client {
        Client {
            client: self.clone(),
        }
    }
}

impl Client {
    #[cfg(feature = "serde")]
    pub(crate) fn hub(&self) -> &std::sync::Arc<crate::hub::Hub> {
        self.client.hub()
    }

    /// Returns the least loaded connection. Blocks until one is made if there is none: for each attempt up to
    /// the [dial limit](crate::ClientBuilder::dial_limit) (default 3 s) and the [handshake
    /// limit](crate::ClientBuilder::handshake_limit) (default 3 s).
    ///
    /// # Errors
    ///
    /// * [`Error::Connect`] if all [attempts](crate::ClientBuilder::dial_attempts) fail, with the reason of
    ///   the last.
    /// * [`Error::ShuttingDown`] after [`shutdown`](Client::shutdown), [`Error::EngineFailed`] if a thread of
    ///   the client has ended by a fault.
    pub fn conn(&self) -> Result<Conn, Error> {
        let conn = self.client.hub().block_on(self.client.conn())?;
        Ok(Conn { conn: conn? })
    }

    /// Sends a message that nobody answers. Blocks until a connection is there, as [`conn`](Client::conn),
    /// and has room, for up to the [write limit](crate::Limits::write).
    ///
    /// # Errors
    ///
    /// Those of [`Conn::send`] and [`conn`](Client::conn), and [`Error::WouldDeadlock`] on a thread that
    /// reads connections.
    pub fn send(&self, body: &[u8]) -> Result<(), Error> {
        self.send_with(body, CallOptions::default())
    }

    /// Sends a message that nobody answers as [`send`](Client::send) does, with options. Their time limit is for
    /// connecting and for the wait for room together.
    ///
    /// # Errors
    ///
    /// Those of [`send`](Client::send); [`Error::DeadlineExceeded`] if no connection is there within the limit,
    /// [`Error::Congested`] if it has no room.
    pub fn send_with(&self, body: &[u8], options: CallOptions<'_>) -> Result<(), Error> {
        let hub = self.client.hub();
        hub.block_on(self.client.send_with(body, options))?
    }

    /// Sends a message that nobody answers. Blocks for up to `limit` until a connection is there and has
    /// room.
    ///
    /// # Errors
    ///
    /// Those of [`send`](Client::send); [`Error::DeadlineExceeded`] if no connection is there within `limit`,
    /// [`Error::Congested`] if it has no room.
    pub fn send_timeout(&self, body: &[u8], limit: Duration) -> Result<(), Error> {
        let hub = self.client.hub();
        hub.block_on(self.client.send_timeout(body, limit))?
    }

    /// Sends a message that nobody answers if a connection with room is there, without blocking.
    ///
    /// # Errors
    ///
    /// [`Error::WouldBlock`] if there is none, which also starts connecting. Otherwise those of
    /// [`Conn::send_no_wait`].
    pub fn send_no_wait(&self, body: &[u8]) -> Result<(), Error> {
        self.client.send_no_wait(body)
    }

    /// Calls the server and blocks until its answer is there, for up to the [request
    /// limit](crate::Limits::request) (default 30 s), connecting included. A request that the server says it
    /// has not started is made again, up to [`retries`](crate::ClientBuilder::retries) times.
    ///
    /// # Errors
    ///
    /// [`Error::may_have_run`] tells whether the server may have acted.
    ///
    /// * [`Error::Remote`] if the server answers with an error.
    /// * [`Error::DeadlineExceeded`] if no answer comes in time.
    /// * [`Error::Connect`] if there is no connection and all [attempts](crate::ClientBuilder::dial_attempts)
    ///   to make one fail.
    /// * [`Error::ConnectionLost`] if the connection ends first, [`Error::ShuttingDown`] after
    ///   [`shutdown`](Client::shutdown).
    /// * [`Error::Congested`] if the server makes no room for the request within the write limit,
    ///   [`Error::TooLarge`] if it does not take a body of this size.
    /// * [`Error::Intercepted`] if an [interceptor](crate::ClientBuilder::intercept) does not let it out.
    /// * [`Error::WouldDeadlock`] on a thread that reads connections.
    /// * [`Error::EngineFailed`] if a thread of the client has ended by a fault.
    pub fn request(&self, body: &[u8]) -> Result<Body, Error> {
        self.request_with(body, CallOptions::default())
    }

    /// Calls the server as [`request`](Client::request) does, with options. The time limit is for all
    /// attempts together, and for connecting.
    ///
    /// # Errors
    ///
    /// Those of [`request`](Client::request).
    pub fn request_with(&self, body: &[u8], options: CallOptions<'_>) -> Result<Body, Error> {
        let hub = self.client.hub();
        hub.block_on(self.client.request_with(body, options))?
    }

    /// Shuts the client down: it takes no new calls, blocks until those under way have ended, for up to
    /// `limit`, and closes the connections. Returns whether `limit` was enough; if not, the remaining calls
    /// ended with an error.
    pub fn shutdown(&self, limit: Duration) -> bool {
        self.client.shutdown_blocking(limit)
    }
}
