//! The same socket with calls that block, for programs without an async runtime.

mod incoming;
#[cfg(unix)]
mod running;
mod sending;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use sealwire_zmtp::SocketType;

pub use incoming::Incoming;
#[cfg(unix)]
pub use running::block_on;

use super::SocketBuilder;
use crate::endpoint::Endpoint;
use crate::error::{Error, Operation, Presence};
use crate::failure::ConnectionFailure;
use crate::message::Message;
use crate::monitor::{Counters, Monitor};
use crate::peer::Peer;
#[cfg(unix)]
use crate::waiting::Readiness;
use crate::waiting::{Unfinished, Until};

/// A ZeroMQ socket whose calls block the thread.
///
/// Cloning gives another handle to the same socket; handles can be used from several threads at
/// once. Dropping the last handle waits for unsent messages, up to the linger time (5 s unless
/// set otherwise), so that a program may send and return.
///
/// ```
/// use sealwire::{KeyPair, Generate as _, Security, SocketType, auth::AllowAnyone, blocking::Socket};
///
/// let keys = KeyPair::generate();
/// let pull = Socket::builder(SocketType::Pull)
///     .security(Security::blake3_server(keys.clone(), AllowAnyone))
///     .build_blocking()?;
/// let push = Socket::builder(SocketType::Push)
///     .security(Security::blake3_client(keys.public()))
///     .build_blocking()?;
/// push.connect(pull.bind("tcp://127.0.0.1:0")?)?;
///
/// push.send("work")?;
/// assert_eq!(pull.recv()?.as_bytes(), b"work");
/// # Ok::<(), sealwire::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Socket {
    inner: super::Socket,
}

impl From<super::Socket> for Socket {
    fn from(inner: super::Socket) -> Self {
        Socket { inner }
    }
}

impl From<Socket> for super::Socket {
    fn from(socket: Socket) -> Self {
        socket.inner.clone()
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // Other handles keep the socket open.
        if Arc::strong_count(&self.inner.handle) == 1 && self.inner.core().is_ok() {
            self.begin_close();
            // No caller is told of a signal here, so none ends it.
            let _ = self.wait_for_end(Until::default());
        }
    }
}

impl Socket {
    /// A socket with default options; see [`Socket::new`](crate::Socket::new).
    ///
    /// # Errors
    ///
    /// As [`Socket::new`](crate::Socket::new).
    pub fn new(socket_type: SocketType) -> Result<Self, Error> {
        Self::builder(socket_type).build_blocking()
    }

    /// Starts to set options.
    pub fn builder(socket_type: SocketType) -> SocketBuilder {
        SocketBuilder::new(socket_type)
    }

    /// See [`Socket::socket_type`](crate::Socket::socket_type).
    pub fn socket_type(&self) -> SocketType {
        self.inner.socket_type()
    }

    /// See [`Socket::bind`](crate::Socket::bind).
    ///
    /// # Errors
    ///
    /// As there.
    pub fn bind<E>(&self, endpoint: E) -> Result<Endpoint, Error>
    where
        E: TryInto<Endpoint>,
        E::Error: Into<Error>,
    {
        self.inner.bind(endpoint)
    }

    /// See [`Socket::connect`](crate::Socket::connect).
    ///
    /// # Errors
    ///
    /// As there.
    pub fn connect<E>(&self, endpoint: E) -> Result<(), Error>
    where
        E: TryInto<Endpoint>,
        E::Error: Into<Error>,
    {
        self.inner.connect(endpoint)
    }

    /// See [`Socket::connect_peer`](crate::Socket::connect_peer); waits for up to the send timeout.
    ///
    /// # Errors
    ///
    /// As there, and [`Error::TimedOut`]; the socket then goes on connecting.
    pub fn connect_peer<E>(&self, endpoint: E) -> Result<u32, Error>
    where
        E: TryInto<Endpoint>,
        E::Error: Into<Error>,
    {
        let endpoint = endpoint.try_into().map_err(Into::into)?;
        let connector = self.inner.start_connecting_to_peer(endpoint)?;
        let core = self.inner.core()?;
        let limit = core.options().send_timeout;
        let attempt = |_| core.routing_id_of_connector(connector);
        let routing_id = core.writable.wait(None, core.until(limit), attempt)?;
        routing_id.map_err(|why| core.unfinished(why, Operation::Connect, limit))
    }

