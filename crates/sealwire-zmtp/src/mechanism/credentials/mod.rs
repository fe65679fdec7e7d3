//! The credentials that a peer shows to an authenticator.

mod password;

use alloc::boxed::Box;

use bytes::Bytes;

pub use self::password::PlainCredentials;
use super::local::PeerMetadata;
use crate::keys::PublicKey;
use crate::socket_type::SocketType;
use crate::wire::metadata::Metadata;

/// A client that asks to be let in, with a key that was verified.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Credentials {
    /// The client's long-term key, the only thing here that is proven.
    pub public_key: PublicKey,
    /// The client's socket type; it fits the local one.
    pub socket_type: SocketType,
    /// The routing id that the client claims; empty for none.
    pub routing_id: Bytes,
    /// Everything the client says about itself.
    pub metadata: Metadata,
}

/// What a peer asks to be let in with. Answered with
/// [`Connection::authorize`](crate::Connection::authorize); nothing goes out until then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Nothing: [`null_authorized`](crate::MechanismConfig::null_authorized). The caller knows the
    /// address.
    Address,
    /// A username and a password, which the caller compares: a PLAIN server.
    Password(Box<PlainCredentials>),
    /// A key that it proved to own: a server of BLAKE3 or CURVE.
    Key(Box<Credentials>),
}

impl Claim {
    /// That of a peer with this key and metadata.
    pub(in crate::mechanism) fn key(public_key: PublicKey, metadata: &PeerMetadata) -> Self {
        Claim::Key(Box::new(Credentials {
            public_key,
            socket_type: metadata.socket_type,
            routing_id: metadata.routing_id.clone(),
            metadata: metadata.all.clone(),
        }))
    }
}
