//! NaCl's box in one step and in two, beside libsodium: nanoseconds and operations per second, for
//! sealing and opening a message into a buffer of its own.
//!
//! ```text
//! cargo run --release -p sealwire-bench-nacl [--features libsodium]
//! ```
//!
//! Contenders take turns within each size; each figure is the median of its turns. `sealwire bench
//! box` prints less of the same; with the feature `box-peers` of `sealwire-cli` beside libsodium too.

#[cfg(feature = "libsodium")]
mod sodium;

use std::hint::black_box;
use std::time::Duration;

use sealwire_bench_measure::turns::{self, Turns};
use sealwire_nacl::KeyPair;

/// Message sizes in bytes.
const SIZES: [usize; 5] = [16, 64, 1 << 10, 16 << 10, 64 << 10];
const TURNS: Turns = Turns {
    count: 51,
    length: Duration::from_millis(2),
};

const OURS: [u8; 32] = [0x42; 32];
const THEIRS: [u8; 32] = [0x24; 32];
const NONCE: [u8; 24] = [0x24; 24];

/// A name and what one operation does.
type Contender = (&'static str, Box<dyn FnMut()>);

fn main() {
    for size in SIZES {
        let mut contenders = ours(size);
        #[cfg(feature = "libsodium")]
        contenders.extend(sodium::contenders(size, &OURS, &THEIRS, &NONCE));
        println!("{size} bytes");
        let times = TURNS.medians(&mut contenders, |(_, call), calls| turns::time(call, calls));
        for ((name, _), ns) in contenders.iter().zip(times) {
            println!("  {name:<32}{ns:>12.1} ns{:>12.0} /s", 1e9 / ns);
        }
    }
}

fn ours(size: usize) -> Vec<Contender> {
    let [ours, theirs] = [OURS, THEIRS].map(KeyPair::from_secret);
    let shared = ours.shared_with(theirs.public()).expect("strong keys");
    let text = vec![0x5a; size];
    let sealed = shared.seal(&NONCE, &text);
    let [one, two, agree] = [(); 3].map(|()| (ours.clone(), *theirs.public()));
    let (text_too, sealed_too, opening) = (text.clone(), sealed.clone(), shared.clone());
    vec![
        (
            "public key",
            Box::new(move || {
                black_box(KeyPair::from_secret(black_box(OURS)));
            }),
        ),
        (
            "agree",
            Box::new(move || {
                black_box(agree.0.shared_with(black_box(&agree.1)).is_ok());
            }),
        ),
        (
            "one step, seal",
            Box::new(move || {
                black_box(one.0.seal(&one.1, black_box(&NONCE), &text).is_ok());
            }),
        ),
        (
            "one step, open",
            Box::new(move || {
                assert!(two.0.open(&two.1, black_box(&NONCE), &sealed).is_ok());
            }),
        ),
        (
            "two steps, seal",
            Box::new(move || {
                black_box(shared.seal(black_box(&NONCE), &text_too));
            }),
        ),
        (
            "two steps, open",
            Box::new(move || {
                assert!(opening.open(black_box(&NONCE), &sealed_too).is_ok());
            }),
        ),
    ]
}
