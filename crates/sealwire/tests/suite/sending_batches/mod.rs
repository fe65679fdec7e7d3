//! Many messages sent in one go: as single sends would, and what was not sent is left in the queue.

mod room;

use std::collections::VecDeque;
use std::pin::pin;
use std::task::{Context, Waker};
use std::thread;
use std::time::Duration;

use crate::support::{Path, every_mechanism, link, options};
use sealwire::blocking::Socket;
use sealwire::{Error, Message, MessageError, Operation, SocketType, StateError};

fn inproc() -> Path {
    Path {
        transport: "inproc",
        keys: None,
    }
}

fn numbered(numbers: std::ops::Range<u32>) -> VecDeque<Message> {
    numbers
        .map(|number| Message::from(&number.to_be_bytes()))
        .collect()
}

fn number(message: &Message) -> u32 {
    u32::from_be_bytes(message.as_bytes()[..4].try_into().unwrap())
}

fn numbers(messages: &VecDeque<Message>) -> Vec<u32> {
    messages.iter().map(number).collect()
}

/// A PUSH whose messages wait for a peer, up to three.
fn push_with_room_for_three() -> Socket {
    let push = inproc()
        .client(SocketType::Push)
        .send_high_water_mark(3)
        .linger(Duration::ZERO)
        .build_blocking()
        .unwrap();
    push.connect(inproc().endpoint()).unwrap();
    push
}

/// Binds a PULL where this PUSH connects to.
fn pull_for(push: &Socket) -> Socket {
    let pull = inproc().server(SocketType::Pull).build_blocking().unwrap();
    pull.bind(push.connected_endpoints()[0].clone()).unwrap();
    pull
}

/// A PULL and a PUSH for every transport, and for every mechanism.
fn pairs() -> Vec<(String, Socket, Socket)> {
    let mut pairs = Vec::new();
    for path in Path::all() {
        let (pull, push) = path.pair(SocketType::Pull, SocketType::Push);
        pairs.push((path.name(), pull, push));
    }
    for (mechanism, server, client) in every_mechanism() {
        let (pull, push) = link(
            "tcp://127.0.0.1:*",
            options(SocketType::Pull).security(server),
            options(SocketType::Push).security(client),
        );
        pairs.push((format!("tcp {mechanism}"), pull, push));
    }
    pairs
}

#[test]
fn every_message_comes_once_and_in_order() {
    // Around what one lock takes, and more than the queues hold.
    const SIZES: [u32; 8] = [1, 2, 64, 255, 256, 257, 1_000, 5_000];
    const COUNT: u32 = 20_000;
    for (name, pull, push) in pairs() {
        let sender = thread::spawn(move || {
            let mut queue = VecDeque::new();
            let mut next = 0;
            for size in SIZES.into_iter().cycle() {
                let end = COUNT.min(next + size);
                queue.extend(numbered(next..end));
                let memory = queue.capacity();
                assert_eq!(push.send_many(&mut queue).unwrap(), (end - next) as usize);
                assert!(queue.is_empty());
                assert_eq!(queue.capacity(), memory);
                next = end;
                if next == COUNT {
                    break;
                }
                // Single ones go between them.
                push.send(&next.to_be_bytes()).unwrap();
                next += 1;
            }
            next
        });
        for expected in 0..COUNT {
            assert_eq!(number(&pull.recv().unwrap()), expected, "{name}");
        }
        assert_eq!(sender.join().unwrap(), COUNT);
    }
}

#[test]
fn threads_that_share_a_socket_keep_their_own_order() {
    const THREADS: u32 = 4;
    const COUNT: u32 = 6_000;
    const BATCH: u32 = 300;
    for (name, pull, push) in pairs() {
        let senders: Vec<_> = (0..THREADS)
            .map(|thread| {
                let push = push.clone();
                thread::spawn(move || {
                    for first in (0..COUNT).step_by(BATCH as usize) {
                        let batch = first..first + BATCH;
                        let mut queue = batch
                            .map(|number| {
                                Message::multipart([&thread.to_be_bytes(), &number.to_be_bytes()])
                            })
                            .collect();
                        push.send_many(&mut queue).unwrap();
                        assert!(queue.is_empty());
                    }
                })
            })
            .collect();
        let mut next = [0; THREADS as usize];
        for _ in 0..THREADS * COUNT {
            let message = pull.recv().unwrap();
            let thread = u32::from_be_bytes(message.frame(0).unwrap().try_into().unwrap());
            let next = &mut next[thread as usize];
            assert_eq!(number(&message), *next, "{name}, thread {thread}");
            *next += 1;
        }
        for sender in senders {
            sender.join().unwrap();
        }
        assert!(matches!(pull.try_recv(), Err(Error::WouldBlock)), "{name}");
    }
}

