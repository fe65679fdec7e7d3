//! The servers behind a listener: one server, or several from which each client has chosen one.

use std::{fmt, iter, slice};

use sealwire_zmtp::mechanism::FrameOrder;
use sealwire_zmtp::{KeyPair, Mechanism, PublicKey};

use super::{Blake3Server, Kind, Security};
use crate::auth::{Authenticator, GuardedAuthenticator};

/// The servers of one socket, each with its own keys and authenticator, no two of one mechanism. All encrypt:
/// where plain text is one of them, anyone may choose it.
#[derive(Clone)]
pub(crate) struct Servers {
    /// The one that a client is told about which none fits.
    pub(crate) first: EncryptedServer,
    pub(crate) others: Vec<EncryptedServer>,
}

#[derive(Clone)]
pub(crate) enum EncryptedServer {
    Blake3(Blake3Server),
    Curve(CurveServer),
}

/// The server of CURVE, libzmq's mechanism: the side whose key the other knows. [`Security::curve_server`] makes one
/// with nothing but keys and authenticator.
///
/// ```
/// # use sealwire::{CurveServer, Generate as _, KeyPair, SocketType, auth::AllowAnyone, blocking::Socket};
/// # let (new, old) = (KeyPair::generate(), KeyPair::generate());
/// let server = CurveServer::new(new, AllowAnyone).with_additional_key(old);
/// let socket = Socket::builder(SocketType::Rep).security(server).build_blocking()?;
/// # Ok::<(), sealwire::Error>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct CurveServer {
    pub(crate) keys: KeyPair,
    pub(crate) additional_key: Option<KeyPair>,
    pub(crate) authenticator: GuardedAuthenticator,
    pub(crate) frame_order: FrameOrder,
}

impl Servers {
    pub(super) fn iter(
        &self,
    ) -> iter::Chain<iter::Once<&EncryptedServer>, slice::Iter<'_, EncryptedServer>> {
        iter::once(&self.first).chain(&self.others)
    }
}

impl EncryptedServer {
    pub(super) fn mechanism(&self) -> Mechanism {
        match self {
            EncryptedServer::Blake3(_) => Mechanism::Blake3,
            EncryptedServer::Curve(_) => Mechanism::Curve,
        }
    }

    /// The keys by which clients may know it, with their mechanism.
    pub(super) fn public_keys(&self) -> Vec<(Mechanism, PublicKey)> {
        let (keys, additional) = match self {
            EncryptedServer::Blake3(server) => (&server.keys, &server.additional_keys[..]),
            EncryptedServer::Curve(server) => (&server.keys, server.additional_key.as_slice()),
        };
        let all = iter::once(keys).chain(additional);
        all.map(|keys| (self.mechanism(), keys.public())).collect()
    }

    pub(super) fn authenticator(&self) -> &GuardedAuthenticator {
        match self {
            EncryptedServer::Blake3(server) => &server.authenticator,
            EncryptedServer::Curve(server) => &server.authenticator,
        }
    }
}

impl CurveServer {
    /// Makes a server whose authenticator decides about every client; there is no default.
    pub fn new(keys: KeyPair, authenticator: impl Authenticator) -> Self {
        CurveServer {
            keys,
            additional_key: None,
            authenticator: GuardedAuthenticator::new(authenticator),
            frame_order: FrameOrder::default(),
        }
    }

    /// Sets a second key by which clients may know the server, while keys are changed; a later call replaces it.
    /// There are two at most: a client does not say which key it knows, so each HELLO that the first does not
    /// open costs another X25519 agreement, those of strangers too. Put the key first that most clients know.
    pub fn with_additional_key(mut self, keys: KeyPair) -> Self {
        self.additional_key = Some(keys);
        self
    }
}

impl Blake3Server {
    /// Serves CURVE clients too, on the same endpoints: those of libzmq, while they are moved over one at a
    /// time. Each client is asked about by the authenticator of its mechanism; [`Peer::mechanism`] says which
    /// that was. Keys and authenticator may be the same as those for BLAKE3.
    ///
    /// A client has one mechanism and accepts no other, so nobody on the path can choose for it. There is no
    /// such choice with plain text.
    ///
    /// A socket with both may be bound over `tcp` and `ipc`. It cannot connect, nor be bound over `ws` or `wss`
    /// ([`Unusable::SeveralMechanisms`]).
    ///
    /// ```
    /// # use sealwire::{Generate as _, KeyPair, Security, SocketType, auth::AllowedKeys, blocking::Socket};
    /// let (keys, alice) = (KeyPair::generate(), KeyPair::generate());
    /// let allowed = AllowedKeys::new().allow_as(alice.public(), "alice");
    /// let both = Security::blake3_server(keys.clone(), allowed.clone())
    ///     .or_curve_server(keys.clone(), allowed);
    /// let pull = Socket::builder(SocketType::Pull).security(both).build_blocking()?;
    /// let endpoint = pull.bind("tcp://127.0.0.1:0")?;
    ///
    /// let clients: [Security; 2] = [
    ///     Security::blake3_client_with_keys(keys.public(), alice.clone()).into(),
    ///     Security::curve_client(keys.public(), alice),
    /// ];
    /// for security in clients {
    ///     let push = Socket::builder(SocketType::Push).security(security).build_blocking()?;
    ///     push.connect(&endpoint)?;
    ///     push.send("moved over, or not yet")?;
    ///     assert_eq!(pull.recv()?.peer().unwrap().user_id(), Some("alice"));
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// [`Peer::mechanism`]: crate::Peer::mechanism
    /// [`Unusable::SeveralMechanisms`]: crate::Unusable::SeveralMechanisms
    pub fn or_curve_server(self, keys: KeyPair, authenticator: impl Authenticator) -> Security {
        self.or_curve(CurveServer::new(keys, authenticator))
    }

    /// Serves CURVE clients too, as [`or_curve_server`](Self::or_curve_server), by a server that was made before, such as one
    /// with an [additional key](CurveServer::with_additional_key).
    pub fn or_curve(self, server: CurveServer) -> Security {
        Security(Kind::Servers(Servers {
            first: EncryptedServer::Blake3(self),
            others: vec![EncryptedServer::Curve(server)],
        }))
    }
}

impl From<EncryptedServer> for Security {
    fn from(only: EncryptedServer) -> Self {
        Security(Kind::Servers(Servers {
            first: only,
            others: Vec::new(),
        }))
    }
}

impl From<Blake3Server> for Security {
    fn from(server: Blake3Server) -> Self {
        EncryptedServer::Blake3(server).into()
    }
}

impl From<CurveServer> for Security {
    fn from(server: CurveServer) -> Self {
        EncryptedServer::Curve(server).into()
    }
}

/// Shows public keys only.
impl fmt::Debug for Servers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.others.is_empty() {
            return self.first.fmt(f);
        }
        f.debug_list().entries(self.iter()).finish()
    }
}

impl fmt::Debug for EncryptedServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EncryptedServer::Blake3(server) => server.fmt(f),
            EncryptedServer::Curve(server) => server.fmt(f),
        }
    }
}

/// Shows public keys only.
impl fmt::Debug for CurveServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CurveServer")
            .field("public_key", &self.keys.public())
            .finish()
    }
}
