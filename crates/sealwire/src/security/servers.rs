//! The servers behind a listener: one server, or several from which each client has chosen one.

use std::{fmt, iter, slice};

use sealwire_zmtp::mechanism::FrameOrder;
use sealwire_zmtp::{KeyPair, Mechanism};

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

#[derive(Clone)]
pub(crate) struct CurveServer {
    pub(crate) keys: KeyPair,
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

    pub(super) fn authenticator(&self) -> &GuardedAuthenticator {
        match self {
            EncryptedServer::Blake3(server) => &server.authenticator,
            EncryptedServer::Curve(server) => &server.authenticator,
        }
    }
}

impl CurveServer {
    pub(super) fn new(keys: KeyPair, authenticator: impl Authenticator) -> Self {
        CurveServer {
            keys,
            authenticator: GuardedAuthenticator::new(authenticator),
            frame_order: FrameOrder::default(),
        }
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
        Security(Kind::Servers(Servers {
            first: EncryptedServer::Blake3(self),
            others: vec![EncryptedServer::Curve(CurveServer::new(
                keys,
                authenticator,
            ))],
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
            EncryptedServer::Curve(server) => f
                .debug_struct("CurveServer")
                .field("public_key", &server.keys.public())
                .finish(),
        }
    }
}