#[test]
fn an_error_leaves_its_message_and_those_behind_it() {
    let (pull, push) = inproc().pair(SocketType::Pull, SocketType::Push);
    let with_nothing = || {
        let mut queue = numbered(0..4);
        queue.insert(2, Message::multipart::<&str>([]));
        queue
    };
    let is_left = |queue: &VecDeque<Message>| {
        assert!(queue[0].is_empty());
        assert_eq!(numbers(&queue.range(1..).cloned().collect()), [2, 3]);
    };

    let mut queue = with_nothing();
    assert_eq!(push.try_send_many(&mut queue).unwrap(), 2);
    for _ in 0..2 {
        let error = push.try_send_many(&mut queue).unwrap_err();
        assert!(
            matches!(error, Error::Message(MessageError::Empty)),
            "{error}"
        );
        is_left(&queue);
    }
    queue.pop_front();
    assert_eq!(push.send_many(&mut queue).unwrap(), 2);

    let mut queue = with_nothing();
    let error = push.send_many(&mut queue).unwrap_err();
    assert!(
        matches!(error, Error::Message(MessageError::Empty)),
        "{error}"
    );
    is_left(&queue);
    for expected in [0, 1, 2, 3, 0, 1] {
        assert_eq!(number(&pull.recv().unwrap()), expected);
    }
    assert!(matches!(pull.try_recv(), Err(Error::WouldBlock)));

    let mut queue = numbered(0..2);
    let error = pull.send_many(&mut queue).unwrap_err();
    assert!(matches!(error, Error::Unsupported(Operation::Send)));
    assert_eq!(numbers(&queue), [0, 1]);
    assert_eq!(push.send_many(&mut VecDeque::new()).unwrap(), 0);
}

#[test]
fn what_is_left_is_as_it_was() {
    // One that came from somebody, in several frames, to a peer that is not there.
    let (pull, push) = inproc().pair(SocketType::Pull, SocketType::Push);
    let router = inproc().server(SocketType::Router).router_mandatory(true);
    let router = router.build_blocking().unwrap();
    push.send(Message::multipart(["nobody", "", "body"]))
        .unwrap();
    let received = pull.recv().unwrap();
    let peer = received.peer().unwrap().clone();
    let mut queue = VecDeque::from([received.clone()]);
    let error = router.send_many(&mut queue).unwrap_err();
    assert!(matches!(error, Error::Unroutable(name) if name == b"nobody"));
    assert_eq!(queue[0], received);
    assert!(std::sync::Arc::ptr_eq(queue[0].peer().unwrap(), &peer));
}

#[test]
fn each_message_goes_to_whom_it_names() {
    let server = inproc()
        .server(SocketType::Server)
        .build_blocking()
        .unwrap();
    let endpoint = server.bind(inproc().endpoint()).unwrap();
    let clients = [(); 2].map(|()| {
        let client = inproc()
            .client(SocketType::Client)
            .build_blocking()
            .unwrap();
        client.connect(endpoint.clone()).unwrap();
        client.send("hello").unwrap();
        let routing_id = server.recv().unwrap().routing_id().unwrap();
        (client, routing_id)
    });
    let routing_ids = clients.each_ref().map(|(_, routing_id)| *routing_id);
    let unknown = (0..)
        .find(|routing_id| !routing_ids.contains(routing_id))
        .unwrap();
    let mut queue: VecDeque<_> = (0..6_u32)
        .map(|number| {
            Message::with_routing_id(routing_ids[number as usize % 2], &number.to_be_bytes()[..])
        })
        .collect();
    queue.push_back(Message::with_routing_id(unknown, "lost"));
    assert_eq!(server.try_send_many(&mut queue).unwrap(), 6);
    let error = server.send_many(&mut queue).unwrap_err();
    assert!(matches!(error, Error::Unroutable(_)), "{error}");
    assert_eq!(queue.len(), 1);
    for expected in 0..6 {
        let message = clients[expected as usize % 2].0.recv().unwrap();
        assert_eq!(number(&message), expected);
    }
}

