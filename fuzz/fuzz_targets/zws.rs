//! A peer that says anything over WebSocket, to either side, before or after the upgrade: nothing
//! panics, nothing grows beyond what was sent, and it does not matter how the bytes are cut.

#![no_main]
#![allow(dead_code, reason = "only the receiving half is driven")]

use arbitrary::Arbitrary;
use bytes::BytesMut;
use libfuzzer_sys::fuzz_target;
use sealwire_zmtp::Mechanism;

/// What the crate around it decides about web pages and hosts.
mod options {
    #[derive(Debug, Default)]
    pub(crate) struct WebAccess;

    impl WebAccess {
        pub(crate) fn admits_origin(&self, origin: &[u8]) -> bool {
            origin.starts_with(b"https")
        }

        pub(crate) fn admits_host(&self, host: &[u8]) -> bool {
            host.starts_with(b"host")
        }
    }
}

mod reach {
    pub(crate) fn is_loopback_host(host: &str) -> bool {
        host == "host"
    }
}

#[path = "../../crates/sealwire/src/limits.rs"]
pub mod limits;

// Not part of any crate's interface.
#[path = "../../crates/sealwire/src/transport/zws/mod.rs"]
mod zws;

use zws::{Address, ProtocolBytes, Role, Terms, WebSocketError, Zws};

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    attack_server: bool,
    upgraded: bool,
    cut: u8,
    bytes: &'a [u8],
}

fn side(role: Role) -> Zws {
    let terms = Terms {
        mechanism: Mechanism::Null,
        as_server: false,
        max_message_size: 1_000,
        bounds_parts: false,
        access: Default::default(),
    };
    let address = Address::new("host", 80, "/");
    Zws::new(role, terms, address, [7; 16], Box::new(|| [1, 2, 3, 4]))
}

/// One side, its upgrade done if wanted.
fn attacked(input: &Input<'_>) -> Zws {
    let (mut client, mut server) = (side(Role::Client), side(Role::Server));
    if input.upgraded {
        let mut ignored = ProtocolBytes::default();
        let mut request = client.pending().split();
        server
            .receive(&mut request, &mut ignored)
            .expect("our own request");
        let mut answer = server.pending().split();
        client
            .receive(&mut answer, &mut ignored)
            .expect("our own answer");
        assert!(client.is_open() && server.is_open());
    }
    if input.attack_server { server } else { client }
}

fn feed(mut side: Zws, pieces: &[&[u8]]) -> (Result<(), WebSocketError>, Vec<u8>) {
    let (mut buffer, mut into) = (BytesMut::new(), ProtocolBytes::default());
    let outcome = pieces.iter().try_for_each(|piece| {
        buffer.extend_from_slice(piece);
        side.receive(&mut buffer, &mut into).map(drop)
    });
    let mut received = Vec::new();
    while !into.is_empty() {
        let mut part = Vec::with_capacity(1_024);
        into.hand_over(&mut part);
        received.append(&mut part);
    }
    (outcome, received)
}

fuzz_target!(|input: Input<'_>| {
    let (front, back) = input
        .bytes
        .split_at(input.bytes.len().min(input.cut.into()));
    let whole = feed(attacked(&input), &[input.bytes]);
    let pieces = feed(attacked(&input), &[front, back]);
    assert_eq!(whole, pieces);
    // The assumed greeting, and a header that is at most four bytes longer than the peer's.
    assert!(whole.1.len() <= 64 + 2 * input.bytes.len());
});
