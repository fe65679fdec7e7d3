//! Peers that come, go and have no room.

use super::*;
use crate::polling::{Item, Source, poll};

/// What the socket says of the last connection that it did not have.
fn last_failure(socket: &Socket) -> String {
    let text = socket.get(number::LAST_FAILURE, 4_096).unwrap();
    String::from_utf8_lossy(&text).into_owned()
}

fn may_send(socket: &Socket) -> bool {
    let events = socket.get(number::EVENTS, 4).unwrap();
    i32::from_ne_bytes(events[..].try_into().unwrap()) & i32::from(POLLOUT) != 0
}

/// Sends a text until the other end has received it.
fn gets_through(from: &Socket, to: &Socket, text: &'static str) {
    eventually(|| {
        let _ = from.send(&mut Frames::single(text), DONTWAIT);
        let received = to.receive(DONTWAIT);
        received.is_ok_and(|received| received.as_bytes() == text.as_bytes())
    });
}

#[test]
fn a_client_that_the_server_has_no_place_for_is_told_and_can_be_connected_again() {
    for (server_type, client_type, reason) in [
        (
            SocketType::Router,
            SocketType::Dealer,
            "routing id is in use",
        ),
        (SocketType::Pair, SocketType::Pair, "has a peer already"),
    ] {
        let context = Context::without_rules();
        let server = context.open_briefly(server_type);
        server.bind("tcp://127.0.0.1:*").unwrap();
        let [first, second] = [(), ()].map(|()| {
            let client = context.open_briefly(client_type);
            if client_type == SocketType::Dealer {
                client.set(number::ROUTING_ID, Some(b"same")).unwrap();
            }
            client
        });
        first.connect(&server.last_endpoint()).unwrap();
        gets_through(&first, &server, "first");
        second.connect(&server.last_endpoint()).unwrap();
        eventually(|| last_failure(&server).contains(reason));
        eventually(|| last_failure(&second).contains(reason));
        eventually(|| second.inner.connected_endpoints().is_empty());
        first.close();
        eventually(|| server.inner.peers().is_empty());
        second.connect(&server.last_endpoint()).unwrap();
        gets_through(&second, &server, "second");
    }
}

/// Without a network nobody has to be at the other end.
#[test]
fn within_the_process_there_is_a_queue_before_somebody_is_bound_whatever_immediate_says() {
    let context = Context::without_rules();
    let (push, pull) = (
        context.open_briefly(SocketType::Push),
        context.open_briefly(SocketType::Pull),
    );
    push.set(number::IMMEDIATE, Some(&1_i32.to_ne_bytes()))
        .unwrap();
    push.connect("tcp://127.0.0.1:1").unwrap();
    let sent = push.send(&mut Frames::single("waits"), DONTWAIT);
    assert_eq!(sent, Err(Errno::AGAIN));
    push.connect("inproc://later").unwrap();
    push.send(&mut Frames::single("waits"), DONTWAIT).unwrap();
    pull.bind("inproc://later").unwrap();
    assert_eq!(receive(&pull), b"waits");
}

#[test]
fn within_the_process_a_second_connect_is_a_second_connection() {
    let context = Context::without_rules();
    let (router, dealer) = (
        context.open_briefly(SocketType::Router),
        context.open_briefly(SocketType::Dealer),
    );
    dealer.connect("inproc://router").unwrap();
    router.bind("inproc://router").unwrap();
    dealer.connect("inproc://router").unwrap();
    for _ in 0..2 {
        send(&dealer, &["hello"]);
    }
    let mut peers = [(), ()].map(|()| {
        let peer = receive(&router);
        assert_eq!(receive(&router), b"hello");
        peer
    });
    peers.sort();
    assert_ne!(peers[0], peers[1]);
    dealer.disconnect("inproc://router").unwrap();
    assert_eq!(
        dealer.send(&mut Frames::single("hello"), DONTWAIT),
        Err(Errno::AGAIN)
    );
    // By way of the network the first one stays the only one.
    router.bind("tcp://127.0.0.1:*").unwrap();
    for _ in 0..2 {
        dealer.connect(&router.last_endpoint()).unwrap();
    }
    for _ in 0..2 {
        send(&dealer, &["hello"]);
        let peer = receive(&router);
        assert_eq!(receive(&router), b"hello");
        peers.rotate_left(1);
        peers[1] = peer;
    }
    assert_eq!(peers[0], peers[1]);
}

