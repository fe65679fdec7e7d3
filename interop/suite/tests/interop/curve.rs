//! CURVE against libzmq: every pairing, either side server, either side bound.

use interop::Side::{Ours, Theirs};
use interop::{LIBZMQ, PYZMQ, Path};

use crate::{every_pairing, every_pairing_but_req};

#[test]
fn libzmq_is_the_client_and_connects() {
    every_pairing(Path::curve(LIBZMQ, Ours, Ours));
}

#[test]
fn libzmq_is_the_client_and_binds() {
    every_pairing(Path::curve(LIBZMQ, Theirs, Ours));
}

#[test]
fn libzmq_is_the_server_and_connects() {
    every_pairing(Path::curve(LIBZMQ, Ours, Theirs));
}

#[test]
fn libzmq_is_the_server_and_binds() {
    every_pairing(Path::curve(LIBZMQ, Theirs, Theirs));
}

#[test]
fn pyzmq_is_the_client() {
    every_pairing(Path::curve(PYZMQ, Ours, Ours));
}

#[test]
fn libzmq_is_the_client_of_a_server_with_two_mechanisms() {
    every_pairing(Path::either(LIBZMQ, true));
}

#[test]
fn pyzmq_is_the_client_of_a_server_with_two_mechanisms() {
    every_pairing(Path::either(PYZMQ, true));
}

#[test]
fn pyzmq_is_the_server() {
    every_pairing_but_req(Path::curve(PYZMQ, Theirs, Theirs));
}
