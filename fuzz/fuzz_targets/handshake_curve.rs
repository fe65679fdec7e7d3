//! A peer that says anything to either side of CURVE, at any step of a handshake or after it: nobody
//! is let in, and nothing that was not sealed is delivered.

#![no_main]

use std::sync::Arc;

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use sealwire_fuzz::{Attack, any_of, curve_client, curve_server};
use sealwire_zmtp::{DefaultProvider, Event, Provider, SocketType};

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    attack_server: bool,
    /// How many steps an honest peer takes first, from four on the handshake is done; and whether the server
    /// has BLAKE3ZMQ too.
    honest: u8,
    /// Whether what it says next arrives before the attacker speaks.
    heard: bool,
    /// Bytes of what the honest peer says next that are changed on the way, each with its place.
    changes: Vec<(u16, u8)>,
    bytes: &'a [u8],
}

fuzz_target!(|input: Input<'_>| {
    let provider: Arc<dyn Provider> = Arc::new(DefaultProvider);
    // The number of steps has room for this, so that inputs keep their form.
    let server = if (input.honest / 5).is_multiple_of(2) {
        curve_server(SocketType::Router, &*provider)
    } else {
        any_of(SocketType::Router, &*provider)
    };
    let configs = [curve_client(SocketType::Dealer, &*provider), server];
    let mut attack = Attack::after(input.honest % 5, input.attack_server, configs, &provider);
    let Attack { side, peer } = &mut attack;
    let ready = side.connection.is_ready();
    if ready && peer.connection.is_ready() {
        peer.connection
            .send("a message".into())
            .expect("it is ready");
    }
    let mut next = peer.output();
    if !input.heard {
        next.clear();
    }
    let silent = next.is_empty();
    for (place, mask) in &input.changes {
        if let Some(byte) = next.get_mut(usize::from(*place)) {
            *byte ^= mask;
        }
    }
    let seen = side.events.len();
    side.feed(&next);
    side.feed(input.bytes);
    // Without a command of the peer's nothing leads on.
    assert!(ready || !silent || !side.connection.is_ready());
    for event in &side.events[seen..] {
        if let Event::Message(message) = event {
            let [frame] = message.frames() else {
                panic!("a message that nobody sent");
            };
            assert_eq!(&frame[..], b"a message");
        }
    }
    attack.end();
});