#[test]
fn a_router_that_waits_for_room_may_send_while_some_peer_has_any() {
    let context = Context::without_rules();
    let router = context.open_briefly(SocketType::Router);
    let mandatory = |on: i32| {
        let set = router.set(number::ROUTER_MANDATORY, Some(&on.to_ne_bytes()));
        set.unwrap();
    };
    let peer = |name: &'static str| {
        let peer = context.open_briefly(SocketType::Dealer);
        peer.set(number::ROUTING_ID, Some(name.as_bytes())).unwrap();
        peer.connect("inproc://router").unwrap();
        peer
    };
    for option in [number::SNDHWM, number::RCVHWM] {
        router.set(option, Some(&1_i32.to_ne_bytes())).unwrap();
    }
    router.bind("inproc://router").unwrap();
    assert!(may_send(&router));
    mandatory(1);
    assert!(!may_send(&router));
    let fill = |name: &str| {
        let send = || {
            router.send(&mut Frames::single(name), SNDMORE | DONTWAIT)?;
            router.send(&mut Frames::single("x"), DONTWAIT)
        };
        while send().is_ok() {}
    };
    let one = peer("one");
    eventually(|| may_send(&router));
    fill("one");
    assert!(!may_send(&router));
    let two = peer("two");
    eventually(|| may_send(&router));
    fill("two");
    assert!(!may_send(&router));
    mandatory(0);
    assert!(may_send(&router));
    mandatory(1);
    let polled = |limit| {
        let mut items = [Item {
            source: Source::Socket(router.clone()),
            events: POLLOUT,
            happened: 0,
        }];
        poll(&mut items, Some(limit)).unwrap()
    };
    for _ in 0..20 {
        assert_eq!(polled(Duration::ZERO), 0);
        thread::scope(|scope| {
            let waits = scope.spawn(|| polled(TIMEOUT));
            thread::yield_now();
            while two.receive(DONTWAIT).is_ok() {}
            assert_eq!(waits.join().unwrap(), 1);
        });
        fill("two");
    }
    drop(one);
}

/// With 0 as with -1.
#[test]
fn a_socket_that_does_not_connect_again_by_itself_can_be_connected_again() {
    for interval in [0_i32, -1] {
        let context = Context::without_rules();
        let client = context.open_briefly(SocketType::Dealer);
        let set = client.set(number::RECONNECT_IVL, Some(&interval.to_ne_bytes()));
        set.unwrap();
        let server = || context.open_briefly(SocketType::Dealer);
        let first = server();
        // Nobody else takes the name meanwhile.
        let folder = tempfile::tempdir().unwrap();
        let endpoint = format!("ipc://{}/socket", folder.path().display());
        first.bind(&endpoint).unwrap();
        client.connect(&endpoint).unwrap();
        gets_through(&client, &first, "first");
        first.close();
        eventually(|| client.inner.connected_endpoints().is_empty());
        let second = server();
        eventually(|| second.bind(&endpoint).is_ok());
        for _ in 0..2 {
            client.connect(&endpoint).unwrap();
        }
        assert_eq!(client.inner.connected_endpoints().len(), 1);
        gets_through(&client, &second, "second");
    }
}

#[test]
fn a_request_has_something_behind_its_delimiter() {
    let context = Context::without_rules();
    let (rep, dealer) = (
        context.open_briefly(SocketType::Rep),
        context.open_briefly(SocketType::Dealer),
    );
    rep.bind("inproc://rep").unwrap();
    dealer.connect("inproc://rep").unwrap();
    for malformed in [&[""][..], &["way", ""], &["way", "no delimiter"]] {
        send(&dealer, malformed);
    }
    send(&dealer, &["way", "", ""]);
    assert_eq!(receive(&rep), b"");
    send(&rep, &["answer"]);
    assert_eq!(receive(&dealer), b"way");
    assert_eq!(receive(&dealer), b"");
    assert_eq!(receive(&dealer), b"answer");
    assert_eq!(rep.receive(DONTWAIT).err(), Some(Errno::AGAIN));
}

/// One of libzmq is not connected again when another socket is bound.
#[test]
fn within_the_process_a_connection_ends_with_the_socket_that_was_bound() {
    let context = Context::without_rules();
    let open = |socket_type| context.open_briefly(socket_type);
    let push = open(SocketType::Push);
    let [stays, goes] = ["inproc://stays", "inproc://goes"].map(|name| {
        let pull = open(SocketType::Pull);
        pull.bind(name).unwrap();
        push.connect(name).unwrap();
        pull
    });
    goes.close();
    eventually(|| push.inner.connected_endpoints().len() == 1);
    assert_eq!(push.disconnect("inproc://goes"), Err(Errno::NOENT));
    for _ in 0..10 {
        push.send(&mut Frames::single("work"), 0).unwrap();
        assert_eq!(receive(&stays), b"work");
    }
    // One that comes back is connected to once.
    let again = open(SocketType::Pull);
    again.bind("inproc://goes").unwrap();
    push.connect("inproc://goes").unwrap();
    assert_eq!(push.inner.peers().len(), 2);
    stays.close();
    again.close();
    eventually(|| !may_send(&push));
    let sent = push.send(&mut Frames::single("work"), DONTWAIT);
    assert_eq!(sent, Err(Errno::AGAIN));
}

#[test]
fn within_the_process_a_pair_has_no_other_peer_than_the_one_that_was_bound() {
    let context = Context::without_rules();
    let [one, other, second] = [(), (), ()].map(|()| context.open_briefly(SocketType::Pair));
    // A name that nobody has yet is waited for.
    one.connect("inproc://pair").unwrap();
    assert!(may_send(&one));
    other.bind("inproc://pair").unwrap();
    send(&one, &["hello"]);
    assert_eq!(receive(&other), b"hello");
    // This one is turned away.
    second.connect("inproc://pair").unwrap();
    assert!(!may_send(&second));
    other.close();
    eventually(|| !may_send(&one));
    assert!(!may_send(&second));
}
