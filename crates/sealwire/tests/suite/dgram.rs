//! DGRAM: datagrams between sockets of ours, and with plain UDP sockets as the real peers.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::time::Duration;

use crate::support::{self, TIMEOUT, await_event, eventually, options};
use sealwire::auth::AllowAnyone;
use sealwire::blocking::Socket;
use sealwire::limits::DATAGRAMS_PER_TIME_SLICE;
use sealwire::{
    AddressError, DatagramDrop, DatagramError, Endpoint, Error, Event, Generate as _, KeyPair,
    MAX_DATAGRAM, Message, MessageError, PeerAddress, Security, SendError, SocketType, StateError,
    Unusable,
};

fn dgram() -> Socket {
    options(SocketType::Dgram)
        .security(Security::plain_text())
        .build_blocking()
        .unwrap()
}

/// One that is bound there, with where it is reached from this machine.
fn bound(endpoint: &str) -> (Socket, SocketAddr) {
    let socket = dgram();
    let address = address_of(&socket.bind(endpoint).unwrap());
    (socket, address)
}

fn address_of(endpoint: &Endpoint) -> SocketAddr {
    let Endpoint::Udp { host, port, .. } = endpoint else {
        panic!("{endpoint} is not udp");
    };
    let host = host.parse().unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    SocketAddr::new(host, *port)
}

fn plain(host: &str) -> (UdpSocket, SocketAddr) {
    let socket = UdpSocket::bind((host, 0)).unwrap();
    socket.set_read_timeout(Some(TIMEOUT)).unwrap();
    let address = socket.local_addr().unwrap();
    (socket, address)
}

/// What a plain socket receives next, and from where.
fn heard(socket: &UdpSocket) -> (Vec<u8>, SocketAddr) {
    let mut buffer = vec![0; 2 * MAX_DATAGRAM];
    let (length, from) = socket.recv_from(&mut buffer).unwrap();
    buffer.truncate(length);
    (buffer, from)
}

fn hosts() -> impl Iterator<Item = &'static str> {
    let ipv6 = support::has_ipv6().then_some("::1");
    ["127.0.0.1"].into_iter().chain(ipv6)
}

fn endpoint(host: &str) -> String {
    match host.contains(':') {
        true => format!("udp://[{host}]:*"),
        false => format!("udp://{host}:*"),
    }
}

fn address_error(refused: Result<(), SendError>) -> AddressError {
    match refused.unwrap_err().error() {
        Error::Message(MessageError::Address(error)) => *error,
        other => panic!("{other}"),
    }
}

#[test]
fn two_sockets_talk_back_and_forth() {
    for host in hosts() {
        let [(one, here), (other, there)] = [bound(&endpoint(host)), bound(&endpoint(host))];
        one.send(Message::to_address(there, "Is someone there ?"))
            .unwrap();
        let question = other.recv().unwrap();
        assert_eq!(question.address(), Some(here), "{host}");
        assert_eq!(question.frame(0), Some(here.to_string().as_bytes()));
        assert_eq!(question.as_bytes(), b"Is someone there ?");
        let peer = question.peer().unwrap();
        assert_eq!(*peer.address(), PeerAddress::Udp(here));
        assert_eq!(peer.socket_type(), SocketType::Dgram);
        // An answer is what was received, with another body.
        let head = question.into_frames().pop_front().unwrap();
        other
            .send(Message::multipart([head, "Yes, there is !".into()]))
            .unwrap();
        let answer = one.recv().unwrap();
        assert_eq!(answer.address(), Some(there));
        assert_eq!(answer.as_bytes(), b"Yes, there is !");
        let counters = other.counters();
        assert_eq!(
            (counters.messages_received, counters.bytes_received > 15),
            (1, true)
        );
    }
}

/// A datagram is the body and nothing else.
#[test]
fn a_plain_socket_is_a_peer() {
    for host in hosts() {
        let (socket, there) = bound(&endpoint(host));
        let (plain, here) = plain(host);
        for body in [&b""[..], b"x", &[7; MAX_DATAGRAM]] {
            plain.send_to(body, there).unwrap();
            let message = socket.recv().unwrap();
            assert_eq!((message.as_bytes(), message.address()), (body, Some(here)));
            assert_eq!(message.len(), 2);
            socket.send(Message::to_address(here, body)).unwrap();
            assert_eq!(heard(&plain), (body.to_vec(), there));
        }
        eventually("what was sent is counted", || {
            socket.counters().messages_sent == 3
        });
    }
}