    /// See [`Socket::unbind`](crate::Socket::unbind).
    ///
    /// # Errors
    ///
    /// As there.
    pub fn unbind<E>(&self, endpoint: E) -> Result<(), Error>
    where
        E: TryInto<Endpoint>,
        E::Error: Into<Error>,
    {
        self.inner.unbind(endpoint)
    }

    /// See [`Socket::disconnect`](crate::Socket::disconnect).
    ///
    /// # Errors
    ///
    /// As there.
    pub fn disconnect<E>(&self, endpoint: E) -> Result<(), Error>
    where
        E: TryInto<Endpoint>,
        E::Error: Into<Error>,
    {
        self.inner.disconnect(endpoint)
    }

    /// See [`Socket::bound_endpoints`](crate::Socket::bound_endpoints).
    pub fn bound_endpoints(&self) -> Vec<Endpoint> {
        self.inner.bound_endpoints()
    }

    /// See [`Socket::connected_endpoints`](crate::Socket::connected_endpoints).
    pub fn connected_endpoints(&self) -> Vec<Endpoint> {
        self.inner.connected_endpoints()
    }

    /// See [`Socket::accounts`](crate::Socket::accounts).
    pub fn accounts(&self) -> Vec<Arc<Peer>> {
        self.inner.accounts()
    }

    /// See [`Socket::wait_connected`](crate::Socket::wait_connected); waits for up to the send timeout.
    ///
    /// # Errors
    ///
    /// As there, [`Error::TimedOut`] and, where the socket is
    /// [interruptible](SocketBuilder::interruptible), [`Error::Interrupted`].
    pub fn wait_connected(&self, peers: usize) -> Result<(), Error> {
        let limit = self.inner.core()?.options().send_timeout;
        self.wait_connected_within(peers, limit)
    }

