//! CLIENT, SERVER, RADIO, DISH, SCATTER, GATHER, PEER and CHANNEL, over every transport and
//! mechanism.

use std::time::Duration;

use crate::support::{self, Path, eventually, texts};
use sealwire::{Error, Message, MessageError, SocketType, StateError};

fn everywhere(test: impl Fn(&Path)) {
    for path in Path::all() {
        println!("over {}", path.name());
        test(&path);
    }
}

#[test]
fn a_server_answers_its_clients_by_routing_id() {
    everywhere(|path| {
        let server = path.server(SocketType::Server).build_blocking().unwrap();
        let endpoint = server.bind(path.endpoint()).unwrap();
        let clients = ["one", "two"].map(|name| {
            let client = path.client(SocketType::Client).build_blocking().unwrap();
            client.connect(&endpoint).unwrap();
            client.send(name).unwrap();
            (client, name)
        });
        for _ in &clients {
            let question = server.recv().unwrap();
            let routing_id = question.routing_id().unwrap();
            assert_eq!(question.peer().unwrap().connection_routing_id(), routing_id);
            let answer = format!("to {}", question.as_str().unwrap());
            // More than one message may follow, and in any order.
            for _ in 0..2 {
                server
                    .send(Message::with_routing_id(routing_id, answer.clone()))
                    .unwrap();
            }
        }
        for (client, name) in &clients {
            for _ in 0..2 {
                let answer = client.recv().unwrap();
                assert_eq!(texts(&answer), [format!("to {name}")]);
            }
        }
    });
}

#[test]
fn a_server_needs_the_routing_id_of_a_connected_peer() {
    let path = Path::encrypted();
    let (server, client) = path.pair(SocketType::Server, SocketType::Client);
    for wrong in [
        Message::from("no number"),
        Message::multipart(["long number", "body"]),
        Message::multipart(["1234", "two", "frames"]),
    ] {
        let frames = wrong.len();
        let error = server.send(wrong).unwrap_err();
        assert!(matches!(
            error.error(),
            Error::Message(MessageError::NoRoutingId)
        ));
        assert_eq!(error.into_message().len(), frames);
    }
    client.send("hello").unwrap();
    let routing_id = server.recv().unwrap().routing_id().unwrap();
    let error = server
        .send(Message::with_routing_id(routing_id + 1, "x"))
        .unwrap_err();
    assert!(
        matches!(error.error(), Error::Unroutable(name) if *name == (routing_id + 1).to_be_bytes())
    );
    client.close().unwrap();
    eventually("the client is gone", || {
        matches!(
            server.try_send(Message::with_routing_id(routing_id, "late")),
            Err(error) if matches!(error.error(), Error::Unroutable(_))
        )
    });
}

#[test]
fn types_for_one_frame_refuse_several() {
    use SocketType::{Channel, Client, Gather, Scatter, Server};
    let path = Path::encrypted();
    for (bound, connected) in [(Server, Client), (Gather, Scatter), (Channel, Channel)] {
        let (_bound, socket) = path.pair(bound, connected);
        let error = socket.send(Message::multipart(["a", "b"])).unwrap_err();
        assert!(
            matches!(error.error(), Error::Message(MessageError::SinglePart)),
            "{connected}"
        );
    }
}

#[test]
fn a_radio_reaches_the_members_of_a_group() {
    everywhere(|path| {
        let radio = path.server(SocketType::Radio).build_blocking().unwrap();
        let endpoint = radio.bind(path.endpoint()).unwrap();
        let tune_in = |groups: &[&str]| {
            let dish = path.client(SocketType::Dish).build_blocking().unwrap();
            for group in groups {
                dish.join(group).unwrap();
            }
            dish.connect(&endpoint).unwrap();
            dish
        };
        let both = tune_in(&["news", "sport"]);
        let news = tune_in(&["news"]);
        // A DISH that hears its last group has joined all of them.
        for (dish, group) in [(&both, "ready both"), (&news, "ready news")] {
            dish.join(group).unwrap();
            eventually("joined", || {
                radio.send(Message::to_group(group, "")).unwrap();
                // Few enough not to fill the queue.
                dish.recv_timeout(Duration::from_millis(20)).is_ok()
            });
            dish.leave(group).unwrap();
        }
        radio.send(Message::to_group("new", "prefix only")).unwrap();
        radio.send(Message::to_group("sport", "goal")).unwrap();
        radio.send(Message::to_group("news", "rain")).unwrap();
        let next = |dish: &sealwire::blocking::Socket| {
            loop {
                let message = dish.recv().unwrap();
                if !message.group().unwrap().starts_with(b"ready") {
                    return texts(&message);
                }
            }
        };
        assert_eq!(next(&both), ["sport", "goal"]);
        assert_eq!(next(&both), ["news", "rain"]);
        assert_eq!(next(&news), ["news", "rain"]);
    });
}

