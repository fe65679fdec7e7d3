//! Connections that come late, and those who wait as a peer is left.

use super::*;

#[test]
fn a_connection_that_is_ready_too_late_is_refused() {
    let scene = Scene::new(SocketType::Push);
    let (endpoint, connector) = scene.expect("left");
    scene.send("before");
    let kind = RegistrationKind::Connected;
    scene.core().unregister(&endpoint, kind).unwrap();
    assert!(scene.attach(endpoint, connector).is_err());
    // For no peer in particular.
    let next = scene.connect("next");
    assert_eq!(next.taken(), ["before"]);
}

#[test]
fn a_connection_that_is_ready_late_is_of_use_to_a_socket_that_is_drained() {
    let scene = Scene::new(SocketType::Pull);
    let (endpoint, connector) = scene.expect("left");
    assert!(scene.core().begin_drain().unwrap().is_some());
    let late = scene.attach(endpoint, connector).unwrap();
    late.says(&["on its way"]);
    assert_eq!(scene.received(), ["on its way"]);
}

#[test]
fn only_the_peer_behind_the_endpoint_is_left() {
    let scene = Scene::new(SocketType::Dealer);
    let (left, other) = (scene.connect("left"), scene.connect("other"));
    scene.leave(&left);
    scene.send("to the other");
    assert_eq!(other.taken(), ["to the other"]);
    other.says(&["answer"]);
    assert_eq!(scene.received(), ["answer"]);
    assert_eq!(scene.core().presence(), Presence::Connected { peers: 1 });
}

/// Whatever the pattern: before its end is told of by other means.
#[test]
fn the_end_is_told_of_once_as_the_peer_is_left() {
    for socket_type in [SocketType::Dealer, SocketType::Pull, SocketType::Pair] {
        let scene = Scene::with(Socket::builder(socket_type).disconnect_message("over"));
        let left = scene.connect("left");
        left.says(&["before"]);
        scene.leave(&left);
        left.says(&["late"]);
        left.ends();
        assert_eq!(scene.received(), ["before", "over"], "{socket_type}");
    }
}

#[test]
fn a_task_that_awaits_an_answer_is_told_as_the_peer_is_left() {
    let scene = Scene::new(SocketType::Req);
    let left = scene.connect("left");
    scene.send("first");
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(woken.clone());
    let mut context = Context::from_waker(&waker);
    let mut answer = pin!(scene.socket.recv());
    assert!(answer.as_mut().poll(&mut context).is_pending());
    scene.leave(&left);
    assert!(woken.take());
    let answer = answer.as_mut().poll(&mut context);
    let lost = matches!(answer, Poll::Ready(Err(Error::RequestLost)));
    assert!(lost, "{answer:?}");
}

/// The message waits for the other, and needs no room at this one.
#[test]
fn a_task_that_waits_for_room_is_told_as_the_peer_is_left() {
    let scene = Scene::with(Socket::builder(SocketType::Push).send_high_water_mark(1));
    let left = scene.connect("left");
    let (endpoint, connector) = scene.expect("next");
    scene.send("before");
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(woken.clone());
    let mut context = Context::from_waker(&waker);
    let mut sent = pin!(scene.socket.send("after"));
    assert!(sent.as_mut().poll(&mut context).is_pending());
    assert!(!woken.take());
    scene.leave(&left);
    assert!(woken.take());
    assert!(matches!(
        sent.as_mut().poll(&mut context),
        Poll::Ready(Ok(()))
    ));
    let next = scene.attach(endpoint, connector).unwrap();
    assert_eq!(next.taken(), ["after"]);
    // Its queue is full, and nobody else is expected: a task waits, and is woken for nothing.
    scene.send("last");
    let mut waits = pin!(scene.socket.send("more"));
    assert!(waits.as_mut().poll(&mut context).is_pending());
    scene.leave(&next);
    assert!(waits.as_mut().poll(&mut context).is_pending());
    woken.take();
    left.ends();
    let third = scene.connect("third");
    // What the first did not take goes before.
    assert_eq!(third.taken(), ["before"]);
    assert!(woken.take());
    assert!(matches!(
        waits.as_mut().poll(&mut context),
        Poll::Ready(Ok(()))
    ));
    assert_eq!(third.taken(), ["more"]);
}

#[test]
fn a_thread_that_reads_a_connection_is_told_as_its_peer_is_left() {
    let scene = Scene::new(SocketType::Pull);
    let left = scene.connect("left");
    let lease = scene.core().lease().clone();
    lease.begin();
    lease.park();
    scene.leave(&left);
    assert!(!lease.is_parked());
}
