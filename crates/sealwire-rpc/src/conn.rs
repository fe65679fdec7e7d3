//! One connection, for both sides: calls and messages to the peer.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use sealwire::Peer;
use sealwire::account::Side;

use crate::call::Call;
use crate::counters::count;
use crate::guard::Traced;
use crate::hub::HubLink;
use crate::limits::bounded;
use crate::outgoing::{CallOptions, Outgoing};
use crate::proto::{Body, Protocol, ServedKey};
use crate::status::Error;
use crate::stream::CallStream;
use crate::trace;

/// What happened to a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConnState {
    /// It is ready for calls.
    New,
    /// It is gone.
    Closed,
}

/// A connection to a peer, of a [`Client`](crate::Client) or a [`Server`](crate::Server): both can
/// call each other. Clones are handles to the same connection.
#[derive(Clone)]
pub struct Conn {
    link: Arc<HubLink>,
}

impl Conn {
    pub(crate) fn new(link: Arc<HubLink>) -> Self {
        Conn { link }
    }

    pub(crate) fn link(&self) -> &Arc<HubLink> {
        &self.link
    }

    /// Returns the peer at the other end, as the handshake proved it.
    pub fn peer(&self) -> &Peer {
        self.link.peer()
    }

    /// Returns the number of calls of this side that have no answer yet.
    pub fn calls_in_flight(&self) -> usize {
        self.link.load()
    }

    /// Returns the number of entries in both tables of calls: 0 without calls in flight in either direction.
    pub fn entries(&self) -> usize {
        if !self.link.hub().is_here() {
            return 0;
        }
        self.link.entries()
    }

    /// Returns the bytes of messages to the peer that are not written yet, of calls, answers and messages alike;
    /// [`account`](Peer::account) has them by kind. 0 in a child of the process that made the connection.
    pub fn pending_bytes(&self) -> usize {
        if !self.link.hub().is_here() {
            return 0;
        }
        self.peer().account().total(Side::Outbound)
    }

    /// Returns whether calls can be made: the connection stands and neither side shuts down.
    pub fn is_open(&self) -> bool {
        self.link.takes_calls() && self.link.hub().is_here()
    }

    /// Ends the connection. Calls under way on it end with [`Error::ConnectionLost`], on both sides; a client
    /// opens another one when it needs one.
    pub fn close(&self) {
        // Gone already is as good.
        let socket = &self.link.hub().socket;
        let _ = socket.disconnect_peer(self.link.routing_id(), "rpc: closed by the application");
    }

    /// Returns whether the peer has said that it read everything sent to it, as it does when this
    /// side shuts down.
    pub fn has_read_all(&self) -> bool {
        self.link.has_farewell()
    }

    /// Sends a message that nobody answers, waiting for room up to the [write limit](crate::Limits::write).
    /// It is handed to the connection when this returns; whether it arrives is not known.
    ///
    /// # Errors
    ///
    /// * [`Error::Congested`] if the peer makes no room within the write limit.
    /// * [`Error::TooLarge`] if the peer does not take a body of this size.
    /// * [`Error::ConnectionLost`] if the connection has ended, [`Error::ShuttingDown`] if one of both sides
    ///   is ending.
    /// * [`Error::Intercepted`] if an [interceptor](crate::ClientBuilder::intercept) does not let it out.
    /// * [`Error::Forked`] in a child of the process that made the connection.
    pub async fn send(&self, body: &[u8]) -> Result<(), Error> {
        self.send_with(body, CallOptions::default()).await
    }

    /// Sends a message that nobody answers as [`send`](Conn::send) does, with options. Their time limit is for
    /// the wait for room, beside the write limit.
    ///
    /// # Errors
    ///
    /// Those of [`send`](Conn::send).
    pub async fn send_with(&self, body: &[u8], options: CallOptions<'_>) -> Result<(), Error> {
        let due = options
            .limit
            .map(|limit| self.link.hub().now() + bounded(limit));
        self.send_by(body, options, due).await
    }

    /// The same, waiting no longer than that either.
    pub(crate) async fn send_by(
        &self,
        body: &[u8],
        options: CallOptions<'_>,
        due: Option<Duration>,
    ) -> Result<(), Error> {
        let message = self.outgoing(body, options, true)?;
        let until = || due.unwrap_or(Duration::MAX).min(self.link.room_until());
        let sent = self
            .link
            .when_there_is_room(until, |proto| proto.one_way(message.content()));
        sent.await.map_err(|error| match (error, options.limit) {
            (Error::Congested(_), Some(limit)) if due <= Some(self.link.hub().now()) => {
                Error::Congested(limit)
            }
            (error, _) => error,
        })?;
        count(&self.link.hub().counters.messages_sent);
        Ok(())
    }

    /// Sends a message that nobody answers if there is room now.
    ///
    /// # Errors
    ///
    /// [`Error::WouldBlock`] if there is no room. Otherwise those of [`send`](Conn::send) but
    /// [`Error::Congested`].
    pub fn send_no_wait(&self, body: &[u8]) -> Result<(), Error> {
        self.send_no_wait_with(body, CallOptions::default())
    }

