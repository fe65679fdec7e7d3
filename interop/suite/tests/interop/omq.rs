//! omq-tokio 0.13: BLAKE3 with a nonce for each message. Without security it reorders messages now
//! and then, so order cannot be tested there.

use interop::Side::{Ours, Theirs};
use interop::{OMQ, Path, Protection, Side};

use crate::every_pairing;

/// This implementation calls itself server in its greeting when it binds, so there the server of
/// the mechanism binds and the client connects.
fn path(server: Side, anonymous: bool) -> Path {
    let protection = Protection::Blake3 {
        server,
        anonymous,
        continuous: false,
    };
    Path::tcp(OMQ, server, protection)
}

#[test]
fn omq_is_a_known_client() {
    every_pairing(path(Ours, false));
}

#[test]
fn omq_is_an_anonymous_client() {
    every_pairing(path(Ours, true));
}

#[test]
fn omq_is_the_server_of_a_known_client() {
    every_pairing(path(Theirs, false));
}

#[test]
fn omq_is_the_server_of_an_anonymous_client() {
    every_pairing(path(Theirs, true));
}

#[test]
fn omq_is_the_client_of_a_server_with_two_mechanisms() {
    every_pairing(Path::either(OMQ, false));
}
