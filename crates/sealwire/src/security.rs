//! How a socket protects its connections.

mod blake3;
mod servers;
mod terms;

use std::{fmt, iter};

use sealwire_zmtp::mechanism::{DataPhase, FrameOrder};
use sealwire_zmtp::{KeyPair, Mechanism, PublicKey};

pub use blake3::{Blake3Client, Blake3Server};
pub use servers::CurveServer;
pub(crate) use servers::{EncryptedServer, Servers};
pub(crate) use terms::{Outcome, Terms};

use crate::auth::{
    Authenticator, Client, DeciderId, Decision, GuardedAuthenticator, GuardedPlainAuthenticator,
    PlainAuthenticator, PlainClient, PlainCredentials,
};
use crate::peer::Peer;

/// The mechanism of a socket, with its keys. All its connections use it, except `inproc` ones,
/// which never leave the process. A server may have [two](Blake3Server::or_curve_server), from which each
/// client has chosen one.
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
    /// Encrypted: what stands behind a listener.
    Servers(Servers),
    Blake3Client(Blake3Client),
    CurveClient {
        server_key: PublicKey,
        keys: KeyPair,
        frame_order: FrameOrder,
    },
    PlainClient {
        credentials: PlainCredentials,
    },
    PlainServer {
        authenticator: GuardedPlainAuthenticator,
    },
}

impl Security {
    /// Turns encryption and authentication off: anyone on the path reads and writes. Without it, a socket
    /// that was given no security stays on this machine
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

    /// Makes a BLAKE3ZMQ client that knows the server by its key and stays anonymous: it makes a key pair for
    /// each connection.
    pub fn blake3_client(server_key: PublicKey) -> Blake3Client {
        Blake3Client {
            server_key,
            keys: None,
            data_phase: DataPhase::default(),
        }
    }

    /// Makes a BLAKE3ZMQ client that proves to the server who it is.
    pub fn blake3_client_with_keys(server_key: PublicKey, keys: KeyPair) -> Blake3Client {
        Blake3Client {
            server_key,
            keys: Some(keys),
            data_phase: DataPhase::default(),
        }
    }

    /// Makes a BLAKE3ZMQ server. The authenticator decides about every client; there is no default, so that
    /// letting everybody in is something one writes down ([`AllowAnyone`](crate::auth::AllowAnyone)).
    pub fn blake3_server(keys: KeyPair, authenticator: impl Authenticator) -> Blake3Server {
        Blake3Server {
            keys,
            additional_keys: Vec::new(),
            authenticator: GuardedAuthenticator::new(authenticator),
            data_phase: DataPhase::default(),
        }
    }

    /// Makes a CURVE client, for peers that speak libzmq's mechanism: it knows the server by its key and
    /// proves who it is itself. CURVE has no anonymous clients: one that nobody should tell apart makes a
    /// pair for itself (`KeyPair::generate()`).
    pub fn curve_client(server_key: PublicKey, keys: KeyPair) -> Self {
        Security(Kind::CurveClient {
            server_key,
            keys,
            frame_order: FrameOrder::default(),
        })
    }

    /// Makes a [CURVE client](Security::curve_client) for a server that skips numbers of frames, which libzmq
    /// does not.
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

    /// Makes a CURVE server, for peers that speak libzmq's mechanism. The authenticator decides about every
    /// client; a fixed set of keys ([`AllowedKeys`](crate::auth::AllowedKeys)) is one. [`CurveServer`] has what
    /// can be set beside that.
    pub fn curve_server(keys: KeyPair, authenticator: impl Authenticator) -> Self {
        CurveServer::new(keys, authenticator).into()
    }

    /// Makes a [CURVE server](Security::curve_server) for clients that skip numbers of frames, which libzmq
    /// does not.
    ///
    /// **What it gives up:** someone on the path can drop frames, also parts of a message, and
    /// nobody notices. A warning event says so on every connection.
    pub fn curve_server_accepting_gaps_unauthenticated_order(
        keys: KeyPair,
        authenticator: impl Authenticator,
    ) -> Self {
        let mut server = CurveServer::new(keys, authenticator);
        server.frame_order = FrameOrder::GapsUnauthenticatedOrder;
        server.into()
    }

