//! Metadata of calls and one-way messages, between clients and servers.

use std::sync::mpsc;
use std::time::Duration;

use crate::attacker::Attacker;
use crate::support::{Scene, TIMEOUT, bind, echo, eventually};
use sealwire::Frame;
use sealwire_rpc::handler::{Inline, Pool};
use sealwire_rpc::{CallOptions, Code, Error, Metadata, OneWay, Request, Status};

fn metadata(entries: &[(&str, &str)]) -> Metadata<'static> {
    let mut metadata = Metadata::new();
    for (key, value) in entries {
        metadata.append(key, value).unwrap();
    }
    metadata
}

/// Answers with what came beside the body, and the body.
fn shown(request: &Request) -> Result<String, Status> {
    let body = String::from_utf8_lossy(request.body());
    Ok(format!("{} {body}", text(&request.metadata())))
}

fn text(metadata: &Metadata<'_>) -> String {
    let entries = metadata.iter();
    let entries = entries.map(|(key, value)| format!("{key}={}", String::from_utf8_lossy(value)));
    entries.collect::<Vec<_>>().join(",")
}

#[tokio::test]
async fn requests_and_messages_arrive_with_their_metadata() {
    let (says, said) = mpsc::channel();
    let handler = Inline::new(shown).on_message(move |message: &OneWay| {
        let body = String::from_utf8_lossy(message.body());
        let _ = says.send(format!("{} {body}", text(&message.metadata())));
    });
    let (server, client) = Scene::new().pair(handler);
    let sent = metadata(&[("tenant", "blue"), ("hop", "1"), ("hop", "2")]);
    let options = CallOptions::within(TIMEOUT).with_metadata(&sent);
    let expected = "tenant=blue,hop=1,hop=2 body";
    let answer = client.request_with(b"body", options).await.unwrap();
    assert_eq!(&answer[..], expected.as_bytes());
    let conn = client.conn().await.unwrap();
    let answer = conn.start(b"body", options).unwrap().await.unwrap();
    assert_eq!(&answer[..], expected.as_bytes());
    let answer = client.request(b"body").await.unwrap();
    assert_eq!(&answer[..], b" body");

    client.send_with(b"body", options).await.unwrap();
    conn.send_with(b"body", options).await.unwrap();
    conn.send_no_wait_with(b"body", options).unwrap();
    conn.send(b"body").await.unwrap();
    for expected in [expected, expected, expected, " body"] {
        assert_eq!(said.recv_timeout(TIMEOUT).unwrap(), expected);
    }

    // A server's call to its client, which serves nothing, leaves with metadata as well.
    let [conn] = &server.connections()[..] else {
        panic!("one connection")
    };
    let refused = conn.request_with(b"", options).await.unwrap_err();
    assert_eq!(refused.status().unwrap().code, Code::UNIMPLEMENTED);
}

#[test]
fn calls_that_block_have_it_too_and_streams_with_their_beginning() {
    let (says, said) = mpsc::channel();
    let handle = |request: &Request| {
        if request.has_streams() {
            let metadata = request.metadata();
            let item = text(&metadata);
            let sent = request.blocking().send(item.as_bytes());
            sent.map_err(|error| Status::new(Code::ABORTED, error.to_string()))?;
        }
        shown(request)
    };
    let take = move |message: &OneWay| drop(says.send(text(&message.metadata())));
    let pool = Pool::with_messages(1, 8, handle, take).unwrap();
    let (_server, client) = Scene::new().pair(pool);
    let (client, sent) = (client.blocking(), metadata(&[("a", "b")]));
    let options = CallOptions::default().with_metadata(&sent);
    assert_eq!(&client.request_with(b"1", options).unwrap()[..], b"a=b 1");
    let conn = client.conn().unwrap();
    assert_eq!(&conn.request_with(b"2", options).unwrap()[..], b"a=b 2");
    let stream = conn.open(b"3", options).unwrap();
    assert_eq!(&stream.next().unwrap().unwrap()[..], b"a=b");
    assert_eq!(&stream.answer().unwrap()[..], b"a=b 3");
    conn.send_with(b"", options).unwrap();
    client.send_with(b"", options).unwrap();
    for _ in 0..2 {
        assert_eq!(said.recv_timeout(TIMEOUT).unwrap(), "a=b");
    }
}

