//! A child of `fork` has copies of its parent's keys and nonces, and none of its threads.
//!
//! A binary of its own: it forks, and locks that other tests hold would stay locked in the child.
#![cfg(unix)]

#[path = "support/forking.rs"]
mod forking;
#[expect(dead_code, reason = "the suite uses the rest")]
mod support;

use std::collections::VecDeque;
use std::future::Future;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context as TaskContext, Poll, Waker};
use std::thread;
use std::time::Duration;

use forking::in_child;
use sealwire::blocking::Socket;
use sealwire::options::Withdrawn;
use sealwire::{Context, Error, Frame, Message, Presence, SocketType};
use support::{Path, TIMEOUT, eventually};

/// Carries one connection, and counts what the client says.
fn tap(port: u16) -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (own, heard) = (listener.local_addr().unwrap().port(), Arc::default());
    let counted: Arc<AtomicUsize> = Arc::clone(&heard);
    thread::spawn(move || {
        let (client, _) = listener.accept().unwrap();
        let server = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let back = (server.try_clone().unwrap(), client.try_clone().unwrap());
        thread::spawn(move || carry(back.0, back.1, &AtomicUsize::new(0)));
        carry(client, server, &counted);
    });
    (own, heard)
}

fn carry(mut from: TcpStream, mut to: TcpStream, count: &AtomicUsize) {
    let mut buffer = [0; 4_096];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        count.fetch_add(length, Ordering::SeqCst);
        to.write_all(&buffer[..length]).unwrap();
    }
    // Gone already is as good.
    let _ = to.shutdown(Shutdown::Write);
}

/// A server and a client whose bytes are counted.
fn tapped(server: SocketType, client: SocketType) -> (Socket, Socket, Arc<AtomicUsize>) {
    let path = Path::encrypted();
    let server = path.server(server).build_blocking().unwrap();
    let bound = server.bind("tcp://127.0.0.1:0").unwrap();
    let (port, heard) = tap(bound
        .to_string()
        .rsplit(':')
        .next()
        .unwrap()
        .parse()
        .unwrap());
    let client = path.client(client).build_blocking().unwrap();
    client.connect(format!("tcp://127.0.0.1:{port}")).unwrap();
    (server, client, heard)
}

fn forked<T>(outcome: Result<T, impl Into<Error>>) {
    match outcome.map_err(Into::into) {
        Err(Error::Forked) => {}
        Err(other) => panic!("not the right error: {other:?}"),
        Ok(_) => panic!("a call that works"),
    }
}

fn poll<F: Future>(future: F) -> Poll<F::Output> {
    pin!(future).poll(&mut TaskContext::from_waker(Waker::noop()))
}

fn forked_at_once<T, E: Into<Error>>(future: impl Future<Output = Result<T, E>>) {
    match poll(future) {
        Poll::Ready(outcome) => forked(outcome),
        Poll::Pending => panic!("a call that waits"),
    }
}

