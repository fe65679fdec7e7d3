//! The socket: options are set once with a builder, everything else works on a shared handle.

pub mod blocking;
mod builder;
mod connecting;
#[cfg(unix)]
pub mod embed;
mod handle;
mod incoming;
mod limited;
mod receiving;
mod reconfiguring;
mod sending;

use std::sync::Arc;
use std::time::Duration;

use sealwire_zmtp::SocketType;

pub use builder::SocketBuilder;
pub use incoming::Incoming;

use self::handle::Handle;
use crate::context::Context;
use crate::core::{RegistrationKind, SocketCore};
use crate::endpoint::Endpoint;
use crate::error::{Error, Operation, Presence};
use crate::failure::ConnectionFailure;
use crate::metrics::SocketMetrics;
use crate::monitor::{Counters, Monitor};
use crate::peer::Peer;
#[cfg(unix)]
use crate::transport::Listener;
use crate::waiting::Listening;
#[cfg(unix)]
use crate::waiting::{Readiness, Ready};

/// An asynchronous ZeroMQ socket. Works with any executor and needs none of its own: a thread of
/// the [`Context`] does the I/O.
///
/// Cloning gives another handle to the same socket; handles can be used from several threads at
/// once. When the last handle is dropped the socket closes in the background, with what is queued
/// sent within the linger time as long as the process lives; [`close`](Socket::close) waits for
/// it.
///
/// For the same socket without futures see [`blocking::Socket`].
///
/// ```
/// # tokio::runtime::Runtime::new().unwrap().block_on(async {
/// use sealwire::{KeyPair, Generate as _, Security, Socket, SocketType, auth::AllowAnyone};
///
/// let keys = KeyPair::generate();
/// let server = Socket::builder(SocketType::Rep)
///     .security(Security::blake3_server(keys.clone(), AllowAnyone))
///     .build()?;
/// let endpoint = server.bind("tcp://127.0.0.1:0")?;
///
/// let client = Socket::builder(SocketType::Req)
///     .security(Security::blake3_client(keys.public()))
///     .build()?;
/// client.connect(endpoint)?;
///
/// client.send("ping").await?;
/// assert_eq!(server.recv().await?.as_bytes(), b"ping");
/// server.send("pong").await?;
/// assert_eq!(client.recv().await?.as_bytes(), b"pong");
/// # Ok::<(), sealwire::Error>(()) }).unwrap();
/// ```
#[derive(Clone)]
pub struct Socket {
    handle: Arc<Handle>,
}

impl Socket {
    /// Returns a socket with default options: no encryption, and a high-water mark of 1,000 messages per peer
    /// and direction.
    ///
    /// # Errors
    ///
    /// [`Error::System`] if the first context of the process cannot start its thread.
    pub fn new(socket_type: SocketType) -> Result<Self, Error> {
        Self::builder(socket_type).build()
    }

    /// Returns a builder, to set options before the socket is made.
    pub fn builder(socket_type: SocketType) -> SocketBuilder {
        SocketBuilder::new(socket_type)
    }

    pub(crate) fn open(
        context: Context,
        options: crate::options::SocketOptions,
    ) -> Result<Self, Error> {
        let handle = Arc::new(Handle::new(context, options)?);
        Ok(Socket { handle })
    }

    /// What everything is done with.
    ///
    /// # Errors
    ///
    /// [`Error::Forked`] in a child of the process that made the socket: locks may be held by
    /// threads that are not there, and sealing would repeat nonces of the parent's.
    #[inline]
    pub(crate) fn core(&self) -> Result<&Arc<SocketCore>, Error> {
        let core = &self.handle.core;
        if core.is_here() {
            Ok(core)
        } else {
            Err(Error::Forked)
        }
    }

    /// Returns the type that this socket was made with.
    pub fn socket_type(&self) -> SocketType {
        self.handle.core.socket_type()
    }

    /// The context it was made in.
    #[doc(hidden)]
    pub fn context(&self) -> &Context {
        self.handle.context()
    }

