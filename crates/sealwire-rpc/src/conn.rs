//! One connection, for both sides: calls and messages to the peer.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Poll, Waker};
use std::time::Duration;

use event_listener::{Event as Signal, listener};
use sealwire::{Frame, Peer};
use tracing::Span;

use crate::call::{Call, CallOptions, Outgoing};
use crate::counters::count;
use crate::handler::{OneWay, Request};
use crate::hub::{Hub, flushes_later, lock};
use crate::proto::{Body, Connection, Event, NotSent, ServedKey, Settings, Violation};
use crate::status::Error;
use crate::stream::CallStream;

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
    link: Arc<Link>,
}

pub(crate) struct Link {
    hub: Arc<Hub>,
    peer: Arc<Peer>,
    route: u32,
    core: Mutex<Core>,
    room: Signal,
    /// Open calls of this side.
    load: AtomicUsize,
    takes_calls: AtomicBool,
}

struct Core {
    proto: Connection,
    /// A thread hands messages to the socket; it will see what is queued meanwhile.
    flushing: bool,
    spare: VecDeque<Frame>,
    wakers: Vec<Waker>,
    /// Those who wait for room have a time limit; the earliest.
    room_limit: Option<Duration>,
}

impl Core {
    fn is_finished(&self) -> bool {
        self.proto.is_finished() && !self.flushing
    }
}

impl Link {
    pub(crate) fn new(hub: Arc<Hub>, peer: Arc<Peer>, settings: Settings) -> Arc<Self> {
        let proto = Connection::new(hub.options.side, hub.options.settings, settings);
        Arc::new(Link {
            route: peer.route(),
            peer,
            core: Mutex::new(Core {
                proto,
                flushing: false,
                spare: VecDeque::new(),
                wakers: Vec::new(),
                room_limit: None,
            }),
            hub,
            room: Signal::new(),
            load: AtomicUsize::new(0),
            takes_calls: AtomicBool::new(true),
        })
    }

    pub(crate) fn route(&self) -> u32 {
        self.route
    }

    pub(crate) fn peer(&self) -> &Arc<Peer> {
        &self.peer
    }

    pub(crate) fn hub(&self) -> &Arc<Hub> {
        &self.hub
    }

    pub(crate) fn load(&self) -> usize {
        self.load.load(Ordering::Relaxed)
    }

    pub(crate) fn takes_calls(&self) -> bool {
        self.takes_calls.load(Ordering::Relaxed)
    }

    /// Lets the protocol do something, then wakes whom that concerns.
    pub(crate) fn act<R>(&self, action: impl FnOnce(&mut Connection) -> R) -> R {
        self.act_and_keep(action).0
    }

    /// The same, and sends what there is to send then.
    pub(crate) fn with<R>(&self, action: impl FnOnce(&mut Connection) -> R) -> R {
        let (result, core) = self.act_and_keep(action);
        if !flushes_later(self) {
            self.flush_from(core);
        }
        result
    }

    /// Gives the lock as well, for what comes next. It is not held while others are told.
    fn act_and_keep<R>(
        &self,
        action: impl FnOnce(&mut Connection) -> R,
    ) -> (R, MutexGuard<'_, Core>) {
        let mut core = lock(&self.core);
        let result = action(&mut core.proto);
        self.load.store(core.proto.open_calls(), Ordering::Relaxed);
        self.takes_calls
            .store(core.proto.takes_calls(), Ordering::Relaxed);
        let room = core.proto.take_room();
        let at_its_end = core.is_finished();
        if room || at_its_end || core.proto.has_wakers() {
            let mut wakers = std::mem::take(&mut core.wakers);
            core.proto.take_wakers(&mut wakers);
            drop(core);
            wakers.drain(..).for_each(Waker::wake);
            if room {
                self.room.notify(usize::MAX);
            }
            if at_its_end {
                self.hub.changed.notify(usize::MAX);
            }
            core = lock(&self.core);
            core.wakers = wakers;
        }
        (result, core)
    }

    /// Hands what is queued to the socket, unless another thread is at it.
    pub(crate) fn flush(&self) {
        self.flush_from(lock(&self.core));
    }

