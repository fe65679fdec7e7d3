//! Connections that a listener accepts on one I/O thread and another one serves.

use std::time::{Duration, Instant};

use sealwire_zmtp::SocketType;

use super::mailbox::{Command, Fault};
use crate::blocking::Socket;
use crate::{Context, Error, Event, FailureCause};

const LONG: Duration = Duration::from_secs(60);
const CLIENTS: usize = 5;

fn context(threads: usize) -> Context {
    Context::builder().io_threads(threads).build().unwrap()
}

/// How much each thread serves.
fn loads(context: &Context, threads: usize) -> Vec<usize> {
    let load = |thread| context.threads().of(thread).load().get();
    (0..threads).map(load).collect()
}

fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + LONG;
    while !holds() {
        assert!(Instant::now() < deadline, "never: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// As many clients of a context of their own, which are ready.
fn clients(endpoint: &str) -> Vec<Socket> {
    let context = context(1);
    let clients = (0..CLIENTS).map(|_| {
        let client = Socket::builder(SocketType::Dealer).context(&context);
        let client = client.send_timeout(LONG).receive_timeout(LONG);
        let client = client.build_blocking().unwrap();
        client.connect(endpoint).unwrap();
        client.wait_connected(1).unwrap();
        client
    });
    clients.collect()
}

fn server(context: &Context) -> (Socket, String) {
    let server = Socket::builder(SocketType::Router)
        .context(context)
        .receive_timeout(LONG)
        .send_timeout(LONG)
        .max_connections(CLIENTS)
        .build_blocking()
        .unwrap();
    let endpoint = server.bind("tcp://127.0.0.1:0").unwrap().to_string();
    (server, endpoint)
}

fn answer_all(server: &Socket, clients: &[Socket]) {
    for client in clients {
        client.send("question").unwrap();
    }
    for _ in clients {
        let question = server.recv().unwrap();
        server.send(question).unwrap();
    }
    for client in clients {
        assert_eq!(client.recv().unwrap().as_bytes(), b"question");
    }
}

/// One more than there may be: none of those that are ready has a handshake that would give way.
fn turned_away(server: &Socket, endpoint: &str) {
    let monitor = server.monitor();
    let more = Socket::builder(SocketType::Dealer).build_blocking();
    let more = more.unwrap();
    more.connect(endpoint).unwrap();
    loop {
        match monitor.wait_next_timeout(LONG).expect("it is turned away") {
            Event::Failed(failure) => {
                let cause = failure.cause();
                assert!(matches!(cause, FailureCause::TooManyConnections), "{cause}");
                break;
            }
            Event::Accepted { .. } => panic!("one more was let in"),
            _ => {}
        }
    }
}

#[test]
fn connections_of_one_listener_are_dealt_out() {
    for threads in 1..=3 {
        let context = context(threads);
        let (server, endpoint) = server(&context);
        // The limit of the listener counts those that others serve.
        for _ in 0..3 {
            let clients = clients(&endpoint);
            answer_all(&server, &clients);
            let loads = loads(&context, threads);
            let (least, most) = (loads.iter().min(), loads.iter().max());
            assert_eq!(loads.iter().sum::<usize>(), 1 + CLIENTS);
            assert!(
                most.unwrap() - least.unwrap() <= 1,
                "{threads} threads serve {loads:?}"
            );
            turned_away(&server, &endpoint);
            drop(clients);
            eventually("the listener is served alone", || {
                self::loads(&context, threads).iter().sum::<usize>() == 1
            });
        }
        drop(server);
        eventually("nothing is served", || {
            loads(&context, threads).iter().sum::<usize>() == 0
        });
    }
}

#[test]
fn connections_stay_on_the_threads_that_their_endpoint_may_have() {
    let context = context(3);
    let server = Socket::builder(SocketType::Router).context(&context);
    let server = server.io_affinity(0b101).receive_timeout(LONG);
    let server = server.build_blocking().unwrap();
    let endpoint = server.bind("tcp://127.0.0.1:0").unwrap().to_string();
    let clients = clients(&endpoint);
    answer_all(&server, &clients);
    assert_eq!(loads(&context, 3), [3, 0, 3]);
}

/// The peers that this thread served see it, and the socket as well.
#[test]
fn a_thread_that_ends_takes_the_socket_whose_connections_it_serves() {
    let context = context(2);
    let (server, endpoint) = server(&context);
    let clients = clients(&endpoint);
    answer_all(&server, &clients);
    let monitors: Vec<_> = clients.iter().map(Socket::monitor).collect();
    context
        .threads()
        .of(1)
        .post(Command::Fault(Fault::Panic { again: false }));
    assert!(matches!(server.recv(), Err(Error::EngineFailed)));
    for monitor in monitors {
        loop {
            let event = monitor.wait_next_timeout(LONG);
            let event = event.expect("its connection ends");
            if matches!(event, Event::Disconnected { .. } | Event::Failed(_)) {
                break;
            }
        }
    }
}

/// It goes on with its listener's thread: what the socket tells its threads would not find it on its way.
#[test]
fn nothing_is_handed_over_for_a_socket_that_is_closing_or_has_left() {
    let context = context(2);
    let server = crate::Socket::builder(SocketType::Router).context(&context);
    let server = server.build().unwrap();
    let endpoint = server.bind("tcp://127.0.0.1:0").unwrap();
    let core = server.core().unwrap();
    let tried = |listener| {
        let mut handed_over = false;
        let allowed = core.spread_to(1, listener, || handed_over = true);
        assert_eq!(allowed, handed_over);
        allowed
    };
    assert!(core.threads_beside(0).is_empty());
    assert!(tried(1));
    assert_eq!(core.threads_beside(0), [1]);
    assert_eq!(core.threads_beside(1), [0]);
    let left = core.unregister_with_peers(&endpoint).unwrap().id;
    assert!(!tried(left) && tried(left + 1));
    core.withdrawn(left);
    assert!(tried(left));
    core.begin_close(None);
    assert!(!tried(left + 1));

    let pull = crate::Socket::builder(SocketType::Pull).context(&context);
    let pull = pull.build().unwrap();
    pull.drain(LONG).unwrap();
    let core = pull.core().unwrap();
    assert!(!core.spread_to(1, 1, || panic!("it is being drained")));
}