#[test]
fn groups_are_joined_and_left_once() {
    let dish = support::options(SocketType::Dish).build_blocking().unwrap();
    dish.join("g").unwrap();
    assert!(matches!(
        dish.join("g"),
        Err(Error::State(StateError::JoinedAlready))
    ));
    dish.leave("g").unwrap();
    assert!(matches!(
        dish.leave("g"),
        Err(Error::State(StateError::NotJoined))
    ));
    for wrong in [vec![], vec![b'g'; 256]] {
        assert!(matches!(
            dish.join(wrong),
            Err(Error::Message(MessageError::NoGroup))
        ));
    }
    assert!(matches!(dish.subscribe("g"), Err(Error::Unsupported(_))));
    assert!(matches!(
        dish.send("x").unwrap_err().error(),
        Error::Unsupported(_)
    ));
    let radio = support::options(SocketType::Radio)
        .build_blocking()
        .unwrap();
    for wrong in [
        Message::from("no group"),
        Message::to_group("", "empty group"),
        Message::to_group([b'g'; 256], "long group"),
        Message::multipart(["g", "two", "frames"]),
    ] {
        assert!(matches!(
            radio.send(wrong).unwrap_err().error(),
            Error::Message(MessageError::NoGroup)
        ));
    }
    assert!(matches!(radio.join("g"), Err(Error::Unsupported(_))));
    assert!(matches!(radio.recv(), Err(Error::Unsupported(_))));
}

#[test]
fn scattered_messages_are_gathered() {
    everywhere(|path| {
        let (gather, scatter) = path.pair(SocketType::Gather, SocketType::Scatter);
        for number in 0..100 {
            scatter.send(number.to_string()).unwrap();
        }
        for number in 0..100 {
            assert_eq!(gather.recv().unwrap().as_str(), Ok(&*number.to_string()));
        }
    });
}

#[test]
fn peers_talk_as_equals() {
    everywhere(|path| {
        let (a, b) = path.pair(SocketType::Peer, SocketType::Peer);
        eventually("connected", || b.peers().len() == 1);
        let routing_id = b.peers()[0].connection_routing_id();
        b.send(Message::with_routing_id(routing_id, "question"))
            .unwrap();
        let question = a.recv().unwrap();
        assert_eq!(question.as_bytes(), b"question");
        a.send(Message::with_routing_id(
            question.routing_id().unwrap(),
            "answer",
        ))
        .unwrap();
        let answer = b.recv().unwrap();
        assert_eq!(
            (answer.routing_id(), answer.as_bytes()),
            (Some(routing_id), &b"answer"[..])
        );
    });
}

#[test]
fn who_connects_to_a_peer_can_speak_first() {
    everywhere(|path| {
        let a = path.server(SocketType::Peer).build_blocking().unwrap();
        let b = path.client(SocketType::Peer).build_blocking().unwrap();
        let endpoint = a.bind(path.endpoint()).unwrap();
        let routing_id = b.connect_peer(&endpoint).unwrap();
        b.send(Message::with_routing_id(routing_id, "first"))
            .unwrap();
        let question = a.recv().unwrap();
        assert_eq!(question.as_bytes(), b"first");
        let back = question.routing_id().unwrap();
        a.send(Message::with_routing_id(back, "second")).unwrap();
        assert_eq!(b.recv().unwrap().routing_id(), Some(routing_id));
        // Each call makes a connection of its own.
        assert_ne!(b.connect_peer(&endpoint).unwrap(), routing_id);

        let c = path.client(SocketType::Peer).build().unwrap();
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let routing_id = runtime.block_on(c.connect_peer(&endpoint)).unwrap();
        assert_eq!(c.peers()[0].connection_routing_id(), routing_id);
    });
}

#[test]
fn a_server_may_connect_to_its_client() {
    let path = Path::encrypted();
    let client = path.client(SocketType::Client).build_blocking().unwrap();
    let server = path.server(SocketType::Server).build_blocking().unwrap();
    let endpoint = client.bind(path.endpoint()).unwrap();
    let routing_id = server.connect_peer(endpoint).unwrap();
    server
        .send(Message::with_routing_id(routing_id, "hello"))
        .unwrap();
    assert_eq!(client.recv().unwrap().as_bytes(), b"hello");
}

