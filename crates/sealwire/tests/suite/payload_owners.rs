//! Whatever drops a payload holds no lock of the socket: its owner may call that socket.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use crate::support::{Path, TIMEOUT, eventually};
use bytes::Bytes;
use sealwire::blocking::Socket;
use sealwire::{Context, Frame, Message, SocketBuilder, SocketType};

/// Calls a socket as it is dropped.
struct Owner {
    payload: Vec<u8>,
    socket: Arc<Mutex<Option<Socket>>>,
    dropped: Arc<AtomicUsize>,
}

impl AsRef<[u8]> for Owner {
    fn as_ref(&self) -> &[u8] {
        &self.payload
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        let socket = self.socket.lock().unwrap().clone();
        if let Some(socket) = socket {
            let _ = socket.try_send("from a destructor");
            let _ = socket.try_recv();
            let (_, _) = (socket.peers(), socket.accounts());
            // One that waits, which fails where this very thread drives the connection.
            let _ = socket.recv_timeout(Duration::ZERO);
            drop(socket.readiness());
        }
        self.dropped.fetch_add(1, Ordering::SeqCst);
    }
}

/// Makes payloads that call one socket.
#[derive(Clone, Default)]
struct Trap {
    socket: Arc<Mutex<Option<Socket>>>,
    dropped: Arc<AtomicUsize>,
}

impl Trap {
    fn on(socket: &Socket) -> Self {
        let trap = Trap::default();
        *trap.socket.lock().unwrap() = Some(socket.clone());
        trap
    }

    /// A frame that begins like this.
    fn frame(&self, head: &[u8]) -> Frame {
        let mut payload = head.to_vec();
        payload.resize(200, b'.');
        Frame::from(Bytes::from_owner(Owner {
            payload,
            socket: self.socket.clone(),
            dropped: self.dropped.clone(),
        }))
    }

    fn message(&self, head: &[u8]) -> Message {
        Message::from(self.frame(head))
    }

    fn dropped(&self) -> usize {
        self.dropped.load(Ordering::SeqCst)
    }

    fn was_sprung(&self, times: usize) {
        eventually("dropped", || self.dropped() >= times);
        self.disarm();
    }

    /// Payloads dropped from now on call nothing, and keep no socket.
    fn disarm(&self) {
        self.socket.lock().unwrap().take();
    }
}

/// Ends with a panic instead of hanging.
fn without_deadlock(what: &'static str, scenario: impl FnOnce() + Send + 'static) {
    let (done, finished) = mpsc::channel();
    let thread = thread::Builder::new().name(what.into());
    let running = thread.spawn(move || {
        scenario();
        let _ = done.send(());
    });
    match finished.recv_timeout(TIMEOUT) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("{what}: it hangs"),
        _ => running.unwrap().join().unwrap(),
    }
}

fn inproc(context: &Context, socket_type: SocketType) -> SocketBuilder {
    Socket::builder(socket_type)
        .context(context)
        .linger(Duration::ZERO)
}

fn pair(bound: SocketBuilder, connecting: SocketBuilder) -> (Socket, Socket) {
    let bound = bound.build_blocking().unwrap();
    let connecting = connecting.build_blocking().unwrap();
    bound.bind("inproc://owners").unwrap();
    connecting.connect("inproc://owners").unwrap();
    (bound, connecting)
}

