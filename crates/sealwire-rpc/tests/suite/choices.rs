//! What a client decides on its own: which connection, how often, for how long; and what can be seen
//! of it.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use sealwire::{SocketType, blocking::Socket};

use crate::support::{Scene, TIMEOUT, bind, echo, eventually, nothing_left, patient};
use sealwire_rpc::handler::{Inline, Pool};
use sealwire_rpc::{CallOptions, Client, Code, Error, Request, Server, Status};

/// Turns the first `times` requests away.
fn reluctant(
    times: u32,
    status: Status,
) -> (
    Arc<AtomicU32>,
    impl Fn(&Request) -> Result<&'static str, Status>,
) {
    let asked = Arc::new(AtomicU32::new(0));
    let counter = asked.clone();
    let handle = move |_: &Request| match counter.fetch_add(1, Ordering::SeqCst) {
        turn if turn < times => Err(status.clone()),
        _ => Ok("done"),
    };
    (asked, handle)
}

#[test]
fn only_what_was_not_started_is_asked_again_and_not_for_ever() {
    let unavailable = Status::from(Code::UNAVAILABLE);
    for (status, times, expected_asks, succeeds) in [
        (unavailable.clone().not_started(), 2, 3, true),
        (unavailable.clone().not_started(), 9, 3, false),
        (unavailable, 1, 1, false),
        (
            Status::from(Code::RESOURCE_EXHAUSTED).not_started(),
            1,
            1,
            false,
        ),
    ] {
        let (asked, handle) = reluctant(times, status.clone());
        let (server, client) = Scene::new().pair(Inline::new(handle));
        let outcome = client.blocking().request(b"");
        assert_eq!(outcome.is_ok(), succeeds, "{status:?}");
        assert_eq!(asked.load(Ordering::SeqCst), expected_asks, "{status:?}");
        let retries = u64::from(expected_asks - 1);
        assert_eq!(client.counters().calls_retried, retries);
        nothing_left(&server, &client);
    }
}

/// A client with up to two connections, which are busy with one call each. A call ends when it is told to.
fn two_connections_of_one_call() -> (Server, Client, mpsc::Sender<()>) {
    let (go, wait) = mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    let waits = move |request: &Request| {
        wait.lock().unwrap().recv().unwrap();
        echo(request)
    };
    let scene = Scene::new();
    let server = scene
        .server()
        .build(Pool::new(1, 100, waits).unwrap())
        .unwrap();
    let client = scene
        .client()
        .max_connections(2)
        .calls_per_connection(1)
        .build(bind(&server))
        .unwrap();
    (server, client, go)
}

#[test]
fn the_connection_with_the_fewest_calls_is_chosen_and_another_opened_when_all_are_busy() {
    let (server, client, go) = two_connections_of_one_call();
    let choose = || client.blocking().conn().unwrap();
    let mut calls = vec![choose().start(b"", CallOptions::default()).unwrap()];
    // Choosing a busy one opens the other.
    eventually("two connections", || {
        choose();
        client.connections().len() == 2
    });
    for _ in 0..9 {
        calls.push(choose().start(b"", CallOptions::default()).unwrap());
    }
    let mut loads: Vec<_> = client
        .connections()
        .iter()
        .map(|conn| conn.calls_in_flight())
        .collect();
    loads.sort_unstable();
    assert_eq!(loads, [5, 5]);
    // Which of the two connections is read first is open, so all may go.
    for _ in &calls {
        go.send(()).unwrap();
    }
    for call in calls {
        call.wait().unwrap();
    }
    assert_eq!(client.connections().len(), 2);
    nothing_left(&server, &client);
}

#[test]
fn threads_that_choose_together_open_no_more_connections_than_allowed() {
    for _ in 0..20 {
        let (server, client, go) = two_connections_of_one_call();
        let conn = client.blocking().conn().unwrap();
        let call = conn.start(b"", CallOptions::default()).unwrap();
        thread::scope(|threads| {
            for _ in 0..4 {
                threads.spawn(|| {
                    while client.connections().len() < 2 {
                        client.blocking().conn().unwrap();
                    }
                });
            }
        });
        // A third one would be under way. In less time it may go unseen, but none is seen that is not there.
        thread::sleep(Duration::from_millis(20));
        assert_eq!(client.connections().len(), 2);
        go.send(()).unwrap();
        call.wait().unwrap();
        nothing_left(&server, &client);
    }
}

