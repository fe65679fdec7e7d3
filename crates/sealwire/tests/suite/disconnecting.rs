//! Leaving a peer by `disconnect`: it counts no more once that has returned, over every transport.

use std::io::Read as _;
use std::net::TcpListener;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use crate::support::{Path, TIMEOUT, await_event, eventually, options};
use sealwire::auth::{Authenticator, Client, Decision};
use sealwire::blocking::Socket;
use sealwire::{Error, Event, Generate as _, KeyPair, Message, Security, SocketType};

const MESSAGES: usize = 100;

fn body(number: usize) -> Vec<u8> {
    let mut body = vec![number as u8; 5_000];
    body[..8].copy_from_slice(&(number as u64).to_le_bytes());
    body
}

fn number(message: &Message) -> usize {
    let number = message.as_bytes().first_chunk().expect("eight bytes");
    u64::from_le_bytes(*number) as usize
}

fn bound(path: &Path, socket_type: SocketType) -> (Socket, String) {
    let socket = path.server(socket_type).build_blocking().unwrap();
    let endpoint = socket.bind(path.endpoint()).unwrap().to_string();
    (socket, endpoint)
}

fn connected(path: &Path, socket_type: SocketType, endpoint: &str) -> Socket {
    let socket = path.client(socket_type).build_blocking().unwrap();
    socket.connect(endpoint).unwrap();
    socket.wait_connected(1).unwrap();
    socket
}

/// All that a socket has received of a peer whose connection has ended.
fn all(socket: &Socket) -> Vec<usize> {
    std::iter::from_fn(|| socket.try_recv().ok())
        .map(|message| number(&message))
        .collect()
}

/// A sender leaves one receiver and goes on with another, at once.
#[test]
fn messages_go_to_the_next_peer_from_the_moment_that_disconnect_returns() {
    for path in Path::all() {
        for (receives, sends) in [
            (SocketType::Pull, SocketType::Push),
            (SocketType::Dealer, SocketType::Dealer),
            (SocketType::Gather, SocketType::Scatter),
            (SocketType::Server, SocketType::Client),
            (SocketType::Pair, SocketType::Pair),
        ] {
            let ((first, left), (second, next)) = (bound(&path, receives), bound(&path, receives));
            let sender = connected(&path, sends, &left);
            for number in 0..MESSAGES / 2 {
                sender.send(body(number)).unwrap();
            }
            sender.disconnect(&*left).unwrap();
            assert!(sender.peers().is_empty(), "{}", path.transport);
            sender.connect(&*next).unwrap();
            for number in MESSAGES / 2..MESSAGES {
                sender.send(body(number)).unwrap();
            }
            for expected in MESSAGES / 2..MESSAGES {
                let message = second.recv().unwrap();
                // SERVER has the routing id in front.
                let body = message.frames().last().expect("a body");
                assert_eq!(number(&Message::from(body.clone())), expected);
            }
            for expected in 0..MESSAGES / 2 {
                let message = first.recv().unwrap();
                let body = message.frames().last().expect("a body");
                assert_eq!(number(&Message::from(body.clone())), expected);
            }
            eventually("the connection has ended", || first.peers().is_empty());
            assert!(matches!(first.try_recv(), Err(Error::WouldBlock)));
            assert_eq!(sender.counters().dropped_unsent, 0);
        }
    }
}

