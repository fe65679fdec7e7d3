//! A SOCKS5 proxy that says anything: nothing panics, no more than the longest answer is ever wanted,
//! what is the peer's is never taken, and it does not matter how the bytes are cut.

#![no_main]
#![allow(dead_code, reason = "only the exchange is driven")]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;

// Not part of any crate's interface, and needs nothing of the crate around it.
#[path = "../../crates/sealwire/src/transport/socks.rs"]
mod socks;

use socks::{Handshake, MAX_ANSWER, SocksError};

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    login: bool,
    step: u8,
    bytes: &'a [u8],
}

/// What came of it, how much was sent, and how much was left.
fn play(input: &Input<'_>, step: usize) -> (Result<bool, SocksError>, usize, usize) {
    let login = input.login.then_some(("user", &b"password"[..]));
    let mut handshake = Handshake::new("host", 1, login).expect("a short name");
    let (mut sent, mut rest) = (0, input.bytes);
    loop {
        let pending = handshake.pending().len();
        handshake.sent(pending);
        sent += pending;
        assert!((1..=MAX_ANSWER).contains(&handshake.wanted()));
        let length = handshake.wanted().min(step).min(rest.len());
        if length == 0 {
            return (Ok(false), sent, rest.len());
        }
        let (piece, behind) = rest.split_at(length);
        rest = behind;
        match handshake.receive(piece) {
            Ok(false) => {}
            Ok(true) => return (Ok(true), sent, rest.len()),
            // How much was read of an answer that is wrong depends on the pieces.
            Err(error) => return (Err(error), sent, 0),
        }
    }
}

fuzz_target!(|input: Input<'_>| {
    let step = usize::from(input.step).max(1);
    assert_eq!(play(&input, step), play(&input, usize::MAX));
});
