//! Configurations that cannot be used.

use thiserror::Error;

/// Why a [`Config`](crate::Config), or metadata of the local side, cannot be used.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The routing id has more than 255 bytes.
    #[error("the routing id has {size} bytes; at most 255 are allowed")]
    RoutingIdTooLong {
        /// Its size in bytes.
        size: usize,
    },
    /// The username or the password for PLAIN has more than 255 bytes.
    #[error("a PLAIN username and its password may have at most 255 bytes each")]
    CredentialTooLong,
    /// The heartbeat interval is zero.
    #[error("the heartbeat interval must not be zero; leave heartbeats out to have none")]
    HeartbeatInterval,
    /// A property name is empty, longer than 255, or has other characters than ZMTP allows.
    #[error(
        "a metadata name must have 1 to 255 characters, each a letter, a digit or one of '-_.+'"
    )]
    PropertyName,
    /// A name occurs twice, or is one of `Socket-Type` and `Identity`, which are set elsewhere.
    #[error("a metadata name occurs twice; Socket-Type and Identity are added by the connection")]
    DuplicateProperty,
    /// The metadata would not fit into the handshake.
    #[error("the metadata takes {size} bytes; at most 3,584 bytes in 64 properties are allowed")]
    MetadataTooLarge {
        /// Its encoded size in bytes.
        size: usize,
    },
}
