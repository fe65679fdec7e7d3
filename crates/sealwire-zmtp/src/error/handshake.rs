//! Handshakes that cannot succeed, and those that were interfered with.

use alloc::string::String;
use alloc::vec::Vec;

use thiserror::Error;

use super::Step;
use crate::mechanism_type::Mechanism;
use crate::socket_type::SocketType;

/// Two sides that both speak ZMTP and cannot be connected: one of them must be set differently.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Incompatible {
    /// The security mechanisms differ.
    #[error(
        "the peer uses the mechanism {theirs}, this side {}: set both alike",
        alternatives(ours)
    )]
    MechanismMismatch {
        /// This side's mechanism; those of a server that has several.
        ours: Vec<Mechanism>,
        /// The peer's, at most 20 bytes before unprintable ones were escaped.
        theirs: String,
    },
    /// Both sides are servers of the mechanism.
    #[error("both sides are servers of the mechanism: make one of them the client")]
    BothServers,
    /// Both sides are clients of the mechanism.
    #[error("both sides are clients of the mechanism: make one of them the server")]
    BothClients,
    /// The socket types do not fit.
    #[error("a {ours} socket cannot be connected to a {theirs} socket")]
    SocketTypes {
        /// This side's type.
        ours: SocketType,
        /// The peer's type.
        theirs: SocketType,
    },
}

/// The names, with `or` between them.
fn alternatives(mechanisms: &[Mechanism]) -> String {
    let names: Vec<&str> = mechanisms.iter().map(|one| one.name()).collect();
    names.join(" or ")
}

/// The fault of a handshake command.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum HandshakeError {
    /// HELLO has another size, version or padding than the mechanism's version 1.0.
    #[error("HELLO is not of version 1.0 of the mechanism")]
    HelloMalformed,
    /// HELLO does not open. It is not answered.
    #[error("HELLO does not open: the client was given another server key, or HELLO was changed")]
    HelloUnreadable,
    /// WELCOME has another size or does not open.
    #[error("WELCOME does not open: it was changed on the way or does not come from this server")]
    WelcomeUnreadable,
    /// The cookie was made for another connection, with an older key, or by someone else.
    #[error("the cookie is not one this server gave to this connection recently")]
    CookieRejected,
    /// INITIATE is too short to hold its fields.
    #[error("INITIATE is shorter than its fields")]
    InitiateMalformed,
    /// INITIATE does not open.
    #[error("INITIATE does not open: it was changed or belongs to another handshake")]
    InitiateUnreadable,
    /// The client does not prove that it owns the key it names.
    #[error("the client does not prove that it owns its public key")]
    VouchInvalid,
    /// READY is too short to hold its fields.
    #[error("READY is shorter than its fields")]
    ReadyMalformed,
    /// READY does not open.
    #[error("READY does not open: it was changed or belongs to another handshake")]
    ReadyUnreadable,
    /// A public key is in a form that has a canonical twin.
    #[error("a public key is not in canonical form")]
    KeyNotCanonical,
    /// A public key of low order.
    #[error("a public key has low order")]
    WeakKey,
    /// A command or a message that has no place at this step.
    #[error("something else arrived where {expected} was expected")]
    UnexpectedCommand {
        /// What should have come.
        expected: Step,
    },
    /// Bytes behind the last command that the peer could send before an answer.
    #[error("the peer sent more before it could have had the answer to its last command")]
    UnexpectedData,
}
