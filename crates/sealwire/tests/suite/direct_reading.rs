//! A blocked thread reads its only peer's connection itself. Nobody may notice, except by the time
//! it takes.

use std::thread;
use std::time::Duration;

use sealwire::{Error, Event, SocketType, blocking};

use crate::support::{Path, await_event, eventually};

/// A PULL and a PUSH whose first message was read by a thread that waited for it.
fn leased(path: &Path) -> (blocking::Socket, blocking::Socket, sealwire::Endpoint) {
    let pull = path.server(SocketType::Pull).build_blocking().unwrap();
    let endpoint = pull.bind(path.endpoint()).unwrap();
    let push = path.client(SocketType::Push).build_blocking().unwrap();
    push.connect(&endpoint).unwrap();
    eventually("connected", || pull.peers().len() == 1);
    round(&pull, &push, "first");
    (pull, push, endpoint)
}

/// Receives while, and mostly before, the message is sent.
fn round(pull: &blocking::Socket, push: &blocking::Socket, text: &str) {
    thread::scope(|scope| {
        let received = scope.spawn(|| pull.recv().unwrap());
        thread::yield_now();
        push.send(text).unwrap();
        assert_eq!(received.join().unwrap().as_bytes(), text.as_bytes());
    });
}

#[test]
fn an_end_is_noticed_when_nobody_waits() {
    for path in Path::all() {
        let (pull, push, _) = leased(&path);
        let monitor = pull.monitor();
        push.close().unwrap();
        await_event(&monitor, "disconnected", |event| {
            matches!(event, Event::Disconnected { .. }).then_some(())
        });
    }
}

#[test]
fn an_end_is_noticed_by_the_thread_that_waits() {
    let path = Path::encrypted();
    let (pull, push, endpoint) = leased(&path);
    thread::scope(|scope| {
        let received = scope.spawn(|| pull.recv().unwrap());
        push.close().unwrap();
        eventually("disconnected", || pull.peers().is_empty());
        let other = path.client(SocketType::Push).build_blocking().unwrap();
        other.connect(&endpoint).unwrap();
        other.send("from another").unwrap();
        assert_eq!(received.join().unwrap().as_bytes(), b"from another");
    });
}

#[test]
fn closing_wakes_the_thread_that_waits() {
    for path in Path::all() {
        let (pull, _push, _) = leased(&path);
        let other = pull.clone();
        thread::scope(|scope| {
            let received = scope.spawn(|| pull.recv());
            other.close().unwrap();
            assert!(matches!(received.join().unwrap(), Err(Error::Closed)));
        });
    }
}

#[test]
fn a_second_peer_is_heard_by_the_thread_that_waits_for_the_first() {
    let path = Path::encrypted();
    let (pull, _push, endpoint) = leased(&path);
    thread::scope(|scope| {
        let received = scope.spawn(|| pull.recv().unwrap());
        let other = path.client(SocketType::Push).build_blocking().unwrap();
        other.connect(&endpoint).unwrap();
        other.send("me too").unwrap();
        assert_eq!(received.join().unwrap().as_bytes(), b"me too");
    });
}

#[test]
fn several_threads_share_what_comes() {
    const EACH: usize = 500;
    let path = Path::encrypted();
    let (pull, push, _) = leased(&path);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..EACH {
                    pull.recv().unwrap();
                }
            });
        }
        for _ in 0..4 * EACH {
            push.send("one of many").unwrap();
        }
    });
    assert_eq!(pull.counters().messages_received, 4 * EACH as u64 + 1);
}

#[test]
fn a_task_may_wait_where_a_thread_has_waited() {
    let path = Path::encrypted();
    let (pull, push, _) = leased(&path);
    let async_pull: sealwire::Socket = pull.clone().into();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for number in 0..20_u8 {
        thread::scope(|scope| {
            let received = scope.spawn(|| runtime.block_on(async_pull.recv()).unwrap());
            push.send([number].as_slice()).unwrap();
            assert_eq!(received.join().unwrap().as_bytes(), [number]);
        });
        round(&pull, &push, "in between");
    }
}

#[test]
fn looking_without_waiting_finds_what_came() {
    let path = Path::encrypted();
    let (pull, push, _) = leased(&path);
    for _ in 0..20 {
        round(&pull, &push, "waited for");
        push.send("looked for").unwrap();
        let mut found = None;
        eventually("it is there", || {
            found = pull.try_recv().ok();
            found.is_some()
        });
        assert_eq!(found.unwrap().as_bytes(), b"looked for");
    }
}

#[test]
fn waiting_ends_in_time_and_may_go_on() {
    let path = Path::encrypted();
    let (pull, push, _) = leased(&path);
    for _ in 0..3 {
        let waited = pull.recv_timeout(Duration::from_millis(30));
        assert!(matches!(waited, Err(Error::TimedOut { .. })));
        round(&pull, &push, "after all");
    }
}

#[test]
fn a_full_queue_is_read_on_when_it_is_empty() {
    let path = Path::encrypted();
    let pull = path.server(SocketType::Pull).receive_high_water_mark(3);
    let pull = pull.build_blocking().unwrap();
    let push = path.client(SocketType::Push).build_blocking().unwrap();
    push.connect(pull.bind(path.endpoint()).unwrap()).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| (0..2_000_u32).for_each(|n| push.send(&n.to_be_bytes()).unwrap()));
        for number in 0..2_000_u32 {
            assert_eq!(pull.recv().unwrap().as_bytes(), number.to_be_bytes());
        }
    });
}

#[test]
fn a_peer_that_replaces_another_is_sent_what_comes_next() {
    for path in [Path::encrypted(), Path::all().remove(0)] {
        let ours = path.server(SocketType::Dealer).build_blocking().unwrap();
        let monitor = ours.monitor();
        let endpoint = ours.bind(path.endpoint()).unwrap();
        for _ in 0..10 {
            let theirs = path.client(SocketType::Dealer).build_blocking().unwrap();
            theirs.connect(&endpoint).unwrap();
            await_event(&monitor, "a peer", |event| {
                matches!(event, Event::Ready { .. }).then_some(())
            });
            ours.send("to the one that is there").unwrap();
            theirs.recv().unwrap();
            round(&ours, &theirs, "read directly");
            theirs.close().unwrap();
        }
    }
}

#[test]
fn what_comes_next_goes_to_who_takes_the_place_of_a_peer_that_has_just_gone() {
    for path in [Path::encrypted(), Path::all().remove(0)] {
        let ours = path.client(SocketType::Dealer).build_blocking().unwrap();
        let server = || {
            let builder = path.server(SocketType::Dealer).linger(Duration::ZERO);
            builder.build_blocking().unwrap()
        };
        let mut theirs = server();
        let endpoint = theirs.bind(path.endpoint()).unwrap();
        ours.connect(&endpoint).unwrap();
        for _ in 0..5 {
            ours.send("to the one that is there").unwrap();
            theirs.recv().unwrap();
            round(&ours, &theirs, "read directly");
            let monitor = theirs.monitor();
            theirs.close().unwrap();
            // Its connection has ended, of which nobody is told who does not wait.
            while monitor.wait_next().is_some() {}
            // Right behind a read nobody looks for the end.
            thread::sleep(Duration::from_millis(1));
            ours.send("to who comes next").unwrap();
            theirs = server();
            theirs.bind(endpoint.clone()).unwrap();
            let came = theirs.recv_timeout(Duration::from_secs(60)).unwrap();
            assert_eq!(came.as_bytes(), b"to who comes next");
        }
    }
}
