//! Messages for peers that are not there yet, over every transport.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::time::Duration;

use crate::support::{Path, options};
use sealwire::blocking::Socket;
use sealwire::options::OptionsError;
use sealwire::{Error, Message, SocketType};

/// An endpoint with a port of its own, where nobody listens yet.
fn vacant(path: &Path) -> String {
    match path.transport {
        "tcp" | "tcp6" | "ws" => {
            let socket = path.server(SocketType::Pull).build_blocking().unwrap();
            let endpoint = socket.bind(path.endpoint()).unwrap().to_string();
            socket.close().unwrap();
            endpoint
        }
        _ => path.endpoint(),
    }
}

fn text(message: &Message) -> String {
    let frames = message.frames().iter();
    let frames = frames.map(|frame| String::from_utf8_lossy(frame.as_slice()).into_owned());
    frames.collect::<Vec<_>>().join("/")
}

fn bound(path: &Path, socket_type: SocketType, endpoint: &str) -> Socket {
    let socket = path.server(socket_type).build_blocking().unwrap();
    socket.bind(endpoint).unwrap();
    socket
}

#[test]
fn messages_wait_in_turn_for_endpoints_where_nobody_is_yet() {
    for path in Path::all() {
        let endpoints = [vacant(&path), vacant(&path)];
        let sender = path.client(SocketType::Push).queue_per_endpoint(true);
        let sender = sender.build_blocking().unwrap();
        for endpoint in &endpoints {
            sender.connect(&**endpoint).unwrap();
        }
        for number in 0..10 {
            sender.try_send(number.to_string()).unwrap();
        }
        assert!(sender.peers().is_empty());
        // The last one first.
        let receivers = [1, 0].map(|index: usize| {
            let receiver = bound(&path, SocketType::Pull, &endpoints[index]);
            (0..5).map(|_| text(&receiver.recv().unwrap())).collect()
        });
        let mut receivers: [Vec<String>; 2] = receivers;
        receivers.sort();
        let expected = [0, 1].map(|start| (start..10).step_by(2).map(|it| it.to_string()));
        assert_eq!(receivers, expected.map(Vec::from_iter), "{}", path.name());
    }
}

#[test]
fn a_router_speaks_first_to_a_router_that_it_gave_a_routing_id() {
    for path in Path::all() {
        let endpoint = vacant(&path);
        let asks = path.client(SocketType::Router).routing_id("asks");
        let asks = asks.build_blocking().unwrap();
        asks.connect_with_routing_id(&*endpoint, "answers").unwrap();
        asks.send(Message::multipart(["answers", "question"]))
            .unwrap();
        let answers = bound(&path, SocketType::Router, &endpoint);
        assert_eq!(text(&answers.recv().unwrap()), "asks/question");
        answers
            .send(Message::multipart(["asks", "answer"]))
            .unwrap();
        assert_eq!(
            text(&asks.recv().unwrap()),
            "answers/answer",
            "{}",
            path.name()
        );
    }
}

/// A server that is gone and comes back has the routing id of before, and gets what was sent meanwhile.
#[test]
fn a_routing_id_outlives_the_connection() {
    for path in Path::all() {
        // Where a listener has just been, another may not listen at once.
        if path.transport == "ws" {
            continue;
        }
        let endpoint = vacant(&path);
        let router = path.client(SocketType::Router).router_mandatory(true);
        let router = router.build_blocking().unwrap();
        router.connect_with_routing_id(&*endpoint, "peer").unwrap();
        for round in ["first", "second"] {
            router.send(Message::multipart(["peer", round])).unwrap();
            let dealer = bound(&path, SocketType::Dealer, &endpoint);
            assert_eq!(text(&dealer.recv().unwrap()), round, "{}", path.name());
            dealer.close().unwrap();
            router_sees_the_end(&router);
        }
    }
}

fn router_sees_the_end(router: &Socket) {
    crate::support::eventually("the peer is gone", || router.peers().is_empty());
}

#[test]
fn a_stream_sends_before_its_connection_stands() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let stream = options(SocketType::Stream).build_blocking().unwrap();
    let endpoint = format!("tcp://127.0.0.1:{port}");
    stream.connect_with_routing_id(&*endpoint, "web").unwrap();
    stream.send(Message::multipart(["web", "GET /"])).unwrap();
    let (mut accepted, _) = listener.accept().unwrap();
    let mut request = [0; 5];
    accepted.read_exact(&mut request).unwrap();
    assert_eq!(&request, b"GET /");
    accepted.write_all(b"200").unwrap();
    assert_eq!(text(&stream.recv().unwrap()), "web/");
    assert_eq!(text(&stream.recv().unwrap()), "web/200");
}

#[test]
fn routing_ids_that_cannot_be_are_refused() {
    let router = options(SocketType::Router).build_blocking().unwrap();
    let endpoint = "inproc://connecting-refused";
    let connect = |routing_id: &[u8]| router.connect_with_routing_id(endpoint, routing_id);
    let options_error = |error| match error {
        Err(Error::Options(error)) => error,
        other => panic!("{other:?}"),
    };
    assert_eq!(options_error(connect(b"")), OptionsError::EmptyRoutingId);
    for (routing_id, leading_zero) in [(&[1; 256][..], false), (&[0, 1], true)] {
        let expected = OptionsError::RoutingId {
            size: routing_id.len(),
            leading_zero,
        };
        assert_eq!(options_error(connect(routing_id)), expected);
    }
    connect(&[1; 255]).unwrap();
    let Err(Error::RoutingIdInUse(routing_id)) = connect(&[1; 255]) else {
        panic!("two peers have it")
    };
    assert_eq!(routing_id, [1; 255]);
    let dealer = options(SocketType::Dealer).build_blocking().unwrap();
    let refused = dealer.connect_with_routing_id(endpoint, "name");
    assert!(matches!(refused, Err(Error::Unsupported(_))));
}

/// What waits for a peer that never comes is told of as the socket closes.
#[test]
fn what_waits_for_nobody_is_reported() {
    let path = Path::encrypted();
    let endpoints = [vacant(&path), vacant(&path)];
    let sender = path.client(SocketType::Push).queue_per_endpoint(true);
    let sender = sender.linger(Duration::from_millis(50));
    let sender = sender.build_blocking().unwrap();
    for endpoint in &endpoints {
        sender.connect(&**endpoint).unwrap();
    }
    for _ in 0..5 {
        sender.send("lost").unwrap();
    }
    assert!(matches!(sender.close(), Err(Error::Unsent(5))));
}
