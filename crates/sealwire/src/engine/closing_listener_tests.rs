//! The connections that wait in the queue of a listener when it is closed, with an I/O thread that has not come to accept them.

use std::io::{self, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::task::{Context as TaskContext, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use sealwire_zmtp::SocketType;

use super::held_thread::Held;
use crate::blocking::Socket;
use crate::{Context, Endpoint, Event, Monitor, SocketBuilder};

/// Nothing here takes that long unless it is broken.
const LONG: Duration = Duration::from_secs(60);
/// Where nobody listens: port 1 is never given out.
const NOBODY: &str = "tcp://127.0.0.1:1";
/// More than a listener accepts in a time slice.
const CLIENTS: usize = 40;
const GREETING: usize = 64;
/// Between attempts to connect.
const RETRY: Duration = Duration::from_millis(10);

fn socket(context: &Context, socket_type: SocketType) -> SocketBuilder {
    Socket::builder(socket_type).context(context).linger(LONG)
}

/// Connections that the system makes by itself.
fn strangers(endpoint: &Endpoint, number: usize) -> Vec<TcpStream> {
    let Endpoint::Tcp { host, port } = endpoint else {
        panic!("not over tcp: {endpoint}");
    };
    let connect = |_| TcpStream::connect((host.as_str(), *port)).expect("a connection");
    (0..number).map(connect).collect()
}

/// Whether the listener's side greets, or ends the connection.
fn is_greeted(mut stream: impl io::Read) -> bool {
    match stream.read_exact(&mut [0; GREETING]) {
        Ok(()) => true,
        Err(error) => {
            use io::ErrorKind::{ConnectionReset, UnexpectedEof};
            assert!(matches!(error.kind(), ConnectionReset | UnexpectedEof));
            false
        }
    }
}

fn greeted(strangers: Vec<TcpStream>) -> usize {
    let greeted = strangers.into_iter().filter(|stream| {
        stream.set_read_timeout(Some(LONG)).expect("a timeout");
        is_greeted(stream)
    });
    greeted.count()
}

fn accepted(monitor: &Monitor) -> usize {
    let events = std::iter::from_fn(|| monitor.try_next());
    let accepted = events.filter(|event| matches!(event, Event::Accepted { .. }));
    accepted.count()
}

/// Waits until the system has connected somebody.
fn connected(monitor: &Monitor) {
    loop {
        match monitor.wait_next_timeout(LONG).expect("a connection") {
            Event::Connected { .. } => return,
            Event::Failed(failure) => panic!("{failure}"),
            _ => {}
        }
    }
}

#[test]
fn those_who_wait_at_an_endpoint_that_is_unbound_are_served() {
    let [context, other] = [(), ()].map(|()| Context::new().unwrap());
    let pull = socket(&context, SocketType::Pull).build_blocking().unwrap();
    let endpoint = pull.bind("tcp://127.0.0.1:0").unwrap();
    let push = socket(&other, SocketType::Push).build_blocking().unwrap();
    let events = push.monitor();
    let held = Held::begin(&context);
    push.connect(endpoint.clone()).unwrap();
    connected(&events);
    let strangers = strangers(&endpoint, CLIENTS);
    pull.unbind(endpoint).unwrap();
    drop(held);
    assert_eq!(greeted(strangers), CLIENTS);
    push.send("work").unwrap();
    assert_eq!(pull.recv_timeout(LONG).unwrap().as_bytes(), b"work");
    // On the connection that waited.
    let failed = |event: &Event| matches!(event, Event::Failed(_) | Event::Disconnected { .. });
    assert!(!std::iter::from_fn(|| events.try_next()).any(|event| failed(&event)));
}

#[cfg(unix)]
#[test]
fn nobody_finds_a_unix_socket_that_takes_those_who_wait() {
    let context = Context::new().unwrap();
    let pull = socket(&context, SocketType::Pull).build_blocking().unwrap();
    let endpoint = pull.bind("ipc://*").unwrap();
    let Endpoint::Ipc(path) = &endpoint else {
        panic!("not over ipc: {endpoint}");
    };
    let held = Held::begin(&context);
    let connect = |_| std::os::unix::net::UnixStream::connect(path).expect("a connection");
    let strangers: Vec<_> = (0..CLIENTS).map(connect).collect();
    pull.unbind(endpoint.clone()).unwrap();
    drop(held);
    for mut stream in strangers {
        stream.set_read_timeout(Some(LONG)).unwrap();
        assert!(is_greeted(&mut stream));
        assert!(!path.exists(), "greeted while others still come");
    }
}

/// Nobody but a peer that waits can take what waits for one.
#[test]
fn who_waits_takes_what_a_socket_that_is_closed_has_for_a_first_peer() {
    let [context, other] = [(), ()].map(|()| Context::new().unwrap());
    let push = socket(&context, SocketType::Push).handshake_timeout(LONG);
    let push = push.reconnect(RETRY, RETRY).build_blocking().unwrap();
    let endpoint = push.bind("tcp://127.0.0.1:0").unwrap();
    // A socket that is bound alone has nothing for a first peer.
    push.connect(NOBODY).unwrap();
    push.send("work").unwrap();
    let pull = socket(&other, SocketType::Pull).build_blocking().unwrap();
    let events = pull.monitor();
    let held = Held::begin(&context);
    pull.connect(endpoint.clone()).unwrap();
    connected(&events);
    let mut stranger = strangers(&endpoint, 1).remove(0);
    let mut closing = Box::pin(crate::Socket::from(push).close());
    let mut task = TaskContext::from_waker(Waker::noop());
    assert!(closing.as_mut().poll(&mut task).is_pending());
    drop(held);
    assert_eq!(pull.recv_timeout(LONG).unwrap().as_bytes(), b"work");
    // Nothing is left for a peer that is about to come, which learns of the end as it says something.
    stranger.set_read_timeout(Some(LONG / 2)).unwrap();
    stranger.write_all(&[0xff]).unwrap();
    let mut said = Vec::new();
    stranger.read_to_end(&mut said).expect("an end in order");
    assert_eq!(said.len(), GREETING);
    drop(stranger);
    let deadline = Instant::now() + LONG / 2;
    let closed = loop {
        match closing.as_mut().poll(&mut task) {
            Poll::Ready(closed) => break closed,
            Poll::Pending => assert!(Instant::now() < deadline, "it is not closed"),
        }
        thread::yield_now();
    };
    closed.unwrap();
}

/// Their handshakes would be ended with those that are under way.
#[test]
fn nobody_is_accepted_by_a_socket_that_leaves_its_peers() {
    type Leave = fn(&Socket, &Endpoint);
    let ways: [(&str, Leave); 3] = [
        ("unbind_and_disconnect", |pull, endpoint| {
            pull.unbind_and_disconnect(endpoint.clone()).unwrap();
        }),
        ("drain", |pull, _| pull.drain(LONG).unwrap()),
        ("close", |pull, _| {
            let mut closing = Box::pin(crate::Socket::from(pull.clone()).close());
            let mut task = TaskContext::from_waker(Waker::noop());
            assert!(closing.as_mut().poll(&mut task).is_pending());
        }),
    ];
    for (way, leave) in ways {
        let context = Context::new().unwrap();
        let pull = socket(&context, SocketType::Pull).build_blocking().unwrap();
        let endpoint = pull.bind("tcp://127.0.0.1:0").unwrap();
        let events = pull.monitor();
        let held = Held::begin(&context);
        let strangers = strangers(&endpoint, CLIENTS);
        leave(&pull, &endpoint);
        drop(held);
        assert_eq!(greeted(strangers), 0, "{way}");
        assert_eq!(accepted(&events), 0, "{way}");
    }
}

#[test]
fn those_who_wait_at_a_listener_that_was_passed_wait_for_the_next_process() {
    let context = Context::new().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let next = listener.try_clone().unwrap();
    let pull = socket(&context, SocketType::Pull).build_blocking().unwrap();
    let endpoint = pull.bind_listener(listener).unwrap();
    let events = pull.monitor();
    let held = Held::begin(&context);
    let strangers = strangers(&endpoint, CLIENTS);
    pull.unbind(endpoint).unwrap();
    drop(held);
    // The thread has closed its own by then.
    drop(Held::begin(&context));
    assert_eq!(accepted(&events), 0);
    next.set_nonblocking(true).unwrap();
    for _ in &strangers {
        next.accept().expect("one who waits");
    }
}

#[test]
fn a_flood_does_not_keep_a_listener_open() {
    const MOST: usize = 4;
    let context = Context::new().unwrap();
    let pull = socket(&context, SocketType::Pull).max_handshakes(MOST);
    let pull = pull.max_handshakes_per_address(MOST);
    let pull = pull.build_blocking().unwrap();
    let endpoint = pull.bind("tcp://127.0.0.1:0").unwrap();
    let events = pull.monitor();
    let held = Held::begin(&context);
    let strangers = strangers(&endpoint, CLIENTS);
    pull.unbind(endpoint).unwrap();
    drop(held);
    assert_eq!(greeted(strangers), MOST);
    assert_eq!(accepted(&events), MOST);
}
