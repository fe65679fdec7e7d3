//! Bytes that are not ZMTP, or that exceed the limits.

use thiserror::Error;

use crate::limits::MAX_ROUTING_ID;

/// The fault of the bytes.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum WireError {
    /// The first bytes are not a ZMTP signature.
    #[error("the other end does not speak ZMTP: byte {position} of its greeting is {byte:#04x}")]
    BadSignature {
        /// Position of the wrong byte, counted from 0.
        position: usize,
        /// The wrong byte.
        byte: u8,
    },
    /// An older protocol than ZMTP 3.0.
    #[error("the peer speaks ZMTP {major}, at least 3.0 is needed: upgrade it")]
    UnsupportedVersion {
        /// Its major version.
        major: u8,
    },
    /// Flag bits that ZMTP reserves, or a command with MORE.
    #[error("the flags {flags:#04x} of a frame are not valid")]
    ReservedFlags {
        /// The flags byte.
        flags: u8,
    },
    /// A frame claims more than is accepted at this point.
    #[error("a frame claims {claimed} bytes where at most {limit} are accepted")]
    FrameTooLarge {
        /// The size that it claims, in bytes.
        claimed: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// A command is shorter than its own fields say.
    #[error("the peer sent a command that ends before its fields do")]
    TruncatedCommand,
    /// A command has bytes that belong to none of its fields, or a field of a wrong size.
    #[error(
        "the peer sent a malformed {command}: bytes behind its fields, or a field of a wrong size"
    )]
    MalformedCommand {
        /// Its name.
        command: &'static str,
    },
    /// The metadata end inside a property.
    #[error("the peer's metadata ends inside a property")]
    TruncatedMetadata,
    /// A property name is empty or has characters that ZMTP does not allow.
    #[error(
        "the peer's metadata has a name that is empty or has characters other than letters, digits and '-_.+'"
    )]
    BadPropertyName,
    /// A property is given twice.
    #[error("the peer's metadata has a property twice")]
    DuplicateProperty,
    /// More properties than are accepted.
    #[error("the peer's metadata has more than {limit} properties")]
    TooManyProperties {
        /// The limit.
        limit: usize,
    },
    /// `Socket-Type` is missing or names no known type.
    #[error("the peer's metadata names no socket type of ZMTP (Socket-Type)")]
    NoSocketType,
    /// `Identity` has more than [`MAX_ROUTING_ID`] bytes.
    #[error("the peer's routing id has {size} bytes, at most {MAX_ROUTING_ID} are allowed")]
    RoutingIdTooLong {
        /// Its size in bytes.
        size: usize,
    },
}
