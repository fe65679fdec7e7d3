//! Endpoints and peers: binding, connecting, and waiting for peers and subscribers.

use std::sync::Arc;
use std::time::Duration;

use super::Socket;
use crate::SocketBuilder;
use crate::endpoint::Endpoint;
use crate::error::{Error, Operation, Presence};
use crate::failure::ConnectionFailure;
use crate::options::Withdrawn;
use crate::peer::Peer;
#[cfg(unix)]
use crate::transport::Listener;

impl Socket {
    /// Binds to an endpoint and returns it, with the port that the system chose for port 0. Does not wait for
    /// peers. May be called for several endpoints.
    ///
    /// # Errors
    ///
    /// * [`Error::Endpoint`] if the endpoint cannot be parsed or names a source.
    /// * [`Error::UnusableEndpoint`] if this socket cannot use it: its type does not have the transport, or
    ///   the endpoint leads off the machine and the socket has no [security](crate::SocketBuilder::security).
    /// * [`Error::Bind`] if the system refuses, because the address is in use for example.
    /// * [`Error::Closed`] if another handle has closed the socket, [`Error::EngineFailed`] if its I/O thread
    ///   has ended.
    pub fn bind<E>(&self, endpoint: E) -> Result<Endpoint, Error>
    where
        E: TryInto<Endpoint>,
        E::Error: Into<Error>,
    {
        self.inner.bind(endpoint)
    }