/// A thread that is woken to read may have its answer already, and has to choose another one.
#[test]
fn threads_that_leave_with_their_answers_let_others_read() {
    let scene = Scene::new();
    let server = scene.server().build(Inline::new(echo)).unwrap();
    let client = scene.client().build(bind(&server)).unwrap().blocking();
    client.conn().unwrap();
    for _ in 0..500 {
        thread::scope(|threads| {
            for _ in 0..6 {
                threads.spawn(|| {
                    client
                        .request_with(b"once", CallOptions::within(TIMEOUT))
                        .unwrap()
                });
            }
        });
    }
}

#[test]
fn the_time_limit_of_the_client_is_that_of_calls_without_one() {
    let (saw, left) = mpsc::channel();
    let saw = Mutex::new(saw);
    let tell = move |request: &Request| {
        saw.lock().unwrap().send(request.time_left()).unwrap();
        echo(request)
    };
    let scene = Scene::new();
    let server = scene.server().build(Inline::new(tell)).unwrap();
    let endpoint = bind(&server);
    for request in [Some(Duration::from_secs(1_000)), None] {
        let mut limits = patient();
        limits.request = request;
        let client = scene
            .client()
            .limits(limits)
            .build(endpoint.clone())
            .unwrap();
        client.blocking().request(b"").unwrap();
        let seen = left.recv_timeout(TIMEOUT).unwrap();
        assert_eq!(seen.is_some(), request.is_some());
        let most = request.map(|limit| limit.mul_f64(1.13));
        assert!(seen <= most, "{seen:?} of {request:?}");
        assert!(seen > most.map(|_| Duration::from_secs(500)) || seen.is_none());
    }
}

#[test]
fn limits_may_be_as_long_as_they_can_be_said() {
    let mut limits = sealwire_rpc::Limits::default();
    limits.request = Some(Duration::MAX);
    limits.write = Duration::MAX;
    limits.read = Duration::MAX;
    limits.linger = Duration::MAX;
    let scene = Scene::new();
    let server = scene
        .server()
        .limits(limits)
        .connection_wait(Duration::MAX)
        .handshake_limit(Duration::MAX)
        .build(Inline::new(echo))
        .unwrap();
    let client = scene
        .client()
        .limits(limits)
        .dial_limit(Duration::MAX)
        .handshake_limit(Duration::MAX)
        .build(bind(&server))
        .unwrap()
        .blocking();
    assert_eq!(&client.request(b"patient").unwrap()[..], b"patient");
    let options = CallOptions::within(Duration::MAX);
    let answer = client.request_with(b"patient", options).unwrap();
    assert_eq!(&answer[..], b"patient");
    assert!(client.shutdown(Duration::MAX));
    assert!(server.shutdown_blocking(Duration::MAX));
}

#[test]
fn interceptors_of_the_client_see_and_change_all_that_leaves() {
    let (heard, hears) = mpsc::channel();
    let heard = Mutex::new(heard);
    let handler = Inline::new(echo).on_message(move |message| {
        heard.lock().unwrap().send(message.body().to_vec()).unwrap();
    });
    let scene = Scene::new();
    let server = scene.server().build(handler).unwrap();
    let client = scene
        .client()
        .intercept(|call| {
            call.body
                .to_mut()
                .insert(0, if call.is_one_way { b'm' } else { b'c' });
            Ok(())
        })
        .intercept(|call| match &call.body[1..] {
            b"secret" => Err(Status::new(Code::PERMISSION_DENIED, "stays here")),
            _ => Ok(()),
        })
        .build(bind(&server))
        .unwrap()
        .blocking();
    assert_eq!(&client.request(b"1").unwrap()[..], b"c1");
    let conn = client.conn().unwrap();
    assert_eq!(&conn.request(b"2").unwrap()[..], b"c2");
    let call = conn.start(b"3", CallOptions::default()).unwrap();
    assert_eq!(&call.wait().unwrap()[..], b"c3");
    client.send(b"4").unwrap();
    assert_eq!(hears.recv_timeout(TIMEOUT).unwrap(), b"m4");
    let error = client.request(b"secret").unwrap_err();
    let Error::Intercepted(status) = &error else {
        panic!("{error}");
    };
    assert_eq!(status.code, Code::PERMISSION_DENIED);
    assert!(!error.may_have_run());
    assert_eq!(conn.send_no_wait(b"secret"), Err(error));
    assert_eq!(server.counters().requests, 3);
}

