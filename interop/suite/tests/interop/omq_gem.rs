//! The gem omq for Ruby with omq-blake3zmq: NULL, and BLAKE3 with a continuous keystream.

use interop::Side::{Ours, Theirs};
use interop::{OMQ_GEM, Path, Protection, Side, Transport};

use crate::every_pairing;

fn path(binds: Side, server: Side, anonymous: bool) -> Path {
    let protection = Protection::Blake3 {
        server,
        anonymous,
        continuous: true,
    };
    Path::tcp(OMQ_GEM, binds, protection)
}

#[test]
fn the_gem_is_a_known_client() {
    every_pairing(path(Ours, Ours, false));
}

#[test]
fn the_gem_is_an_anonymous_client_that_binds() {
    every_pairing(path(Theirs, Ours, true));
}

#[test]
fn the_gem_is_the_server_of_a_known_client() {
    every_pairing(path(Theirs, Theirs, false));
}

#[test]
fn the_gem_is_a_server_that_connects() {
    every_pairing(path(Ours, Theirs, false));
}

#[test]
fn the_gem_without_security() {
    for transport in [Transport::Tcp, Transport::Ipc] {
        every_pairing(Path::null(OMQ_GEM, transport, Theirs));
    }
}
