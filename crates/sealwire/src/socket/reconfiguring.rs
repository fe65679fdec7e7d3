//! Options that change while a socket is used: its own, and those of one endpoint.

use super::{Socket, SocketBuilder};
use crate::endpoint::Endpoint;
use crate::error::Error;
use crate::options::{OptionsError, SocketOptions, Withdrawn};

impl Socket {
    /// Returns the options of this socket as they are now, with its context: to change some of them by
    /// [`reconfigure`](Socket::reconfigure), or to [make](SocketBuilder::build) another socket like it.
    ///
    /// # Errors
    ///
    /// [`Error::Forked`] in a child of the process that made the socket.
    pub fn options(&self) -> Result<SocketBuilder, Error> {
        let options = self.core()?.options();
        Ok(SocketBuilder::of(&options, self.handle.context()))
    }

    /// Gives this socket other options than it was made with:
    ///
    /// * Time limits ([`send_timeout`](SocketBuilder::send_timeout),
    ///   [`receive_timeout`](SocketBuilder::receive_timeout)) count for calls that begin from now on, the
    ///   [linger time](SocketBuilder::linger) when the socket is closed.
    /// * High-water marks and byte budgets change for all peers, those that are connected too.
    ///   Messages above a lower one stay queued.
    /// * The options of single socket types ([`router_mandatory`](SocketBuilder::router_mandatory),
    ///   [`xpub_verbose`](SocketBuilder::xpub_verbose) and so on) count for what is sent, received or
    ///   subscribed to from now on, and messages for peers for those that come from now on. A queue that
    ///   [`conflate`](SocketBuilder::conflate)s goes on, and another does not begin to.
    /// * All others, keys and authenticators among them, are those of endpoints that are bound or connected
    ///   from now on. Those that are there go on with what they have, also when they connect again; so each can
    ///   have keys of its own. [`reconfigure_endpoint`](Socket::reconfigure_endpoint) changes those of one that is
    ///   there.
    /// * The type, the context, [`spin`](SocketBuilder::spin) and `interruptible` stay as they are.
    ///
    /// The options replace all that were there: threads that change the same socket agree on who does.
    ///
    /// ```
    /// # tokio::runtime::Runtime::new().unwrap().block_on(async {
    /// use sealwire::{Generate, KeyPair, PublicKey, Security, Socket, SocketType};
    /// # let keys = KeyPair::generate();
    /// # let server = |keys: &KeyPair| {
    /// #     let security = Security::blake3_server(keys.clone(), sealwire::auth::AllowAnyone);
    /// #     Socket::builder(SocketType::Pull).security(security).build()
    /// # };
    /// # let (near, far) = (KeyPair::generate(), KeyPair::generate());
    /// # let (near_server, far_server) = (server(&near)?, server(&far)?);
    /// # let near_endpoint = near_server.bind("tcp://127.0.0.1:0")?;
    /// # let far_endpoint = far_server.bind("tcp://127.0.0.1:0")?;
    /// # let (near_key, far_key) = (near.public(), far.public());
    /// // Two servers, each with a key of its own.
    /// let client = |server: PublicKey| Security::blake3_client_with_keys(server, keys.clone());
    /// let socket = Socket::builder(SocketType::Push).security(client(near_key)).build()?;
    /// socket.connect(near_endpoint)?;
    /// socket.reconfigure(socket.options()?.security(client(far_key)))?;
    /// socket.connect(far_endpoint)?;
    /// # socket.wait_connected(2).await?;
    /// # Ok::<(), sealwire::Error>(()) }).unwrap();
    /// ```
    ///
    /// # Errors
    ///
    /// * [`Error::Options`] as from [`build`](SocketBuilder::build), and with
    ///   [`OptionsError::Fixed`](crate::options::OptionsError::Fixed) for what cannot change.
    /// * [`Error::Closed`] if another handle has closed the socket, [`Error::EngineFailed`], [`Error::Forked`].
    pub fn reconfigure(&self, options: SocketBuilder) -> Result<(), Error> {
        let core = self.core()?;
        core.change_options(self.checked(options)?)
    }

    /// Returns the options that an endpoint has now, which is given as [`bind`](Socket::bind) returned it or as it was
    /// connected to: to change some of them by [`reconfigure_endpoint`](Socket::reconfigure_endpoint).
    ///
    /// # Errors
    ///
    /// * [`Error::UnknownEndpoint`] if the socket is neither bound nor connected to the endpoint, [`Error::Endpoint`] if
    ///   it cannot be parsed.
    /// * [`Error::UnusableEndpoint`] with [`Unusable::FixedOptions`](crate::Unusable::FixedOptions) for `inproc` and
    ///   `udp`.
    /// * [`Error::Closed`], [`Error::EngineFailed`], [`Error::Forked`].
    pub fn endpoint_options<E>(&self, endpoint: E) -> Result<SocketBuilder, Error>
    where
        E: TryInto<Endpoint>,
        E::Error: Into<Error>,
    {
        let endpoint = endpoint.try_into().map_err(Into::into)?;
        self.core()?;
        let options = self.handle.options_of(&endpoint)?;
        Ok(SocketBuilder::of(&options, self.handle.context()))
    }

