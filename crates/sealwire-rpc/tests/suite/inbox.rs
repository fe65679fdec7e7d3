//! Requests and messages that wait until the program takes them.

use std::task::{Context, Waker};
use std::thread;

use crate::support::{Scene, TIMEOUT, eventually};
use sealwire_rpc::handler::{Arrival, Inbox};
use sealwire_rpc::{Code, Request};

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap()
}

fn next(inbox: &Inbox) -> Option<Arrival> {
    let next = async { tokio::time::timeout(TIMEOUT, inbox.next()).await };
    runtime().block_on(next).expect("something in time")
}

fn request(inbox: &Inbox) -> Request {
    match next(inbox) {
        Some(Arrival::Request(request)) => request,
        other => panic!("{other:?}"),
    }
}

#[test]
fn they_come_in_their_order_and_wait_for_the_program() {
    let inbox = Inbox::new(8);
    let (_server, client) = Scene::new().pair(inbox.clone());
    let blocking = client.blocking();
    blocking.send(b"first").unwrap();
    let asking = thread::spawn(move || blocking.request(b"second"));
    eventually("both are there", || inbox.waiting() == 2);
    assert!(
        matches!(next(&inbox), Some(Arrival::Message(message)) if &message.body()[..] == b"first")
    );
    request(&inbox).reply(b"answer").unwrap();
    assert_eq!(&asking.join().unwrap().unwrap()[..], b"answer");
}

#[test]
fn a_wait_that_is_given_up_takes_nothing() {
    let inbox = Inbox::new(8);
    let (_server, client) = Scene::new().pair(inbox.clone());
    let mut given_up = Box::pin(inbox.next());
    let polled = given_up
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()));
    assert!(polled.is_pending());
    let other = {
        let inbox = inbox.clone();
        thread::spawn(move || next(&inbox))
    };
    client.blocking().send(b"for the other").unwrap();
    drop(given_up);
    let Some(Arrival::Message(message)) = other.join().unwrap() else {
        panic!("not the message");
    };
    assert_eq!(&message.body()[..], b"for the other");
    assert_eq!(inbox.waiting(), 0);
}

#[test]
fn requests_beyond_its_size_are_turned_away_as_not_started() {
    let inbox = Inbox::new(1);
    let scene = Scene::new();
    let server = scene.server().build(inbox.clone()).unwrap();
    let client = scene.client().retries(0);
    let client = client
        .build(crate::support::bind(&server))
        .unwrap()
        .blocking();
    let first = {
        let client = client.clone();
        thread::spawn(move || client.request(b"waits"))
    };
    eventually("the first waits", || inbox.waiting() == 1);
    let error = client.request(b"too many").unwrap_err();
    assert_eq!(error.status().unwrap().code, Code::RESOURCE_EXHAUSTED);
    assert!(!error.may_have_run());
    // One that was taken makes room, before it is answered.
    let taken = request(&inbox);
    let second = thread::spawn(move || client.request(b"has room"));
    request(&inbox).reply(b"2").unwrap();
    taken.reply(b"1").unwrap();
    assert_eq!(&first.join().unwrap().unwrap()[..], b"1");
    assert_eq!(&second.join().unwrap().unwrap()[..], b"2");
}

#[test]
fn once_closed_it_gives_out_what_waits_and_takes_nothing_new() {
    let inbox = Inbox::new(8);
    let scene = Scene::new();
    let server = scene.server().build(inbox.clone()).unwrap();
    let client = scene.client().retries(0);
    let client = client
        .build(crate::support::bind(&server))
        .unwrap()
        .blocking();
    let waiting = {
        let client = client.clone();
        thread::spawn(move || client.request(b"waits"))
    };
    eventually("it waits", || inbox.waiting() == 1);
    let idle = {
        let inbox = Inbox::new(8);
        let waiting = inbox.clone();
        let thread = thread::spawn(move || next(&waiting).is_none());
        inbox.close();
        thread
    };
    assert!(idle.join().unwrap());
    inbox.close();
    let error = client.request(b"late").unwrap_err();
    assert_eq!(error.status().unwrap().code, Code::UNAVAILABLE);
    assert!(!error.may_have_run());
    request(&inbox).reply(b"in time").unwrap();
    assert_eq!(&waiting.join().unwrap().unwrap()[..], b"in time");
    assert!(next(&inbox).is_none());
}
