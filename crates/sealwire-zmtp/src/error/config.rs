//! Configurations that cannot be used.

use thiserror::Error;

use crate::limits::{MAX_CREDENTIAL, MAX_METADATA, MAX_PROPERTIES, MAX_ROUTING_ID};

/// Why a [`Config`](crate::Config), or metadata of the local side, cannot be used.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The routing id has more than [`MAX_ROUTING_ID`] bytes.
    #[error("the routing id has {size} bytes; at most {MAX_ROUTING_ID} are allowed")]
    RoutingIdTooLong {
        /// Its size in bytes.
        size: usize,
    },
    /// The username or the password for PLAIN has more than [`MAX_CREDENTIAL`] bytes.
    #[error("the PLAIN username or its password is longer than {MAX_CREDENTIAL} bytes: shorten it")]
    CredentialTooLong,
    /// The heartbeat interval is zero.
    #[error("the heartbeat interval is zero: give it a value above zero, or set no heartbeats")]
    HeartbeatInterval,
    /// A property name is empty, longer than 255, or has other characters than ZMTP allows.
    #[error(
        "a metadata name is empty, too long or has other characters: it may have 1 to 255 letters, digits and '-_.+'"
    )]
    PropertyName,
    /// A name occurs twice, or is one of `Socket-Type`, `Identity` and `X-Sealwire-Missed`, which are set elsewhere.
    #[error(
        "a metadata name occurs twice (the connection adds Socket-Type, Identity and X-Sealwire-Missed itself)"
    )]
    DuplicateProperty,
    /// The metadata would not fit into the handshake.
    #[error(
        "the metadata takes {size} bytes; at most {MAX_METADATA} bytes in {MAX_PROPERTIES} properties are allowed"
    )]
    MetadataTooLarge {
        /// Its encoded size in bytes.
        size: usize,
    },
}