    /// Gives an endpoint that is bound or connected other options while it is used: keys, authenticators,
    /// [`admit`](SocketBuilder::admit), TLS identities, limits of connections, handshakes and messages, and how it connects
    /// again. Nobody is turned away meanwhile, as the listening socket stays. Others are not changed by this: those of
    /// the socket as a whole (time limits of calls, high-water marks, options of single types), and those of the
    /// listening socket itself ([`backlog`](SocketBuilder::backlog), [`ipc_mode`](SocketBuilder::ipc_mode)).
    ///
    /// A client that connects once this has returned meets the new options. Connections and handshakes that have begun go on with
    /// those that they began with, so none meets half of each. With [`Withdrawn::Stay`] that is all. With
    /// [`Withdrawn::End`],
    ///
    /// * connections end that were made with a key or mechanism which the endpoint does not have any more, also those
    ///   whose handshakes were under way. The socket sends what is queued for the peer, tells it that no more will come,
    ///   and receives what it has sent, for up to the [linger time](SocketBuilder::linger). The monitor has
    ///   [`FailureCause::KeyWithdrawn`](crate::FailureCause::KeyWithdrawn); the peer connects again. A message that is
    ///   sent to it in between goes to others where the type has several in turn, and else is
    ///   [dropped](crate::Counters::dropped_unsent): a ROUTER's answer to a request of before, for example.
    /// * where the authenticator is another one, it is asked about all clients that are connected, and those that it
    ///   refuses are disconnected. Clients of PLAIN whose passwords were not kept end as with a key. Admissions and
    ///   ZAP handlers are asked when a client comes.
    ///
    /// So a server changes its key in three steps, and the clients have as long as they need:
    ///
    /// ```
    /// # use sealwire::{Generate as _, KeyPair, Security, SocketType, auth::AllowAnyone, blocking::Socket};
    /// # use sealwire::options::Withdrawn;
    /// # let (old, new) = (KeyPair::generate(), KeyPair::generate());
    /// # let security = Security::blake3_server(old.clone(), AllowAnyone);
    /// # let socket = Socket::builder(SocketType::Rep).security(security).build_blocking()?;
    /// # let endpoint = socket.bind("tcp://127.0.0.1:0")?;
    /// // 1. Both keys are good.
    /// let both = Security::blake3_server(old, AllowAnyone).with_additional_keys(new.clone());
    /// let options = socket.endpoint_options(&endpoint)?.security(both);
    /// socket.reconfigure_endpoint(&endpoint, options, Withdrawn::Stay)?;
    /// // 2. Clients get the new one; `Peer::local_key` says who still uses the old one.
    /// // 3. Only the new one is.
    /// let options = socket.endpoint_options(&endpoint)?;
    /// let options = options.security(Security::blake3_server(new, AllowAnyone));
    /// socket.reconfigure_endpoint(&endpoint, options, Withdrawn::End)?;
    /// # Ok::<(), sealwire::Error>(())
    /// ```
    ///
    /// The socket's [own options](Socket::options), for endpoints of later, stay as they are. A socket that is bound and
    /// connected to the endpoint, or connected several times, has the options at all of them.
    ///
    /// # Errors
    ///
    /// After an error nothing has changed.
    ///
    /// * Those of [`endpoint_options`](Socket::endpoint_options).
    /// * [`Error::UnusableEndpoint`] if the endpoint cannot have these options, as from [`bind`](Socket::bind) and
    ///   [`connect`](Socket::connect): plain text off the machine, or two mechanisms where one is needed.
    /// * [`Error::Options`] as from [`reconfigure`](Socket::reconfigure).
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
        let endpoint = endpoint.try_into().map_err(Into::into)?;
        self.core()?;
        let options = self.checked(options)?;
        self.handle
            .reconfigure_endpoint(&endpoint, options, withdrawn)
    }

    /// The options of a builder, if this socket may have them.
    fn checked(&self, options: SocketBuilder) -> Result<SocketOptions, Error> {
        let (options, context) = options.into_parts();
        if context.is_some_and(|context| !context.is(self.handle.context())) {
            return Err(OptionsError::Fixed("context").into());
        }
        options.validate()?;
        if let Some(option) = self.core()?.options().fixed_that_differs(&options) {
            return Err(OptionsError::Fixed(option).into());
        }
        Ok(options)
    }
}
