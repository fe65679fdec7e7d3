//! PLAIN against libzmq: every pairing, either side server; and wrong passwords.

use interop::Side::{Ours, Theirs};
use interop::{LIBZMQ, PYZMQ, Path, await_failure, options};
use sealwire::auth::PasswordTable;
use sealwire::{FailureCause, ProtocolError, Security, SocketType};

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

#[test]
fn a_wrong_password_is_refused_by_us() {
    let path = Path::plain(LIBZMQ, Ours, Ours);
    if !path.program.is_there() {
        return;
    }
    let mut table = PasswordTable::new();
    table.insert("admin", "another");
    let mut sides = path.protection.sides();
    sides.ours = Security::plain_server(table);
    let script = ["--type", "push", "--send", "1"];
    let link = path.open_with(options(SocketType::Pull), &script, sides);
    let failure = await_failure(&link.monitor);
    let refused = matches!(
        failure.cause(),
        FailureCause::Protocol(ProtocolError::Refused(_))
    );
    assert!(refused, "{failure}");
}

#[test]
fn a_wrong_password_is_refused_by_libzmq() {
    let path = Path::plain(LIBZMQ, Theirs, Theirs);
    if !path.program.is_there() {
        return;
    }
    let mut sides = path.protection.sides();
    sides.ours = Security::plain_client("admin", "another");
    let script = ["--type", "pull", "--recv", "1"];
    let link = path.open_with(options(SocketType::Push), &script, sides);
    let failure = await_failure(&link.monitor);
    let FailureCause::Protocol(ProtocolError::PeerRefused { reason, .. }) = failure.cause() else {
        panic!("{failure}")
    };
    assert_eq!(reason, "400");
}
