//! Options of connections: how they are made and given up, what they say and what waits for them.

use std::time::Duration;

use super::{both, plain};
use crate::support::{await_event, eventually, options, texts};
use sealwire::options::{ReconnectStop, TcpKeepAlive};
use sealwire::{Error, Event, SocketType};

#[test]
fn immediate_sends_only_to_peers_that_are_there() {
    let endpoint = plain("inproc").endpoint();
    let push = options(SocketType::Push).immediate(true).build_blocking();
    let push = push.unwrap();
    push.connect(&*endpoint).unwrap();
    assert!(matches!(
        push.try_send("too early").unwrap_err().error(),
        Error::WouldBlock
    ));
    let pull = options(SocketType::Pull).build_blocking().unwrap();
    pull.bind(&*endpoint).unwrap();
    push.send("now").unwrap();
    assert_eq!(pull.recv().unwrap().as_bytes(), b"now");
}

#[test]
fn hello_hiccup_and_disconnect_messages_tell_of_the_connection() {
    for path in both() {
        let endpoint = match path.transport {
            "inproc" => path.endpoint(),
            _ => {
                let socket = path.server(SocketType::Router).build_blocking().unwrap();
                socket.bind(path.endpoint()).unwrap().to_string()
            }
        };
        let serve = || {
            let router = path
                .server(SocketType::Router)
                .hello_message("hello")
                .disconnect_message("gone")
                .build_blocking()
                .unwrap();
            router.bind(&*endpoint).unwrap();
            router
        };
        let router = serve();
        let dealer = path
            .client(SocketType::Dealer)
            .routing_id("d")
            .hiccup_message("hiccup")
            .disconnect_message("over")
            .build_blocking()
            .unwrap();
        dealer.connect(&*endpoint).unwrap();
        assert_eq!(dealer.recv().unwrap().as_bytes(), b"hello");
        router.close().unwrap();
        assert_eq!(dealer.recv().unwrap().as_bytes(), b"hiccup");
        let router = serve();
        assert_eq!(dealer.recv().unwrap().as_bytes(), b"hello");
        dealer.disconnect(&*endpoint).unwrap();
        assert_eq!(dealer.recv().unwrap().as_bytes(), b"over");
        assert_eq!(texts(&router.recv().unwrap()), ["d", "gone"]);
    }
}

#[test]
fn an_endpoint_is_given_up_when_the_options_say_so() {
    // Nobody listens on a port that was just given back.
    let vacant = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("tcp://{}", listener.local_addr().unwrap())
    };
    let gave_up = |event: &Event| match event {
        Event::GaveUp { endpoint } => Some(endpoint.to_string()),
        _ => None,
    };
    let push = options(SocketType::Push).reconnect_stop(ReconnectStop {
        connection_refused: true,
        ..ReconnectStop::default()
    });
    let push = push.build_blocking().unwrap();
    let monitor = push.monitor();
    push.connect(&*vacant).unwrap();
    assert_eq!(await_event(&monitor, "given up", gave_up), vacant);
    assert!(push.connected_endpoints().is_empty());

    // A peer that does not fit.
    let path = plain("tcp");
    let rep = path.server(SocketType::Rep).build_blocking().unwrap();
    let push = path.client(SocketType::Push).reconnect_stop(ReconnectStop {
        handshake_failed: true,
        ..ReconnectStop::default()
    });
    let push = push.build_blocking().unwrap();
    let monitor = push.monitor();
    push.connect(rep.bind(path.endpoint()).unwrap()).unwrap();
    await_event(&monitor, "given up", gave_up);

    // A connection that ends.
    let pull = path.server(SocketType::Pull).build_blocking().unwrap();
    let push = path.client(SocketType::Push).reconnect_stop(ReconnectStop {
        after_disconnect: true,
        ..ReconnectStop::default()
    });
    let push = push.build_blocking().unwrap();
    let monitor = push.monitor();
    push.connect(pull.bind(path.endpoint()).unwrap()).unwrap();
    push.send("one").unwrap();
    pull.recv().unwrap();
    pull.close().unwrap();
    await_event(&monitor, "given up", gave_up);
}