#[test]
fn a_full_queue() {
    for (from, to) in [
        (SocketType::Pub, SocketType::Sub),
        (SocketType::XPub, SocketType::Sub),
        (SocketType::Push, SocketType::Pull),
        (SocketType::Dealer, SocketType::Dealer),
        (SocketType::Router, SocketType::Dealer),
        (SocketType::XSub, SocketType::XPub),
    ] {
        without_deadlock("a full queue", move || {
            let context = Context::new().unwrap();
            let receiver = || {
                inproc(&context, to)
                    .receive_high_water_mark(1)
                    .routing_id_if(to == SocketType::Dealer)
            };
            let (sender, first) = pair(inproc(&context, from).send_high_water_mark(1), receiver());
            let second = inproc(&context, to).receive_high_water_mark(1);
            let second = second.build_blocking().unwrap();
            second.connect("inproc://owners").unwrap();
            if to == SocketType::Sub {
                for subscriber in [&first, &second] {
                    subscriber.subscribe("").unwrap();
                }
            }
            let trap = Trap::on(&sender);
            let mut refused = 0;
            for _ in 0..20 {
                let message = match from {
                    SocketType::Router => {
                        let name = Frame::from("first");
                        Message::multipart([name, trap.frame(b"body")])
                    }
                    _ => trap.message(b"body"),
                };
                refused += usize::from(sender.try_send(message).is_err());
            }
            assert!(trap.dropped() > 0 && trap.dropped() >= refused, "{from}");
            trap.disarm();
        });
    }
}

/// An option for some of the sockets of a list.
trait RoutingIdIf {
    fn routing_id_if(self, condition: bool) -> Self;
}

impl RoutingIdIf for SocketBuilder {
    fn routing_id_if(self, condition: bool) -> Self {
        if condition {
            self.routing_id("first")
        } else {
            self
        }
    }
}

type MakeMessage = fn(&Trap) -> Message;

#[test]
fn nobody_to_send_to() {
    let unwanted: [(SocketType, MakeMessage); 6] = [
        (SocketType::Pub, |trap| trap.message(b"topic")),
        (SocketType::XPub, |trap| trap.message(b"topic")),
        (SocketType::XSub, |trap| trap.message(b"anything")),
        (SocketType::XSub, |trap| trap.message(b"\x01topic")),
        (SocketType::Router, |trap| {
            Message::multipart([Frame::from("nobody"), trap.frame(b"body")])
        }),
        (SocketType::Radio, |trap| {
            Message::multipart([Frame::from("group"), trap.frame(b"body")])
        }),
    ];
    for (socket_type, message) in unwanted {
        without_deadlock("nobody to send to", move || {
            let context = Context::new().unwrap();
            let socket = inproc(&context, socket_type).build_blocking().unwrap();
            let trap = Trap::on(&socket);
            socket.send(message(&trap)).unwrap();
            assert_eq!(trap.dropped(), 1, "{socket_type}");
            // Many at once.
            let mut batch = (0..10).map(|_| message(&trap)).collect();
            socket.send_many(&mut batch).unwrap();
            trap.was_sprung(11);
        });
    }
}

#[test]
fn a_routing_id_that_is_taken_off() {
    without_deadlock("a long routing id", || {
        let context = Context::new().unwrap();
        let mut name = b"a long one".to_vec();
        name.resize(200, b'.');
        let (router, dealer) = pair(
            inproc(&context, SocketType::Router),
            inproc(&context, SocketType::Dealer).routing_id(name),
        );
        let trap = Trap::on(&router);
        let message = Message::multipart([trap.frame(b"a long one"), Frame::from("body")]);
        router.send(message).unwrap();
        assert_eq!(dealer.recv_timeout(TIMEOUT).unwrap().as_bytes(), b"body");
        trap.was_sprung(1);
    });
}

#[test]
fn only_the_latest_is_kept() {
    for inbound in [false, true] {
        without_deadlock("conflate", move || {
            let context = Context::new().unwrap();
            let push = inproc(&context, SocketType::Push).conflate(true);
            let pull = inproc(&context, SocketType::Pull).conflate(true);
            let (pull, push) = if inbound {
                pair(pull, push)
            } else {
                let push = push.build_blocking().unwrap();
                // Nobody is there yet.
                push.connect("inproc://owners").unwrap();
                (pull.build_blocking().unwrap(), push)
            };
            let trap = Trap::on(if inbound { &pull } else { &push });
            for _ in 0..3 {
                push.send(trap.message(b"state")).unwrap();
            }
            // Those of the destructor replace others as well.
            trap.was_sprung(2);
        });
    }
}

