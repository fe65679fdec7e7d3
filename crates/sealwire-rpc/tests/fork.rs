//! A child of `fork` has copies of its parent's calls and connections, and none of its threads.
//!
//! A binary of its own: it forks, and locks that other tests hold would stay locked in the child.
#![cfg(unix)]

#[path = "../../sealwire/tests/support/forking.rs"]
mod forking;

use std::future::Future;
use std::pin::pin;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use forking::in_child;
use sealwire::auth::AllowAnyone;
use sealwire::{Generate as _, KeyPair, Security};
use sealwire_rpc::handler::Inline;
use sealwire_rpc::{CallOptions, Client, Error, Request, Server, Status};

/// Nothing here takes that long unless it is broken.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A server that answers with what it was asked, and a client of it.
fn echo() -> (Server, Client) {
    let keys = KeyPair::generate();
    let echo = |request: &Request| Ok::<_, Status>(request.body().clone());
    let server = Server::builder(Security::blake3_server(keys.clone(), AllowAnyone))
        .build(Inline::new(echo))
        .unwrap();
    let client = Client::builder(Security::blake3_client(keys.public()))
        .build(server.bind("tcp://127.0.0.1:0").unwrap())
        .unwrap();
    (server, client)
}

fn ask(client: &Client, question: &[u8]) {
    let answer = client.blocking().request(question);
    assert_eq!(&answer.unwrap()[..], question);
}

fn at_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => panic!("a call that waits"),
    }
}

fn forked<T>(outcome: Result<T, Error>) {
    match outcome {
        Err(Error::Forked) => {}
        Err(other) => panic!("not the right error: {other:?}"),
        Ok(_) => panic!("a call that works"),
    }
}

#[test]
fn what_was_made_before_is_refused_and_left_alone() {
    let (server, client) = echo();
    ask(&client, b"before");
    let conn = client.connections().remove(0);
    let call = conn.start(b"under way", CallOptions::default()).unwrap();
    let inherited = Mutex::new(Some((server.clone(), client.clone(), conn.clone(), call)));
    in_child(|| {
        let (server, client, conn, call) = inherited.lock().unwrap().take().unwrap();
        forked(call.wait());
        forked(conn.send_no_wait(b"child"));
        forked(conn.start(b"child", CallOptions::default()));
        forked(conn.blocking().request(b"child"));
        forked(conn.blocking().send(b"child"));
        forked(conn.blocking().open(b"child", CallOptions::default()));
        forked(at_once(conn.request(b"child")));
        assert!(!conn.is_open());
        conn.close();
        forked(client.blocking().request(b"child"));
        forked(client.blocking().send(b"child"));
        forked(client.send_no_wait(b"child"));
        forked(client.blocking().conn());
        assert!(client.connections().is_empty() && server.connections().is_empty());
        assert!(client.monitor().wait_next().is_none());
        assert!(!client.blocking().shutdown(TIMEOUT) && !at_once(server.shutdown(TIMEOUT)));
        assert!(matches!(
            server.bind("tcp://127.0.0.1:0"),
            Err(sealwire::Error::Forked)
        ));
        drop((server, client, conn));
        let (_server, own) = echo();
        ask(&own, b"made in the child");
    });
    ask(&client, b"after");
    let (_, _, _, call) = inherited.into_inner().unwrap().unwrap();
    assert_eq!(&call.wait().unwrap()[..], b"under way");
}

/// Requests that the parent has to answer are the parent's, and so are answers that never came.
#[test]
fn a_request_is_answered_by_the_parent_alone() {
    let keys = KeyPair::generate();
    let (tell, asked) = std::sync::mpsc::channel();
    struct Keep(Mutex<std::sync::mpsc::Sender<Request>>);
    impl sealwire_rpc::handler::Handler for Keep {
        fn request(&self, request: Request) {
            self.0.lock().unwrap().send(request).unwrap();
        }
    }
    let server = Server::builder(Security::blake3_server(keys.clone(), AllowAnyone))
        .build(Keep(Mutex::new(tell)))
        .unwrap();
    let client = Client::builder(Security::blake3_client(keys.public()))
        .build(server.bind("tcp://127.0.0.1:0").unwrap())
        .unwrap();
    std::thread::scope(|scope| {
        let answer = scope.spawn(|| client.blocking().request(b"question"));
        let request = Mutex::new(Some(asked.recv_timeout(TIMEOUT).unwrap()));
        in_child(|| {
            let request = request.lock().unwrap().take().unwrap();
            assert!(request.is_cancelled());
            forked(request.reply(b"from the child"));
        });
        in_child(|| drop(request.lock().unwrap().take()));
        let request = request.into_inner().unwrap().unwrap();
        request.reply(b"from the parent").unwrap();
        assert_eq!(&answer.join().unwrap().unwrap()[..], b"from the parent");
    });
}