/// Each sends on after the other has left. Nothing of that is received.
#[test]
fn a_peer_that_was_left_is_not_heard() {
    for path in Path::all() {
        for (sends, receives) in [
            (SocketType::Push, SocketType::Pull),
            (SocketType::Dealer, SocketType::Dealer),
            (SocketType::Pub, SocketType::Sub),
        ] {
            let ((first, left), (second, other)) = (bound(&path, sends), bound(&path, sends));
            let receiver = connected(&path, receives, &left);
            if receives == SocketType::Sub {
                receiver.subscribe("").unwrap();
                first.wait_subscribed("", 1).unwrap();
            }
            first.send(body(0)).unwrap();
            assert_eq!(number(&receiver.recv().unwrap()), 0);
            receiver.disconnect(&*left).unwrap();
            let _ = first.try_send(body(1));
            receiver.connect(&*other).unwrap();
            receiver.wait_connected(1).unwrap();
            if receives == SocketType::Sub {
                second.wait_subscribed("", 1).unwrap();
            }
            second.send(body(2)).unwrap();
            assert_eq!(number(&receiver.recv().unwrap()), 2, "{}", path.transport);
            eventually("the connection has ended", || first.peers().is_empty());
            assert!(all(&receiver).is_empty(), "{}", path.transport);
        }
    }
}

/// Its only peer is full and is left: the message waits for the one that is still to come.
#[test]
fn a_sender_that_waits_for_room_at_a_peer_that_is_left_goes_on() {
    for path in Path::all() {
        let server = path.server(SocketType::Pull).receive_high_water_mark(1);
        let first = server.receive_buffer(1).build_blocking().unwrap();
        let left = first.bind(path.endpoint()).unwrap();
        let client = path.client(SocketType::Push).send_high_water_mark(1);
        // The rest may take long, as the buffers are small.
        let client = client.send_buffer(1).linger(TIMEOUT);
        let sender = client.build_blocking().unwrap();
        sender.connect(left.clone()).unwrap();
        sender.wait_connected(1).unwrap();
        // The system holds some, the peer one, and the queue one.
        let large = vec![0; 1 << 20];
        let mut before = 0;
        while sender.try_send(large.clone()).is_ok() {
            before += 1;
        }
        let (second, next) = bound(&path, SocketType::Pull);
        let (done, sent) = mpsc::channel();
        thread::scope(|scope| {
            scope.spawn(|| {
                // The system may have taken one more meanwhile.
                let waiting = (0..2).map(|number| sender.send(body(number)));
                done.send(waiting.map(|sent| sent.is_ok()).collect::<Vec<_>>())
                    .unwrap();
            });
            sender.disconnect(left).unwrap();
            sender.connect(&*next).unwrap();
            assert_eq!(sent.recv_timeout(TIMEOUT).unwrap(), [true, true]);
        });
        let mut received = Vec::new();
        eventually("all have come", || {
            received.extend(all(&second));
            while let Ok(message) = first.try_recv() {
                match message.size() == large.len() {
                    true => before -= 1,
                    false => received.push(number(&message)),
                }
            }
            (before, received.len()) == (0, 2)
        });
    }
}

#[test]
fn a_request_that_is_under_way_is_lost_as_its_peer_is_left() {
    for path in Path::all() {
        let (rep, left) = bound(&path, SocketType::Rep);
        let req = connected(&path, SocketType::Req, &left);
        req.send("first").unwrap();
        assert_eq!(rep.recv().unwrap().as_bytes(), b"first");
        thread::scope(|scope| {
            let answer = scope.spawn(|| req.recv());
            req.disconnect(&*left).unwrap();
            assert!(matches!(answer.join().unwrap(), Err(Error::RequestLost)));
        });
        let _ = rep.send("late");
        let (other, next) = bound(&path, SocketType::Rep);
        req.connect(&*next).unwrap();
        req.send("second").unwrap();
        assert_eq!(other.recv().unwrap().as_bytes(), b"second");
        other.send("answer").unwrap();
        assert_eq!(req.recv().unwrap().as_bytes(), b"answer");
    }
}

/// It may read that connection itself, which nobody wants to hear of any more.
#[test]
fn a_thread_that_waits_for_a_message_hears_of_the_next_peer() {
    for path in Path::all() {
        let (_first, left) = bound(&path, SocketType::Push);
        let (second, next) = bound(&path, SocketType::Push);
        let pull = connected(&path, SocketType::Pull, &left);
        thread::scope(|scope| {
            let received = scope.spawn(|| pull.recv());
            pull.disconnect(&*left).unwrap();
            pull.connect(&*next).unwrap();
            second.wait_connected(1).unwrap();
            second.send("on").unwrap();
            assert_eq!(received.join().unwrap().unwrap().as_bytes(), b"on");
        });
    }
}