/// The caller's write it, those of the server read it before the handler does.
#[test]
fn interceptors_of_both_sides_write_and_read_it() {
    let scene = Scene::new();
    let server = scene
        .server()
        .intercept(|request| match request.metadata().get("token") {
            Some(b"secret") => Ok(()),
            _ => Err(Code::UNAUTHENTICATED.into()),
        })
        .build(Inline::new(shown))
        .unwrap();
    let endpoint = bind(&server);
    let client = scene.client().build(endpoint.clone()).unwrap().blocking();
    let refused = client.request(b"").unwrap_err();
    assert_eq!(refused.status().unwrap().code, Code::UNAUTHENTICATED);

    let client = scene.client().intercept(|call| {
        let written = call.metadata.insert("token", "secret");
        written.map_err(|error| Status::new(Code::INVALID_ARGUMENT, error.to_string()))
    });
    let client = client.build(endpoint).unwrap().blocking();
    assert_eq!(&client.request(b"1").unwrap()[..], b"token=secret 1");
    let own = metadata(&[("token", "wrong"), ("own", "x")]);
    let options = CallOptions::default().with_metadata(&own);
    let answer = client.request_with(b"2", options).unwrap();
    assert_eq!(&answer[..], b"own=x,token=secret 2");
    assert_eq!(
        own.get("token"),
        Some(&b"wrong"[..]),
        "the caller's has changed"
    );
    // Without room nothing leaves.
    let mut full = Metadata::new();
    full.append("own", [0; 8_180]).unwrap();
    let refused = client.request_with(b"", CallOptions::default().with_metadata(&full));
    let Err(Error::Intercepted(status)) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!(status.code, Code::INVALID_ARGUMENT);
}

/// The largest of both at once, through the sockets' own limits.
#[test]
fn the_largest_metadata_goes_with_the_largest_body() {
    let handle = |request: &Request| Ok::<_, Status>(request.metadata().size().to_string());
    let (_server, client) = Scene::new().pair(Inline::new(handle));
    let mut largest = Metadata::new();
    largest.append("key", vec![7; 8_192 - 6]).unwrap();
    let options = CallOptions::default().with_metadata(&largest);
    let client = client.blocking();
    let answer = client.request_with(&vec![1; 4 << 20], options).unwrap();
    assert_eq!(&answer[..], b"8192");
}

/// The time limit of a message's options holds where there is no room.
#[test]
fn a_message_without_room_ends_at_its_own_limit() {
    let scene = Scene::new();
    let (lets_go, let_go) = mpsc::channel::<()>();
    let let_go = std::sync::Mutex::new(let_go);
    let wait = move |_: &OneWay| {
        let _ = let_go.lock().unwrap().recv();
    };
    let server = scene.server().build(Inline::new(echo).on_message(wait));
    let server = server.unwrap();
    let client = scene.client().build(bind(&server)).unwrap().blocking();
    let conn = client.conn().unwrap();
    while conn.send_no_wait(b"").is_ok() {}
    let limit = Duration::from_millis(20);
    let sent = conn.send_with(b"", CallOptions::within(limit));
    assert_eq!(sent, Err(Error::Congested(limit)));
    drop(lets_go);
}

#[test]
fn a_peer_whose_metadata_is_not_allowed_loses_its_connection() {
    for block in [&b"\0\0"[..], b"\0\x04\x01A\0\0", b"\xff\xff", b""] {
        let scene = Scene::new();
        let server = scene.server().build(Inline::new(echo)).unwrap();
        let attacker = Attacker::greeted(scene.keys.public(), &bind(&server));
        let wire = |number, block| [&[0x83, 0, 0, 0, 0, number][..], block].concat();
        attacker.send([Frame::from(wire(1, b"\0\x04\x01a\0\0body"))]);
        attacker.read().expect("SETTINGS");
        let answer = attacker.read().expect("the answer to what is allowed");
        assert!(answer.as_bytes().ends_with(b"body"));
        attacker.send([Frame::from(wire(3, block))]);
        eventually("its connection ends", || attacker.is_gone());
        assert_eq!(server.counters().violations, 1, "{block:?}");
        assert_eq!(server.counters().requests, 1);
    }
}
