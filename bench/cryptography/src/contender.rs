//! One line of a table, and how long it takes.

use std::hint::black_box;
use std::time::Duration;

use sealwire_bench_measure::turns::{self, Turns};

const TURNS: Turns = Turns {
    count: 25,
    length: Duration::from_millis(4),
};

/// One line of a table.
pub(crate) struct Contender {
    pub(crate) name: &'static str,
    /// Messages that a call handles.
    pub(crate) messages: usize,
    pub(crate) call: Box<dyn FnMut()>,
}

impl Contender {
    /// Works on one message of `size` bytes.
    pub(crate) fn single(
        name: &'static str,
        size: usize,
        mut work: impl FnMut(&mut [u8]) + 'static,
    ) -> Self {
        let mut buffer = vec![0x5a; size];
        Contender {
            name,
            messages: 1,
            call: Box::new(move || work(black_box(&mut buffer))),
        }
    }
}

/// Nanoseconds a message, for each contender.
pub(crate) fn medians(contenders: &mut [Contender]) -> Vec<f64> {
    let times = TURNS.medians(contenders, |contender, calls| {
        turns::time(&mut contender.call, calls)
    });
    let each = contenders.iter().zip(times);
    each.map(|(contender, time)| time / contender.messages as f64)
        .collect()
}