    fn flush_from<'a>(&'a self, mut core: MutexGuard<'a, Core>) {
        if core.flushing || !core.proto.has_output() {
            return;
        }
        while !core.flushing && core.proto.has_output() {
            core.flushing = true;
            let mut frames = std::mem::take(&mut core.spare);
            core.proto.take_outbox(&mut frames);
            drop(core);
            let gone = self
                .hub
                .socket
                .try_send_many_to(self.route, &mut frames)
                .is_err();
            core = lock(&self.core);
            let full = !gone && !frames.is_empty();
            core.proto.put_back(&mut frames);
            if gone {
                // The socket will say so behind the last message of the peer.
                core.proto.drop_outbox();
            }
            core.spare = frames;
            core.flushing = false;
            let room = core.proto.take_room();
            if full {
                drop(core);
                return self.hub.wait_for_socket();
            }
            if room {
                drop(core);
                self.room.notify(usize::MAX);
                core = lock(&self.core);
            }
        }
        let at_its_end = core.is_finished();
        drop(core);
        if at_its_end {
            self.hub.changed.notify(usize::MAX);
        }
    }

    pub(crate) fn receive(self: &Arc<Self>, frame: Frame, now: Duration) -> Result<(), Violation> {
        match self.act(|proto| proto.receive(frame, now))? {
            Event::Nothing => {}
            Event::Request {
                key,
                body,
                due,
                streams,
            } => {
                count(&self.hub.counters.requests);
                let due = due.map(|due| self.hub.at(due));
                let conn = Conn::new(self.clone());
                let request = Request::new(conn, key, body, due, streams);
                self.hub.options.handler.request(request);
            }
            Event::OneWay(body) => {
                count(&self.hub.counters.messages_received);
                let message = OneWay::new(Conn::new(self.clone()), body);
                self.hub.options.handler.message(message);
            }
            Event::GoingAway => {
                self.hub.changed.notify(usize::MAX);
            }
        }
        Ok(())
    }

    /// Looks after time limits, and sends what there is to send. Gives when to look again.
    pub(crate) fn look_at_clock(&self, now: Duration) -> Option<Duration> {
        self.with(|proto| proto.handle_timeout(now));
        let mut core = lock(&self.core);
        let overdue = core.room_limit.take_if(|limit| *limit <= now).is_some();
        let next = core.proto.next_timeout();
        let next = next.into_iter().chain(core.room_limit).min();
        drop(core);
        if overdue {
            self.room.notify(usize::MAX);
        }
        next
    }

    pub(crate) fn is_finished(&self) -> bool {
        lock(&self.core).is_finished()
    }

    pub(crate) fn has_output(&self) -> bool {
        lock(&self.core).proto.has_output()
    }

    pub(crate) fn close(&self) {
        self.act(Connection::close);
        self.room.notify(usize::MAX);
    }

    /// Tries until it works, there will never be room, or time is up. Until when is asked only
    /// if it has to wait.
    async fn when_there_is_room<R>(
        &self,
        until: impl FnOnce() -> Duration,
        mut attempt: impl FnMut(&mut Connection) -> Result<R, NotSent>,
    ) -> Result<R, Error> {
        self.hub.check()?;
        match self.with(&mut attempt) {
            Err(NotSent::Full) => {}
            other => return other.map_err(Error::from),
        }
        let until = until();
        loop {
            self.hub.check()?;
            // On the stack: nothing is allocated.
            listener!(self.room => room);
            match self.with(&mut attempt) {
                Err(NotSent::Full) => {}
                other => return other.map_err(Error::from),
            }
            if self.hub.now() >= until {
                return Err(Error::Congested(self.hub.options.write_limit));
            }
            self.limit_wait(until);
            room.await;
        }
    }

    /// Has those who wait for room look again then.
    fn limit_wait(&self, until: Duration) {
        let mut core = lock(&self.core);
        core.room_limit = Some(core.room_limit.map_or(until, |limit| limit.min(until)));
        drop(core);
        self.hub.arm(until);
    }

    /// Told when there may be room.
    pub(crate) fn room(&self) -> &Signal {
        &self.room
    }

    fn room_until(&self) -> Duration {
        self.hub.now() + self.hub.options.write_limit
    }
}

impl From<NotSent> for Error {
    fn from(not_sent: NotSent) -> Self {
        match not_sent {
            NotSent::Full => Error::WouldBlock,
            NotSent::GoingAway => Error::ShuttingDown,
            NotSent::Closed => Error::ConnectionLost {
                may_have_run: false,
            },
            NotSent::TooLarge { size, limit } => Error::TooLarge { size, limit },
        }
    }
}

impl Conn {
    pub(crate) fn new(link: Arc<Link>) -> Self {
        Conn { link }
    }

    pub(crate) fn link(&self) -> &Arc<Link> {
        &self.link
    }

    /// Who is at the other end, as the handshake proved it.
    pub fn peer(&self) -> &Peer {
        &self.link.peer
    }

    /// Calls of this side that have no answer yet.
    pub fn calls_in_flight(&self) -> usize {
        self.link.load()
    }

    /// Entries of both tables of calls: without calls in flight in either direction there are none.
    pub fn entries(&self) -> usize {
        if !self.link.hub.is_here() {
            return 0;
        }
        lock(&self.link.core).proto.entries()
    }

    /// Whether calls can be made: the connection is there and neither side shuts down.
    pub fn is_open(&self) -> bool {
        self.link.takes_calls() && self.link.hub.is_here()
    }

    /// Ends the connection. What is under way on it ends with [`Error::ConnectionLost`], on both
    /// sides; a client opens another one when it needs one.
    pub fn close(&self) {
        // Gone already is as good.
        let socket = &self.link.hub.socket;
        let _ = socket.disconnect_route(self.link.route, "rpc: closed by the application");
    }