#[test]
fn byte_budgets_limit_the_queues_beside_the_message_counts() {
    for path in both() {
        let (pull, push) = path.link(
            path.server(SocketType::Pull).receive_byte_budget(100_000),
            path.client(SocketType::Push).send_byte_budget(100_000),
        );
        eventually("connected", || push.peers().len() == 1);
        // Larger than a budget, and larger than what loopback buffers.
        let body = vec![7; 1 << 20];
        let mut sent = 0;
        eventually("one message fits at each end, and no more", || {
            while push.try_send(body.clone()).is_ok() {
                sent += 1;
                assert!(sent < 500, "{}: it must fill up", path.name());
            }
            sent >= 2
        });
        assert!(
            pull.counters().messages_received <= 1,
            "the budget is used up"
        );
        for _ in 0..sent {
            assert_eq!(pull.recv().unwrap().size(), body.len());
        }
    }
}

#[test]
fn the_backlog_has_a_byte_budget_as_well() {
    let push = options(SocketType::Push).send_byte_budget(1_000);
    let push = push.build_blocking().unwrap();
    push.connect(&*plain("inproc").endpoint()).unwrap();
    let mut sent = 0;
    while push.try_send(vec![0; 100]).is_ok() {
        sent += 1;
    }
    assert_eq!(sent, 10);
}

#[test]
fn options_of_tcp_work_together() {
    let path = plain("tcp");
    let tuned = |builder: sealwire::SocketBuilder| {
        builder
            .ipv6(false)
            .backlog(5)
            .type_of_service(0x28)
            .send_buffer(64 << 10)
            .receive_buffer(64 << 10)
            .connect_timeout(Duration::from_secs(10))
            .tcp_keep_alive(Some(TcpKeepAlive {
                idle: Some(Duration::from_secs(60)),
                interval: Some(Duration::from_secs(10)),
                count: Some(3),
            }))
            .build_blocking()
            .unwrap()
    };
    let pull = tuned(path.server(SocketType::Pull));
    let push = tuned(path.client(SocketType::Push));
    push.connect(pull.bind(path.endpoint()).unwrap()).unwrap();
    push.send("tuned").unwrap();
    assert_eq!(pull.recv().unwrap().as_bytes(), b"tuned");
    assert!(matches!(
        pull.bind("tcp://[::1]:*"),
        Err(Error::Bind { .. })
    ));
    let monitor = push.monitor();
    push.connect("tcp://[::1]:9").unwrap();
    await_event(&monitor, "refused", |event| match event {
        Event::Failed(failure) => Some(failure.to_string()),
        _ => None,
    });
}

#[test]
fn limits_may_be_as_long_as_they_can_be_said() {
    let path = plain("tcp");
    let patient = |builder: sealwire::SocketBuilder| {
        builder
            .linger(Duration::MAX)
            .send_timeout(Duration::MAX)
            .receive_timeout(Duration::MAX)
            .handshake_timeout(Duration::MAX)
            .connect_timeout(Duration::MAX)
            .reconnect(Duration::MAX, Duration::MAX)
            .heartbeat(Duration::MAX)
            .heartbeat_timeout(Duration::MAX)
            .heartbeat_ttl(Duration::MAX)
            .build_blocking()
            .unwrap()
    };
    let pull = patient(path.server(SocketType::Pull));
    let push = patient(path.client(SocketType::Push));
    let monitor = pull.monitor();
    push.connect(pull.bind(path.endpoint()).unwrap()).unwrap();
    push.send_timeout("patient", Duration::MAX).unwrap();
    assert_eq!(
        pull.recv_timeout(Duration::MAX).unwrap().as_bytes(),
        b"patient"
    );
    assert!(monitor.wait_next_timeout(Duration::MAX).is_some());
    push.send("to the last").unwrap();
    drop(push);
    assert_eq!(pull.recv().unwrap().as_bytes(), b"to the last");
}