/// Every operation there is, then the end of the handle.
fn use_and_drop(socket: Socket) {
    let work = || VecDeque::from([Message::from("from the child")]);
    forked(socket.send("from the child"));
    forked(socket.send_timeout("from the child", TIMEOUT));
    forked(socket.try_send("from the child"));
    forked(socket.send_many(&mut work()));
    forked(socket.send_many_timeout(&mut work(), TIMEOUT));
    forked(socket.try_send_many(&mut work()));
    forked(socket.recv());
    forked(socket.recv_timeout(TIMEOUT));
    forked(socket.recv_many(&mut Vec::new(), 7));
    forked(socket.recv_many_timeout(&mut Vec::new(), 7, TIMEOUT));
    forked(socket.try_recv());
    forked(socket.incoming().next().unwrap());
    forked(socket.bind("tcp://127.0.0.1:0"));
    forked(socket.connect("tcp://127.0.0.1:1"));
    forked(socket.connect("inproc://child"));
    forked(socket.bind_listener(TcpListener::bind("127.0.0.1:0").unwrap()));
    forked(socket.connect_with_routing_id("tcp://127.0.0.1:1", "peer"));
    forked(socket.connect_peer("tcp://127.0.0.1:1"));
    forked(socket.unbind("tcp://127.0.0.1:1"));
    forked(socket.unbind_and_disconnect("tcp://127.0.0.1:1"));
    forked(socket.disconnect("tcp://127.0.0.1:1"));
    forked(socket.subscribe("topic"));
    forked(socket.unsubscribe("topic"));
    forked(socket.join("group"));
    forked(socket.leave("group"));
    forked(socket.topics());
    forked(socket.drain(TIMEOUT));
    forked(socket.wait_connected(1));
    forked(socket.wait_connected_timeout(1, TIMEOUT));
    forked(socket.wait_subscribed("topic", 1));
    forked(socket.wait_subscribed_timeout("topic", 1, TIMEOUT));
    forked(socket.options());
    forked(socket.reconfigure(Socket::builder(SocketType::Pull)));
    forked(socket.endpoint_options("tcp://127.0.0.1:1"));
    forked(socket.reconfigure_endpoint(
        "tcp://127.0.0.1:1",
        Socket::builder(SocketType::Pull),
        Withdrawn::End,
    ));
    forked(socket.metrics());
    assert!(socket.readiness().is_err());
    assert!(socket.monitor().wait_next().is_none());
    assert!(socket.peers().is_empty() && socket.accounts().is_empty());
    assert!(socket.bound_endpoints().is_empty() && socket.connected_endpoints().is_empty());
    assert_eq!(socket.presence(), Presence::Nobody);
    assert!(socket.last_failure().is_none());
    assert_eq!(socket.counters(), sealwire::Counters::default());
    assert!(format!("{socket:?}").contains("Socket"));
    let asynchronous = sealwire::Socket::from(socket.clone());
    forked_at_once(asynchronous.send("from the child"));
    forked_at_once(asynchronous.send_many(&mut work()));
    forked_at_once(asynchronous.recv());
    forked_at_once(asynchronous.recv_many(&mut Vec::new(), 7));
    forked_at_once(asynchronous.connect_peer("tcp://127.0.0.1:1"));
    forked_at_once(asynchronous.wait_connected(1));
    forked(asynchronous.disconnect_peer(1, "from the child"));
    forked(asynchronous.try_send_many_to(1, &mut VecDeque::from([Frame::from("one")])));
    assert!(asynchronous.ready().closed);
    assert!(poll(asynchronous.room()).is_ready());
    match poll(asynchronous.incoming().next()) {
        Poll::Ready(Some(outcome)) => forked(outcome),
        _ => panic!("a stream that goes on"),
    }
    forked_at_once(asynchronous.clone().close_with_linger(Duration::ZERO));
    forked_at_once(asynchronous.close());
    forked(socket.clone().close_with_linger(Duration::ZERO));
    forked(socket.clone().close());
    drop(socket);
}

/// New sockets talk to each other.
fn works_anew() {
    let (pull, push) = Path::encrypted().pair(SocketType::Pull, SocketType::Push);
    push.send("made in the child").unwrap();
    assert_eq!(pull.recv().unwrap().as_bytes(), b"made in the child");
    push.close().unwrap();
}

#[test]
fn a_child_says_nothing_on_its_parents_connections() {
    let (server, client, heard) = tapped(SocketType::Rep, SocketType::Req);
    let exchange = |text: &str| {
        client.send(text).unwrap();
        assert_eq!(server.recv().unwrap().as_bytes(), text.as_bytes());
        server.send("answer").unwrap();
        client.recv().unwrap();
    };
    exchange("before");
    let said = heard.load(Ordering::SeqCst);
    let (ours, theirs) = (client.clone(), server.clone());
    in_child(|| {
        use_and_drop(ours);
        use_and_drop(theirs);
        works_anew();
    });
    assert_eq!(heard.load(Ordering::SeqCst), said, "the child has spoken");
    exchange("after");
    exchange("and again");
}

