//! What the limits of a program do, seen from outside of the socket.

use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use libc::c_int;
use sealwire::account::AddressLimit;
use sealwire::blocking::Socket as Native;
use sealwire::{
    ConnectionFailure, Event, FailureCause, Monitor, PeerAddress, Security, SocketType,
};
use sealwire_zmtp::Frames;

use crate::context::Context;
use crate::errno::Errno;
use crate::options::number;
use crate::socket::{DONTWAIT, Socket};

/// Nothing here takes that long unless it is broken.
const TIMEOUT: Duration = Duration::from_secs(60);

const ONE: c_int = 1;
/// The bytes of a message where bytes are counted.
const SIZE: usize = 1_024;
/// Libzmq's default for messages.
const HIGH_WATER_MARK: usize = 1_000;

/// A server at a port of its own, with options, and what it tells of.
fn server(context: &Arc<Context>, options: &[(c_int, &[u8])]) -> (Arc<Socket>, Monitor, String) {
    let server = context.open_briefly(SocketType::Pull);
    for (option, value) in options {
        server.set(*option, Some(value)).unwrap();
    }
    let monitor = server.inner_monitor();
    server.bind("tcp://127.0.0.1:*").unwrap();
    let endpoint = server.last_endpoint();
    (server, monitor, endpoint)
}

fn client(endpoint: &str) -> Native {
    let client = Native::builder(SocketType::Push)
        .security(Security::plain_text())
        .build_blocking()
        .unwrap();
    client.connect(endpoint).unwrap();
    client
}

/// A client that comes from this address.
fn client_from(source: &str, endpoint: &str) -> Native {
    let target = endpoint.strip_prefix("tcp://").unwrap();
    client(&format!("tcp://{source}:0;{target}"))
}

/// The end of the next handshake: none where the connection is ready, else the failure.
fn failed(monitor: &Monitor) -> Option<ConnectionFailure> {
    loop {
        let event = monitor.wait_next_timeout(TIMEOUT);
        match event.expect("an event within the time limit") {
            Event::Failed(failure) => return Some(failure),
            Event::Ready { .. } => return None,
            _ => {}
        }
    }
}

/// The cause of that failure.
fn outcome(monitor: &Monitor) -> Option<FailureCause> {
    failed(monitor).map(|failure| failure.cause().clone())
}

/// How many messages of [`SIZE`] a socket takes until nobody has room for another.
fn taken(socket: &Socket) -> usize {
    let message = [7; SIZE];
    let send = || socket.send(&mut Frames::single(message.to_vec()), DONTWAIT);
    let taken = (0..=4 * HIGH_WATER_MARK).take_while(|_| match send() {
        Ok(()) => true,
        Err(error) => {
            assert_eq!(error, Errno::AGAIN);
            false
        }
    });
    taken.count()
}

#[test]
fn a_budget_of_bytes_bounds_what_waits_for_a_peer() {
    let context = Context::without_rules();
    for (budget, expected) in [(8 * SIZE, 8), (8 * SIZE + 1, 9), (0, HIGH_WATER_MARK)] {
        let push = context.open_briefly(SocketType::Push);
        let budget = (budget as u64).to_ne_bytes();
        push.set(number::SND_BYTE_BUDGET, Some(&budget)).unwrap();
        // That of the other direction has no part in it.
        push.set(number::RCV_BYTE_BUDGET, Some(&1_u64.to_ne_bytes()))
            .unwrap();
        push.connect("ipc:///nowhere/at/all").unwrap();
        assert_eq!(taken(&push), expected);
    }
}

#[test]
fn a_budget_of_bytes_bounds_what_waits_from_a_peer() {
    let context = Context::without_rules();
    let messages = |budget: u64| {
        let pull = context.open_briefly(SocketType::Pull);
        pull.set(number::RCV_BYTE_BUDGET, Some(&budget.to_ne_bytes()))
            .unwrap();
        pull.set(number::SND_BYTE_BUDGET, Some(&1_u64.to_ne_bytes()))
            .unwrap();
        let endpoint = format!("inproc://budget-{budget}");
        pull.bind(&endpoint).unwrap();
        let push = context.open_briefly(SocketType::Push);
        push.connect(&endpoint).unwrap();
        taken(&push)
    };
    // The high-water marks of both ends count beside it.
    assert_eq!(messages(0), 2 * HIGH_WATER_MARK);
    assert_eq!(messages(8 * SIZE as u64), HIGH_WATER_MARK + 8);
}