    /// Binds to an endpoint and returns it with the port that was chosen, if that was left open.
    /// May be called for several endpoints.
    ///
    /// # Errors
    ///
    /// * [`Error::Endpoint`] if the endpoint cannot be parsed or names a source.
    /// * [`Error::UnusableEndpoint`] if this socket cannot use it: its type does not have the transport, or
    ///   the endpoint leads off the machine and the socket has no [security](SocketBuilder::security).
    /// * [`Error::Bind`] if the system refuses, because the address is in use for example.
    /// * [`Error::Closed`] if another handle has closed the socket, [`Error::EngineFailed`] if its I/O thread
    ///   has ended.
    pub fn bind<E>(&self, endpoint: E) -> Result<Endpoint, Error>
    where
        E: TryInto<Endpoint>,
        E::Error: Into<Error>,
    {
        let endpoint = endpoint.try_into().map_err(Into::into)?;
        self.core()?;
        self.handle.bind(endpoint)
    }

    /// Binds to a listening socket that somebody else opened, and returns its endpoint: a `TcpListener` or
    /// `UnixListener` of the standard library, a descriptor, or one that a service manager
    /// [passed](Listener::passed). It is the socket's own from then on, also after an error: unbinding and closing
    /// close it. The file of a Unix socket stays, as this socket did not make it.
    ///
    /// Options of connections ([`tcp_keep_alive`](SocketBuilder::tcp_keep_alive),
    /// [`type_of_service`](SocketBuilder::type_of_service) and the like) count;
    /// [`backlog`](SocketBuilder::backlog), [`ipv6`](SocketBuilder::ipv6) and
    /// [`ipc_mode`](SocketBuilder::ipc_mode) were for who opened it. The descriptor is not passed to programs that
    /// this process starts (`FD_CLOEXEC`), and does not block (`O_NONBLOCK`, which all who share the socket see).
    ///
    /// # Errors
    ///
    /// * [`Error::Listener`] if the descriptor is not one of a listening TCP or Unix socket.
    /// * [`Error::UnusableEndpoint`] if this socket cannot use it: where the system says that it listens decides, as
    ///   in [`bind`](Socket::bind).
    /// * [`Error::Bind`] if the system refuses an option.
    /// * [`Error::Closed`] if another handle has closed the socket, [`Error::EngineFailed`] if its I/O thread
    ///   has ended.
    #[cfg(unix)]
    pub fn bind_listener(&self, listener: impl Into<Listener>) -> Result<Endpoint, Error> {
        self.core()?;
        self.handle.bind_listener(listener.into())
    }

    /// Stops listening on an endpoint, which is given as [`bind`](Socket::bind) returned it. Connections that
    /// came through it stay; [`unbind_and_disconnect`](Socket::unbind_and_disconnect) ends them. Those that the system has
    /// completed and that wait are accepted first, but for a listener that [was passed](Socket::bind_listener): its next
    /// owner has them.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownEndpoint`] if the socket is not bound to the endpoint, [`Error::Endpoint`] if it
    /// cannot be parsed.
    pub fn unbind<E>(&self, endpoint: E) -> Result<(), Error>
    where
        E: TryInto<Endpoint>,
        E::Error: Into<Error>,
    {
        let endpoint = endpoint.try_into().map_err(Into::into)?;
        self.core()?;
        self.handle.unbind(&endpoint)
    }

    /// Stops listening on an endpoint, which is given as [`bind`](Socket::bind) returned it, and leaves the peers
    /// that came through it, as [`disconnect`](Socket::disconnect) leaves a peer: from the moment that this
    /// returns no message goes to them and none is received from them, and what was queued for them still goes
    /// out, within the linger time. They find nobody when they connect again.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownEndpoint`] if the socket is not bound to the endpoint, [`Error::Endpoint`] if it
    /// cannot be parsed.
    pub fn unbind_and_disconnect<E>(&self, endpoint: E) -> Result<(), Error>
    where
        E: TryInto<Endpoint>,
        E::Error: Into<Error>,
    {
        let endpoint = endpoint.try_into().map_err(Into::into)?;
        self.core()?;
        self.handle.unbind_and_disconnect(&endpoint)
    }

