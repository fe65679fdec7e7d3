//! After warm-up no message allocates, on either side, with any mechanism and any way to send and receive.
//! Both sides and their threads run in this process, whose allocator counts.

#[path = "support/counting.rs"]
mod counting;
mod support;

use std::collections::VecDeque;
use std::thread;

use bytes::Bytes;
use counting::allocations_of;
use sealwire::blocking::Socket;
use sealwire::{Message, SocketType};
use support::{every_mechanism, link, options};

const MESSAGES: usize = 50_000;
/// Allocations that belong to no message: queues that grow beyond what the warm-up needed when a
/// thread lags (each doubles a few times at most), buffers given back and taken again, timers, and
/// threads that block for the first time. One in every five hundredth message would be as many.
const SLACK: u64 = 100;
const BATCH: usize = 200;

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

/// To three subscribers at once. Frames that are the same for all lie in blocks of 16 KiB, which are
/// taken anew as long as somebody still has the one before.
fn publishing_allocates_nothing() {
    const SUBSCRIBERS: usize = 3;
    for (mechanism, server, client) in every_mechanism() {
        let publisher = options(SocketType::XPub)
            .security(server)
            .xpub_verbose(true);
        let publisher = publisher.xpub_no_drop(true).build_blocking().unwrap();
        let endpoint = publisher.bind("tcp://127.0.0.1:*").unwrap();
        let subscribers = [(); SUBSCRIBERS].map(|()| {
            let subscriber = options(SocketType::Sub).security(client.clone());
            let subscriber = subscriber.build_blocking().unwrap();
            subscriber.subscribe("").unwrap();
            subscriber.connect(&endpoint).unwrap();
            publisher.recv().unwrap();
            subscriber
        });
        let payload = Bytes::from(vec![7; SIZES[0]]);
        let publish = || {
            thread::scope(|scope| {
                for subscriber in &subscribers {
                    scope.spawn(|| {
                        let incoming = subscriber.incoming().take(MESSAGES);
                        incoming
                            .for_each(|message| assert_eq!(message.unwrap().as_bytes(), payload));
                    });
                }
                (0..MESSAGES).for_each(|_| publisher.send(payload.clone()).unwrap());
            });
        };
        publish();
        let count = allocations_of(publish);
        println!("{mechanism}, to {SUBSCRIBERS} subscribers: {count}");
        // Two for a block of 248 frames.
        let blocks = 2 * (MESSAGES as u64).div_ceil(248);
        let slack = SUBSCRIBERS as u64 * SLACK;
        assert!(count <= slack + blocks, "{mechanism}: {count} allocations");
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