#[test]
fn one_socket_serves_both_versions_of_ip() {
    if !support::has_ipv6() {
        return eprintln!("SKIPPED: no IPv6");
    }
    let (socket, at) = bound("udp://*:*");
    for (host, local) in [
        ("127.0.0.1", IpAddr::from(Ipv4Addr::LOCALHOST)),
        ("::1", Ipv6Addr::LOCALHOST.into()),
    ] {
        let (plain, here) = plain(host);
        let there = SocketAddr::new(local, at.port());
        plain.send_to(b"question", there).unwrap();
        let message = socket.recv().unwrap();
        // IPv4 has its own text, and no other.
        assert_eq!(message.frame(0), Some(here.to_string().as_bytes()));
        assert_eq!(*message.peer().unwrap().address(), PeerAddress::Udp(here));
        socket.send(Message::to_address(here, "answer")).unwrap();
        assert_eq!(heard(&plain), (b"answer".to_vec(), there));
    }
}

#[test]
fn what_is_larger_than_a_datagram_may_be_is_dropped_and_counted() {
    let (socket, there) = bound("udp://127.0.0.1:*");
    let monitor = socket.monitor();
    let (plain, here) = plain("127.0.0.1");
    for size in [MAX_DATAGRAM + 1, 60_000] {
        plain.send_to(&vec![1; size], there).unwrap();
    }
    await_event(&monitor, "the drop", |event| match event {
        Event::DatagramsDropped {
            address,
            reason: DatagramDrop::Malformed(DatagramError::TooLarge),
            count: 1,
            ..
        } => {
            assert_eq!(*address, PeerAddress::Udp(here));
            Some(())
        }
        _ => None,
    });
    plain.send_to(b"next", there).unwrap();
    assert_eq!(socket.recv().unwrap().as_bytes(), b"next");
    assert_eq!(socket.counters().dropped_at_receive, 2);

    let error = socket
        .send(Message::to_address(here, vec![0; MAX_DATAGRAM + 1]))
        .unwrap_err();
    assert!(
        matches!(error.error(), Error::Message(MessageError::DatagramTooLarge { size }) if *size == MAX_DATAGRAM + 1),
        "{error}"
    );
    assert_eq!(error.into_message().as_bytes().len(), MAX_DATAGRAM + 1);
}

/// What finds no room waits in the system, and what nobody reads is counted.
#[test]
fn a_full_queue_stops_the_reading_and_goes_on() {
    let socket = || {
        let builder = options(SocketType::Dgram).receive_high_water_mark(3);
        builder.build_blocking().unwrap()
    };
    let (plain, here) = plain("127.0.0.1");
    let full = |socket: &Socket| {
        let there = address_of(&socket.bind("udp://127.0.0.1:*").unwrap());
        for number in 0..100_u8 {
            plain.send_to(&[number], there).unwrap();
        }
        eventually("the queue is full", || {
            socket.counters().messages_received == 3
        });
        // It can send all the same.
        socket.send(Message::to_address(here, "busy")).unwrap();
        assert_eq!(heard(&plain).0, b"busy");
        assert_eq!(socket.counters().messages_received, 3);
    };
    let reading = socket();
    full(&reading);
    for number in 0..100_u8 {
        assert_eq!(reading.recv().unwrap().as_bytes(), [number]);
    }
    let silent = socket();
    full(&silent);
    let counters = silent.clone();
    silent.close().unwrap();
    eventually("what nobody read is counted", || {
        counters.counters().dropped_unread >= 3
    });
    // The queue, and one time slice of datagrams that were taken from the system for it.
    let most = 3 + DATAGRAMS_PER_TIME_SLICE as u64;
    assert!(counters.counters().dropped_unread <= most);
}

