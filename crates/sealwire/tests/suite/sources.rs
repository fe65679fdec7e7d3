//! Connections that begin at an address of one's own.

use std::net::{IpAddr, SocketAddr, TcpListener};

use sealwire::blocking::Socket;
use sealwire::options::SocksProxy;
use sealwire::{
    Endpoint, EndpointError, Error, Event, FailureCause, PeerAddress, Security, SocketType,
};

use crate::support::{TIMEOUT, options};

/// The whole of 127.0.0.0/8 is this machine.
const SOURCE: &str = "127.0.0.2";

fn bound(pull: &Socket) -> u16 {
    let Endpoint::Tcp { port, .. } = pull.bind("tcp://127.0.0.1:*").unwrap() else {
        panic!("not TCP");
    };
    port
}

/// Where a message came from, as its receiver sees it.
fn seen(pull: &Socket, push: &Socket) -> SocketAddr {
    push.send("hello").unwrap();
    let message = pull.recv().unwrap();
    match message.peer().expect("a peer").address() {
        PeerAddress::Tcp(address) => *address,
        other => panic!("{other:?} is not TCP"),
    }
}

#[test]
fn a_connection_begins_where_its_endpoint_says() {
    let free = TcpListener::bind((SOURCE, 0)).unwrap();
    let own = free.local_addr().unwrap().port();
    drop(free);
    for (source, address, port) in [
        (format!("{SOURCE}:0"), SOURCE, None),
        (format!("{SOURCE}:{own}"), SOURCE, Some(own)),
        ("lo:*".to_owned(), "127.0.0.1", None),
        ("*:0".to_owned(), "127.0.0.1", None),
    ] {
        let pull = options(SocketType::Pull).build_blocking().unwrap();
        let push = options(SocketType::Push).build_blocking().unwrap();
        let endpoint = format!("tcp://{source};127.0.0.1:{}", bound(&pull));
        push.connect(&endpoint).unwrap();
        let seen = seen(&pull, &push);
        assert_eq!(seen.ip(), address.parse::<IpAddr>().unwrap());
        assert!(port.is_none_or(|port| seen.port() == port), "{seen}");
        push.disconnect(&endpoint).unwrap();
    }
}

/// Each attempt begins there anew, also with a port that the system remembers.
#[test]
fn a_connection_that_is_lost_begins_there_again() {
    let free = TcpListener::bind((SOURCE, 0)).unwrap();
    let own = free.local_addr().unwrap();
    drop(free);
    let first = options(SocketType::Pull).build_blocking().unwrap();
    let port = bound(&first);
    let push = options(SocketType::Push).build_blocking().unwrap();
    push.connect(format!("tcp://{own};127.0.0.1:{port}"))
        .unwrap();
    assert_eq!(seen(&first, &push), own);
    first.close().unwrap();
    let again = options(SocketType::Pull).build_blocking().unwrap();
    again.bind(format!("tcp://127.0.0.1:{port}")).unwrap();
    assert_eq!(seen(&again, &push), own);
    // This side ends the connection, so the system remembers the port.
    push.close().unwrap();
    let push = options(SocketType::Push).build_blocking().unwrap();
    let elsewhere = options(SocketType::Pull).build_blocking().unwrap();
    push.connect(format!("tcp://{own};127.0.0.1:{}", bound(&elsewhere)))
        .unwrap();
    assert_eq!(seen(&elsewhere, &push), own);
}

#[test]
fn a_source_that_is_not_here_is_named() {
    for source in ["192.0.2.1:0", "no-such-interface:0", "[::1]:0"] {
        let pull = options(SocketType::Pull).build_blocking().unwrap();
        let push = options(SocketType::Push).build_blocking().unwrap();
        let monitor = push.monitor();
        push.connect(format!("tcp://{source};127.0.0.1:{}", bound(&pull)))
            .unwrap();
        let failure = loop {
            match monitor.wait_next_timeout(TIMEOUT) {
                Some(Event::Failed(failure)) => break failure,
                Some(_) => {}
                None => panic!("no failure from {source}"),
            }
        };
        assert!(matches!(failure.cause(), FailureCause::Connect(_)));
        let text = failure.to_string();
        assert!(text.contains(&format!("from {source}: ")), "{text}");
    }
}

#[test]
fn what_is_bound_has_no_source() {
    let pull = options(SocketType::Pull).build_blocking().unwrap();
    let refused = pull.bind("tcp://127.0.0.2:0;127.0.0.1:0");
    let Err(Error::Endpoint(EndpointError::SourceBound(endpoint))) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(endpoint, "tcp://127.0.0.2:0;127.0.0.1:0");
}

#[test]
fn behind_a_proxy_the_connection_to_it_begins_there() {
    let proxy = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = proxy.local_addr().unwrap().port();
    let push = options(SocketType::Push).socks_proxy(SocksProxy::new("127.0.0.1", port));
    let push = push.security(Security::plain_text());
    let push = push.build_blocking().unwrap();
    push.connect(format!("tcp://{SOURCE}:0;far.invalid:5555"))
        .unwrap();
    let (_connection, from) = proxy.accept().unwrap();
    assert_eq!(from.ip(), SOURCE.parse::<IpAddr>().unwrap());
}