#[test]
fn what_the_receiver_has_no_use_for() {
    without_deadlock("an unwanted topic", || {
        let context = Context::new().unwrap();
        let (publisher, subscriber) = pair(
            inproc(&context, SocketType::XPub).xpub_manual(true),
            inproc(&context, SocketType::Sub),
        );
        subscriber.subscribe("wanted").unwrap();
        publisher.recv_timeout(TIMEOUT).unwrap();
        publisher.subscribe("").unwrap();
        let trap = Trap::on(&subscriber);
        publisher.send(trap.message(b"unwanted")).unwrap();
        trap.was_sprung(1);
    });
    without_deadlock("a message for a publisher", || {
        let context = Context::new().unwrap();
        let (publisher, subscriber) = pair(
            inproc(&context, SocketType::Pub),
            inproc(&context, SocketType::XSub),
        );
        let trap = Trap::on(&publisher);
        subscriber.send(trap.message(b"hello")).unwrap();
        trap.was_sprung(1);
    });
    without_deadlock("an answer to nothing", || {
        let context = Context::new().unwrap();
        let (router, req) = pair(
            inproc(&context, SocketType::Router).router_notify(true, false),
            inproc(&context, SocketType::Req),
        );
        let joined = router.recv_timeout(TIMEOUT).unwrap();
        let name = joined.frames()[0].clone();
        let trap = Trap::on(&req);
        let (delimiter, odd) = (trap.frame(b"no delimiter"), trap.frame(b"answer"));
        router
            .send(Message::multipart([name, delimiter, odd]))
            .unwrap();
        trap.was_sprung(2);
    });
    without_deadlock("a request without a delimiter", || {
        let context = Context::new().unwrap();
        let (rep, dealer) = pair(
            inproc(&context, SocketType::Rep),
            inproc(&context, SocketType::Dealer),
        );
        let trap = Trap::on(&rep);
        dealer.send(trap.message(b"request")).unwrap();
        trap.was_sprung(1);
    });
}

#[test]
fn requests_and_answers_that_are_given_up() {
    without_deadlock("a request for nobody, replaced", || {
        let context = Context::new().unwrap();
        let req = inproc(&context, SocketType::Req).req_relaxed(true);
        let req = req.build_blocking().unwrap();
        req.connect("inproc://nobody").unwrap();
        let trap = Trap::on(&req);
        req.send(trap.message(b"first")).unwrap();
        req.send("second").unwrap();
        trap.was_sprung(1);
    });
    without_deadlock("an answer that is not read", || {
        let context = Context::new().unwrap();
        let (rep, req) = pair(
            inproc(&context, SocketType::Rep),
            inproc(&context, SocketType::Req).req_relaxed(true),
        );
        req.send("first").unwrap();
        rep.recv_timeout(TIMEOUT).unwrap();
        let trap = Trap::on(&req);
        rep.send(trap.message(b"answer")).unwrap();
        req.send("second").unwrap();
        trap.was_sprung(1);
    });
    without_deadlock("an answer for one who has left", || {
        let context = Context::new().unwrap();
        let (rep, dealer) = pair(
            inproc(&context, SocketType::Rep),
            inproc(&context, SocketType::Dealer),
        );
        let trap = Trap::on(&rep);
        let envelope = [
            trap.frame(b"envelope"),
            Frame::new(),
            Frame::from("request"),
        ];
        dealer.send(Message::multipart(envelope)).unwrap();
        rep.recv_timeout(TIMEOUT).unwrap();
        let _ = dealer.close();
        rep.send(trap.message(b"answer")).unwrap();
        trap.was_sprung(2);
    });
}

