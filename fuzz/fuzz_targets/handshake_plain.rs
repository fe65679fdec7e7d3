//! A peer that says anything to either side of PLAIN, at any step: nothing panics, and nobody is
//! taken for ready before the application was asked.

#![no_main]

use std::sync::Arc;

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use sealwire_fuzz::{Attack, plain_client, plain_server};
use sealwire_zmtp::{DefaultProvider, Event, Provider, SocketType};

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    attack_server: bool,
    /// How many steps an honest peer takes first.
    honest: u8,
    bytes: &'a [u8],
}

fuzz_target!(|input: Input<'_>| {
    let provider: Arc<dyn Provider> = Arc::new(DefaultProvider);
    let configs = [
        plain_client(SocketType::Dealer),
        plain_server(SocketType::Router),
    ];
    let mut attack = Attack::after(input.honest % 4, input.attack_server, configs, &provider);
    attack.side.feed(input.bytes);
    let position = |wanted: fn(&Event) -> bool| attack.side.events.iter().position(wanted);
    let asked = position(|event| matches!(event, Event::Authorize(_)));
    if let Some(ready) = position(|event| matches!(event, Event::Ready(_))) {
        assert!(!input.attack_server || asked.is_some_and(|asked| asked < ready));
    }
    attack.end();
});
