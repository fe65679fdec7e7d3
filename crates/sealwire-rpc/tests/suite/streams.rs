//! Streams that do not wait, or not for long: what has no credit or has not come.

use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::Duration;

use crate::support::{Scene, TIMEOUT, nothing_left};
use sealwire_rpc::{CallOptions, Client, Error, Handler, Limits, Request, Server, blocking};

/// For waits that end without what they wait for.
const SHORT: Duration = Duration::from_millis(5);

/// Hands requests to the test.
struct Keep(Mutex<mpsc::Sender<Request>>);

impl Handler for Keep {
    fn request(&self, request: Request) {
        self.0.lock().unwrap().send(request).unwrap();
    }
}

/// Both ends of a call with streams.
fn opened() -> (Server, Client, blocking::CallStream, Request) {
    let (kept, requests) = mpsc::channel();
    let (server, client) = Scene::new().pair(Keep(Mutex::new(kept)));
    let conn = client.blocking().conn().unwrap();
    let stream = conn.open(b"", CallOptions::default()).unwrap();
    let request = requests.recv_timeout(TIMEOUT).unwrap();
    (server, client, stream, request)
}

/// Sends this many items that are their own numbers, and not one more.
fn fill(items: u32, send: impl Fn(&[u8]) -> Result<(), Error>) {
    for number in 0..items {
        send(&number.to_be_bytes()).unwrap();
    }
    assert_eq!(send(b"beyond the window"), Err(Error::WouldBlock));
}

#[test]
fn what_a_slow_reader_does_not_want_yet_is_not_sent() {
    let window = Limits::default().stream_window;
    let (server, client, stream, request) = opened();
    fill(window, |item| stream.send_no_wait(item));
    let congested = Err(Error::Congested(SHORT));
    assert_eq!(stream.send_timeout(b"later", SHORT), congested);
    fill(window, |item| request.send_no_wait(item));
    assert_eq!(request.blocking().send_timeout(b"later", SHORT), congested);

    // Once they are read there is room again, and nothing of what was refused came in between.
    for number in 0..window {
        let item = request.blocking().next_timeout(TIMEOUT).unwrap().unwrap();
        assert_eq!(item[..], number.to_be_bytes());
        let item = stream.next_timeout(TIMEOUT).unwrap().unwrap();
        assert_eq!(item[..], number.to_be_bytes());
    }
    stream.send_timeout(b"now", TIMEOUT).unwrap();
    let item = request.blocking().next_timeout(TIMEOUT);
    assert_eq!(item.unwrap().unwrap()[..], *b"now");
    request.blocking().send_timeout(b"now", TIMEOUT).unwrap();
    assert_eq!(stream.next_timeout(TIMEOUT).unwrap().unwrap()[..], *b"now");
    request.reply(b"done").unwrap();
    assert_eq!(stream.answer().unwrap()[..], *b"done");
    nothing_left(&server, &client);
}

#[test]
fn a_wait_for_an_item_ends_in_time_and_the_call_goes_on() {
    let (server, client, stream, request) = opened();
    assert_eq!(stream.next_no_wait(), Err(Error::WouldBlock));
    assert_eq!(stream.next_timeout(SHORT), Err(Error::TimedOut(SHORT)));
    assert_eq!(request.next_no_wait(), Err(Error::WouldBlock));
    let late = request.blocking().next_timeout(SHORT);
    assert_eq!(late, Err(Error::TimedOut(SHORT)));

    thread::scope(|scope| {
        let waiting = scope.spawn(|| request.blocking().next_timeout(TIMEOUT));
        stream.send(b"to the handler").unwrap();
        let item = waiting.join().unwrap().unwrap().unwrap();
        assert_eq!(item[..], *b"to the handler");
        let waiting = scope.spawn(|| stream.next_timeout(TIMEOUT));
        request.blocking().send(b"to the caller").unwrap();
        let item = waiting.join().unwrap().unwrap().unwrap();
        assert_eq!(item[..], *b"to the caller");
    });

    stream.finish();
    assert_eq!(stream.send_no_wait(b"x"), Err(Error::StreamEnded));
    assert_eq!(stream.send_timeout(b"x", TIMEOUT), Err(Error::StreamEnded));
    assert_eq!(request.blocking().next_timeout(TIMEOUT), Ok(None));
    assert_eq!(request.next_no_wait(), Ok(None));
    request.reply(b"done").unwrap();
    assert_eq!(stream.next_timeout(TIMEOUT), Ok(None));
    assert_eq!(stream.next_no_wait(), Ok(None));
    assert_eq!(stream.answer().unwrap()[..], *b"done");
    nothing_left(&server, &client);
}