#[test]
fn a_message_is_an_address_and_one_frame() {
    let (socket, _) = bound("udp://127.0.0.1:*");
    for message in [
        Message::from("127.0.0.1:9"),
        Message::multipart(["127.0.0.1:9", "one", "two"]),
    ] {
        let refused = socket.send(message.clone()).unwrap_err();
        assert!(
            matches!(refused.error(), Error::Message(MessageError::NoAddress)),
            "{refused}"
        );
        assert_eq!(message.address(), None);
        assert_eq!(refused.into_message(), message);
    }
    let empty = socket.send(Message::multipart([""; 0])).unwrap_err();
    assert!(matches!(empty.error(), Error::Message(MessageError::Empty)));
}

#[test]
fn an_address_that_cannot_be_is_refused_with_the_reason() {
    let (socket, _) = bound("udp://127.0.0.1:*");
    let send = |address: &str| {
        let message = Message::multipart([address, "body"]);
        let refused = socket.try_send(message.clone());
        let again = socket.send(message).unwrap_err();
        assert_eq!(again.into_message().frame(0), Some(address.as_bytes()));
        address_error(refused)
    };
    for text in ["", "nowhere", "localhost:9", "127.0.0.1", "127.0.0.1:9\0"] {
        assert_eq!(send(text), AddressError::Unreadable, "{text:?}");
    }
    assert_eq!(send("127.0.0.1:0"), AddressError::NoPort);
    assert_eq!(send("[::1]:9"), AddressError::IpVersion);
    assert_eq!(send("192.0.2.1:9"), AddressError::LeavesTheMachine);
    assert_eq!(socket.counters().messages_sent, 0);
}

/// Plain text leaves the machine where somebody has written that word, and not otherwise: neither by `bind`, nor by the
/// address of a message.
#[test]
fn nothing_leaves_the_machine_that_was_not_meant_to() {
    let unspecified = options(SocketType::Dgram).build_blocking().unwrap();
    for endpoint in ["udp://*:*", "udp://239.0.0.1:*", "udp://192.0.2.1:*"] {
        let refused = unspecified.bind(endpoint);
        assert!(
            matches!(
                refused,
                Err(Error::UnusableEndpoint {
                    reason: Unusable::NoSecurity,
                    ..
                })
            ),
            "{refused:?}"
        );
    }
    unspecified.bind("udp://127.0.0.1:*").unwrap();
    let refused = unspecified.send(Message::multipart(["192.0.2.1:9", "secret"]));
    assert_eq!(address_error(refused), AddressError::LeavesTheMachine);

    let keys = KeyPair::generate();
    let protected = options(SocketType::Dgram).security(Security::curve_server(keys, AllowAnyone));
    let refused = protected
        .build_blocking()
        .unwrap()
        .bind("udp://127.0.0.1:*");
    assert!(matches!(
        refused,
        Err(Error::UnusableEndpoint {
            reason: Unusable::NoHandshake { wanted: "CURVE" },
            ..
        })
    ));
}

#[test]
fn it_binds_once_and_to_udp_only() {
    let socket = dgram();
    let (plain, here) = plain("127.0.0.1");
    let unbound = socket.send(Message::to_address(here, "early")).unwrap_err();
    assert!(matches!(
        unbound.error(),
        Error::State(StateError::NotBound)
    ));
    assert!(socket.try_send(unbound.into_message()).is_err());
    for endpoint in ["tcp://127.0.0.1:9", "inproc://dgram", "ipc://@dgram"] {
        for refused in [socket.bind(endpoint).map(drop), socket.connect(endpoint)] {
            assert!(
                matches!(
                    refused,
                    Err(Error::UnusableEndpoint {
                        reason: Unusable::Transport,
                        ..
                    })
                ),
                "{endpoint}: {refused:?}"
            );
        }
    }
    let refused = socket.connect("udp://127.0.0.1:9");
    assert!(matches!(
        refused,
        Err(Error::UnusableEndpoint {
            reason: Unusable::Direction,
            ..
        })
    ));
    let first = socket.bind("udp://127.0.0.1:*").unwrap();
    let refused = socket.bind("udp://127.0.0.1:*");
    assert!(matches!(
        refused,
        Err(Error::UnusableEndpoint {
            reason: Unusable::SecondEndpoint,
            ..
        })
    ));
    socket.send(Message::to_address(here, "first")).unwrap();
    assert_eq!(heard(&plain).1, address_of(&first));
    plain.send_to(b"unread", address_of(&first)).unwrap();
    eventually("it is there", || socket.counters().messages_received == 1);
    // Another one at once, whose address is the sender's from then on.
    socket.unbind(&first).unwrap();
    let second = address_of(&socket.bind("udp://127.0.0.1:*").unwrap());
    socket.send(Message::to_address(here, "second")).unwrap();
    assert_eq!(heard(&plain), (b"second".to_vec(), second));
    assert_eq!(socket.recv().unwrap().as_bytes(), b"unread");
    plain.send_to(b"read", second).unwrap();
    assert_eq!(socket.recv().unwrap().as_bytes(), b"read");
}