    /// Makes a PLAIN client: it shows a username and a password, each of at most 255 bytes, to any server
    /// that answers. A socket with longer ones cannot be built.
    ///
    /// **Nothing is encrypted**, the password included: for loopback and Unix sockets only. A
    /// warning event says so on every other connection.
    pub fn plain_client(username: impl Into<String>, password: impl Into<Vec<u8>>) -> Self {
        let credentials = PlainCredentials::new(username.into(), password);
        Security(Kind::PlainClient { credentials })
    }

    /// Makes a PLAIN server. The authenticator decides about every client; a
    /// [`PasswordTable`](crate::auth::PasswordTable) is one, and so is a
    /// [`PasswordFile`](crate::auth::PasswordFile).
    ///
    /// **Nothing is encrypted**, the passwords included: for loopback and Unix sockets only. A
    /// warning event says so on every other connection.
    pub fn plain_server(authenticator: impl PlainAuthenticator) -> Self {
        Security(Kind::PlainServer {
            authenticator: GuardedPlainAuthenticator::new(authenticator),
        })
    }

    /// Whether a password goes over the connection as it is.
    pub(crate) fn shows_a_password(&self) -> bool {
        matches!(self.0, Kind::PlainClient { .. } | Kind::PlainServer { .. })
    }

    /// The username and password of a PLAIN client.
    pub(crate) fn credentials(&self) -> Option<&PlainCredentials> {
        match &self.0 {
            Kind::PlainClient { credentials } => Some(credentials),
            _ => None,
        }
    }

    /// The decider about the clients of a server that come with this mechanism.
    pub(crate) fn decider(&self, mechanism: Mechanism) -> Option<Decider<'_>> {
        let mut deciders = self.deciders();
        deciders.find_map(|(of, decider)| (of == mechanism).then_some(decider))
    }

    /// The deciders about clients, with the mechanism of these.
    fn deciders(&self) -> impl Iterator<Item = (Mechanism, Decider<'_>)> {
        let of_passwords = match &self.0 {
            Kind::PlainServer { authenticator } => {
                Some((Mechanism::Plain, Decider::Passwords(authenticator)))
            }
            _ => None,
        };
        let of_keys = self
            .servers()
            .map(|server| (server.mechanism(), Decider::Keys(server.authenticator())));
        of_passwords.into_iter().chain(of_keys)
    }

    /// The encrypted servers, none of most sockets.
    fn servers(&self) -> impl Iterator<Item = &EncryptedServer> {
        let servers = match &self.0 {
            Kind::Servers(servers) => Some(servers.iter()),
            _ => None,
        };
        servers.into_iter().flatten()
    }

    /// Whether clients are let in by nobody but a ZAP handler, where there is one.
    pub(crate) fn leaves_it_to_zap(&self) -> bool {
        self.deciders()
            .any(|(_, decider)| decider.leaves_it_to_zap())
    }

    /// The mechanisms with which no client is let in.
    pub(crate) fn closed_mechanisms(&self) -> impl Iterator<Item = Mechanism> {
        let deciders = self.deciders();
        deciders.filter_map(|(of, decider)| decider.allows_nobody().then_some(of))
    }

    /// The revisions of those whose earlier decisions may be others now, by the mechanism of their clients.
    pub(crate) fn revisions(&self) -> Vec<(Mechanism, u64)> {
        let revisions = self
            .deciders()
            .map(|(of, decider)| Some((of, decider.revision()?)));
        revisions.flatten().collect()
    }

    /// Decides again about a client that was let in. `None` where the earlier decision stands.
    pub(crate) fn decide_again(&self, peer: &Peer) -> Option<Decision> {
        self.decider(peer.mechanism()?)?.revision()?;
        self.decide_anew(peer)
    }

    /// Decides about a client that another authenticator let in. `None` where there is nobody to ask.
    pub(crate) fn decide_anew(&self, peer: &Peer) -> Option<Decision> {
        match self.decider(peer.mechanism()?)? {
            Decider::Keys(authenticator) => Some(authenticator.decide(&Client::of(peer)?)),
            Decider::Passwords(authenticator) => {
                Some(authenticator.decide(&PlainClient::of(peer)?))
            }
        }
    }

    pub(crate) fn additional_keys(&self) -> usize {
        let of_blake3 = self.servers().map(|server| match server {
            EncryptedServer::Blake3(server) => server.additional_keys.len(),
            EncryptedServer::Curve(_) => 0,
        });
        of_blake3.sum()
    }

    /// Whether the greeting of a client decides which mechanism is used.
    pub(crate) fn leaves_a_choice(&self) -> bool {
        self.mechanisms().nth(1).is_some()
    }

    /// The only mechanism, or the one that a client is told about which none fits.
    pub(crate) fn first_mechanism(&self) -> Mechanism {
        match &self.0 {
            Kind::Unspecified | Kind::PlainText => Mechanism::Null,
            Kind::Servers(servers) => servers.first.mechanism(),
            Kind::Blake3Client(_) => Mechanism::Blake3,
            Kind::CurveClient { .. } => Mechanism::Curve,
            Kind::PlainClient { .. } | Kind::PlainServer { .. } => Mechanism::Plain,
        }
    }

    /// Returns the mechanisms from which a peer has to use one: the only one of most sockets, and each of a
    /// server that has [two](Blake3Server::or_curve_server).
    pub fn mechanisms(&self) -> impl Iterator<Item = Mechanism> {
        let others = self.servers().skip(1).map(EncryptedServer::mechanism);
        iter::once(self.first_mechanism()).chain(others)
    }
}

