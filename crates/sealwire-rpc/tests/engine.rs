//! The I/O thread below a client or server ends by a fault: all who wait are told.
//!
//! A binary of its own: it takes descriptors of the process from under the I/O thread.
#![cfg(target_os = "linux")]

#[expect(dead_code, reason = "the suite uses the rest")]
mod support;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::fd::{FromRawFd as _, OwnedFd};
use std::sync::{Arc, Mutex};
use std::thread;

use sealwire::{Context, Error as SocketError, SocketType, blocking::Socket};
use sealwire_rpc::{CallOptions, Error, Handler, Request};
use support::{Scene, bind, eventually};

/// Never answers.
#[derive(Clone, Default)]
struct Keeping(Arc<Mutex<Vec<Request>>>);

impl Handler for Keeping {
    fn request(&self, request: Request) {
        self.0.lock().unwrap().push(request);
    }
}

/// What the I/O threads of this process wait with.
fn polls() -> BTreeSet<i32> {
    let entries = fs::read_dir("/proc/self/fd").unwrap().flatten();
    let is_poll = |entry: &fs::DirEntry| {
        let target = fs::read_link(entry.path()).unwrap_or_default();
        target.to_string_lossy().contains("[eventpoll]")
    };
    let number = |entry: fs::DirEntry| entry.file_name().to_str().unwrap().parse().unwrap();
    entries.filter(is_poll).map(number).collect()
}

/// A context whose I/O thread can be made to fail.
struct Fragile {
    context: Context,
    /// All descriptors of what its thread waits with.
    polls: Vec<i32>,
}

impl Fragile {
    fn new() -> Self {
        let before = polls();
        let context = Context::new().unwrap();
        // Its thread begins with the first socket at the latest.
        let socket = Socket::builder(SocketType::Pull).context(&context);
        socket.build_blocking().unwrap();
        let polls: Vec<_> = polls().difference(&before).copied().collect();
        assert!(!polls.is_empty(), "it waits with one");
        Fragile { context, polls }
    }

    /// The next wait for something to happen is refused by the system.
    fn fail(&self) {
        let null = File::open("/dev/null").unwrap();
        for poll in &self.polls {
            // SAFETY: the number is that of an open descriptor. It is not closed here, and what it refers
            // to is replaced at once: its owner gets errors from it, and closes it when it is dropped.
            let mut poll = unsafe { OwnedFd::from_raw_fd(*poll) };
            let replaced = rustix::io::dup2(&null, &mut poll);
            std::mem::forget(poll);
            replaced.unwrap();
        }
        // Anything wakes it. Whether that works depends on who is first.
        let socket = Socket::builder(SocketType::Pull).context(&self.context);
        let _ = socket.build_blocking().and_then(|socket| {
            let bound = socket.bind("tcp://127.0.0.1:0");
            bound.map(drop)
        });
    }
}

/// One test, as descriptors are the process's.
#[test]
fn an_engine_that_fails_is_an_error_for_all_who_wait() {
    let (of_server, of_client) = (Fragile::new(), Fragile::new());
    let (scene, held) = (Scene::new(), Keeping::default());
    let server = scene
        .server()
        .socket(|socket| socket.context(&of_server.context))
        .build(held.clone())
        .unwrap();
    let client = scene
        .client()
        .max_connections(1)
        .socket(|socket| socket.context(&of_client.context))
        .build(bind(&server))
        .unwrap();
    let conn = client.blocking().conn().unwrap();
    let under_way = conn.start(b"under way", CallOptions::default()).unwrap();
    let (lost, of_conn) = thread::scope(|scope| {
        let blocked = scope.spawn(|| client.blocking().request(b"blocked"));
        let on_conn = scope.spawn(|| conn.request(b"on the connection"));
        eventually("they are asked", || held.0.lock().unwrap().len() == 3);
        of_client.fail();
        (blocked.join().unwrap(), on_conn.join().unwrap())
    });
    let may_have_run = true;
    for outcome in [lost, of_conn, under_way.wait()] {
        assert_eq!(outcome, Err(Error::ConnectionLost { may_have_run }));
    }
    let after = client.blocking().request(b"after it");
    assert_eq!(after, Err(Error::EngineFailed));
    assert_eq!(client.send_no_wait(b"after it"), Err(Error::EngineFailed));
    // The server goes on, and serves others.
    let other = scene.client().build(bind(&server)).unwrap().blocking();
    let other_conn = other.conn().unwrap();

    thread::scope(|scope| {
        let closed = scope.spawn(|| server.closed_blocking());
        let waiting = scope.spawn(|| other_conn.request(b"of the other"));
        eventually("it is asked", || held.0.lock().unwrap().len() == 4);
        of_server.fail();
        let closed = closed.join().unwrap();
        assert!(
            matches!(closed, Err(SocketError::EngineFailed)),
            "{closed:?}"
        );
        let lost = waiting.join().unwrap();
        assert_eq!(lost, Err(Error::ConnectionLost { may_have_run }));
    });
    // One that is to end has not failed.
    let server = scene.server().build(held).unwrap();
    assert!(server.shutdown_blocking(support::TIMEOUT));
    assert!(server.closed_blocking().is_ok());
}