#[test]
fn a_caller_that_is_gone_ends_the_waits_of_the_handler() {
    let window = Limits::default().stream_window;
    let (server, client, stream, request) = opened();
    fill(window, |item| request.send_no_wait(item));
    thread::scope(|scope| {
        let sending = scope.spawn(|| request.blocking().send_timeout(b"x", TIMEOUT));
        let reading = scope.spawn(|| request.blocking().next_timeout(TIMEOUT));
        drop(stream);
        assert_eq!(sending.join().unwrap(), Err(Error::StreamEnded));
        assert_eq!(reading.join().unwrap(), Ok(None));
    });
    assert!(request.is_cancelled());
    assert_eq!(request.send_no_wait(b"x"), Err(Error::StreamEnded));
    drop(request);
    nothing_left(&server, &client);
}

#[test]
fn a_client_that_ends_during_a_wait_is_no_time_limit_that_ran_out() {
    let (_server, client, stream, _request) = opened();
    thread::scope(|scope| {
        let waiting = scope.spawn(|| stream.next_timeout(TIMEOUT));
        assert!(!client.blocking().shutdown(Duration::ZERO));
        assert_eq!(waiting.join().unwrap(), Ok(None));
    });
    let lost = stream.answer().unwrap_err();
    assert!(matches!(lost, Error::ConnectionLost { .. }), "{lost}");
}

/// Answers where connections are read, without a wait: with what the caller has sent before.
struct Inline;

impl Handler for Inline {
    fn request(&self, request: Request) {
        let items = request.blocking();
        assert_eq!(items.send_timeout(b"x", TIMEOUT), Err(Error::WouldDeadlock));
        assert_eq!(items.next_timeout(TIMEOUT), Err(Error::WouldDeadlock));
        for item in [&b"one"[..], b"two"] {
            request.send_no_wait(item).unwrap();
        }
        request.reply(b"done").unwrap();
    }
}

#[test]
fn a_handler_where_connections_are_read_sends_without_a_wait() {
    let (server, client) = Scene::new().pair(Inline);
    let conn = client.blocking().conn().unwrap();
    let stream = conn.open(b"", CallOptions::default()).unwrap();
    for item in [&b"one"[..], b"two"] {
        assert_eq!(stream.next_timeout(TIMEOUT).unwrap().unwrap()[..], *item);
    }
    assert_eq!(stream.next_timeout(TIMEOUT), Ok(None));
    assert_eq!(stream.answer().unwrap()[..], *b"done");
    nothing_left(&server, &client);
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks_have_the_same_time_limits() {
    let (kept, requests) = mpsc::channel();
    let (_server, client) = Scene::new().pair(Keep(Mutex::new(kept)));
    let conn = client.conn().await.unwrap();
    let stream = conn.open(b"", CallOptions::default()).await.unwrap();
    let request = tokio::task::block_in_place(|| requests.recv_timeout(TIMEOUT).unwrap());
    assert_eq!(
        stream.next_timeout(SHORT).await,
        Err(Error::TimedOut(SHORT))
    );
    assert_eq!(
        request.next_timeout(SHORT).await,
        Err(Error::TimedOut(SHORT))
    );
    fill(Limits::default().stream_window, |item| {
        stream.send_no_wait(item)
    });
    let congested = Err(Error::Congested(SHORT));
    assert_eq!(stream.send_timeout(b"x", SHORT).await, congested);
    request.send_timeout(b"item", TIMEOUT).await.unwrap();
    let item = stream.next_timeout(TIMEOUT).await.unwrap().unwrap();
    assert_eq!(item[..], *b"item");
}
