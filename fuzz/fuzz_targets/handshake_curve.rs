//! A peer that says anything to either side of CURVE, at any step of a handshake or after it: nobody
//! is let in, and nothing that was not sealed is delivered.

#![no_main]

use std::sync::Arc;

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use sealwire_fuzz::{Endpoint, curve_client, curve_server};
use sealwire_zmtp::{DefaultProvider, Event, Provider, SocketType};

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    attack_server: bool,
    /// How many steps an honest peer takes first; from four on the handshake is done.
    honest: u8,
    /// Bytes of what the honest peer says next that are changed on the way, each with its place.
    changes: Vec<(u16, u8)>,
    bytes: &'a [u8],
}

fuzz_target!(|input: Input<'_>| {
    let provider: Arc<dyn Provider> = Arc::new(DefaultProvider);
    let client = Endpoint::new(
        curve_client(SocketType::Dealer, &*provider),
        Arc::clone(&provider),
        1,
    );
    let server = Endpoint::new(
        curve_server(SocketType::Router, &*provider),
        Arc::clone(&provider),
        2,
    );
    let (mut side, mut peer) = if input.attack_server {
        (server, client)
    } else {
        (client, server)
    };
    for _ in 0..input.honest % 5 {
        side.feed(&peer.output());
        peer.feed(&side.output());
    }
    let ready = side.connection.is_ready();
    if ready && peer.connection.is_ready() {
        peer.connection
            .send("a message".into())
            .expect("it is ready");
    }
    let mut next = peer.output();
    let before = next.clone();
    for (place, mask) in &input.changes {
        if let Some(byte) = next.get_mut(usize::from(*place)) {
            *byte ^= mask;
        }
    }
    let seen = side.events.len();
    side.feed(&next);
    side.feed(input.bytes);
    for event in &side.events[seen..] {
        if let Event::Message(message) = event {
            let [frame] = message.frames() else {
                panic!("a message that nobody sent");
            };
            assert_eq!(&frame[..], b"a message");
        }
    }
    if !ready && next != before {
        side.output();
    }
    side.connection.end_of_stream();
});