/// An endpoint can be listened on again, and no file is left.
#[cfg(unix)]
#[test]
fn endpoints_are_free_after_a_shutdown() {
    let scene = Scene::new();
    let folder = std::env::temp_dir().join(format!("sealwire-rpc-{}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    let file = folder.join("socket");
    let left = (0..100).find(|_| {
        let server = scene.server().build(Inline::new(echo)).unwrap();
        server.bind(format!("ipc://{}", file.display())).unwrap();
        assert!(server.shutdown_blocking(TIMEOUT));
        file.exists()
    });
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(left, None, "the file was still there");
}

/// The thread of a call reads for others too, so none of its waits ends for what the socket below was told.
#[cfg(unix)]
#[test]
fn options_of_the_socket_interrupt_no_call() {
    let scene = Scene::new();
    let server = scene
        .server()
        .socket(|socket| socket.interrupted_when(|| true));
    let server = server.build(Inline::new(echo)).unwrap();
    let client = scene
        .client()
        .socket(|socket| socket.interrupted_when(|| true));
    let client = client.build(bind(&server)).unwrap();
    for _ in 0..100 {
        let answer = client.blocking().request(b"there").unwrap();
        assert_eq!(&answer[..], b"there");
    }
}

/// A payload that calls a server as it is dropped.
struct Calling {
    client: sealwire_rpc::blocking::Client,
    outcome: mpsc::Sender<Result<sealwire_rpc::Body, Error>>,
}

impl AsRef<[u8]> for Calling {
    fn as_ref(&self) -> &[u8] {
        &[0; 1 << 20]
    }
}

impl Drop for Calling {
    fn drop(&mut self) {
        let _ = self.outcome.send(self.client.request(b"dropped"));
    }
}

/// The thread that writes a message drops its payload while the connection is locked.
#[test]
fn what_is_dropped_while_a_connection_is_driven_waits_for_no_answer() {
    let (_server, client) = Scene::new().pair(Inline::new(echo));
    let client = client.blocking();
    client.request(b"").unwrap();
    let [push, pull] = [SocketType::Push, SocketType::Pull].map(|it| Socket::new(it).unwrap());
    push.connect(pull.bind("tcp://127.0.0.1:0").unwrap())
        .unwrap();
    let (outcome, outcomes) = mpsc::channel();
    let payload = Bytes::from_owner(Calling { client, outcome });
    push.send(payload).unwrap();
    assert_eq!(pull.recv().unwrap().as_bytes().len(), 1 << 20);
    let outcome = outcomes.recv_timeout(TIMEOUT).unwrap();
    assert!(matches!(outcome, Err(Error::WouldDeadlock)), "{outcome:?}");
}

/// A signal to the process goes to a thread that takes it. A pool's threads do, which run the program's functions.
#[cfg(target_os = "linux")]
#[test]
fn threads_that_read_and_dial_take_no_signals() {
    let (_server, client) = Scene::new().pair(Inline::new(echo));
    client.blocking().request(b"").unwrap();
    // A thread blocks everything for a moment as it begins and ends.
    eventually("threads that block what they may", || {
        let tasks = std::fs::read_dir("/proc/self/task").unwrap();
        let library = tasks.filter_map(|task| blocked_by_library(&task.unwrap().path()));
        let library: Vec<u64> = library.collect();
        for &blocked in &library {
            assert!(blocks(blocked, libc::SIGINT) && blocks(blocked, libc::SIGTERM));
        }
        let all_let_faults_in = !library.iter().any(|&each| blocks(each, libc::SIGSEGV));
        !library.is_empty() && all_let_faults_in
    });
}

#[cfg(target_os = "linux")]
fn blocks(blocked: u64, signal: i32) -> bool {
    (blocked >> (signal - 1)) & 1 == 1
}

/// The signals that a thread blocks, if it is one that reads or dials, and there yet.
#[cfg(target_os = "linux")]
fn blocked_by_library(task: &std::path::Path) -> Option<u64> {
    let name = std::fs::read_to_string(task.join("comm")).ok()?;
    let status = std::fs::read_to_string(task.join("status")).ok()?;
    // The system keeps 15 octets of a name.
    let named = ["sealwire-rpc", "sealwire-rpc-di"].contains(&name.trim_end());
    let mut lines = status.lines();
    let blocked = lines.find_map(|line| line.strip_prefix("SigBlk:"))?;
    let blocked = u64::from_str_radix(blocked.trim(), 16).unwrap();
    named.then_some(blocked)
}
