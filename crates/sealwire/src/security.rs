//! How a socket protects its connections.

mod blake3;

use std::fmt;

use sealwire_zmtp::mechanism::{DataPhase, FrameOrder};
use sealwire_zmtp::{KeyPair, Mechanism, PublicKey};

pub use blake3::{Blake3Client, Blake3Server};

use crate::auth::{
    Authenticator, Client, Decision, PlainAuthenticator, PlainClient, PlainCredentials,
    SharedAuthenticator, SharedPlainAuthenticator,
};
use crate::peer::Peer;

/// The mechanism of a socket, with its keys. All its connections use it, except `inproc` ones,
/// which never leave the process.
///
/// Which side is the server has nothing to do with who binds: a BLAKE3 or CURVE server may connect and a
/// client may bind.
///
/// What only one mechanism has is set on a type of its own, [`Blake3Server`] or [`Blake3Client`],
/// before it becomes a `Security`. Functions of this crate take either; `Security::from` converts.
#[derive(Clone)]
pub struct Security(pub(crate) Kind);

#[derive(Clone)]
pub(crate) enum Kind {
    /// Nobody said anything: plain text, which must not leave the machine.
    Unspecified,
    PlainText,
    Client(Blake3Client),
    Server(Blake3Server),
    CurveClient {
        server_key: PublicKey,
        keys: KeyPair,
        frame_order: FrameOrder,
    },
    CurveServer {
        keys: KeyPair,
        authenticator: SharedAuthenticator,
        frame_order: FrameOrder,
    },
    PlainClient {
        credentials: PlainCredentials,
    },
    PlainServer {
        authenticator: SharedPlainAuthenticator,
    },
}

impl Security {
    /// No encryption and no authentication: anyone on the path reads and writes. Without it, a
    /// socket that was given no security stays on this machine
    /// ([`Unusable::NoSecurity`](crate::Unusable::NoSecurity)).
    pub fn plain_text() -> Self {
        Security(Kind::PlainText)
    }

    pub(crate) fn unspecified() -> Self {
        Security(Kind::Unspecified)
    }

    pub(crate) fn is_unspecified(&self) -> bool {
        matches!(self.0, Kind::Unspecified)
    }

    /// BLAKE3ZMQ client that knows the server by its key and stays anonymous: it makes a key pair
    /// for each connection.
    pub fn blake3_client(server_key: PublicKey) -> Blake3Client {
        Blake3Client {
            server_key,
            keys: None,
            data_phase: DataPhase::default(),
        }
    }

    /// BLAKE3ZMQ client that proves to the server who it is.
    pub fn blake3_client_with_keys(server_key: PublicKey, keys: KeyPair) -> Blake3Client {
        Blake3Client {
            server_key,
            keys: Some(keys),
            data_phase: DataPhase::default(),
        }
    }

    /// BLAKE3ZMQ server. The authenticator decides about every client; there is no default, so
    /// that letting everybody in is something one writes down
    /// ([`AllowAnyone`](crate::auth::AllowAnyone)).
    pub fn blake3_server(keys: KeyPair, authenticator: impl Authenticator) -> Blake3Server {
        Blake3Server {
            keys,
            additional_keys: Vec::new(),
            authenticator: SharedAuthenticator::new(authenticator),
            data_phase: DataPhase::default(),
        }
    }

    /// CURVE client, for peers that speak libzmq's mechanism: it knows the server by its key and
    /// proves who it is itself. CURVE has no anonymous clients: one that nobody should tell apart
    /// makes a pair for itself (`KeyPair::generate()`).
    pub fn curve_client(server_key: PublicKey, keys: KeyPair) -> Self {
        Security(Kind::CurveClient {
            server_key,
            keys,
            frame_order: FrameOrder::default(),
        })
    }

    /// [CURVE client](Security::curve_client) for a server that skips numbers of frames, which
    /// libzmq does not.
    ///
    /// **What it gives up:** someone on the path can drop frames, also parts of a message, and
    /// nobody notices. A warning event says so on every connection.
    pub fn curve_client_accepting_gaps_unauthenticated_order(
        server_key: PublicKey,
        keys: KeyPair,
    ) -> Self {
        Security(Kind::CurveClient {
            server_key,
            keys,
            frame_order: FrameOrder::GapsUnauthenticatedOrder,
        })
    }

    /// CURVE server, for peers that speak libzmq's mechanism. The authenticator decides about every
    /// client; a fixed set of keys ([`AllowedKeys`](crate::auth::AllowedKeys)) is one.
    pub fn curve_server(keys: KeyPair, authenticator: impl Authenticator) -> Self {
        Security(Kind::CurveServer {
            keys,
            authenticator: SharedAuthenticator::new(authenticator),
            frame_order: FrameOrder::default(),
        })
    }

