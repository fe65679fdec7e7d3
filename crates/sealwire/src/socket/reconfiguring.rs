//! Options that change while a socket is used.

use super::{Socket, SocketBuilder};
use crate::error::Error;
use crate::options::OptionsError;

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
    ///   have keys of its own.
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
        let (options, context) = options.into_parts();
        if context.is_some_and(|context| !context.is(self.handle.context())) {
            return Err(OptionsError::Fixed("context").into());
        }
        options.validate()?;
        if let Some(option) = core.options().fixed_that_differs(&options) {
            return Err(OptionsError::Fixed(option).into());
        }
        core.change_options(options)
    }
}