/// Each time another connection, while the ones before send what they have.
#[test]
fn an_endpoint_that_was_left_can_be_connected_to_again() {
    for path in Path::all() {
        let (pull, endpoint) = bound(&path, SocketType::Pull);
        let push = connected(&path, SocketType::Push, &endpoint);
        for round in 0..10 {
            push.send(body(round)).unwrap();
            push.disconnect(&*endpoint).unwrap();
            push.connect(&*endpoint).unwrap();
            push.wait_connected(1).unwrap();
        }
        push.send(body(10)).unwrap();
        let mut received: Vec<_> = (0..=10).map(|_| number(&pull.recv().unwrap())).collect();
        received.sort_unstable();
        assert_eq!(received, Vec::from_iter(0..=10));
    }
}

/// Also where a message waits for a first peer, and this one says nothing.
#[test]
fn a_handshake_ends_as_its_endpoint_is_left() {
    let hour = Duration::from_secs(3_600);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("tcp://{}", listener.local_addr().unwrap());
    let push = options(SocketType::Push).linger(hour);
    let push = push.handshake_timeout(hour).build_blocking().unwrap();
    push.connect(&*endpoint).unwrap();
    push.send("waits").unwrap();
    let (mut silent, _) = listener.accept().unwrap();
    silent.set_read_timeout(Some(TIMEOUT)).unwrap();
    silent.read_exact(&mut [0]).unwrap();
    push.disconnect(&*endpoint).unwrap();
    silent.read_to_end(&mut Vec::new()).unwrap();
    let closed = push.close_with_linger(Duration::ZERO);
    assert!(matches!(closed, Err(Error::Unsent(1))), "{closed:?}");
}

/// Allows everybody until that is revoked.
struct Revocable(Arc<AtomicU64>);

impl Authenticator for Revocable {
    fn authenticate(&self, _: &Client<'_>) -> Decision {
        (self.0.load(Ordering::SeqCst) == 0).into()
    }

    fn revision(&self) -> Option<u64> {
        Some(self.0.load(Ordering::SeqCst))
    }
}

/// The queue of a peer that was left goes to nobody who is not allowed any more.
#[test]
fn a_peer_that_was_left_is_cut_off_when_its_key_is_revoked() {
    let hour = Duration::from_secs(3_600);
    let (keys, revoked) = (KeyPair::generate(), Arc::new(AtomicU64::new(0)));
    let client = options(SocketType::Pull).security(Security::blake3_client(keys.public()));
    let client = client.receive_high_water_mark(1).receive_buffer(1);
    let client = client.build_blocking().unwrap();
    let endpoint = client.bind("tcp://127.0.0.1:0").unwrap();
    let security = Security::blake3_server(keys, Revocable(revoked.clone()));
    let server = options(SocketType::Push).security(security);
    let server = server.linger(hour).send_buffer(1);
    let server = server.build_blocking().unwrap();
    let monitor = server.monitor();
    server.connect(endpoint.clone()).unwrap();
    server.wait_connected(1).unwrap();
    // More than the system holds for a peer that reads nothing.
    for _ in 0..8 {
        server.send(vec![0; 1 << 20]).unwrap();
    }
    server.disconnect(endpoint).unwrap();
    revoked.store(1, Ordering::SeqCst);
    let cause = await_event(&monitor, "cut off", |event| match event {
        Event::Failed(failure) => Some(failure.cause().to_string()),
        Event::Disconnected { .. } => panic!("it has got everything"),
        _ => None,
    });
    assert!(cause.contains("no longer allowed"), "{cause}");
    server.close_with_linger(Duration::ZERO).ok();
}