    /// [CURVE server](Security::curve_server) for clients that skip numbers of frames, which libzmq
    /// does not.
    ///
    /// **What it gives up:** someone on the path can drop frames, also parts of a message, and
    /// nobody notices. A warning event says so on every connection.
    pub fn curve_server_accepting_gaps_unauthenticated_order(
        keys: KeyPair,
        authenticator: impl Authenticator,
    ) -> Self {
        Security(Kind::CurveServer {
            keys,
            authenticator: SharedAuthenticator::new(authenticator),
            frame_order: FrameOrder::GapsUnauthenticatedOrder,
        })
    }

    /// PLAIN client: it shows a username and a password, each of at most 255 bytes, to whoever
    /// answers.
    ///
    /// **Nothing is encrypted**, the password included: for loopback and Unix sockets only. A
    /// warning event says so on every other connection.
    pub fn plain_client(username: impl Into<String>, password: impl Into<Vec<u8>>) -> Self {
        let credentials = PlainCredentials::new(username.into(), password);
        Security(Kind::PlainClient { credentials })
    }

    /// PLAIN server. The authenticator decides about every client; a
    /// [`PasswordTable`](crate::auth::PasswordTable) is one, and so is a
    /// [`PasswordFile`](crate::auth::PasswordFile).
    ///
    /// **Nothing is encrypted**, the passwords included: for loopback and Unix sockets only. A
    /// warning event says so on every other connection.
    pub fn plain_server(authenticator: impl PlainAuthenticator) -> Self {
        Security(Kind::PlainServer {
            authenticator: SharedPlainAuthenticator::new(authenticator),
        })
    }

    /// Whether a password goes over the connection as it is.
    pub(crate) fn shows_a_password(&self) -> bool {
        matches!(self.0, Kind::PlainClient { .. } | Kind::PlainServer { .. })
    }

    /// Who decides about the clients of a server.
    pub(crate) fn decider(&self) -> Option<Decider<'_>> {
        match &self.0 {
            Kind::Server(Blake3Server { authenticator, .. })
            | Kind::CurveServer { authenticator, .. } => Some(Decider::Keys(authenticator)),
            Kind::PlainServer { authenticator } => Some(Decider::Passwords(authenticator)),
            Kind::Unspecified
            | Kind::PlainText
            | Kind::Client(_)
            | Kind::CurveClient { .. }
            | Kind::PlainClient { .. } => None,
        }
    }

    /// Whether clients are let in by nobody but a ZAP handler, where there is one.
    pub(crate) fn leaves_it_to_zap(&self) -> bool {
        match self.decider() {
            Some(Decider::Keys(authenticator)) => authenticator.leaves_it_to_zap(),
            Some(Decider::Passwords(authenticator)) => authenticator.leaves_it_to_zap(),
            None => false,
        }
    }

    /// The revision of who decides about clients; `None` where earlier decisions stand.
    pub(crate) fn revision(&self) -> Option<u64> {
        match self.decider()? {
            Decider::Keys(authenticator) => authenticator.revision(),
            Decider::Passwords(authenticator) => authenticator.revision(),
        }
    }

    /// Decides again about a client that was let in. `None` where there is nothing to decide.
    pub(crate) fn decide_again(&self, peer: &Peer) -> Option<Decision> {
        match self.decider()? {
            Decider::Keys(authenticator) => Some(authenticator.decide(&Client::of(peer)?)),
            Decider::Passwords(authenticator) => {
                Some(authenticator.decide(&PlainClient::of(peer)?))
            }
        }
    }

    pub(crate) fn additional_keys(&self) -> usize {
        match &self.0 {
            Kind::Server(server) => server.additional_keys.len(),
            _ => 0,
        }
    }

    /// Returns which mechanism this is.
    pub fn mechanism(&self) -> Mechanism {
        match self.0 {
            Kind::Unspecified | Kind::PlainText => Mechanism::Null,
            Kind::Client(_) | Kind::Server(_) => Mechanism::Blake3,
            Kind::CurveClient { .. } | Kind::CurveServer { .. } => Mechanism::Curve,
            Kind::PlainClient { .. } | Kind::PlainServer { .. } => Mechanism::Plain,
        }
    }
}

/// Who decides about clients, by what these show.
#[derive(Clone, Copy)]
pub(crate) enum Decider<'a> {
    Keys(&'a SharedAuthenticator),
    Passwords(&'a SharedPlainAuthenticator),
}

impl fmt::Debug for Security {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Unspecified => f.write_str("Unspecified"),
            Kind::PlainText => f.write_str("PlainText"),
            Kind::Client(client) => client.fmt(f),
            Kind::Server(server) => server.fmt(f),
            Kind::CurveClient {
                server_key, keys, ..
            } => f
                .debug_struct("CurveClient")
                .field("server_key", server_key)
                .field("public_key", &keys.public())
                .finish(),
            Kind::CurveServer { keys, .. } => f
                .debug_struct("CurveServer")
                .field("public_key", &keys.public())
                .finish(),
            Kind::PlainClient { credentials } => {
                f.debug_tuple("PlainClient").field(credentials).finish()
            }
            Kind::PlainServer { .. } => f.write_str("PlainServer"),
        }
    }
}