    /// As [`wait_connected`](Socket::wait_connected), waiting no longer than `limit`.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn wait_connected_timeout(&self, peers: usize, limit: Duration) -> Result<(), Error> {
        self.wait_connected_within(peers, Some(limit))
    }

    fn wait_connected_within(&self, peers: usize, limit: Option<Duration>) -> Result<(), Error> {
        let core = self.inner.core()?;
        self.wait_for_peers(Operation::Connect, limit, || core.connected(peers))
    }

    /// See [`Socket::wait_subscribed`](crate::Socket::wait_subscribed); waits for up to the send timeout.
    ///
    /// # Errors
    ///
    /// As there, [`Error::TimedOut`] and, where the socket is
    /// [interruptible](SocketBuilder::interruptible), [`Error::Interrupted`].
    pub fn wait_subscribed(&self, topic: impl AsRef<[u8]>, peers: usize) -> Result<(), Error> {
        let limit = self.inner.core()?.options().send_timeout;
        self.wait_subscribed_within(topic.as_ref(), peers, limit)
    }

    /// As [`wait_subscribed`](Socket::wait_subscribed), waiting no longer than `limit`.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn wait_subscribed_timeout(
        &self,
        topic: impl AsRef<[u8]>,
        peers: usize,
        limit: Duration,
    ) -> Result<(), Error> {
        self.wait_subscribed_within(topic.as_ref(), peers, Some(limit))
    }

    fn wait_subscribed_within(
        &self,
        topic: &[u8],
        peers: usize,
        limit: Option<Duration>,
    ) -> Result<(), Error> {
        let core = self.inner.core()?;
        let attempt = || core.subscribed(topic, peers);
        self.wait_for_peers(Operation::AwaitSubscribers, limit, attempt)
    }

    fn wait_for_peers(
        &self,
        operation: Operation,
        limit: Option<Duration>,
        attempt: impl Fn() -> Result<Option<()>, Error>,
    ) -> Result<(), Error> {
        let core = self.inner.core()?;
        let done = core.writable.wait(None, core.until(limit), |_| attempt())?;
        done.map_err(|why| core.unfinished(why, operation, limit))
    }

    /// See [`Socket::presence`](crate::Socket::presence).
    pub fn presence(&self) -> Presence {
        self.inner.presence()
    }

    /// See [`Socket::last_failure`](crate::Socket::last_failure).
    pub fn last_failure(&self) -> Option<ConnectionFailure> {
        self.inner.last_failure()
    }

    /// See [`Socket::peers`](crate::Socket::peers).
    pub fn peers(&self) -> Vec<Arc<Peer>> {
        self.inner.peers()
    }

    /// Receives a message, blocking until there is one, for up to the receive timeout.
    ///
    /// # Errors
    ///
    /// As [`Socket::recv`](crate::Socket::recv), and [`Error::TimedOut`].
    pub fn recv(&self) -> Result<Message, Error> {
        let core = self.inner.core()?;
        match core.next_of_sole_peer() {
            Some(message) => Ok(message),
            None => core.recv_within(core.options().receive_timeout),
        }
    }

    /// Receives a message, waiting no longer than `limit`.
    ///
    /// # Errors
    ///
    /// As [`recv`](Socket::recv).
    pub fn recv_timeout(&self, limit: Duration) -> Result<Message, Error> {
        self.inner.core()?.recv_within(Some(limit))
    }

    /// See [`Socket::try_recv`](crate::Socket::try_recv).
    ///
    /// # Errors
    ///
    /// As there.
    pub fn try_recv(&self) -> Result<Message, Error> {
        self.inner.try_recv()
    }

    /// The messages of this socket, one after the other: the cheapest way to receive them, since
    /// one lock takes up to 64 that are there, after the first. Each call of `next` waits for up to the receive
    /// timeout.
    ///
    /// Dropping the iterator returns undelivered messages to the front of the queue. They are
    /// in no queue meanwhile, so up to 64 messages may be there beside the high-water mark's. REQ and REP
    /// take one at a time, and so does everybody as long as others wait for messages of the same socket.
    ///
    /// ```
    /// # use sealwire::{SocketType, blocking::Socket};
    /// # let (pull, push) = (Socket::new(SocketType::Pull)?, Socket::new(SocketType::Push)?);
    /// # push.connect(pull.bind("tcp://127.0.0.1:0")?)?;
    /// # push.send("work")?;
    /// for message in pull.incoming() {
    ///     assert_eq!(message?.as_bytes(), b"work");
    /// #   break;
    /// }
    /// # Ok::<(), sealwire::Error>(())
    /// ```
    pub fn incoming(&self) -> Incoming<'_> {
        Incoming::new(self)
    }

    /// Waits for at least one message, then takes up to `limit` that are there, in one go, and
    /// puts them behind what `into` holds. Returns how many were taken.
    ///
    /// # Errors
    ///
    /// As [`recv`](Socket::recv).
    pub fn recv_many(&self, into: &mut Vec<Message>, limit: usize) -> Result<usize, Error> {
        let wait = self.inner.core()?.options().receive_timeout;
        self.recv_many_within(into, limit, wait)
    }

    /// As [`recv_many`](Socket::recv_many), waiting no longer than `wait`.
    ///
    /// # Errors
    ///
    /// As [`recv`](Socket::recv).
    pub fn recv_many_timeout(
        &self,
        into: &mut Vec<Message>,
        limit: usize,
        wait: Duration,
    ) -> Result<usize, Error> {
        self.recv_many_within(into, limit, Some(wait))
    }

    fn recv_many_within(
        &self,
        into: &mut Vec<Message>,
        limit: usize,
        wait: Option<Duration>,
    ) -> Result<usize, Error> {
        let core = self.inner.core()?;
        core.wait_readable(wait, || {
            let taken = core.try_receive_many(into, limit)?;
            Ok((taken > 0 || limit == 0).then_some(taken))
        })
    }

    /// See [`Socket::subscribe`](crate::Socket::subscribe).
    ///
    /// # Errors
    ///
    /// As there.
    pub fn subscribe(&self, topic: impl AsRef<[u8]>) -> Result<(), Error> {
        self.inner.subscribe(topic)
    }

    /// See [`Socket::unsubscribe`](crate::Socket::unsubscribe).
    ///
    /// # Errors
    ///
    /// As there.
    pub fn unsubscribe(&self, topic: impl AsRef<[u8]>) -> Result<(), Error> {
        self.inner.unsubscribe(topic)
    }

    /// See [`Socket::join`](crate::Socket::join).
    ///
    /// # Errors
    ///
    /// As there.
    pub fn join(&self, group: impl AsRef<[u8]>) -> Result<(), Error> {
        self.inner.join(group)
    }

    /// See [`Socket::leave`](crate::Socket::leave).
    ///
    /// # Errors
    ///
    /// As there.
    pub fn leave(&self, group: impl AsRef<[u8]>) -> Result<(), Error> {
        self.inner.leave(group)
    }

    /// See [`Socket::monitor`](crate::Socket::monitor).
    pub fn monitor(&self) -> Monitor {
        self.inner.monitor()
    }

    /// See [`Socket::readiness`](crate::Socket::readiness).
    ///
    /// # Errors
    ///
    /// As there.
    #[cfg(unix)]
    pub fn readiness(&self) -> std::io::Result<Readiness> {
        self.inner.readiness()
    }

    /// See [`Socket::counters`](crate::Socket::counters).
    pub fn counters(&self) -> Counters {
        self.inner.counters()
    }

    /// Closes the socket for all its handles and waits until what is queued has been sent, but no
    /// longer than the linger time.
    ///
    /// # Errors
    ///
    /// [`Error::Unsent`] when the linger time was not enough. [`Error::Interrupted`] where the socket is
    /// [interruptible](SocketBuilder::interruptible); it then goes on closing without being waited for, and
    /// `close` of another handle waits again.
    pub fn close(self) -> Result<(), Error> {
        let core = self.inner.core()?;
        self.begin_close();
        if let Err(error) = self.wait_for_end(core.until(None)) {
            // As long as there is another handle the end of this one waits for nothing.
            let _other = self.inner.clone();
            drop(self);
            return Err(error);
        }
        self.inner.closed()
    }

    /// Begins to close the socket for all its handles.
    pub(crate) fn begin_close(&self) {
        if self.inner.core().is_ok() {
            self.inner.handle.close();
        }
    }

    /// Counts messages that were to be sent and were not taken.
    pub(crate) fn count_dropped_at_send(&self, messages: usize) {
        if let Ok(core) = self.inner.core() {
            crate::monitor::add(&core.counters.dropped_at_send, messages);
        }
    }

    /// Lets the callers that wait check their conditions again.
    pub(crate) fn wake(&self) {
        if let Ok(core) = self.inner.core() {
            core.notify_readable(usize::MAX);
            core.notify_writable();
        }
    }

    /// Blocks while the condition holds, which is looked at on each [`wake`](Socket::wake), or
    /// until another handle closes the socket.
    pub(crate) fn wait_while(&self, condition: impl Fn() -> bool) -> Result<(), Error> {
        let core = self.inner.core()?;
        core.wait_for_signal(|| match core.closed() {
            Some(closed) => Err(closed),
            None => Ok((!condition()).then_some(())),
        })
    }

    /// As [`recv_many`](Socket::recv_many), but takes messages only while `may_read` says
    /// `Some(true)`, and gives `false` once it says `None`.
    pub(crate) fn recv_many_while(
        &self,
        into: &mut Vec<Message>,
        limit: usize,
        may_read: impl Fn() -> Option<bool>,
    ) -> Result<bool, Error> {
        let core = self.inner.core()?;
        core.wait_for_signal(|| match may_read() {
            None => Ok(Some(false)),
            Some(false) => core.closed().map_or(Ok(None), Err),
            Some(true) => {
                let taken = core.try_receive_many(into, limit)?;
                Ok((taken > 0).then_some(true))
            }
        })
    }

    fn wait_for_end(&self, until: Until<'_>) -> Result<(), Error> {
        let Ok(core) = self.inner.core() else {
            return Ok(());
        };
        let ended = |_| Ok::<_, Infallible>(core.has_ended().then_some(()));
        let Ok(waited) = core.ended.wait(None, until, ended);
        match waited {
            // Where a payload holds the socket an I/O thread comes here, which does not wait for itself.
            Ok(()) | Err(Unfinished::TimedOut) => Ok(()),
            #[cfg(unix)]
            Err(Unfinished::Interrupted) => Err(Error::Interrupted),
            #[cfg(unix)]
            Err(Unfinished::Refused(error)) => Err(Error::System(error)),
        }
    }
}