    /// Sends a message that nobody answers if there is room now, with options, of which the time limit means
    /// nothing here.
    ///
    /// # Errors
    ///
    /// Those of [`send_no_wait`](Conn::send_no_wait).
    pub fn send_no_wait_with(&self, body: &[u8], options: CallOptions<'_>) -> Result<(), Error> {
        let message = self.outgoing(body, options, true)?;
        self.link.with(|proto| proto.one_way(message.content()))?;
        count(&self.link.hub().counters.messages_sent);
        Ok(())
    }

    /// Calls the peer and waits for its answer, up to the [request limit](crate::Limits::request) (default 30
    /// s). Dropping the future cancels the call, which the peer's handler can notice.
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
    /// * [`Error::Forked`] in a child of the process that made the connection.
    pub async fn request(&self, body: &[u8]) -> Result<Body, Error> {
        self.request_with(body, CallOptions::default()).await
    }

    /// Calls the peer as [`request`](Conn::request) does, with options.
    ///
    /// # Errors
    ///
    /// Those of [`request`](Conn::request).
    pub async fn request_with(&self, body: &[u8], options: CallOptions<'_>) -> Result<Body, Error> {
        let call = self.begin(body, options, false).await?;
        let outcome = call.await;
        if outcome.is_err() {
            count(&self.link.hub().counters.calls_failed);
        }
        outcome
    }

    /// Opens a call with a stream of items in each direction; waits until there is room for the request, up
    /// to the [write limit](crate::Limits::write).
    ///
    /// # Errors
    ///
    /// Those of [`request`](Conn::request); [`Error::Remote`] comes as the answer of the stream instead.
    pub async fn open(&self, body: &[u8], options: CallOptions<'_>) -> Result<CallStream, Error> {
        let call = self.begin(body, options, true).await?;
        Ok(CallStream::new(call))
    }

    fn outgoing<'a>(
        &self,
        body: &'a [u8],
        options: CallOptions<'a>,
        is_one_way: bool,
    ) -> Result<Outgoing<'a>, Error> {
        let hub = self.link.hub();
        hub.check()?;
        hub.let_out(Outgoing::new(body, options, is_one_way))
    }

    /// The span of a call: from here to its outcome.
    fn span(&self, call: &Outgoing<'_>) -> Traced {
        Traced::new(|| {
            tracing::debug_span!(
                target: "sealwire::rpc",
                "call",
                peer = %self.link.peer(),
                bytes = call.body.len(),
                trace_id = trace::id_of(&call.metadata),
                outcome = tracing::field::Empty,
            )
        })
    }

    async fn begin(
        &self,
        body: &[u8],
        options: CallOptions<'_>,
        streams: bool,
    ) -> Result<Call, Error> {
        let call = self.outgoing(body, options, false)?;
        let hub = self.link.hub();
        count(&hub.counters.calls);
        let span = self.span(&call);
        let now = hub.now();
        let due = hub.due(now, call.limit);
        let room_until = now + hub.options.link.write_limit;
        let until = due.map_or(room_until, |due| due.min(room_until));
        let started = self
            .link
            .when_there_is_room(
                || until,
                |proto| proto.call(call.content(), now, due, streams),
            )
            .await;
        let key = started.map_err(|error| match error {
            Error::Congested(_) if Some(until) == due => Error::DeadlineExceeded {
                may_have_run: false,
            },
            error => error,
        })?;
        hub.arm_for_call(due);
        Ok(Call::new(self.link.clone(), key, span))
    }

    /// Starts a call that can be waited for later, or cancelled by dropping it, without waiting for room.
    ///
    /// # Errors
    ///
    /// [`Error::WouldBlock`] if there is no room for the request now; [`Error::TooLarge`],
    /// [`Error::ConnectionLost`], [`Error::ShuttingDown`], [`Error::Intercepted`] and [`Error::Forked`] as
    /// for [`request`](Conn::request).
    pub fn start(&self, body: &[u8], options: CallOptions<'_>) -> Result<Call, Error> {
        let call = self.outgoing(body, options, false)?;
        let hub = self.link.hub();
        let now = hub.now();
        let due = hub.due(now, call.limit);
        let started = |proto: &mut Protocol| proto.call(call.content(), now, due, false);
        let key = self.link.with(started)?;
        count(&hub.counters.calls);
        hub.arm_for_call(due);
        Ok(Call::new(self.link.clone(), key, self.span(&call)))
    }

    /// What a handler does about what it was given; `None` in a child of a fork.
    pub(crate) fn served<R>(&self, action: impl FnOnce(&mut Protocol) -> R) -> Option<R> {
        let here = self.link.hub().is_here();
        here.then(|| self.link.with(action))
    }

    pub(crate) async fn cancelled(&self, key: ServedKey) {
        poll_fn(|context| {
            let polled = self.served(|proto| proto.poll_cancelled(key, context.waker()));
            polled.unwrap_or(Poll::Ready(()))
        })
        .await;
    }
}

impl std::fmt::Debug for Conn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Conn")
            .field("peer", &self.link.peer().to_string())
            .field("calls_in_flight", &self.calls_in_flight())
            .finish()
    }
}
