//! Waiting for peers and for subscribers, and what is said where they do not come.

use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use sealwire::blocking::Socket;
use sealwire::waits::{FirstFailure, Waited};
use sealwire::{
    Error, Event, Generate as _, KeyPair, Message, Operation, Presence, Security, SocketType,
};

use crate::support::{Path, await_event, block_on, eventually, options};

/// Short, where it has to run out.
const SHORT: Duration = Duration::from_millis(50);

/// The first message after the wait is the one that nobody may miss.
#[test]
fn subscribers_that_were_waited_for_miss_no_message() {
    for path in Path::all() {
        for round in 0..20 {
            let (publisher, subscriber) = path.pair(SocketType::Pub, SocketType::Sub);
            subscriber.subscribe("weather.").unwrap();
            publisher.wait_subscribed("weather.", 1).unwrap();
            publisher.send("weather.today").unwrap();
            let first = subscriber.recv().unwrap();
            assert_eq!(
                first.as_bytes(),
                b"weather.today",
                "{} {round}",
                path.name()
            );
        }
    }
}

#[test]
fn members_that_were_waited_for_miss_no_message() {
    let path = Path::encrypted();
    let (radio, dish) = path.pair(SocketType::Radio, SocketType::Dish);
    dish.join("group").unwrap();
    radio.wait_subscribed("group", 1).unwrap();
    radio.send(Message::to_group("group", "body")).unwrap();
    assert_eq!(dish.recv().unwrap().frames()[1].as_slice(), b"body");
    let other = radio.wait_subscribed_timeout("grou", 1, SHORT);
    assert!(
        matches!(other, Err(Error::TimedOut { .. })),
        "a group is no prefix"
    );
}

#[test]
fn whoever_asked_for_a_shorter_topic_counts_and_no_one_else() {
    let path = Path::encrypted();
    let publisher = path.server(SocketType::Pub).build_blocking().unwrap();
    let endpoint = publisher.bind(path.endpoint()).unwrap();
    let subscribers = ["", "wea", "weather.", "weather.today", "sport"].map(|topic| {
        let subscriber = path.client(SocketType::Sub).build_blocking().unwrap();
        subscriber.connect(endpoint.clone()).unwrap();
        subscriber.subscribe(topic).unwrap();
        subscriber
    });
    for topic in ["weather.today", "sport", "weather."] {
        let wanted = if topic == "weather.today" { 4 } else { 2 };
        publisher.wait_subscribed(topic, wanted).unwrap();
    }
    let error = publisher.wait_subscribed_timeout("weather.", 4, SHORT);
    let Err(Error::TimedOut {
        operation,
        presence,
        ..
    }) = error
    else {
        panic!("three of them get it: {error:?}")
    };
    assert_eq!(operation, Operation::AwaitSubscribers);
    assert_eq!(presence, Presence::Connected { peers: 5 });
    drop(subscribers);
}

#[test]
fn what_xpub_granted_by_hand_counts() {
    let path = Path::encrypted();
    let (publisher, subscriber) = path.link(
        path.server(SocketType::XPub).xpub_manual(true),
        path.client(SocketType::Sub),
    );
    subscriber.subscribe("asked").unwrap();
    assert_eq!(publisher.recv().unwrap().as_bytes(), b"\x01asked");
    let asked = publisher.wait_subscribed_timeout("asked", 1, SHORT);
    assert!(matches!(asked, Err(Error::TimedOut { .. })));
    let waiting = publisher.clone();
    let waiting = thread::spawn(move || waiting.wait_subscribed("granted", 1));
    publisher.subscribe("granted").unwrap();
    waiting.join().unwrap().unwrap();
}

#[test]
fn only_publishers_have_subscribers() {
    for socket_type in [SocketType::Push, SocketType::Sub, SocketType::Dish] {
        let socket = Socket::new(socket_type).unwrap();
        let error = socket.wait_subscribed("", 1).unwrap_err();
        assert!(
            matches!(error, Error::Unsupported(Operation::AwaitSubscribers)),
            "{socket_type}: {error}"
        );
    }
}

