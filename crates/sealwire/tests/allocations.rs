//! After warm-up no message allocates, on either side, with any mechanism and any way to send and receive.
//! Both sides and their threads run in this process, whose allocator counts.
//!
//! A binary of its own: what any thread of the process allocates is counted.

#[path = "support/counting.rs"]
#[expect(dead_code, reason = "this counts allocations, not bytes")]
mod counting;
#[expect(dead_code, reason = "the suite uses the rest")]
mod support;

use std::collections::VecDeque;
use std::thread;

use bytes::Bytes;
use counting::allocations_of;
use sealwire::blocking::Socket;
use sealwire::{Context, Message, SocketType};
use support::{block_on, every_mechanism, link, options};

const MESSAGES: usize = 20_000;
/// Allocations that belong to no message, for each connection, however its two threads are scheduled.
/// Memory grows when a thread lags for the first time, by doubling, and is kept: four queues of 1,000
/// messages (10 times each), two lists (10), six buffers on their way out (11), and 32 blocks for
/// payloads. 24 more are for threads and timers. One in every batch would be more.
const SLACK: u64 = 4 * 10 + 2 * 10 + 6 * 11 + 32 + 24;
const BATCH: usize = 50;

/// In place of a frame, and in memory that others share.
const SIZES: [usize; 2] = [64, 1_400];

#[derive(Debug, Clone, Copy)]
enum Sending {
    One,
    Batch,
}

#[derive(Debug, Clone, Copy)]
enum Receiving {
    One,
    Incoming,
    Batch,
}

const WAYS: [(Sending, Receiving); 6] = [
    (Sending::One, Receiving::One),
    (Sending::One, Receiving::Incoming),
    (Sending::One, Receiving::Batch),
    (Sending::Batch, Receiving::One),
    (Sending::Batch, Receiving::Incoming),
    (Sending::Batch, Receiving::Batch),
];

/// Memory that both sides keep.
struct Batches {
    sent: VecDeque<Message>,
    received: Vec<Message>,
}

/// One test, so that nothing else allocates meanwhile.
#[test]
fn messages_allocate_nothing() {
    publishing_allocates_nothing();
    waiting_tasks_allocate_nothing();
    for (mechanism, server, client) in every_mechanism() {
        for endpoint in ["tcp://127.0.0.1:*".to_owned(), ipc()] {
            let (pull, push) = link(
                &endpoint,
                options(SocketType::Pull).security(server.clone()),
                options(SocketType::Push).security(client.clone()),
            );
            let mut batches = Batches {
                sent: VecDeque::with_capacity(BATCH),
                received: Vec::with_capacity(BATCH),
            };
            for size in SIZES {
                let payload = Bytes::from(vec![7; size]);
                for ways in WAYS {
                    transfer(&push, &pull, &payload, ways, &mut batches);
                    let count = allocations_of(|| {
                        transfer(&push, &pull, &payload, ways, &mut batches);
                    });
                    println!("{mechanism}, {endpoint}, {size} B, {ways:?}: {count}");
                    assert!(
                        count <= SLACK,
                        "{mechanism}, {MESSAGES} of {size} B, {ways:?}: {count} allocations"
                    );
                }
            }
        }
    }
}

fn ipc() -> String {
    let name = format!("sealwire-allocations-{}", std::process::id());
    format!("ipc://{}", std::env::temp_dir().join(name).display())
}