/// A decider about clients, by what these show.
#[derive(Clone, Copy)]
pub(crate) enum Decider<'a> {
    Keys(&'a GuardedAuthenticator),
    Passwords(&'a GuardedPlainAuthenticator),
}

impl Decider<'_> {
    /// Whether it lets in everybody whom a ZAP handler lets in.
    pub(crate) fn leaves_it_to_zap(self) -> bool {
        match self {
            Decider::Keys(authenticator) => authenticator.leaves_it_to_zap(),
            Decider::Passwords(authenticator) => authenticator.leaves_it_to_zap(),
        }
    }

    fn allows_nobody(self) -> bool {
        match self {
            Decider::Keys(authenticator) => authenticator.allows_nobody(),
            Decider::Passwords(authenticator) => authenticator.allows_nobody(),
        }
    }

    pub(crate) fn id(self) -> DeciderId {
        match self {
            Decider::Keys(authenticator) => authenticator.id(),
            Decider::Passwords(authenticator) => authenticator.id(),
        }
    }

    /// What it may decide otherwise for one day; `None` where its decisions stand.
    pub(crate) fn revision(self) -> Option<u64> {
        match self {
            Decider::Keys(authenticator) => authenticator.revision(),
            Decider::Passwords(authenticator) => authenticator.revision(),
        }
    }
}

impl fmt::Debug for Security {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Unspecified => f.write_str("Unspecified"),
            Kind::PlainText => f.write_str("PlainText"),
            Kind::Blake3Client(client) => client.fmt(f),
            Kind::Servers(servers) => servers.fmt(f),
            Kind::CurveClient {
                server_key, keys, ..
            } => f
                .debug_struct("CurveClient")
                .field("server_key", server_key)
                .field("public_key", &keys.public())
                .finish(),
            Kind::PlainClient { credentials } => {
                f.debug_tuple("PlainClient").field(credentials).finish()
            }
            Kind::PlainServer { .. } => f.write_str("PlainServer"),
        }
    }
}
