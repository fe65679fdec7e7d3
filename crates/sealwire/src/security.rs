//! How a socket protects its connections.

use std::fmt;

use sealwire_zmtp::connection::DataPhase;
use sealwire_zmtp::{KeyPair, PublicKey};

use crate::auth::{
    Authenticator, PlainAuthenticator, PlainCredentials, SharedAuthenticator,
    SharedPlainAuthenticator,
};

/// The mechanism of a socket, with its keys. All its connections use it, except `inproc` ones,
/// which never leave the process.
///
/// Which side is the server has nothing to do with who binds: a BLAKE3 or CURVE server may connect and a
/// client may bind.
#[derive(Clone)]
pub struct Security(pub(crate) Kind);

#[derive(Clone)]
pub(crate) enum Kind {
    Null,
    Client {
        server_key: PublicKey,
        keys: Option<KeyPair>,
        data_phase: DataPhase,
    },
    Server {
        keys: KeyPair,
        further_keys: Vec<KeyPair>,
        authenticator: SharedAuthenticator,
        data_phase: DataPhase,
    },
    CurveClient {
        server_key: PublicKey,
        keys: KeyPair,
    },
    CurveServer {
        keys: KeyPair,
        authenticator: SharedAuthenticator,
    },
    PlainClient {
        credentials: PlainCredentials,
    },
    PlainServer {
        authenticator: SharedPlainAuthenticator,
    },
}

impl Security {
    /// No encryption and no authentication: anyone on the path reads and writes.
    pub fn null() -> Self {
        Security(Kind::Null)
    }

    /// BLAKE3ZMQ client that knows the server by its key and stays anonymous: it makes a key pair
    /// for each connection.
    pub fn blake3_client(server_key: PublicKey) -> Self {
        Security(Kind::Client {
            server_key,
            keys: None,
            data_phase: DataPhase::default(),
        })
    }

    /// BLAKE3ZMQ client that proves to the server who it is.
    pub fn blake3_client_with_keys(server_key: PublicKey, keys: KeyPair) -> Self {
        Security(Kind::Client {
            server_key,
            keys: Some(keys),
            data_phase: DataPhase::default(),
        })
    }

    /// BLAKE3ZMQ server. The authenticator decides about every client; there is no default, so
    /// that letting everybody in is something one writes down
    /// ([`AllowAnyone`](crate::auth::AllowAnyone)).
    pub fn blake3_server(keys: KeyPair, authenticator: impl Authenticator) -> Self {
        Security(Kind::Server {
            keys,
            further_keys: Vec::new(),
            authenticator: SharedAuthenticator::new(authenticator),
            data_phase: DataPhase::default(),
        })
    }

    /// CURVE client, for peers that speak libzmq's mechanism: it knows the server by its key and
    /// proves who it is itself. CURVE has no anonymous clients: one that nobody should tell apart
    /// makes a pair for itself (`KeyPair::generate()`).
    pub fn curve_client(server_key: PublicKey, keys: KeyPair) -> Self {
        Security(Kind::CurveClient { server_key, keys })
    }

    /// CURVE server, for peers that speak libzmq's mechanism. The authenticator decides about every
    /// client; a fixed set of keys ([`AllowedKeys`](crate::auth::AllowedKeys)) is one.
    pub fn curve_server(keys: KeyPair, authenticator: impl Authenticator) -> Self {
        Security(Kind::CurveServer {
            keys,
            authenticator: SharedAuthenticator::new(authenticator),
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
    /// [`PasswordTable`](crate::auth::PasswordTable) is one.
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

    /// BLAKE3ZMQ server: also talks to clients that know it by another key, while keys are changed.
    /// May be called for [`MAX_FURTHER_SERVER_KEYS`](sealwire_zmtp::limits::MAX_FURTHER_SERVER_KEYS)
    /// (3) keys; a socket with more cannot be built. Put the key first that most clients know:
    /// each one before the right one costs the server an X25519 agreement. Does nothing for other
    /// mechanisms and for clients.
    #[must_use]
    pub fn with_further_keys(mut self, keys: KeyPair) -> Self {
        if let Kind::Server { further_keys, .. } = &mut self.0 {
            further_keys.push(keys);
        }
        self
    }

    /// Who decides about the clients of a server.
    pub(crate) fn authenticator(&self) -> Option<&SharedAuthenticator> {
        match &self.0 {
            Kind::Server { authenticator, .. } | Kind::CurveServer { authenticator, .. } => {
                Some(authenticator)
            }
            _ => None,
        }
    }

    pub(crate) fn further_keys(&self) -> usize {
        match &self.0 {
            Kind::Server { further_keys, .. } => further_keys.len(),
            _ => 0,
        }
    }

    /// Switches to the continuous keystream of a later BLAKE3ZMQ draft, to talk to peers that
    /// speak nothing else.
    ///
    /// **What it gives up:** someone on the path can drop, repeat or reorder whole frames, and
    /// the receiver takes them and decrypts noise. A warning event says so on every connection.
    #[must_use]
    pub fn with_continuous_keystream_unauthenticated_order(mut self) -> Self {
        if let Kind::Client { data_phase, .. } | Kind::Server { data_phase, .. } = &mut self.0 {
            *data_phase = DataPhase::ContinuousKeystreamUnauthenticatedOrder;
        }
        self
    }

    /// Name of the mechanism as it stands in the greeting.
    pub fn mechanism(&self) -> &'static str {
        match self.0 {
            Kind::Null => "NULL",
            Kind::Client { .. } | Kind::Server { .. } => "BLAKE3",
            Kind::CurveClient { .. } | Kind::CurveServer { .. } => "CURVE",
            Kind::PlainClient { .. } | Kind::PlainServer { .. } => "PLAIN",
        }
    }
}

impl fmt::Debug for Security {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Null => f.write_str("Null"),
            Kind::Client {
                server_key, keys, ..
            } => f
                .debug_struct("Blake3Client")
                .field("server_key", server_key)
                .field("public_key", &keys.as_ref().map(KeyPair::public))
                .finish(),
            Kind::Server { keys, .. } => f
                .debug_struct("Blake3Server")
                .field("public_key", &keys.public())
                .finish(),
            Kind::CurveClient { server_key, keys } => f
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
