//! A routing id that two peers claim: the first keeps it, unless the option gives it to the newcomer.

use interop::Side::{Ours, Theirs};
use interop::{
    LIBZMQ, Link, Path, Peer, Protection, Transport, await_failure, await_ready, describe,
    eventually, options,
};
use sealwire::options::ReconnectStop;
use sealwire::{FailureCause, Message, SocketBuilder, SocketType};

/// Says its name, then sends back what it gets, for ever.
const DEALER: [&str; 8] = [
    "--type",
    "dealer",
    "--identity",
    "worker",
    "--send",
    "1",
    "--recv",
    "1000",
];

fn router(handover: bool) -> SocketBuilder {
    options(SocketType::Router)
        .router_handover(handover)
        .router_mandatory(true)
}

fn path(protection: Protection) -> Path {
    Path::tcp(LIBZMQ, Ours, protection)
}

/// Our ROUTER and a libzmq DEALER that it has heard of, and the command line for another of the
/// same name and with the same key.
fn heard_of(protection: Protection, handover: bool) -> (Link, Vec<String>) {
    let sides = protection.sides();
    let mut another: Vec<String> = DEALER.map(String::from).to_vec();
    another.extend(sides.theirs.clone());
    let link = path(protection).open_with(router(handover), &DEALER, sides);
    another.extend(["--connect".into(), link.endpoint.clone()]);
    await_ready(&link.monitor);
    assert_eq!(link.ours.recv().unwrap().frames()[0].as_slice(), b"worker");
    (link, another)
}

fn send_to_worker(link: &Link, text: &str) {
    link.ours
        .send(Message::multipart(["worker", text]))
        .unwrap();
}

#[test]
fn the_first_keeps_its_name_without_the_option() {
    if !LIBZMQ.is_there() {
        return;
    }
    let (mut link, another) = heard_of(Protection::Null, false);
    let _second = Peer::start(LIBZMQ, another);
    let failure = await_failure(&link.monitor);
    let cause = failure.cause();
    assert!(matches!(cause, FailureCause::Rejected(_)), "{failure}");
    assert!(
        cause.to_string().contains("the routing id is in use"),
        "{cause}"
    );
    send_to_worker(&link, "still you");
    assert_eq!(link.peer.message(), [describe(b"still you")]);
}

/// The first of two is stopped, so that it neither leaves nor answers; a second takes its name.
fn a_stopped_one_is_replaced(protection: Protection, handover: bool) {
    let (mut link, another) = heard_of(protection, handover);
    link.peer.signal("STOP");
    let mut second = Peer::start(LIBZMQ, another);
    await_ready(&link.monitor);
    assert_eq!(link.ours.recv().unwrap().frames()[0].as_slice(), b"worker");
    send_to_worker(&link, "now you");
    assert_eq!(second.message(), [describe(b"now you")]);
    eventually("the first has gone", || link.ours.peers().len() == 1);
    assert_eq!(link.peer.count("message"), 0);
}

#[test]
fn with_the_option_the_newcomer_takes_the_name_of_one_that_is_stopped() {
    if LIBZMQ.is_there() {
        a_stopped_one_is_replaced(Protection::Null, true);
        a_stopped_one_is_replaced(Protection::Plain { server: Ours }, true);
        a_stopped_one_is_replaced(Protection::Curve { server: Ours }, true);
    }
}

#[test]
fn the_same_key_takes_the_name_without_the_option() {
    if LIBZMQ.is_there() {
        a_stopped_one_is_replaced(Protection::Curve { server: Ours }, false);
    }
}

#[test]
fn one_that_was_killed_and_started_again_has_its_name_back() {
    if !LIBZMQ.is_there() {
        return;
    }
    for handover in [false, true] {
        let (mut link, _) = heard_of(Protection::Null, handover);
        for round in ["second", "third"] {
            link.restart_peer();
            // Refused for as long as the first has not been seen to leave; libzmq comes again.
            assert_eq!(link.ours.recv().unwrap().frames()[0].as_slice(), b"worker");
            send_to_worker(&link, round);
            assert_eq!(link.peer.message(), [describe(round.as_bytes())]);
        }
    }
}

#[test]
fn a_router_of_libzmq_hands_the_name_of_our_first_to_our_second() {
    if !LIBZMQ.is_there() {
        return;
    }
    let path = Path::null(LIBZMQ, Transport::Tcp, Theirs);
    // The first would take the name back again, and so on for ever.
    let dealer = || {
        options(SocketType::Dealer)
            .routing_id("worker")
            .reconnect_stop(ReconnectStop::ALWAYS)
    };
    let script = ["--type", "router", "--recv", "2", "--handover"];
    let link = path.open(dealer(), &script);
    link.ours.send("first").unwrap();
    assert_eq!(link.ours.recv().unwrap().as_bytes(), b"first");
    let second = dealer().build_blocking().unwrap();
    second.connect(link.endpoint.as_str()).unwrap();
    second.send("second").unwrap();
    assert_eq!(second.recv().unwrap().as_bytes(), b"second");
    // libzmq lets the first's connection be, and says nothing.
    assert_eq!(link.ours.peers().len(), 1);
    link.peer.finish();
}