#[test]
fn what_was_made_before_is_told_apart() {
    let context = Context::new().unwrap();
    let socket = Socket::builder(SocketType::Pull)
        .context(&context)
        .build_blocking()
        .unwrap();
    let monitor = socket.monitor();
    let readiness = socket.readiness().unwrap();
    let listening = sealwire::Socket::from(socket.clone());
    let mut receiving = Box::pin(listening.recv());
    let mut task = TaskContext::from_waker(Waker::noop());
    assert!(receiving.as_mut().poll(&mut task).is_pending());
    in_child(|| {
        forked(Socket::builder(SocketType::Pull).context(&context).build());
        forked(context.metrics());
        assert!(monitor.try_next().is_none() && monitor.wait_next().is_none());
        assert!(monitor.readiness().is_err());
        assert!(readiness.take().closed);
        readiness.rearm();
        // Begun in the parent.
        match receiving.as_mut().poll(&mut task) {
            Poll::Ready(outcome) => forked(outcome),
            Poll::Pending => panic!("a call that waits"),
        }
        drop((receiving, monitor, readiness, context));
        let own = Context::new().unwrap();
        let pull = Socket::builder(SocketType::Pull).context(&own);
        drop(pull.build_blocking().unwrap());
        in_child(works_anew);
        works_anew();
    });
    assert!(!socket.readiness().unwrap().take().closed);
    works_anew();
}

/// The byte in the descriptor belongs to the parent, which would miss its message without it.
#[test]
fn a_child_takes_no_notice_from_its_parent() {
    let (pull, push) = Path::encrypted().pair(SocketType::Pull, SocketType::Push);
    let readiness = pull.readiness().unwrap();
    push.send("first").unwrap();
    eventually("arrived", || readiness.take().receive);
    readiness.rearm();
    in_child(|| assert!(readiness.take().closed));
    let mut polled = [rustix::event::PollFd::new(
        &readiness,
        rustix::event::PollFlags::IN,
    )];
    let now = rustix::event::Timespec::default();
    assert_eq!(rustix::event::poll(&mut polled, Some(&now)).unwrap(), 1);
}

#[test]
fn the_files_of_the_parent_stay() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let endpoint = format!("ipc://{}", path.display());
    let pull = support::options(SocketType::Pull).build_blocking().unwrap();
    pull.bind(&*endpoint).unwrap();
    let handle = pull.clone();
    in_child(|| {
        forked(handle.unbind(&*endpoint));
        use_and_drop(handle);
        works_anew();
    });
    assert!(path.exists());
    let push = support::options(SocketType::Push).build_blocking().unwrap();
    push.connect(&*endpoint).unwrap();
    push.send("still there").unwrap();
    assert_eq!(pull.recv().unwrap().as_bytes(), b"still there");
}

/// Whatever lock the other threads hold as the process forks: the child waits for none.
#[test]
fn a_child_waits_for_no_lock() {
    let (pull, push) = Path::encrypted().pair(SocketType::Pull, SocketType::Push);
    let (inside, within) = Path::all()
        .pop()
        .unwrap()
        .pair(SocketType::Pull, SocketType::Push);
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        for (pull, push) in [(&pull, &push), (&inside, &within)] {
            scope.spawn(|| {
                while !over.load(Ordering::SeqCst) {
                    push.send("work").unwrap();
                }
            });
            scope.spawn(|| while pull.recv().unwrap().as_bytes() == b"work" {});
        }
        // A child that fails ends the others too.
        let done = catch_unwind(AssertUnwindSafe(|| {
            for _ in 0..25 {
                let handles = [&pull, &push, &inside, &within].map(Socket::clone);
                in_child(|| handles.into_iter().for_each(use_and_drop));
            }
        }));
        over.store(true, Ordering::SeqCst);
        for push in [&push, &within] {
            push.send("over").unwrap();
        }
        done.unwrap_or_else(|panic| resume_unwind(panic));
    });
}