    /// Leaves the peer at an endpoint, and does not connect there again. From the moment that this returns, no
    /// message goes to that peer and none is received from it. Messages that were queued for it still go out,
    /// within the linger time, and those that were received before stay to be read. Messages that wait for a
    /// first peer go to the next one. A REQ that awaits an answer from there gets [`Error::RequestLost`].
    ///
    /// # Errors
    ///
    /// [`Error::UnknownEndpoint`] if the socket is not connected to the endpoint, [`Error::Endpoint`] if it
    /// cannot be parsed.
    pub fn disconnect<E>(&self, endpoint: E) -> Result<(), Error>
    where
        E: TryInto<Endpoint>,
        E::Error: Into<Error>,
    {
        let endpoint = endpoint.try_into().map_err(Into::into)?;
        self.core()?;
        self.handle.disconnect(&endpoint)
    }

    /// Begins to leave in good order: the socket takes no new peers and endpoints, tells those that it has that
    /// it reads on to their end and no further, and goes on receiving what they have sent. When all of that has
    /// been received, `recv` fails with [`Error::Drained`], which says how many connections did not end within
    /// `limit`. [`incoming`](Socket::incoming) ends then. A second call changes nothing.
    ///
    /// A Sealwire peer stops at once: what is on its way arrives, and what waits in its queue goes to other
    /// peers or is counted there. libzmq drops what it has not given to the system. A message that finds no
    /// room here ([high-water mark](crate::SocketBuilder::receive_high_water_mark)) waits with its peer, so
    /// receive on.
    ///
    /// For PULL, GATHER, SUB and DISH: types that answer have to be told by their protocol.
    ///
    /// ```
    /// # tokio::runtime::Runtime::new().unwrap().block_on(async {
    /// # use sealwire::{Error, Message, Socket, SocketType};
    /// # use std::time::Duration;
    /// # let (push, pull) = (Socket::new(SocketType::Push)?, Socket::new(SocketType::Pull)?);
    /// # pull.connect(push.bind("tcp://127.0.0.1:0")?)?;
    /// # push.send("work").await?;
    /// # assert_eq!(pull.recv().await?.as_bytes(), b"work");
    /// pull.drain(Duration::from_secs(10))?;
    /// let mut incoming = pull.incoming();
    /// while let Some(message) = incoming.next().await {
    ///     println!("the last work: {:?}", message?);
    /// }
    /// assert!(matches!(pull.try_recv(), Err(Error::Drained { cut_off: 0 })));
    /// # Ok::<(), sealwire::Error>(()) }).unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for other types, [`Error::Closed`] if another handle has closed the socket,
    /// [`Error::EngineFailed`].
    pub fn drain(&self, limit: Duration) -> Result<(), Error> {
        self.core()?;
        self.handle.drain(limit)
    }

    /// Returns the endpoints that this socket is bound to. None in a child of a fork.
    pub fn bound_endpoints(&self) -> Vec<Endpoint> {
        let of_core = |core: &Arc<SocketCore>| core.endpoints(RegistrationKind::Bound);
        self.core().map(of_core).unwrap_or_default()
    }

    /// Returns the endpoints that this socket is connected to, or tries to connect to. None in a child of a
    /// fork.
    pub fn connected_endpoints(&self) -> Vec<Endpoint> {
        let of_core = |core: &Arc<SocketCore>| core.endpoints(RegistrationKind::Connected);
        self.core().map(of_core).unwrap_or_default()
    }

    /// Returns the peers for which this socket holds something, and brings their accounts ([`Peer::account`])
    /// up to date: connected peers, and those whose messages are still to be read.
    pub fn accounts(&self) -> Vec<Arc<Peer>> {
        self.core().map(|core| core.accounts()).unwrap_or_default()
    }

    /// Waits until at least `peers` peers are connected, their handshakes done. Returns at once where they
    /// are. A publisher waits for [subscribers](Socket::wait_subscribed) instead, since a subscription
    /// comes after the handshake.
    ///
    /// **Cancel-safe.**
    ///
    /// # Errors
    ///
    /// [`Error::Closed`] when another handle closes the socket meanwhile, [`Error::Drained`] when it
    /// [drains](Socket::drain) it, [`Error::EngineFailed`].
    pub async fn wait_connected(&self, peers: usize) -> Result<(), Error> {
        self.wait_for_peers(|core| core.connected(peers)).await
    }

