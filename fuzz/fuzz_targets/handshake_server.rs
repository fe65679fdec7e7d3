//! A client that says anything to a BLAKE3 server: with real cryptography nobody is asked whether
//! to let it in, without it everything behind the boxes is reached.

#![no_main]

use std::sync::Arc;

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use sealwire_fuzz::{Endpoint, Transparent, client, server};
use sealwire_zmtp::{DefaultProvider, Provider, SocketType};

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    transparent: bool,
    /// How many steps an honest client takes first.
    honest: u8,
    bytes: &'a [u8],
}

fuzz_target!(|input: Input<'_>| {
    let provider: Arc<dyn Provider> = if input.transparent {
        Arc::new(Transparent)
    } else {
        Arc::new(DefaultProvider)
    };
    let config = server(SocketType::Router, Default::default(), &*provider);
    let mut side = Endpoint::new(config, Arc::clone(&provider), 2);
    let config = client(SocketType::Dealer, Default::default(), &*provider);
    let mut peer = Endpoint::new(config, provider, 1);
    for _ in 0..input.honest % 3 {
        side.feed(&peer.output());
        peer.feed(&side.output());
    }
    side.feed(input.bytes);
    if !input.transparent {
        assert!(!side.connection.is_ready());
        assert!(side.events.is_empty());
    }
    side.output();
    side.connection.end_of_stream();
});
