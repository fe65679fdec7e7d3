//! Connecting to endpoints.

use std::sync::Arc;

use sealwire_zmtp::SocketType;

use super::Socket;
use crate::endpoint::{Endpoint, EndpointError};
use crate::error::{Error, Operation};
use crate::options::{MAX_ROUTING_ID, OptionsError};
use crate::waiting::Listening;

impl Socket {
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
        let endpoint = endpoint.try_into().map_err(Into::into)?;
        self.start_connecting(endpoint, None).map(|_| ())
    }

    /// Connects a ROUTER or STREAM to an endpoint, as [`connect`](Socket::connect) does, and gives the peer there a
    /// routing id of 1 to 255 bytes, whatever it calls itself. From the moment that this returns, messages to that
    /// routing id are queued for the peer; they go out once it is there. So two ROUTERs can talk without one hearing
    /// from the other first. The peer has the routing id as long as the endpoint is connected to, also after its
    /// connection was lost, and nobody can take it over. libzmq's `ZMQ_CONNECT_ROUTING_ID`.
    ///
    /// With [`immediate`](crate::SocketBuilder::immediate) nothing is queued before the peer is there.
    ///
    /// ```
    /// # tokio::runtime::Runtime::new().unwrap().block_on(async {
    /// use sealwire::{Message, Socket, SocketType};
    ///
    /// let (left, right) = (Socket::new(SocketType::Router)?, Socket::new(SocketType::Router)?);
    /// let endpoint = right.bind("tcp://127.0.0.1:0")?;
    /// left.connect_with_routing_id(endpoint, "right")?;
    /// left.send(Message::multipart(["right", "hello"])).await?;
    /// assert_eq!(right.recv().await?.frames()[1].as_slice(), b"hello");
    /// # Ok::<(), sealwire::Error>(()) }).unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// * Those of [`connect`](Socket::connect).
    /// * [`Error::Unsupported`] for other socket types.
    /// * [`Error::Options`] with [`OptionsError::EmptyRoutingId`], or with [`OptionsError::RoutingId`] for one of more
    ///   than [`MAX_ROUTING_ID`] bytes or that starts with a zero octet.
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
        let endpoint = endpoint.try_into().map_err(Into::into)?;
        let routing_id = routing_id.as_ref();
        let (size, leading_zero) = (routing_id.len(), routing_id.first() == Some(&0));
        if size == 0 {
            return Err(OptionsError::EmptyRoutingId.into());
        }
        if size > MAX_ROUTING_ID || leading_zero {
            return Err(OptionsError::RoutingId { size, leading_zero }.into());
        }
        self.connect_as(endpoint, routing_id)
    }

    /// The same with any routing id.
    pub(super) fn connect_as(&self, endpoint: Endpoint, routing_id: &[u8]) -> Result<(), Error> {
        self.core()?;
        match self.socket_type() {
            SocketType::Router | SocketType::Stream => self
                .start_connecting(endpoint, Some(routing_id.into()))
                .map(|_| ()),
            _ => Err(Error::Unsupported(Operation::ChooseRoutingId)),
        }
    }

    /// Gives the number of the `connect`.
    fn start_connecting(
        &self,
        endpoint: Endpoint,
        routing_id: Option<Arc<[u8]>>,
    ) -> Result<u64, Error> {
        if endpoint.is_wildcard() {
            return Err(EndpointError::Wildcard(endpoint.to_string()).into());
        }
        self.core()?;
        self.handle.connect(endpoint, routing_id)
    }

    /// Connects a SERVER or PEER socket to an endpoint, waits until the handshake is done, and returns the
    /// [routing id](crate::Peer::connection_routing_id) of the connection, for [`Message::with_routing_id`](crate::Message::with_routing_id).
    /// libzmq's `zmq_connect_peer`.
    ///
    /// A later connection to the same endpoint has another routing id, which comes with the messages of the
    /// peer.
    ///
    /// **Cancel-safe:** when the future is dropped the socket goes on connecting, as after
    /// [`connect`](Socket::connect).
    ///
    /// # Errors
    ///
    /// * Those of [`connect`](Socket::connect).
    /// * [`Error::Unsupported`] for other socket types.
    /// * [`Error::GaveUp`] if the endpoint is disconnected meanwhile, or
    ///   [`ReconnectStop`](crate::options::ReconnectStop) ends the attempts.
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

    pub(super) fn start_connecting_to_peer(&self, endpoint: Endpoint) -> Result<u64, Error> {
        self.core()?;
        match self.socket_type() {
            SocketType::Server | SocketType::Peer => self.start_connecting(endpoint, None),
            _ => Err(Error::Unsupported(Operation::RoutingId)),
        }
    }
}