    /// Waits until at least `peers` peers are connected, for up to `limit`.
    ///
    /// **Cancel-safe.**
    ///
    /// # Errors
    ///
    /// Those of [`wait_connected`](Socket::wait_connected), with [`Error::TimedOut`] after `limit`.
    pub async fn wait_connected_timeout(&self, peers: usize, limit: Duration) -> Result<(), Error> {
        self.within(limit, Operation::Connect, self.wait_connected(peers))
            .await
    }

    /// Waits on a PUB or XPUB socket until a message that begins with `topic` would go to at least `peers`
    /// peers. On a RADIO socket, `topic` is a group; members over `udp` do not announce themselves and do not
    /// count. With [`xpub_manual`](SocketBuilder::xpub_manual) only granted subscriptions count.
    ///
    /// **Cancel-safe.**
    ///
    /// ```
    /// # tokio::runtime::Runtime::new().unwrap().block_on(async {
    /// # use sealwire::{Socket, SocketType};
    /// # let (publisher, subscriber) = (Socket::new(SocketType::Pub)?, Socket::new(SocketType::Sub)?);
    /// subscriber.connect(publisher.bind("tcp://127.0.0.1:0")?)?;
    /// subscriber.subscribe("weather.")?;
    ///
    /// publisher.wait_subscribed("weather.", 1).await?;
    /// publisher.send("weather.today sunny").await?;
    /// assert_eq!(subscriber.recv().await?.as_bytes(), b"weather.today sunny");
    /// # Ok::<(), sealwire::Error>(()) }).unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for other types, [`Error::Closed`] when another handle closes the socket
    /// meanwhile, [`Error::EngineFailed`].
    pub async fn wait_subscribed(
        &self,
        topic: impl AsRef<[u8]>,
        peers: usize,
    ) -> Result<(), Error> {
        let topic = topic.as_ref();
        self.wait_for_peers(|core| core.subscribed(topic, peers))
            .await
    }

    /// Waits for subscribers as [`wait_subscribed`](Socket::wait_subscribed), for up to `limit`.
    ///
    /// **Cancel-safe.**
    ///
    /// # Errors
    ///
    /// Those of [`wait_subscribed`](Socket::wait_subscribed), with [`Error::TimedOut`] after `limit`.
    pub async fn wait_subscribed_timeout(
        &self,
        topic: impl AsRef<[u8]>,
        peers: usize,
        limit: Duration,
    ) -> Result<(), Error> {
        let subscribed = self.wait_subscribed(topic, peers);
        self.within(limit, Operation::AwaitSubscribers, subscribed)
            .await
    }

    async fn wait_for_peers(
        &self,
        attempt: impl Fn(&SocketCore) -> Result<Option<()>, Error>,
    ) -> Result<(), Error> {
        loop {
            let listener = Listening::to(&self.core()?.writable);
            if attempt(self.core()?)?.is_some() {
                return Ok(());
            }
            listener.await;
        }
    }

    /// Returns whether peers are connected or in their handshakes now, with their number.
    pub fn presence(&self) -> Presence {
        self.core().map_or(Presence::Nobody, |core| core.presence())
    }

    /// Returns the latest failed connection of this socket, unless another connection has succeeded since:
    /// the reason why no messages come. [`Error::TimedOut`] has it too; this is for time limits of an
    /// executor.
    pub fn last_failure(&self) -> Option<ConnectionFailure> {
        self.core().ok()?.hub.last_failure()
    }

    /// Returns the peers whose handshakes are done, and brings their accounts up to date.
    pub fn peers(&self) -> Vec<Arc<Peer>> {
        self.core().map(|core| core.peers()).unwrap_or_default()
    }

    /// Ends the connection of this [routing id](Peer::connection_routing_id) of a SERVER or PEER socket, and
    /// drops the messages queued for it. The monitors of both sides report the reason.
    ///
    /// # Errors
    ///
    /// [`Error::Unroutable`] if there is no such connection, [`Error::Unsupported`] for other socket types.
    pub fn disconnect_peer(&self, routing_id: u32, reason: &'static str) -> Result<(), Error> {
        self.core()?.disconnect_peer(routing_id, reason)
    }