#[test]
fn request_and_reply_take_turns_in_a_batch_too() {
    let (rep, req) = inproc().pair(SocketType::Rep, SocketType::Req);
    let mut requests = VecDeque::from(["first", "second", "third"].map(Message::from));
    assert_eq!(req.try_send_many(&mut requests).unwrap(), 1);
    let error = req.try_send_many(&mut requests).unwrap_err();
    assert!(matches!(error, Error::State(StateError::AnswerPending)));
    assert_eq!(requests.len(), 2);

    assert_eq!(rep.recv().unwrap().as_bytes(), b"first");
    let mut answers = VecDeque::from(["answer", "one too many"].map(Message::from));
    let error = rep.send_many(&mut answers).unwrap_err();
    assert!(matches!(error, Error::State(StateError::NothingToAnswer)));
    assert_eq!(answers, ["one too many"].map(Message::from));

    assert_eq!(req.recv().unwrap().as_bytes(), b"answer");
    let error = req.send_many(&mut requests).unwrap_err();
    assert!(matches!(error, Error::State(StateError::AnswerPending)));
    assert_eq!(requests, ["third"].map(Message::from));
    assert_eq!(rep.recv().unwrap().as_bytes(), b"second");
}

#[test]
fn closing_ends_a_batch_and_leaves_the_rest() {
    let push = push_with_room_for_three();
    let sender = thread::spawn({
        let push = push.clone();
        move || {
            let mut queue = numbered(0..10);
            let error = push.send_many(&mut queue).unwrap_err();
            assert!(matches!(error, Error::Closed), "{error}");
            // It may not have begun before the end.
            assert!(matches!(number(&queue[0]), 0 | 3));
            assert_eq!(number(&queue[queue.len() - 1]), 9);
        }
    });
    // With no time to linger, what waits for a peer is lost.
    let closed = push.clone().close();
    sender.join().unwrap();
    assert!(matches!(closed, Ok(()) | Err(Error::Unsent(3))));
    let mut queue = numbered(0..2);
    assert!(matches!(push.try_send_many(&mut queue), Err(Error::Closed)));
    assert_eq!(numbers(&queue), [0, 1]);
}

#[test]
fn a_dropped_future_leaves_what_was_not_sent() {
    let push = push_with_room_for_three();
    let socket = sealwire::Socket::from(push.clone());
    let mut queue = numbered(0..10);
    {
        let mut sending = pin!(socket.send_many(&mut queue));
        let mut context = Context::from_waker(Waker::noop());
        for _ in 0..3 {
            assert!(sending.as_mut().poll(&mut context).is_pending());
        }
    }
    assert_eq!(numbers(&queue), [3, 4, 5, 6, 7, 8, 9]);
    let pull = pull_for(&push);
    assert_eq!(push.send_many(&mut queue).unwrap(), 7);
    for expected in 0..10 {
        assert_eq!(number(&pull.recv().unwrap()), expected);
    }
}

#[test]
fn tasks_send_batches() {
    const COUNT: u32 = 20_000;
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for (name, pull, push) in pairs() {
        let (pull, push) = (sealwire::Socket::from(pull), sealwire::Socket::from(push));
        runtime.block_on(async {
            let sender = tokio::spawn(async move {
                let mut queue = numbered(0..COUNT);
                assert_eq!(push.send_many(&mut queue).await.unwrap(), COUNT as usize);
                queue.push_back(Message::multipart::<&str>([]));
                let error = push.send_many(&mut queue).await.unwrap_err();
                assert!(
                    matches!(error, Error::Message(MessageError::Empty)),
                    "{error}"
                );
                // Beside others it is told as soon as they are sent.
                queue.extend(numbered(COUNT..COUNT + 1));
                queue.rotate_left(1);
                let error = push.send_many(&mut queue).await.unwrap_err();
                assert!(
                    matches!(error, Error::Message(MessageError::Empty)),
                    "{error}"
                );
                assert_eq!(queue.len(), 1);
            });
            for expected in 0..=COUNT {
                assert_eq!(number(&pull.recv().await.unwrap()), expected, "{name}");
            }
            sender.await.unwrap();
        });
    }
}
