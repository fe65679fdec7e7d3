//! PLAIN against libzmq: every pairing, either side server, either side bound.

use interop::Side::{Ours, Theirs};
use interop::{LIBZMQ, PYZMQ, Path};

use crate::{every_pairing, every_pairing_but_req};

#[test]
fn libzmq_is_the_client() {
    every_pairing(Path::plain(LIBZMQ, Ours, Ours));
}

#[test]
fn libzmq_is_the_server() {
    every_pairing(Path::plain(LIBZMQ, Theirs, Theirs));
}

#[test]
fn libzmq_is_the_client_and_binds() {
    every_pairing(Path::plain(LIBZMQ, Theirs, Ours));
}

#[test]
fn libzmq_is_the_server_and_connects() {
    every_pairing(Path::plain(LIBZMQ, Ours, Theirs));
}

#[test]
fn pyzmq_is_the_client() {
    every_pairing(Path::plain(PYZMQ, Ours, Ours));
}

#[test]
fn pyzmq_is_the_server() {
    every_pairing_but_req(Path::plain(PYZMQ, Theirs, Theirs));
}
