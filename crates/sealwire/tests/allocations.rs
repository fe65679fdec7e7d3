//! After warm-up no message allocates, on either side, with any mechanism and any way to receive.
//! Both sides and their threads run in this process, whose allocator counts.

#[path = "support/counting.rs"]
mod counting;
mod support;

use std::thread;

use bytes::Bytes;
use counting::allocations_of;
use sealwire::blocking::Socket;
use sealwire::{Message, SocketType};
use support::{every_mechanism, options};

const MESSAGES: usize = 50_000;
/// Allocations that belong to no message: queues that grow beyond what the warm-up needed when a
/// thread lags (each doubles a few times at most), buffers given back and taken again, timers, and
/// threads that block for the first time. One in every five hundredth message would be as many.
const SLACK: u64 = 100;
const BATCH: usize = 200;

/// In place of a frame, and in memory that others share.
const SIZES: [usize; 2] = [64, 1_400];

#[derive(Debug, Clone, Copy)]
enum Receiving {
    One,
    Incoming,
    Batch,
}

/// One test, so that nothing else allocates meanwhile.
#[test]
fn messages_allocate_nothing() {
    for (mechanism, server, client) in every_mechanism() {
        for endpoint in ["tcp://127.0.0.1:*".to_owned(), ipc()] {
            let pull = options(SocketType::Pull).security(server.clone());
            let pull = pull.build_blocking().unwrap();
            let push = options(SocketType::Push).security(client.clone());
            let push = push.build_blocking().unwrap();
            push.connect(pull.bind(&*endpoint).unwrap()).unwrap();
            let mut batch = Vec::with_capacity(BATCH);
            for size in SIZES {
                let payload = Bytes::from(vec![7; size]);
                for receiving in [Receiving::One, Receiving::Incoming, Receiving::Batch] {
                    transfer(&push, &pull, &payload, receiving, &mut batch);
                    let count = allocations_of(|| {
                        transfer(&push, &pull, &payload, receiving, &mut batch);
                    });
                    println!("{mechanism}, {endpoint}, {size} B, {receiving:?}: {count}");
                    assert!(
                        count <= SLACK,
                        "{mechanism}, {MESSAGES} of {size} B, {receiving:?}: {count} allocations"
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

/// One message at a time from here, received by this thread.
fn transfer(
    push: &Socket,
    pull: &Socket,
    payload: &Bytes,
    receiving: Receiving,
    batch: &mut Vec<Message>,
) {
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..MESSAGES {
                push.send(payload.clone()).unwrap();
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
                    left -= pull.recv_many(batch, BATCH.min(left)).unwrap();
                    batch.drain(..).for_each(|message| check(&message));
                }
            }
        }
    });
}