    /// Sends a message that nobody answers, waiting for room up to the write limit. It is handed
    /// to the connection when this returns; whether it arrives is not known.
    ///
    /// # Errors
    ///
    /// [`Error::Congested`], [`Error::ConnectionLost`], [`Error::ShuttingDown`],
    /// [`Error::TooLarge`].
    pub async fn send(&self, body: &[u8]) -> Result<(), Error> {
        let message = self.outgoing(body, CallOptions::default(), true)?;
        let until = || self.link.room_until();
        let sent = self
            .link
            .when_there_is_room(until, |proto| proto.one_way(&message.body));
        sent.await?;
        count(&self.link.hub.counters.messages_sent);
        Ok(())
    }

    /// Sends a message that nobody answers if there is room now.
    ///
    /// # Errors
    ///
    /// As [`send`](Conn::send), and [`Error::WouldBlock`].
    pub fn send_no_wait(&self, body: &[u8]) -> Result<(), Error> {
        let message = self.outgoing(body, CallOptions::default(), true)?;
        self.link.with(|proto| proto.one_way(&message.body))?;
        count(&self.link.hub.counters.messages_sent);
        Ok(())
    }

    /// Calls the peer and waits for its answer. When the future is dropped before, the call is
    /// cancelled, and the peer's handler can notice.
    ///
    /// # Errors
    ///
    /// Any [`Error`]; [`Error::may_have_run`] tells whether the peer may have acted.
    pub async fn request(&self, body: &[u8]) -> Result<Body, Error> {
        self.request_with(body, CallOptions::default()).await
    }

    /// The same with options.
    ///
    /// # Errors
    ///
    /// As [`request`](Conn::request).
    pub async fn request_with(&self, body: &[u8], options: CallOptions) -> Result<Body, Error> {
        let call = self.begin(body, options, false).await?;
        let outcome = call.await;
        if outcome.is_err() {
            count(&self.link.hub.counters.calls_failed);
        }
        outcome
    }

    /// Calls the peer with a stream of items in each direction.
    ///
    /// # Errors
    ///
    /// As [`request`](Conn::request).
    pub async fn open(&self, body: &[u8], options: CallOptions) -> Result<CallStream, Error> {
        let call = self.begin(body, options, true).await?;
        Ok(CallStream::new(call))
    }

    fn outgoing<'a>(
        &self,
        body: &'a [u8],
        options: CallOptions,
        is_one_way: bool,
    ) -> Result<Outgoing<'a>, Error> {
        self.link.hub.check()?;
        let interceptors = &self.link.hub.options.interceptors;
        Outgoing::passed(interceptors, body, options, is_one_way)
    }

    /// The span of a call: from here to its outcome.
    fn span(&self, bytes: usize) -> Span {
        tracing::debug_span!(
            target: "sealwire::rpc",
            "call",
            peer = %self.link.peer,
            bytes,
            outcome = tracing::field::Empty,
        )
    }

    async fn begin(&self, body: &[u8], options: CallOptions, streams: bool) -> Result<Call, Error> {
        let Outgoing { body, options, .. } = self.outgoing(body, options, false)?;
        let hub = &self.link.hub;
        count(&hub.counters.calls);
        let span = self.span(body.len());
        let now = hub.now();
        let due = hub.due(now, options);
        let room_until = now + hub.options.write_limit;
        let until = due.map_or(room_until, |due| due.min(room_until));
        let started = self
            .link
            .when_there_is_room(|| until, |proto| proto.call(&body, now, due, streams))
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

    /// Begins a call that can be waited for later, or cancelled by dropping it, without waiting
    /// for room.
    ///
    /// # Errors
    ///
    /// As [`request`](Conn::request), and [`Error::WouldBlock`].
    pub fn start(&self, body: &[u8], options: CallOptions) -> Result<Call, Error> {
        let Outgoing { body, options, .. } = self.outgoing(body, options, false)?;
        let hub = &self.link.hub;
        let now = hub.now();
        let due = hub.due(now, options);
        let key = self.link.with(|proto| proto.call(&body, now, due, false))?;
        count(&hub.counters.calls);
        hub.arm_for_call(due);
        Ok(Call::new(self.link.clone(), key, self.span(body.len())))
    }

    /// The same connection with calls that block the thread.
    pub fn blocking(&self) -> crate::blocking::Conn {
        crate::blocking::Conn::new(self.clone())
    }

    /// What a handler does about what it was given; `None` in a child of a fork.
    pub(crate) fn served<R>(&self, action: impl FnOnce(&mut Connection) -> R) -> Option<R> {
        let here = self.link.hub.is_here();
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
            .field("peer", &self.link.peer.to_string())
            .field("calls_in_flight", &self.calls_in_flight())
            .finish()
    }
}
