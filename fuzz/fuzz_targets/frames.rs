//! Any bytes as frames, to a NULL connection that is ready: whole or in two pieces, the same comes
//! out, and never more than went in.

#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use sealwire_fuzz::{Endpoint, null};
use sealwire_zmtp::{DefaultProvider, Event, SocketType};

fn ready() -> Endpoint {
    let mut side = Endpoint::new(null(SocketType::XPub), Arc::new(DefaultProvider), 1);
    let mut peer = Endpoint::new(null(SocketType::XSub), Arc::new(DefaultProvider), 2);
    for _ in 0..2 {
        side.feed(&peer.output());
        peer.feed(&side.output());
    }
    assert!(side.connection.is_ready());
    side.events.clear();
    side
}

fuzz_target!(|input: (u16, &[u8])| {
    let (cut, bytes) = input;
    let mut whole = ready();
    whole.feed(bytes);
    let mut pieces = ready();
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
            Event::Subscribe(topic) | Event::Cancel(topic) => topic.len(),
            other => panic!("{other:?}"),
        })
        .sum();
    assert!(delivered <= bytes.len());
});