#[test]
fn what_is_queued_is_sent_when_it_closes() {
    let (socket, _) = bound("udp://127.0.0.1:*");
    let (plain, here) = plain("127.0.0.1");
    for number in 0..100 {
        socket
            .send(Message::to_address(here, vec![number]))
            .unwrap();
    }
    socket.close().unwrap();
    for number in 0..100 {
        assert_eq!(heard(&plain).0, [number]);
    }
}

/// Broadcast needs a permission that a socket does not have by itself.
#[test]
fn what_the_system_does_not_send_is_told_and_the_next_is_sent() {
    let (socket, _) = bound("udp://*:*");
    let monitor = socket.monitor();
    let everybody = SocketAddr::from((Ipv4Addr::BROADCAST, 9));
    socket.send(Message::to_address(everybody, "hear")).unwrap();
    await_event(&monitor, "the drop", |event| match event {
        Event::DatagramsDropped {
            address,
            reason: DatagramDrop::Unsent(_),
            ..
        } => {
            assert_eq!(*address, PeerAddress::Udp(everybody));
            Some(())
        }
        _ => None,
    });
    assert_eq!(socket.counters().dropped_unsent, 1);
    let (plain, here) = plain("127.0.0.1");
    socket.send(Message::to_address(here, "next")).unwrap();
    assert_eq!(heard(&plain).0, b"next");
}

/// Members of a group on this machine, of which one sends through the interface that it named. Elsewhere that may have
/// no multicast.
#[cfg(target_os = "linux")]
#[test]
fn members_of_a_multicast_group_talk() {
    let member = || {
        let builder = options(SocketType::Dgram).security(Security::plain_text());
        let builder = builder.multicast_hops(1).multicast_loop(true);
        builder.build_blocking().unwrap()
    };
    let (one, other) = (member(), member());
    let endpoint = one.bind("udp://127.0.0.1;239.255.83.88:*").unwrap();
    other.bind(&endpoint).unwrap();
    let group = address_of(&endpoint);
    one.send(Message::to_address(group, "all")).unwrap();
    let message = other.recv().unwrap();
    assert_eq!(message.as_bytes(), b"all");
    let source = message.address().unwrap();
    assert_eq!(
        (source.ip(), source.port()),
        (Ipv4Addr::LOCALHOST.into(), group.port())
    );
    assert_eq!(one.recv().unwrap().as_bytes(), b"all");
}

#[test]
fn it_is_ready_for_what_it_can_do() {
    let socket = sealwire::Socket::builder(SocketType::Dgram)
        .send_high_water_mark(1)
        .build()
        .unwrap();
    assert!(!socket.ready().send && !socket.ready().receive);
    let there = address_of(&socket.bind("udp://127.0.0.1:*").unwrap());
    assert!(socket.ready().send && !socket.ready().receive);
    let (plain, here) = plain("127.0.0.1");
    plain.send_to(b"x", there).unwrap();
    eventually("a datagram is there", || socket.ready().receive);
    // There is room again for each that went out.
    for _ in 0..100 {
        let blocking = Socket::from(socket.clone());
        blocking.send(Message::to_address(here, "y")).unwrap();
    }
    eventually("there is room", || socket.ready().send);
    let waited = Socket::from(socket).recv_timeout(Duration::from_secs(60));
    assert_eq!(waited.unwrap().as_bytes(), b"x");
}