#[test]
fn peers_are_waited_for() {
    for path in Path::all() {
        let pull = path.server(SocketType::Pull).build_blocking().unwrap();
        let endpoint = pull.bind(path.endpoint()).unwrap();
        let pushes = [(); 3].map(|()| path.client(SocketType::Push).build_blocking().unwrap());
        for push in &pushes {
            push.connect(endpoint.clone()).unwrap();
        }
        pull.wait_connected(3).unwrap();
        assert_eq!(pull.peers().len(), 3, "{}", path.name());
        for push in &pushes {
            push.wait_connected(1).unwrap();
            push.try_send("at once").unwrap();
        }
        pull.wait_connected(0).unwrap();
    }
}

#[test]
fn a_wait_that_is_awaited_ends_too() {
    let path = Path::encrypted();
    let (publisher, subscriber) = path.pair(SocketType::Pub, SocketType::Sub);
    let publisher = sealwire::Socket::from(publisher);
    let asking = thread::spawn(move || {
        subscriber.subscribe("").unwrap();
        subscriber.recv().unwrap();
    });
    block_on(async {
        publisher.wait_connected(1).await.unwrap();
        publisher.wait_subscribed("anything", 1).await.unwrap();
        publisher.send("anything").await.unwrap();
    });
    asking.join().unwrap();
}

#[test]
fn another_handle_that_closes_ends_the_waits() {
    let publisher = Socket::new(SocketType::Pub).unwrap();
    let waits = [
        thread::spawn({
            let publisher = publisher.clone();
            move || publisher.wait_connected(1)
        }),
        thread::spawn({
            let publisher = publisher.clone();
            move || publisher.wait_subscribed("", 1)
        }),
    ];
    publisher.close().unwrap();
    for wait in waits {
        assert!(matches!(wait.join().unwrap(), Err(Error::Closed)));
    }
}

#[test]
fn a_wrong_key_is_why_nobody_comes() {
    let path = Path::encrypted();
    let pull = path.server(SocketType::Pull).build_blocking().unwrap();
    let push = options(SocketType::Push)
        .security(Security::blake3_client(KeyPair::generate().public()))
        .build_blocking()
        .unwrap();
    assert!(push.last_failure().is_none());
    let monitor = push.monitor();
    push.connect(pull.bind(path.endpoint()).unwrap()).unwrap();
    await_event(&monitor, "failed", |event| {
        matches!(event, Event::Failed(_)).then_some(())
    });
    let error = push.wait_connected_timeout(1, SHORT).unwrap_err();
    let Error::TimedOut {
        last_failure: Some(failure),
        ..
    } = &error
    else {
        panic!("it knows why: {error:?}")
    };
    assert!(error.to_string().contains(&failure.to_string()), "{error}");
    assert!(failure.is_handshake_failure(), "{failure:?}");
    assert!(push.last_failure().is_some());
}

#[test]
fn of_all_that_wait_one_is_told_of_the_first_failed_handshake() {
    let path = Path::encrypted();
    let push = path.server(SocketType::Push).build_blocking().unwrap();
    let pull = options(SocketType::Pull)
        .security(Security::blake3_client(KeyPair::generate().public()))
        .build()
        .unwrap();
    let first_failure = FirstFailure::default();
    let wait = || block_on(first_failure.or(&pull, pull.recv()));
    let told = thread::scope(|scope| {
        let waiting = [(); 3].map(|()| {
            scope.spawn(|| {
                let mut told = 0;
                while let Waited::Failed(failure) = wait() {
                    assert!(failure.is_handshake_failure(), "{failure:?}");
                    told += 1;
                }
                told
            })
        });
        pull.connect(push.bind(path.endpoint()).unwrap()).unwrap();
        eventually("somebody is told", || first_failure.is_told());
        block_on(pull.clone().close()).unwrap();
        waiting.map(|thread| thread.join().unwrap())
    });
    assert_eq!(told.iter().sum::<u32>(), 1, "{told:?}");
}