/// To several subscribers at once. Nothing is allocated for a message, nor for telling the subscribers'
/// connections of it. Frames that are the same for all lie in blocks of 16 KiB: two allocations for each,
/// at most, as a block is taken anew while somebody still has the one before.
fn publishing_allocates_nothing() {
    const SUBSCRIBERS: usize = 3;
    const FRAMES_PER_BLOCK: usize = (16 << 10) / (SIZES[0] + 2);
    for (mechanism, server, client) in every_mechanism() {
        // Few deadlines: a tree of more than eleven takes and gives back nodes.
        let context = Context::new().unwrap();
        let publisher = options(SocketType::XPub)
            .context(&context)
            .security(server)
            .xpub_verbose(true);
        let publisher = publisher.xpub_no_drop(true).build_blocking().unwrap();
        let endpoint = publisher.bind("tcp://127.0.0.1:*").unwrap();
        let subscribers = [(); SUBSCRIBERS].map(|()| {
            let subscriber = options(SocketType::Sub)
                .context(&context)
                .security(client.clone());
            let subscriber = subscriber.build_blocking().unwrap();
            subscriber.subscribe("").unwrap();
            subscriber.connect(&endpoint).unwrap();
            publisher.recv().unwrap();
            subscriber
        });
        let payload = Bytes::from(vec![7; SIZES[0]]);
        let check = |message: Message| assert_eq!(message.as_bytes(), payload);
        let publish = || publisher.send(payload.clone()).unwrap();
        // Nobody lags: all have to be told of every message.
        let in_lock_step = |messages| {
            for _ in 0..messages {
                publish();
                let received = subscribers.iter().map(|subscriber| subscriber.recv());
                received.for_each(|message| check(message.unwrap()));
            }
        };
        // Each lags as it may.
        let freely = |messages| {
            thread::scope(|scope| {
                for subscriber in &subscribers {
                    let incoming = subscriber.incoming().take(messages);
                    scope.spawn(move || incoming.for_each(|message| check(message.unwrap())));
                }
                (0..messages).for_each(|_| publish());
            });
        };
        let ways: [(_, &dyn Fn(usize), _); 2] = [
            ("in lock step", &in_lock_step, MESSAGES / 10),
            ("freely", &freely, MESSAGES),
        ];
        for (way, action, messages) in ways {
            action(messages);
            let count = allocations_of(|| action(messages));
            println!("{mechanism}, to {SUBSCRIBERS} subscribers {way}: {count}");
            let blocks = 2 * (messages.div_ceil(FRAMES_PER_BLOCK) as u64 + 1);
            let slack = SUBSCRIBERS as u64 * SLACK;
            assert!(
                count <= slack + blocks,
                "{mechanism}, {messages} to {SUBSCRIBERS} subscribers {way}: {count} allocations"
            );
        }
    }
}

/// Tasks that wait for each message, one after the other, on both sides.
fn waiting_tasks_allocate_nothing() {
    for (mechanism, server, client) in every_mechanism() {
        let (one, other) = link(
            "tcp://127.0.0.1:*",
            options(SocketType::Pair).security(server),
            options(SocketType::Pair).security(client),
        );
        let [one, other] = [one, other].map(sealwire::Socket::from);
        let payload = Bytes::from(vec![7; SIZES[0]]);
        let rally = |rounds| {
            thread::scope(|scope| {
                scope.spawn(|| {
                    block_on(async {
                        for _ in 0..rounds {
                            let message = other.recv().await.unwrap();
                            other.send(message).await.unwrap();
                        }
                    });
                });
                block_on(async {
                    for _ in 0..rounds {
                        one.send(payload.clone()).await.unwrap();
                        assert_eq!(one.recv().await.unwrap().as_bytes(), payload);
                    }
                });
            });
        };
        let rounds = MESSAGES / 10;
        rally(rounds);
        let count = allocations_of(|| rally(rounds));
        println!("{mechanism}, tasks that wait: {count}");
        assert!(
            count <= SLACK,
            "{mechanism}, {rounds} rounds of tasks that wait: {count} allocations"
        );
    }
}

/// Sent by another thread, received by this one.
fn transfer(
    push: &Socket,
    pull: &Socket,
    payload: &Bytes,
    (sending, receiving): (Sending, Receiving),
    Batches { sent, received }: &mut Batches,
) {
    thread::scope(|scope| {
        scope.spawn(|| match sending {
            Sending::One => (0..MESSAGES).for_each(|_| push.send(payload.clone()).unwrap()),
            Sending::Batch => {
                for _ in 0..MESSAGES / BATCH {
                    sent.extend((0..BATCH).map(|_| Message::from(payload.clone())));
                    push.send_many(sent).unwrap();
                }
            }
        });
        let check = |message: &Message| assert_eq!(message.as_bytes(), payload);
        match receiving {
            Receiving::One => (0..MESSAGES).for_each(|_| check(&pull.recv().unwrap())),
            Receiving::Incoming => {
                let incoming = pull.incoming().take(MESSAGES);
                incoming.for_each(|message| check(&message.unwrap()));
            }
            Receiving::Batch => {
                let mut left = MESSAGES;
                while left > 0 {
                    left -= pull.recv_many(received, BATCH.min(left)).unwrap();
                    received.drain(..).for_each(|message| check(&message));
                }
            }
        }
    });
}
