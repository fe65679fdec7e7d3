//! Leaving those who came through an endpoint, over every transport.

use std::io::Read as _;
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use crate::support::{Path, TIMEOUT, eventually, options};
use sealwire::blocking::Socket;
use sealwire::{Endpoint, Error, Presence, SocketType};

const MESSAGES: usize = 100;

/// A socket with two endpoints, and a peer that came through each.
fn with_two_peers(path: &Path, server: SocketType, client: SocketType) -> Scene {
    let socket = path.server(server).linger(TIMEOUT);
    let socket = socket.build_blocking().unwrap();
    let endpoints = [0, 1].map(|_| socket.bind(path.endpoint()).unwrap());
    let peers = endpoints.each_ref().map(|endpoint| {
        let peer = path.client(client).build_blocking().unwrap();
        peer.connect(endpoint).unwrap();
        peer
    });
    socket.wait_connected(2).unwrap();
    // The server of a handshake may be the first to know that it is done.
    for peer in &peers {
        peer.wait_connected(1).unwrap();
    }
    Scene {
        socket,
        endpoints,
        peers,
    }
}

struct Scene {
    socket: Socket,
    endpoints: [Endpoint; 2],
    peers: [Socket; 2],
}

#[test]
fn what_was_sent_before_goes_out_and_what_follows_goes_to_others() {
    for path in Path::all() {
        let Scene {
            socket,
            endpoints,
            peers,
        } = with_two_peers(&path, SocketType::Push, SocketType::Pull);
        for _ in 0..MESSAGES {
            socket.send(vec![0; 5_000]).unwrap();
        }
        socket.unbind_and_disconnect(&endpoints[0]).unwrap();
        assert_eq!(socket.peers().len(), 1, "{}", path.transport);
        assert_eq!(socket.bound_endpoints(), [endpoints[1].clone()]);
        for _ in 0..MESSAGES {
            socket.send(vec![1; 5_000]).unwrap();
        }
        let received = |pull: &Socket, count: usize| -> usize {
            let firsts = (0..count).map(|_| usize::from(pull.recv().unwrap().as_bytes()[0]));
            firsts.sum()
        };
        assert_eq!(received(&peers[0], MESSAGES / 2), 0, "{}", path.transport);
        let later = received(&peers[1], MESSAGES / 2 + MESSAGES);
        assert_eq!(later, MESSAGES, "{}", path.transport);
        eventually("left", || peers[0].peers().is_empty());
        assert!(matches!(peers[0].try_recv(), Err(Error::WouldBlock)));
        assert_eq!(socket.counters().dropped_unsent, 0);
        let again = socket.unbind_and_disconnect(&endpoints[0]);
        assert!(matches!(again, Err(Error::UnknownEndpoint(_))));
    }
}

#[test]
fn those_who_were_left_are_not_heard_and_come_again_once_it_is_bound_again() {
    for path in Path::all() {
        let Scene {
            socket,
            endpoints,
            peers,
        } = with_two_peers(&path, SocketType::Pull, SocketType::Push);
        socket.unbind_and_disconnect(&endpoints[0]).unwrap();
        peers[1].send("heard").unwrap();
        assert_eq!(socket.recv().unwrap().as_bytes(), b"heard");
        eventually("left", || peers[0].peers().is_empty());
        peers[0].send("waits").unwrap();
        eventually("bound again", || socket.bind(&endpoints[0]).is_ok());
        assert_eq!(socket.recv().unwrap().as_bytes(), b"waits");
    }
}

/// It may read the connection that is left itself.
#[test]
fn a_thread_that_waits_for_a_message_hears_of_the_next_peer() {
    for path in Path::all() {
        let pull = path.server(SocketType::Pull).build_blocking().unwrap();
        let [left, next] = [0, 1].map(|_| pull.bind(path.endpoint()).unwrap());
        let [first, second] =
            [0, 1].map(|_| path.client(SocketType::Push).build_blocking().unwrap());
        first.connect(&left).unwrap();
        pull.wait_connected(1).unwrap();
        thread::scope(|scope| {
            let received = scope.spawn(|| pull.recv());
            pull.unbind_and_disconnect(&left).unwrap();
            second.connect(&next).unwrap();
            second.send("on").unwrap();
            assert_eq!(received.join().unwrap().unwrap().as_bytes(), b"on");
        });
    }
}

#[test]
fn a_handshake_ends_as_its_endpoint_is_unbound_with_its_peers() {
    let hour = Duration::from_secs(3_600);
    let pull = options(SocketType::Pull).handshake_timeout(hour);
    let pull = pull.build_blocking().unwrap();
    let [left, stays] = [0, 1].map(|_| {
        let endpoint = pull.bind("tcp://127.0.0.1:0").unwrap();
        let Endpoint::Tcp { port, .. } = endpoint else {
            panic!("no tcp")
        };
        let silent = TcpStream::connect(("127.0.0.1", port)).unwrap();
        silent.set_read_timeout(Some(TIMEOUT)).unwrap();
        (endpoint, silent)
    });
    let both = Presence::Handshaking { connections: 2 };
    eventually("both are there", || pull.presence() == both);
    pull.unbind_and_disconnect(&left.0).unwrap();
    let mut silent = left.1;
    silent.read_to_end(&mut Vec::new()).unwrap();
    let one = Presence::Handshaking { connections: 1 };
    eventually("one is left", || pull.presence() == one);
    drop(stays);
}