#[test]
fn waiting_for_a_peer_ends_with_a_reason() {
    let socket = |socket_type| support::options(socket_type);
    let dealer = socket(SocketType::Dealer).build_blocking().unwrap();
    assert!(matches!(
        dealer.connect_peer("inproc://nobody"),
        Err(Error::Unsupported(_))
    ));
    let waiting = socket(SocketType::Peer).send_timeout(Duration::from_millis(1));
    let waiting = waiting.build_blocking().unwrap();
    assert!(matches!(
        waiting.connect_peer("inproc://nobody"),
        Err(Error::TimedOut { .. })
    ));
    let peer = socket(SocketType::Peer).build_blocking().unwrap();
    let other = peer.clone();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| peer.connect_peer("inproc://nobody"));
        eventually("it is being connected", || {
            other.disconnect("inproc://nobody").is_ok()
        });
        assert!(matches!(waiting.join().unwrap(), Err(Error::GaveUp)));
        let waiting = scope.spawn(|| peer.connect_peer("inproc://nobody"));
        eventually("it is being connected", || {
            !other.connected_endpoints().is_empty()
        });
        other.close().unwrap();
        assert!(matches!(waiting.join().unwrap(), Err(Error::Closed)));
    });
}

#[test]
fn a_channel_is_a_pair_of_single_frames() {
    everywhere(|path| {
        let (server, client) = path.pair(SocketType::Channel, SocketType::Channel);
        client.send("to the server").unwrap();
        assert_eq!(server.recv().unwrap().as_bytes(), b"to the server");
        server.send("to the client").unwrap();
        assert_eq!(client.recv().unwrap().as_bytes(), b"to the client");
    });
}

#[test]
fn payloads_go_to_a_connection_by_routing_id_and_come_without_it() {
    everywhere(|path| {
        let server = path.server(SocketType::Peer).omit_routing_id(true);
        let server = server.build().unwrap();
        let receiving = sealwire::blocking::Socket::from(server.clone());
        let client = path.client(SocketType::Peer).omit_routing_id(true);
        let client = client.hello_message("hello").build_blocking().unwrap();
        client
            .connect(server.bind(path.endpoint()).unwrap())
            .unwrap();
        let hello = receiving.recv().unwrap();
        assert_eq!(texts(&hello), ["hello"]);
        let routing_id = hello.peer().unwrap().connection_routing_id();
        let mut payloads = ["one", "two", "three"].map(sealwire::Frame::from).into();
        assert_eq!(
            server.try_send_many_to(routing_id, &mut payloads).unwrap(),
            3
        );
        assert!(payloads.is_empty());
        for expected in ["one", "two", "three"] {
            assert_eq!(texts(&client.recv().unwrap()), [expected]);
        }
        server.disconnect_peer(routing_id, "enough").unwrap();
        // It comes back soon, under another number.
        let gone = || {
            server
                .peers()
                .iter()
                .all(|peer| peer.connection_routing_id() != routing_id)
        };
        eventually("the connection is gone", gone);
        payloads.push_back("four".into());
        let error = server
            .try_send_many_to(routing_id, &mut payloads)
            .unwrap_err();
        assert!(matches!(error, Error::Unroutable(_)));
        assert_eq!(payloads.len(), 1);
    });
}

#[test]
fn connections_are_told_of_by_messages_that_no_peer_can_send() {
    everywhere(|path| {
        for beside in [false, true] {
            let server = path.server(SocketType::Peer).omit_routing_id(beside);
            let server = server.connection_events(true).build_blocking().unwrap();
            let client = path.client(SocketType::Peer).omit_routing_id(true);
            // An empty message has a frame.
            let client = client.hello_message("").build_blocking().unwrap();
            client
                .connect(server.bind(path.endpoint()).unwrap())
                .unwrap();
            let began = server.recv().unwrap();
            assert!(began.is_empty());
            let routing_id = began.peer().unwrap().connection_routing_id();
            let hello = server.recv().unwrap();
            assert_eq!(
                (hello.len(), hello.as_bytes()),
                (if beside { 1 } else { 2 }, &b""[..])
            );
            client.close().unwrap();
            let ended = server.recv().unwrap();
            assert!(ended.is_empty());
            assert_eq!(ended.peer().unwrap().connection_routing_id(), routing_id);
        }
    });
}
