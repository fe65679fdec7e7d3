//! What is measured in this process, alone: contenders that take turns, and their medians.

use std::hint::black_box;
use std::time::{Duration, Instant};

const TURNS: usize = 25;
/// Long enough for the clock, short enough that a disturbance spoils one turn and not the median.
const TURN: Duration = Duration::from_millis(4);

/// One line of a table.
pub(super) struct Contender {
    pub(super) name: &'static str,
    /// Messages that a call handles.
    pub(super) messages: usize,
    pub(super) call: Box<dyn FnMut()>,
}

impl Contender {
    /// Works on one message of `size` bytes.
    pub(super) fn single(
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
pub(super) fn medians(contenders: &mut [Contender]) -> Vec<f64> {
    let calls: Vec<usize> = contenders.iter_mut().map(calls_in_a_turn).collect();
    let mut samples = vec![Vec::with_capacity(TURNS); contenders.len()];
    for _ in 0..TURNS {
        for ((contender, &calls), samples) in contenders.iter_mut().zip(&calls).zip(&mut samples) {
            let time = time(contender, calls).as_secs_f64() * 1e9;
            samples.push(time / (calls * contender.messages) as f64);
        }
    }
    samples.iter_mut().map(|samples| median(samples)).collect()
}

fn calls_in_a_turn(contender: &mut Contender) -> usize {
    let mut calls = 1;
    loop {
        let time = time(contender, calls);
        if time >= TURN / 4 {
            let scale = TURN.as_secs_f64() / time.as_secs_f64();
            return ((calls as f64 * scale) as usize).max(1);
        }
        calls *= 2;
    }
}

fn time(contender: &mut Contender, calls: usize) -> Duration {
    let start = Instant::now();
    for _ in 0..calls {
        (contender.call)();
    }
    start.elapsed()
}

/// Of an odd number of samples.
fn median(samples: &mut [f64]) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}