#[test]
fn a_failure_before_the_wait_is_told_and_a_message_comes_first() {
    let (path, other) = (Path::encrypted(), Path::encrypted());
    let push = path.server(SocketType::Push).build_blocking().unwrap();
    let right = other.server(SocketType::Push).build_blocking().unwrap();
    let pull = other.client(SocketType::Pull).build().unwrap();
    let monitor = pull.monitor();
    // Its key is another.
    pull.connect(push.bind(path.endpoint()).unwrap()).unwrap();
    await_event(&monitor, "failed", |event| {
        matches!(event, Event::Failed(_)).then_some(())
    });
    let first_failure = FirstFailure::default();
    let here = block_on(first_failure.or(&pull, std::future::ready("here")));
    assert!(matches!(here, Waited::Done("here")), "{here:?}");
    let failed = block_on(first_failure.or(&pull, std::future::pending::<()>()));
    assert!(matches!(failed, Waited::Failed(_)), "{failed:?}");
    pull.connect(right.bind(other.endpoint()).unwrap()).unwrap();
    right.send("late").unwrap();
    let late = block_on(first_failure.or(&pull, pull.recv()));
    let Waited::Done(Ok(late)) = late else {
        panic!("{late:?}")
    };
    assert_eq!(late.as_bytes(), b"late");
}

#[test]
fn nobody_at_the_endpoint_is_no_handshake_failure() {
    let name = format!("sealwire-nobody-{}", std::process::id());
    let path = std::env::temp_dir().join(name);
    let push = Socket::new(SocketType::Push).unwrap();
    let monitor = push.monitor();
    push.connect(format!("ipc://{}", path.display())).unwrap();
    let retrying = await_event(&monitor, "retrying", |event| {
        matches!(event, Event::Retrying { .. }).then(|| event.to_string())
    });
    assert!(retrying.ends_with("(retry 1)"), "{retrying}");
    let failure = push.last_failure().expect("it comes before");
    assert!(!failure.is_handshake_failure(), "{failure:?}");
}

#[test]
fn a_time_limit_tells_which_peers_were_there() {
    let pull = Socket::new(SocketType::Pull).unwrap();
    let nobody = pull.recv_timeout(SHORT).unwrap_err();
    assert!(
        nobody.to_string().ends_with("; no peer was connected"),
        "{nobody}"
    );
    // It accepts, and says nothing.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let monitor = pull.monitor();
    pull.connect(format!("tcp://{}", silent.local_addr().unwrap()))
        .unwrap();
    await_event(&monitor, "connected", |event| {
        matches!(event, Event::Connected { .. }).then_some(())
    });
    let handshaking = pull.recv_timeout(SHORT).unwrap_err();
    let Error::TimedOut { presence, .. } = handshaking else {
        panic!("{handshaking}")
    };
    assert_eq!(presence, Presence::Handshaking { connections: 1 });
    assert!(handshaking.to_string().contains("ZMTP"), "{handshaking}");

    let push = Socket::new(SocketType::Push).unwrap();
    let nobody = push.send_timeout("nowhere", SHORT).unwrap_err();
    assert_eq!(
        nobody.to_string(),
        "no peer was connected that could take the message within 50ms"
    );
    let (pull, _push) = Path::encrypted().pair(SocketType::Pull, SocketType::Push);
    pull.wait_connected(1).unwrap();
    let silence = pull.recv_timeout(SHORT).unwrap_err();
    assert_eq!(silence.to_string(), "no message came within 50ms");
}

#[test]
fn a_subscriber_is_told_of_once() {
    let path = Path::encrypted();
    let publisher = path.server(SocketType::Pub).build_blocking().unwrap();
    let monitor = publisher.monitor();
    let subscriber = path.client(SocketType::Sub).build_blocking().unwrap();
    let endpoint = publisher.bind(path.endpoint()).unwrap();
    subscriber.connect(endpoint).unwrap();
    publisher.wait_connected(1).unwrap();
    for topic in ["a", "b", "c"] {
        subscriber.subscribe(topic).unwrap();
        publisher.wait_subscribed(topic, 1).unwrap();
        subscriber.unsubscribe(topic).unwrap();
    }
    subscriber.close().unwrap();
    let mut events = Vec::new();
    await_event(&monitor, "gone", |event| {
        events.push(event.to_string());
        matches!(event, Event::Disconnected { .. } | Event::Failed(_)).then_some(())
    });
    let told = events.iter().filter(|event| event.ends_with("subscribed"));
    assert_eq!(told.count(), 1, "{events:?}");
}