    /// Binds to a listening socket that somebody else opened, and returns its endpoint: a `TcpListener` or
    /// `UnixListener` of the standard library, a descriptor, or one that a service manager
    /// [passed](crate::Listener::passed). It is the socket's own from then on, also after an error: unbinding and closing
    /// close it. The file of a Unix socket stays, as this socket did not make it.
    ///
    /// Options of connections ([`tcp_keep_alive`](crate::SocketBuilder::tcp_keep_alive),
    /// [`type_of_service`](crate::SocketBuilder::type_of_service) and the like) count;
    /// [`backlog`](crate::SocketBuilder::backlog), [`ipv6`](crate::SocketBuilder::ipv6) and
    /// [`ipc_mode`](crate::SocketBuilder::ipc_mode) were for who opened it. The descriptor is not passed to programs that
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
        self.inner.bind_listener(listener)
    }

    /// Connects to an endpoint, now and whenever the connection is lost, until
    /// [`disconnect`](Socket::disconnect). Returns at once: the peer need not be there yet. May be called for
    /// several endpoints. The [`monitor`](Socket::monitor) reports connections and failures.
    ///
    /// # Errors
    ///
    /// * [`Error::Endpoint`] if the endpoint cannot be parsed or has a wildcard in place of a host or port.
    /// * [`Error::UnusableEndpoint`] if this socket cannot use it: its type does not have the transport, or
    ///   the endpoint leads off the machine and the socket has no [security](crate::SocketBuilder::security).
    /// * [`Error::Connect`] over `udp` only, if the name does not resolve or the interface is missing.
    /// * [`Error::Closed`] if another handle has closed the socket, [`Error::EngineFailed`] if its I/O thread
    ///   has ended.
    pub fn connect<E>(&self, endpoint: E) -> Result<(), Error>
    where
        E: TryInto<Endpoint>,
        E::Error: Into<Error>,
    {
        self.inner.connect(endpoint)
    }

    /// Connects a ROUTER or STREAM to an endpoint, as [`connect`](Socket::connect) does, and gives the peer there a
    /// routing id of 1 to 255 bytes, whatever it calls itself. From the moment that this returns, messages to that
    /// routing id are queued for the peer; they go out once it is there. So two ROUTERs can talk without one hearing
    /// from the other first. The peer has the routing id as long as the endpoint is connected to, also after its
    /// connection was lost, and nobody can take it over. libzmq's `ZMQ_CONNECT_ROUTING_ID`.
    ///
    /// With [`immediate`](crate::SocketBuilder::immediate) nothing is queued before the peer is there.
    ///
    /// # Errors
    ///
    /// * Those of [`connect`](Socket::connect).
    /// * [`Error::Unsupported`] for other socket types.
    /// * [`Error::Options`] with [`OptionsError::EmptyRoutingId`](crate::options::OptionsError::EmptyRoutingId), or
    ///   with [`OptionsError::RoutingId`](crate::options::OptionsError::RoutingId) for one of more than 255 bytes or
    ///   that starts with a zero octet.
    /// * [`Error::RoutingIdInUse`] if a peer has it.
    pub fn connect_with_routing_id<E>(
        &self,
        endpoint: E,
        routing_id: impl AsRef<[u8]>,
    ) -> Result<(), Error>
    where
        E: TryInto<Endpoint>,
        E::Error: Into<Error>,
    {
        self.inner.connect_with_routing_id(endpoint, routing_id)
    }

    /// Connects a SERVER or PEER socket to an endpoint, blocks until the handshake is done, and returns the
    /// [routing id](Peer::connection_routing_id) of the connection, for [`Message::with_routing_id`](crate::Message::with_routing_id).
    /// libzmq's `zmq_connect_peer`.
    ///
    /// Blocks for up to the [send timeout](crate::SocketBuilder::send_timeout). The socket goes on connecting after
    /// an error of time. A later connection to the same endpoint has another routing id, which comes with the
    /// messages of the peer.
    ///
    /// # Errors
    ///
    /// * Those of [`connect`](Socket::connect).
    /// * [`Error::Unsupported`] for other socket types.
    /// * [`Error::TimedOut`] if the handshake is not done within the send timeout.
    /// * [`Error::GaveUp`] if the endpoint is disconnected meanwhile, or
    ///   [`ReconnectStop`](crate::options::ReconnectStop) ends the attempts.
    /// * [`Error::Interrupted`] if a signal handler ran and the socket is
    ///   [interruptible](crate::SocketBuilder::interruptible).
    pub fn connect_peer<E>(&self, endpoint: E) -> Result<u32, Error>
    where
        E: TryInto<Endpoint>,
        E::Error: Into<Error>,
    {
        let endpoint = endpoint.try_into().map_err(Into::into)?;
        let connector = self.inner.start_connecting_to_peer(endpoint)?;
        let core = self.inner.core()?;
        let limit = core.send_timeout();
        let attempt = |_| core.routing_id_of_connector(connector);
        let routing_id = core.writable.wait(None, core.until(limit), attempt)?;
        routing_id.map_err(|why| core.unfinished(why, Operation::Connect, limit))
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
        self.inner.unbind(endpoint)
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
        self.inner.unbind_and_disconnect(endpoint)
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
        self.inner.disconnect(endpoint)
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
    /// # use sealwire::{Error, Message, SocketType, blocking::Socket};
    /// # use std::time::Duration;
    /// # let (push, pull) = (Socket::new(SocketType::Push)?, Socket::new(SocketType::Pull)?);
    /// # pull.connect(push.bind("tcp://127.0.0.1:0")?)?;
    /// # push.send("work")?;
    /// # assert_eq!(pull.recv()?.as_bytes(), b"work");
    /// pull.drain(Duration::from_secs(10))?;
    /// for message in pull.incoming() {
    ///     println!("the last work: {:?}", message?);
    /// }
    /// assert!(matches!(pull.try_recv(), Err(Error::Drained { cut_off: 0 })));
    /// # Ok::<(), sealwire::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for other types, [`Error::Closed`] if another handle has closed the socket,
    /// [`Error::EngineFailed`].
    pub fn drain(&self, limit: Duration) -> Result<(), Error> {
        self.inner.drain(limit)
    }

    /// Returns the options of this socket as they are now, as [`Socket::options`](crate::Socket::options).
    ///
    /// # Errors
    ///
    /// Those of [`Socket::options`](crate::Socket::options).
    pub fn options(&self) -> Result<SocketBuilder, Error> {
        self.inner.options()
    }

    /// Gives this socket other options: at once where they are limits, for later endpoints where they are about
    /// connections. [`Socket::reconfigure`](crate::Socket::reconfigure) says which are which.
    ///
    /// # Errors
    ///
    /// Those of [`Socket::reconfigure`](crate::Socket::reconfigure).
    pub fn reconfigure(&self, options: SocketBuilder) -> Result<(), Error> {
        self.inner.reconfigure(options)
    }

    /// Returns the options that an endpoint has now, which is given as [`bind`](Socket::bind) returned it or as it was
    /// connected to: to change some of them by [`reconfigure_endpoint`](Socket::reconfigure_endpoint).
    ///
    /// # Errors
    ///
    /// Those of [`Socket::endpoint_options`](crate::Socket::endpoint_options).
    pub fn endpoint_options<E>(&self, endpoint: E) -> Result<SocketBuilder, Error>
    where
        E: TryInto<Endpoint>,
        E::Error: Into<Error>,
    {
        self.inner.endpoint_options(endpoint)
    }

    /// Gives an endpoint that is bound or connected other options while it is used, keys and authenticators among
    /// them. Nobody is turned away meanwhile. `withdrawn` says what becomes of connections under keys that it does not
    /// have any more; [`Socket::reconfigure_endpoint`](crate::Socket::reconfigure_endpoint) has an example and says the
    /// rest. Does not wait for them.
    ///
    /// # Errors
    ///
    /// Those of [`Socket::reconfigure_endpoint`](crate::Socket::reconfigure_endpoint).
    pub fn reconfigure_endpoint<E>(
        &self,
        endpoint: E,
        options: SocketBuilder,
        withdrawn: Withdrawn,
    ) -> Result<(), Error>
    where
        E: TryInto<Endpoint>,
        E::Error: Into<Error>,
    {
        self.inner
            .reconfigure_endpoint(endpoint, options, withdrawn)
    }

    /// Returns the endpoints that this socket is bound to. None in a child of a fork.
    pub fn bound_endpoints(&self) -> Vec<Endpoint> {
        self.inner.bound_endpoints()
    }

    /// Returns the endpoints that this socket is connected to, or tries to connect to. None in a child of a
    /// fork.
    pub fn connected_endpoints(&self) -> Vec<Endpoint> {
        self.inner.connected_endpoints()
    }

    /// Returns the peers for which this socket holds something, and brings their accounts ([`Peer::account`])
    /// up to date: connected peers, and those whose messages are still to be read.
    pub fn accounts(&self) -> Vec<Arc<Peer>> {
        self.inner.accounts()
    }

    /// Blocks until at least `peers` peers are connected, with their handshakes done, for up to the [send
    /// timeout](crate::SocketBuilder::send_timeout). Returns at once if they are. A publisher waits for
    /// [subscribers](Socket::wait_subscribed) instead, since a subscription comes after the handshake.
    ///
    /// # Errors
    ///
    /// * [`Error::TimedOut`] if fewer are connected within the send timeout.
    /// * [`Error::Closed`] if another handle closes the socket, [`Error::Drained`] if it
    ///   [drains](Socket::drain) it, [`Error::EngineFailed`] if its I/O thread ends.
    /// * [`Error::Interrupted`] if a signal handler ran and the socket is
    ///   [interruptible](crate::SocketBuilder::interruptible).
    pub fn wait_connected(&self, peers: usize) -> Result<(), Error> {
        let limit = self.inner.core()?.send_timeout();
        self.wait_connected_within(peers, limit)
    }

    /// Blocks until at least `peers` peers are connected, with their handshakes done, for up to `limit`.
    ///
    /// # Errors
    ///
    /// Those of [`wait_connected`](Socket::wait_connected), with [`Error::TimedOut`] after `limit`.
    pub fn wait_connected_timeout(&self, peers: usize, limit: Duration) -> Result<(), Error> {
        self.wait_connected_within(peers, Some(limit))
    }

    fn wait_connected_within(&self, peers: usize, limit: Option<Duration>) -> Result<(), Error> {
        let core = self.inner.core()?;
        self.wait_for_peers(Operation::Connect, limit, || core.connected(peers))
    }

    /// Blocks a PUB or XPUB socket until a message that begins with `topic` would go to at least `peers`
    /// peers, for up to the [send timeout](crate::SocketBuilder::send_timeout). On a RADIO socket, `topic` is a
    /// group; members over `udp` do not announce themselves and do not count. With
    /// [`xpub_manual`](crate::SocketBuilder::xpub_manual) only granted subscriptions count.
    ///
    /// # Errors
    ///
    /// * [`Error::TimedOut`] if there are fewer subscribers within the send timeout.
    /// * [`Error::Unsupported`] for other socket types.
    /// * [`Error::Closed`] if another handle closes the socket, [`Error::EngineFailed`] if its I/O thread
    ///   ends.
    /// * [`Error::Interrupted`] if a signal handler ran and the socket is
    ///   [interruptible](crate::SocketBuilder::interruptible).
    pub fn wait_subscribed(&self, topic: impl AsRef<[u8]>, peers: usize) -> Result<(), Error> {
        let limit = self.inner.core()?.send_timeout();
        self.wait_subscribed_within(topic.as_ref(), peers, limit)
    }

    /// Blocks until a message that begins with `topic` would go to at least `peers` peers, for up to `limit`.
    ///
    /// # Errors
    ///
    /// Those of [`wait_subscribed`](Socket::wait_subscribed), with [`Error::TimedOut`] after `limit`.
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

    /// Returns whether peers are connected or in their handshakes now, with their number.
    pub fn presence(&self) -> Presence {
        self.inner.presence()
    }

    /// Returns the latest failed connection of this socket, unless another connection has succeeded since:
    /// the reason why no messages come. [`Error::TimedOut`] has it too.
    pub fn last_failure(&self) -> Option<ConnectionFailure> {
        self.inner.last_failure()
    }

    /// Returns the peers whose handshakes are done, and brings their accounts up to date.
    pub fn peers(&self) -> Vec<Arc<Peer>> {
        self.inner.peers()
    }
}
