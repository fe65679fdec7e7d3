//! What a client of BLAKE3 or CURVE shows to the authenticator.

use bytes::Bytes;

use crate::keys::PublicKey;
use crate::socket_type::SocketType;
use crate::wire::metadata::Metadata;

/// Who asks to be let in, with a key that was verified.
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
