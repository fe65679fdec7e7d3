//! libzmq, as the system packages it and as pyzmq brings it along: NULL, all eleven socket types.

use interop::Side::{Ours, Theirs};
use interop::Transport::{Abstract, Ipc, Tcp};
use interop::{LIBZMQ, PYZMQ, Path};

use crate::every_pairing;

#[test]
fn libzmq_connects_over_tcp() {
    every_pairing(Path::null(LIBZMQ, Tcp, Ours));
}

#[test]
fn libzmq_binds_over_tcp() {
    every_pairing(Path::null(LIBZMQ, Tcp, Theirs));
}

#[test]
fn libzmq_connects_over_ipc() {
    every_pairing(Path::null(LIBZMQ, Ipc, Ours));
}

#[test]
fn libzmq_binds_over_ipc() {
    every_pairing(Path::null(LIBZMQ, Ipc, Theirs));
}

#[test]
fn libzmq_connects_to_an_abstract_name() {
    every_pairing(Path::null(LIBZMQ, Abstract, Ours));
}

#[test]
fn libzmq_binds_an_abstract_name() {
    every_pairing(Path::null(LIBZMQ, Abstract, Theirs));
}

#[test]
fn pyzmq_connects_over_tcp() {
    every_pairing(Path::null(PYZMQ, Tcp, Ours));
}

#[test]
fn pyzmq_binds_over_tcp() {
    every_pairing(Path::null(PYZMQ, Tcp, Theirs));
}

#[test]
fn pyzmq_connects_over_ipc() {
    every_pairing(Path::null(PYZMQ, Ipc, Ours));
}

#[test]
fn pyzmq_binds_over_ipc() {
    every_pairing(Path::null(PYZMQ, Ipc, Theirs));
}