#[test]
fn a_peer_leaves_or_the_socket_closes() {
    for socket_type in [SocketType::Router, SocketType::Pub, SocketType::Push] {
        without_deadlock("a peer leaves", move || {
            let path = Path::encrypted();
            let other = match socket_type {
                SocketType::Router => SocketType::Dealer,
                SocketType::Pub => SocketType::Sub,
                _ => SocketType::Pull,
            };
            let receiver = path
                .client(other)
                .routing_id_if(other == SocketType::Dealer);
            let (sender, receiver) = path.link(
                path.server(socket_type).linger(Duration::ZERO),
                receiver.receive_high_water_mark(1),
            );
            if other == SocketType::Sub {
                receiver.subscribe("").unwrap();
            }
            eventually("connected", || sender.peers().len() == 1);
            let trap = Trap::on(&sender);
            for _ in 0..3_000 {
                let message = match socket_type {
                    SocketType::Router => {
                        Message::multipart([Frame::from("first"), trap.frame(b"body")])
                    }
                    _ => trap.message(b"body"),
                };
                let _ = sender.try_send(message);
            }
            let _ = receiver.close();
            eventually("gone", || sender.peers().is_empty());
            trap.disarm();
            let _ = sender.close();
        });
    }
    without_deadlock("a backlog at the end", || {
        let context = Context::new().unwrap();
        let push = inproc(&context, SocketType::Push).build_blocking().unwrap();
        push.connect("tcp://127.0.0.1:1").unwrap();
        let trap = Trap::on(&push);
        for _ in 0..3 {
            push.send(trap.message(b"work")).unwrap();
        }
        let _ = push.close();
        trap.was_sprung(3);
    });
    without_deadlock("an unread queue whose peer is gone", || {
        let context = Context::new().unwrap();
        let (pull, push) = pair(
            inproc(&context, SocketType::Pull).receive_high_water_mark(1),
            inproc(&context, SocketType::Push),
        );
        let trap = Trap::on(&pull);
        for _ in 0..3 {
            push.send(trap.message(b"work")).unwrap();
        }
        let _ = push.close();
        while pull.try_recv().is_ok() {}
        trap.disarm();
    });
}

/// Under the lock of a connection, which cannot be waited for there.
#[test]
fn what_was_written() {
    for path in Path::all() {
        without_deadlock("what was written", move || {
            let (one, other) = path.pair(SocketType::Dealer, SocketType::Dealer);
            eventually("connected", || one.peers().len() == 1);
            let trap = Trap::on(&one);
            for number in 0..200 {
                let mut message = trap.message(b"body");
                // Large ones are written from where they are.
                if number % 2 == 0 {
                    let large = Bytes::from_owner(Owner {
                        payload: vec![7; 300_000],
                        socket: trap.socket.clone(),
                        dropped: trap.dropped.clone(),
                    });
                    message = Message::from(Frame::from(large));
                }
                one.send(message).unwrap();
                while other.recv_timeout(TIMEOUT).unwrap().size() < 200 {}
                // There is something to read as the next is dropped.
                other.send("back").unwrap();
            }
            drop(other);
            trap.disarm();
        });
    }
}

/// The last handle is in a payload, where a thread drops it that must not wait for the socket's end.
#[test]
fn the_socket_closes() {
    struct Last(Mutex<Option<Socket>>, mpsc::Sender<()>);

    impl AsRef<[u8]> for Last {
        fn as_ref(&self) -> &[u8] {
            &[7; 300_000]
        }
    }

    impl Drop for Last {
        fn drop(&mut self) {
            let socket = self.0.lock().unwrap().take().unwrap();
            let _ = socket.close();
            let _ = self.1.send(());
        }
    }

    for path in Path::all() {
        let (one, other) = path.pair(SocketType::Dealer, SocketType::Dealer);
        eventually("connected", || one.peers().len() == 1);
        let (done, closed) = mpsc::channel();
        let last = Last(Mutex::new(Some(one.clone())), done);
        let frame = Frame::from(Bytes::from_owner(last));
        let sending = thread::spawn(move || {
            let _ = one.send(Message::from(frame));
        });
        if path.transport != "inproc" {
            closed.recv_timeout(TIMEOUT).expect("it hangs");
        }
        sending.join().unwrap();
        drop(other);
    }
}
