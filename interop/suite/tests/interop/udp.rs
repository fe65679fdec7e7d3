//! RADIO and DISH over UDP against libzmq: one receiver, over both families, and a multicast group. DGRAM, which has IPv4 only
//! there.

use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use interop::{Peer, ZMQ_UDP, options};
use sealwire::{MAX_DATAGRAM, Message, PeerAddress, Security, SocketBuilder, SocketType};

/// How long a datagram is waited for before it is sent again: it may be lost.
const AGAIN: Duration = Duration::from_millis(10);
const GROUP: &str = "news";
const BODY: &str = "rain, later sun";

fn peer(arguments: &[&str]) -> Peer {
    let arguments = arguments.iter().map(|&word| word.into()).collect();
    Peer::start(ZMQ_UDP, arguments)
}

/// Endpoints that nobody else uses: libzmq does not choose a port itself.
fn endpoints() -> Vec<String> {
    let [.., high, low] = std::process::id().to_be_bytes();
    let own = format!("127.83.{high}.{low}");
    let hosts = [own.clone(), "[::1]".into(), own];
    let endpoints = hosts.iter().enumerate().map(|(number, host)| {
        let free = UdpSocket::bind(format!("{host}:0")).unwrap();
        let port = free.local_addr().unwrap().port();
        match number {
            2 => format!("udp://127.0.0.1;239.255.83.90:{port}"),
            _ => format!("udp://{host}:{port}"),
        }
    });
    endpoints.collect()
}

/// Two of the endpoints lead to a multicast group.
fn socket(socket_type: SocketType) -> SocketBuilder {
    options(socket_type).security(Security::plain_text())
}

#[test]
fn libzmq_hears_us() {
    if !ZMQ_UDP.is_there() {
        return;
    }
    for endpoint in endpoints() {
        let mut peer = peer(&["--type", "dish", "--bind", &endpoint, "--group", GROUP]);
        peer.event("ready");
        let radio = socket(SocketType::Radio).build_blocking().unwrap();
        radio.connect(&endpoint).unwrap();
        let deadline = std::time::Instant::now() + interop::TIMEOUT;
        while !peer.prints("message", AGAIN) {
            assert!(std::time::Instant::now() < deadline, "{endpoint}: {peer}");
            radio.send(Message::to_group("weather", "no")).unwrap();
            radio.send(Message::to_group(GROUP, BODY)).unwrap();
        }
        let message = peer.event("message");
        assert_eq!(message["group"], GROUP, "{endpoint}");
        assert_eq!(message["body"], hex::encode(BODY), "{endpoint}");
    }
}

#[test]
fn we_hear_libzmq() {
    if !ZMQ_UDP.is_there() {
        return;
    }
    for endpoint in endpoints() {
        let dish = socket(SocketType::Dish).build_blocking().unwrap();
        dish.join(GROUP).unwrap();
        dish.bind(&endpoint).unwrap();
        let script = ["--type", "radio", "--connect", &endpoint];
        let _peer = peer(&[&script[..], &["--group", GROUP, "--body", BODY]].concat());
        let message = dish.recv().unwrap();
        assert_eq!(message.group(), Some(GROUP.as_bytes()), "{endpoint}");
        assert_eq!(message.as_bytes(), BODY.as_bytes(), "{endpoint}");
        let address = message.peer().unwrap().address();
        assert!(matches!(address, PeerAddress::Udp(_)), "{address}");
    }
}

/// There and back: libzmq's DGRAM answers where our datagrams came from.
#[test]
fn datagrams_go_to_libzmq_and_back() {
    if !ZMQ_UDP.is_there() {
        return;
    }
    let endpoint = &endpoints()[0];
    let mut peer = peer(&["--type", "dgram", "--bind", endpoint]);
    peer.event("ready");
    let there: SocketAddr = endpoint.replace("udp://", "").parse().unwrap();
    let here = socket(SocketType::Dgram).build_blocking().unwrap();
    here.bind("udp://127.0.0.1:*").unwrap();
    for body in [&b""[..], BODY.as_bytes(), &[7; MAX_DATAGRAM]] {
        let deadline = std::time::Instant::now() + interop::TIMEOUT;
        let answer = loop {
            assert!(std::time::Instant::now() < deadline, "{peer}");
            here.send(Message::to_address(there, body)).unwrap();
            match here.recv_timeout(AGAIN) {
                // One of before may come late.
                Ok(message) if message.as_bytes() == body => break message,
                _ => {}
            }
        };
        assert_eq!(answer.address(), Some(there));
    }
}
