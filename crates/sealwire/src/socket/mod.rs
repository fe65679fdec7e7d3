//! The socket: options are set once with a builder, everything else works on a shared handle.

pub mod blocking;
mod builder;
mod handle;
mod incoming;
mod sending;

use std::sync::Arc;

use sealwire_zmtp::SocketType;

pub use builder::SocketBuilder;
pub use incoming::Incoming;

use self::handle::Handle;
use crate::context::Context;
use crate::core::{RegistrationKind, SocketCore};
use crate::endpoint::{Endpoint, EndpointError};
use crate::error::{Error, Operation, Presence};
use crate::failure::ConnectionFailure;
use crate::message::Message;
use crate::monitor::{Counters, Monitor};
use crate::peer::Peer;
use crate::waiting::Listening;
#[cfg(unix)]
use crate::waiting::Readiness;

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
    /// A socket with default options: no encryption, 1,000 messages of queue per peer and
    /// direction.
    ///
    /// # Errors
    ///
    /// [`Error::System`] when the first context cannot start its thread.
    pub fn new(socket_type: SocketType) -> Result<Self, Error> {
        Self::builder(socket_type).build()
    }

    /// Starts to set options.
    pub fn builder(socket_type: SocketType) -> SocketBuilder {
        SocketBuilder::new(socket_type)
    }

    pub(crate) fn open(context: Context, options: crate::options::SocketOptions) -> Self {
        Socket {
            handle: Arc::new(Handle::new(context, options)),
        }
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

    /// The type this socket was made with.
    pub fn socket_type(&self) -> SocketType {
        self.handle.core.options().socket_type
    }

    /// Binds to an endpoint and returns it with the port that was chosen, if that was left open.
    /// May be called for several endpoints.
    ///
    /// # Errors
    ///
    /// [`Error::Endpoint`], [`Error::Bind`], [`Error::Closed`].
    pub fn bind<E>(&self, endpoint: E) -> Result<Endpoint, Error>
    where
        E: TryInto<Endpoint>,
        E::Error: Into<Error>,
    {
        let endpoint = endpoint.try_into().map_err(Into::into)?;
        self.core()?;
        self.handle.bind(endpoint)
    }

    /// Connects to an endpoint, now and whenever the connection is lost, until
    /// [`disconnect`](Socket::disconnect). Returns at once; nobody needs to be there yet. May be
    /// called for several endpoints. What happens is told by the [`monitor`](Socket::monitor).
    ///
    /// # Errors
    ///
    /// [`Error::Endpoint`], [`Error::Closed`]; over `udp`, where a name is resolved here and now,
    /// [`Error::Connect`].
    pub fn connect<E>(&self, endpoint: E) -> Result<(), Error>
    where
        E: TryInto<Endpoint>,
        E::Error: Into<Error>,
    {
        let endpoint = endpoint.try_into().map_err(Into::into)?;
        self.start_connecting(endpoint).map(|_| ())
    }

    /// Gives the number of the `connect`.
    fn start_connecting(&self, endpoint: Endpoint) -> Result<u64, Error> {
        if endpoint.is_wildcard() {
            return Err(EndpointError::Wildcard(endpoint.to_string()).into());
        }
        self.core()?;
        self.handle.connect(endpoint)
    }

    /// SERVER, PEER: connects to an endpoint, waits until the handshake is done, and gives the
    /// [routing id](Peer::connection_routing_id) of the connection, to be the first to send
    /// ([`Message::with_routing_id`]). libzmq's `zmq_connect_peer`.
    ///
    /// A connection that is made again later has another number, which comes with what the peer
    /// sends.
    ///
    /// **Cancel-safe:** when the future is dropped the socket goes on connecting, as after
    /// [`connect`](Socket::connect).
    ///
    /// # Errors
    ///
    /// As [`connect`](Socket::connect); [`Error::Unsupported`] for other types, and
    /// [`Error::GaveUp`] when the endpoint is disconnected before.
    pub async fn connect_peer<E>(&self, endpoint: E) -> Result<u32, Error>
    where
        E: TryInto<Endpoint>,
        E::Error: Into<Error>,
    {
        let endpoint = endpoint.try_into().map_err(Into::into)?;
        let connector = self.start_connecting_to_peer(endpoint)?;
        loop {
            let listener = Listening::to(&self.core()?.writable);
            if let Some(routing_id) = self.core()?.routing_id_of_connector(connector)? {
                return Ok(routing_id);
            }
            listener.await;
        }
    }

    fn start_connecting_to_peer(&self, endpoint: Endpoint) -> Result<u64, Error> {
        match self.socket_type() {
            SocketType::Server | SocketType::Peer => self.start_connecting(endpoint),
            _ => Err(Error::Unsupported(Operation::RoutingId)),
        }
    }

    /// Stops listening on an endpoint, as [`bind`](Socket::bind) returned it. Connections that
    /// came through it stay.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownEndpoint`], [`Error::Endpoint`].
    pub fn unbind<E>(&self, endpoint: E) -> Result<(), Error>
    where
        E: TryInto<Endpoint>,
        E::Error: Into<Error>,
    {
        let endpoint = endpoint.try_into().map_err(Into::into)?;
        self.core()?;
        self.handle.unbind(&endpoint)
    }

    /// Ends the connection to an endpoint, once what is queued for it has been sent, and does not
    /// connect again.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownEndpoint`], [`Error::Endpoint`].
    pub fn disconnect<E>(&self, endpoint: E) -> Result<(), Error>
    where
        E: TryInto<Endpoint>,
        E::Error: Into<Error>,
    {
        let endpoint = endpoint.try_into().map_err(Into::into)?;
        self.core()?;
        self.handle.disconnect(&endpoint)
    }

    /// Endpoints this socket is bound to. None in a child of a fork.
    pub fn bound_endpoints(&self) -> Vec<Endpoint> {
        let of_core = |core: &Arc<SocketCore>| core.endpoints(RegistrationKind::Bound);
        self.core().map(of_core).unwrap_or_default()
    }

    /// Endpoints this socket is, or is trying to be, connected to.
    pub fn connected_endpoints(&self) -> Vec<Endpoint> {
        let of_core = |core: &Arc<SocketCore>| core.endpoints(RegistrationKind::Connected);
        self.core().map(of_core).unwrap_or_default()
    }

    /// Peers that this socket holds something for, their accounts ([`Peer::account`]) brought up to
    /// date: those that are connected, and those that have left messages to be read.
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
    /// [`Error::Closed`] when another handle closes the socket meanwhile, [`Error::EngineFailed`].
    pub async fn wait_connected(&self, peers: usize) -> Result<(), Error> {
        self.wait_for_peers(|core| core.connected(peers)).await
    }

    /// PUB, XPUB: waits until a message that begins with `topic` would go to at least `peers` peers. RADIO: the same
    /// for messages to the group `topic`; members over `udp` tell nobody and do not count. With
    /// [`xpub_manual`](SocketBuilder::xpub_manual) what was granted counts.
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

    /// Which peers are there now.
    pub fn presence(&self) -> Presence {
        self.core().map_or(Presence::Nobody, |core| core.presence())
    }

    /// The latest failed connection of this socket that has not been made good by another since: why
    /// nothing comes. [`Error::TimedOut`] has it too; this is for time limits of an executor.
    pub fn last_failure(&self) -> Option<ConnectionFailure> {
        self.core().ok()?.hub.last_failure()
    }

    /// Peers whose handshake is complete. Brings their accounts up to date.
    pub fn peers(&self) -> Vec<Arc<Peer>> {
        self.core().map(|core| core.peers()).unwrap_or_default()
    }

    /// SERVER, PEER: ends the connection of this [routing id](Peer::connection_routing_id), with what is queued for it
    /// dropped. The reason is for the monitors of both sides.
    ///
    /// # Errors
    ///
    /// [`Error::Unroutable`] when there is no such connection, [`Error::Unsupported`] for other
    /// types.
    pub fn disconnect_peer(&self, routing_id: u32, reason: &'static str) -> Result<(), Error> {
        self.core()?.disconnect_peer(routing_id, reason)
    }

    /// Receives a message, waiting for one.
    ///
    /// **Cancel-safe:** when the future is dropped before it is ready no message was taken.
    ///
    /// # Errors
    ///
    /// [`Error::State`], [`Error::Unsupported`], [`Error::RequestLost`], [`Error::Closed`].
    pub async fn recv(&self) -> Result<Message, Error> {
        loop {
            if let Some(message) = self.core()?.try_receive()? {
                return Ok(message);
            }
            let listener = self.core()?.share_readable();
            if let Some(message) = self.core()?.try_receive()? {
                return Ok(message);
            }
            listener.await;
        }
    }

    /// Waits for at least one message, then takes up to `limit` that are there, in one go, and
    /// puts them behind what `into` holds. Returns how many were taken.
    ///
    /// **Cancel-safe** like [`recv`](Socket::recv).
    ///
    /// # Errors
    ///
    /// As [`recv`](Socket::recv).
    pub async fn recv_many(&self, into: &mut Vec<Message>, limit: usize) -> Result<usize, Error> {
        loop {
            let taken = self.core()?.try_receive_many(into, limit)?;
            if taken > 0 || limit == 0 {
                return Ok(taken);
            }
            let listener = self.core()?.share_readable();
            let taken = self.core()?.try_receive_many(into, limit)?;
            if taken > 0 {
                return Ok(taken);
            }
            listener.await;
        }
    }

    /// The messages of this socket, one after the other, as a stream: the cheapest way to receive
    /// them, since one lock takes up to 64 that are there, after the first.
    ///
    /// Dropping the stream returns undelivered messages to the front of the queue. They are
    /// in no queue meanwhile, so up to 64 messages may be there beside the high-water mark's. REQ and REP
    /// take one at a time, and so does everybody as long as others wait for messages of the same socket.
    ///
    /// ```
    /// # tokio::runtime::Runtime::new().unwrap().block_on(async {
    /// # use sealwire::{Socket, SocketType};
    /// # let (pull, push) = (Socket::new(SocketType::Pull)?, Socket::new(SocketType::Push)?);
    /// # push.connect(pull.bind("tcp://127.0.0.1:0")?)?;
    /// # push.send("work").await?;
    /// let mut incoming = pull.incoming();
    /// while let Some(message) = incoming.next().await {
    ///     assert_eq!(message?.as_bytes(), b"work");
    /// #   break;
    /// }
    /// # Ok::<(), sealwire::Error>(()) }).unwrap();
    /// ```
    pub fn incoming(&self) -> Incoming<'_> {
        Incoming::new(self)
    }

    /// Receives a message if there is one.
    ///
    /// # Errors
    ///
    /// As [`recv`](Socket::recv), and [`Error::WouldBlock`].
    pub fn try_recv(&self) -> Result<Message, Error> {
        if let Some(message) = self.core()?.try_receive()? {
            return Ok(message);
        }
        self.core()?.read_leased();
        self.core()?.try_receive()?.ok_or(Error::WouldBlock)
    }

    /// Asks all publishers, present and future, for messages whose first frame starts with
    /// `topic`. The empty topic asks for all.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] unless this is SUB or XSUB.
    pub fn subscribe(&self, topic: impl AsRef<[u8]>) -> Result<(), Error> {
        self.core()?.subscribe(topic.as_ref())
    }

    /// Takes one [`subscribe`](Socket::subscribe) of the same topic back.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] unless this is SUB or XSUB and has subscribed to the topic.
    pub fn unsubscribe(&self, topic: impl AsRef<[u8]>) -> Result<(), Error> {
        self.core()?.unsubscribe(topic.as_ref())
    }

    /// DISH: asks all radios, present and future, for messages to this group: 1 to 255 bytes.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] unless this is DISH, [`MessageError::NoGroup`](crate::MessageError::NoGroup) for a name that is none,
    /// [`Error::State`] when the socket has joined it already.
    pub fn join(&self, group: impl AsRef<[u8]>) -> Result<(), Error> {
        self.core()?.join(group.as_ref())
    }

    /// DISH: takes [`join`](Socket::join) back.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] unless this is DISH, [`Error::State`] when the socket has not
    /// joined the group.
    pub fn leave(&self, group: impl AsRef<[u8]>) -> Result<(), Error> {
        self.core()?.leave(group.as_ref())
    }

    /// Reads what happens to this socket's connections from now on.
    pub fn monitor(&self) -> Monitor {
        match self.core() {
            Ok(core) => core.hub.monitor(),
            Err(_) => Monitor::ended(),
        }
    }

    /// A descriptor to wait for this socket with `poll(2)`, `epoll(7)` or an event loop, beside
    /// others. See [`Readiness`] for how.
    ///
    /// From now on the thread of the context reads for this socket, also while a thread blocks in
    /// [`blocking::Socket::recv`].
    ///
    /// # Errors
    ///
    /// When the process has no descriptors left; it takes one on Linux, two elsewhere. [`Error::Forked`]
    /// inside, in a child of a fork.
    #[cfg(unix)]
    pub fn readiness(&self) -> std::io::Result<Readiness> {
        let core = self.core().map_err(std::io::Error::other)?;
        let readiness = Readiness::new(&core.pollers, core.clone())?;
        // A thread that reads directly would take the messages that the descriptor announces.
        core.end_direct_reading();
        core.fetch_what_is_kept_back();
        Ok(readiness)
    }

    /// What this socket has done so far.
    pub fn counters(&self) -> Counters {
        self.handle.core.counters()
    }

    /// Closes the socket for all its handles and waits until what is queued has been sent, but no
    /// longer than the linger time.
    ///
    /// # Errors
    ///
    /// [`Error::Unsent`] when the linger time was not enough.
    pub async fn close(self) -> Result<(), Error> {
        self.core()?;
        self.handle.close();
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
