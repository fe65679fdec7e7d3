//! A panic on a thread that a hub takes: nobody waits for what that thread would do.

use std::task::Waker;

use sealwire::waits::Work as _;
use sealwire::{Error as SocketError, Security};

use super::Hub;
use super::clock::Timekeeping;
use crate::handler::{Inline, Request};
use crate::server::Server;
use crate::status::Status;

fn server() -> Server {
    let answer = |_: &Request| Ok::<_, Status>("");
    Server::builder(Security::plain_text())
        .build(Inline::new(answer))
        .unwrap()
}

fn has_failed_once(server: &Server) {
    assert_eq!(server.counters().panics, 1);
    let closed = server.closed_blocking();
    assert!(
        matches!(closed, Err(SocketError::EngineFailed)),
        "{closed:?}"
    );
}

#[test]
fn of_a_thread_of_its_own() {
    let server = server();
    let panics = |_| panic!("asked for");
    Hub::run(server.hub().clone(), "a test", panics);
    has_failed_once(&server);
}

#[test]
fn of_the_clock() {
    let server = server();
    let clock = Timekeeping::of(server.hub());
    clock.wait_for_room(async { panic!("asked for") });
    assert_eq!(clock.run(Waker::noop()), None, "it is not run again");
    has_failed_once(&server);
}
