//! Settings that only BLAKE3ZMQ has.

use std::fmt;

use sealwire_zmtp::mechanism::DataPhase;
use sealwire_zmtp::{KeyPair, PublicKey};

use super::{Kind, Security};
use crate::auth::GuardedAuthenticator;

/// The client of BLAKE3ZMQ: the side that knows the other's key. Made by
/// [`Security::blake3_client`] and [`Security::blake3_client_with_keys`].
///
/// Only servers have additional keys:
///
/// ```compile_fail,E0599
/// # use sealwire::{Generate as _, KeyPair, Security};
/// # let (server, old) = (KeyPair::generate(), KeyPair::generate());
/// let client = Security::blake3_client(server.public()).with_additional_keys(old);
/// ```
#[derive(Clone)]
#[must_use]
pub struct Blake3Client {
    pub(crate) server_key: PublicKey,
    pub(crate) keys: Option<KeyPair>,
    pub(crate) data_phase: DataPhase,
}

/// The server of BLAKE3ZMQ: the side whose key the other knows. Made by
/// [`Security::blake3_server`].
///
/// What a server of another mechanism does not have cannot be written:
///
/// ```
/// # use sealwire::{Generate as _, KeyPair, Security, auth::AllowAnyone};
/// # let (new, old) = (KeyPair::generate(), KeyPair::generate());
/// let server = Security::blake3_server(new, AllowAnyone).with_additional_keys(old);
/// # let _ = server;
/// ```
///
/// ```compile_fail,E0599
/// # use sealwire::{Generate as _, KeyPair, Security, auth::AllowAnyone};
/// # let (new, old) = (KeyPair::generate(), KeyPair::generate());
/// let server = Security::curve_server(new, AllowAnyone).with_additional_keys(old);
/// ```
///
/// ```compile_fail,E0599
/// # use sealwire::{Generate as _, KeyPair, Security, auth::AllowAnyone};
/// # let keys = KeyPair::generate();
/// let server = Security::curve_server(keys, AllowAnyone)
///     .with_continuous_keystream_unauthenticated_order();
/// ```
#[derive(Clone)]
#[must_use]
pub struct Blake3Server {
    pub(crate) keys: KeyPair,
    pub(crate) additional_keys: Vec<KeyPair>,
    pub(crate) authenticator: GuardedAuthenticator,
    pub(crate) data_phase: DataPhase,
}

impl Blake3Client {
    /// Switches to the continuous keystream of a later BLAKE3ZMQ draft, to talk to peers that
    /// speak nothing else.
    ///
    /// **What it gives up:** someone on the path can drop, repeat or reorder whole frames, and
    /// the receiver takes them and decrypts noise. A warning event says so on every connection.
    pub fn with_continuous_keystream_unauthenticated_order(mut self) -> Self {
        self.data_phase = DataPhase::ContinuousKeystreamUnauthenticatedOrder;
        self
    }
}

impl Blake3Server {
    /// Adds a key by which clients may know the server, while keys are changed. May be called for
    /// [`MAX_ADDITIONAL_SERVER_KEYS`] (3) keys; a socket with more cannot be built
    /// ([`OptionsError::ServerKeys`]). Put the key first that most clients know: each one before the right
    /// one costs the server an X25519 agreement.
    ///
    /// [`MAX_ADDITIONAL_SERVER_KEYS`]: sealwire_zmtp::limits::MAX_ADDITIONAL_SERVER_KEYS
    /// [`OptionsError::ServerKeys`]: crate::options::OptionsError::ServerKeys
    pub fn with_additional_keys(mut self, keys: KeyPair) -> Self {
        self.additional_keys.push(keys);
        self
    }

    /// Switches to the continuous keystream of a later BLAKE3ZMQ draft, to talk to peers that
    /// speak nothing else.
    ///
    /// **What it gives up:** someone on the path can drop, repeat or reorder whole frames, and
    /// the receiver takes them and decrypts noise. A warning event says so on every connection.
    pub fn with_continuous_keystream_unauthenticated_order(mut self) -> Self {
        self.data_phase = DataPhase::ContinuousKeystreamUnauthenticatedOrder;
        self
    }
}

impl From<Blake3Client> for Security {
    fn from(client: Blake3Client) -> Self {
        Security(Kind::Blake3Client(client))
    }
}

/// Shows public keys only.
impl fmt::Debug for Blake3Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blake3Client")
            .field("server_key", &self.server_key)
            .field("public_key", &self.keys.as_ref().map(KeyPair::public))
            .finish()
    }
}

/// Shows public keys only.
impl fmt::Debug for Blake3Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blake3Server")
            .field("public_key", &self.keys.public())
            .finish()
    }
}
