//! Any bytes to a NULL connection, from its greeting on or when it is ready: whole or in two pieces,
//! the same comes out, and never more than went in.

#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use sealwire_fuzz::{Endpoint, null};
use sealwire_zmtp::{DefaultProvider, Event, SocketType};

/// From nothing at all to ready.
const STAGES: u8 = 3;

fn at(stage: u8) -> Endpoint {
    let mut side = Endpoint::new(null(SocketType::XPub), Arc::new(DefaultProvider), 1);
    let mut peer = Endpoint::new(null(SocketType::XSub), Arc::new(DefaultProvider), 2);
    for _ in 0..stage % STAGES {
        side.feed(&peer.output());
        peer.feed(&side.output());
    }
    assert_eq!(side.connection.is_ready(), stage % STAGES == STAGES - 1);
    side.events.clear();
    side
}

fuzz_target!(|input: (u8, u16, &[u8])| {
    let (stage, cut, bytes) = input;
    let mut whole = at(stage);
    whole.feed(bytes);
    let mut pieces = at(stage);
    let (first, second) = bytes.split_at(usize::from(cut) % (bytes.len() + 1));
    pieces.feed(first);
    pieces.feed(second);
    assert_eq!(whole.events, pieces.events);
    assert_eq!(whole.error, pieces.error);
    let delivered: usize = whole
        .events
        .iter()
        .map(|event| match event {
            Event::Message(message) => message.size() + 2 * message.len(),
            Event::Ready(_) => 0,
            Event::Subscribe(topic) | Event::Cancel(topic) => topic.len(),
            other => panic!("{other:?}"),
        })
        .sum();
    assert!(delivered <= bytes.len());
});