    /// Returns a monitor, which reads the events of this socket's connections from now on.
    pub fn monitor(&self) -> Monitor {
        match self.core() {
            Ok(core) => core.hub.monitor(),
            Err(_) => Monitor::ended(),
        }
    }

    /// Returns a descriptor that becomes readable when this socket may have something to do, for `poll(2)`,
    /// `epoll(7)` or an event loop. [`Readiness`] says how to use it.
    ///
    /// From now on the thread of the context reads for this socket, also while a thread blocks in
    /// [`blocking::Socket::recv`].
    ///
    /// # Errors
    ///
    /// An [`io::Error`](std::io::Error) of the system if the process has no descriptors left; it takes one on
    /// Linux, two elsewhere. In a child of a fork an error that holds [`Error::Forked`].
    #[cfg(unix)]
    pub fn readiness(&self) -> std::io::Result<Readiness> {
        let core = self.core().map_err(std::io::Error::other)?;
        core.pollers.tell_each_arrival();
        core.readiness()
    }

    /// Returns the operations that would not wait now. To wait for them, use
    /// [`readiness`](Socket::readiness) or the futures. In a child of a fork it says [`closed`](Ready::closed).
    #[cfg(unix)]
    pub fn ready(&self) -> Ready {
        self.core().map_or(Ready::CLOSED, |core| core.check_ready())
    }

    /// Returns the numbers of messages, bytes and connections of this socket so far; zeros in a child of a fork.
    pub fn counters(&self) -> Counters {
        self.core().map(|core| core.counters()).unwrap_or_default()
    }

    /// Returns all numbers of this socket as of now, with those of its endpoints and peers. Takes the socket's lock for a
    /// time that grows with the number of peers.
    ///
    /// # Errors
    ///
    /// [`Error::Forked`] in a child of the process that made it.
    pub fn metrics(&self) -> Result<SocketMetrics, Error> {
        Ok(self.core()?.metrics())
    }

    /// Closes the socket for all its handles, and waits until the queued messages are sent, for up to the
    /// [linger time](SocketBuilder::linger).
    ///
    /// # Errors
    ///
    /// * [`Error::Unsent`] with the number of messages that the linger time was too short for.
    /// * [`Error::EngineFailed`] if the I/O thread of the context has ended.
    pub async fn close(self) -> Result<(), Error> {
        self.close_within(None).await
    }

    /// Closes the socket as [`close`](Socket::close) does, with this linger time in place of that of its options:
    /// zero closes at once. Where the socket is closing already, a shorter time takes the place of the longer one.
    /// Messages that the time is too short for are dropped, and counted as
    /// [`dropped_unsent`](Counters::dropped_unsent).
    ///
    /// ```
    /// # tokio::runtime::Runtime::new().unwrap().block_on(async {
    /// # use std::time::Duration;
    /// # use sealwire::{Error, Socket, SocketType};
    /// let push = Socket::new(SocketType::Push)?;
    /// push.connect("tcp://127.0.0.1:9")?; // nobody is there
    /// push.send("work").await?;
    ///
    /// assert!(matches!(push.close_with_linger(Duration::ZERO).await, Err(Error::Unsent(1))));
    /// # Ok::<(), sealwire::Error>(()) }).unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`close`](Socket::close).
    pub async fn close_with_linger(self, linger: Duration) -> Result<(), Error> {
        self.close_within(Some(linger)).await
    }

    async fn close_within(self, linger: Option<Duration>) -> Result<(), Error> {
        self.core()?;
        self.handle.close(linger);
        loop {
            let listener = Listening::to(&self.core()?.ended);
            if self.core()?.has_ended() {
                break;
            }
            listener.await;
        }
        self.closed()
    }

    fn closed(&self) -> Result<(), Error> {
        if self.core()?.has_failed() {
            return Err(Error::EngineFailed);
        }
        match self.core()?.unsent() {
            0 => Ok(()),
            unsent => Err(Error::Unsent(unsent)),
        }
    }
}

impl std::fmt::Debug for Socket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Socket")
            .field("socket_type", &self.socket_type())
            .field("bound", &self.bound_endpoints())
            .field("connected", &self.connected_endpoints())
            .finish()
    }
}