#[test]
fn a_limit_of_connections_counts_those_of_all_addresses() {
    let context = Context::without_rules();
    let limit = (number::MAX_CONNECTIONS, &ONE.to_ne_bytes()[..]);
    let (_server, monitor, endpoint) = server(&context, &[limit]);
    let _first = client_from("127.0.0.1", &endpoint);
    assert!(outcome(&monitor).is_none());
    let _second = client_from("127.0.0.2", &endpoint);
    let cause = outcome(&monitor);
    assert!(
        matches!(cause, Some(FailureCause::TooManyConnections)),
        "{cause:?}"
    );
}

#[test]
fn a_limit_for_an_address_leaves_those_of_others_alone() {
    let context = Context::without_rules();
    let limit = (number::MAX_CONNECTIONS_PER_ADDRESS, &ONE.to_ne_bytes()[..]);
    let (_server, monitor, endpoint) = server(&context, &[limit]);
    let _first = client_from("127.0.0.1", &endpoint);
    assert!(outcome(&monitor).is_none());
    let _of_another = client_from("127.0.0.2", &endpoint);
    assert!(outcome(&monitor).is_none());
    let _second = client_from("127.0.0.2", &endpoint);
    let cause = outcome(&monitor);
    assert!(
        matches!(
            cause,
            Some(FailureCause::AddressLimit(AddressLimit::Connections))
        ),
        "{cause:?}"
    );
}

#[test]
fn without_limits_connections_of_one_address_come_in() {
    let context = Context::without_rules();
    let (_server, monitor, endpoint) = server(&context, &[]);
    let _clients: Vec<_> = (0..20)
        .map(|_| {
            let client = client(&endpoint);
            assert!(outcome(&monitor).is_none());
            client
        })
        .collect();
}

/// The engine leaves a quarter of them to one address, and one at least. The oldest gives way to another.
#[test]
fn a_limit_of_handshakes_counts_those_that_are_under_way() {
    let context = Context::without_rules();
    for (limit, of_one_address) in [(1, 1), (8, 2), (12, 3)] {
        let limit = (number::MAX_HANDSHAKES, &c_int::to_ne_bytes(limit)[..]);
        let (_server, monitor, endpoint) = server(&context, &[limit]);
        let target = endpoint.strip_prefix("tcp://").unwrap();
        // They say nothing, and so do not end their handshakes.
        let connect = || TcpStream::connect(target).unwrap();
        let silent: Vec<_> = (0..of_one_address).map(|_| connect()).collect();
        let mut accepted = 0;
        while accepted < of_one_address {
            match monitor.wait_next_timeout(TIMEOUT) {
                Some(Event::Accepted { .. }) => accepted += 1,
                Some(Event::Listening { .. }) => {}
                other => panic!("{other:?} before there were too many"),
            }
        }
        let _last = connect();
        let failure = failed(&monitor).expect("a handshake that is refused");
        assert!(
            matches!(
                failure.cause(),
                FailureCause::AddressLimit(AddressLimit::Handshakes)
            ),
            "{failure:?}"
        );
        let refused = PeerAddress::Tcp(silent[0].local_addr().unwrap());
        assert_eq!(*failure.address(), refused);
    }
}

/// A NULL peer of a server that names a domain for ZAP, with nobody who answers.
#[test]
fn a_domain_that_is_enforced_lets_nobody_in_without_a_handler() {
    let context = Context::without_rules();
    let domain = (number::ZAP_DOMAIN, &b"domain"[..]);
    for enforced in [0, 1] {
        let flag = c_int::to_ne_bytes(enforced);
        let enforce = (number::ZAP_ENFORCE_DOMAIN, &flag[..]);
        let (_server, monitor, endpoint) = server(&context, &[domain, enforce]);
        let _client = client(&endpoint);
        match (enforced, outcome(&monitor)) {
            (0, None) | (1, Some(FailureCause::RefusedByZap { .. })) => {}
            (_, cause) => panic!("enforced {enforced}: {cause:?}"),
        }
    }
}
