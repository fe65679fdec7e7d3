//! Takes turns and medians.

use crate::contenders::Contender;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// How long to measure.
#[derive(Clone, Copy)]
pub(crate) enum Effort {
    /// A few seconds in all, for a look.
    Quick,
    /// A minute or two, for numbers to be written down.
    Full,
}

impl Effort {
    const fn turns(self) -> usize {
        match self {
            Self::Quick => 7,
            Self::Full => 41,
        }
    }

    const fn turn(self) -> Duration {
        match self {
            Self::Quick => Duration::from_millis(2),
            Self::Full => Duration::from_millis(4),
        }
    }
}

/// Nanoseconds a message for each contender; `None` where it does not run at this size.
pub(crate) fn medians(
    contenders: &mut [Contender],
    size: usize,
    effort: Effort,
) -> Vec<Option<f64>> {
    let mut calls = Vec::new();
    for contender in contenders.iter_mut() {
        calls.push(if contender.sizes.contains(&size) {
            calls_in(contender, effort.turn())
        } else {
            0
        });
    }
    let mut samples = vec![Vec::new(); contenders.len()];
    for _ in 0..effort.turns() {
        for (index, contender) in contenders.iter_mut().enumerate() {
            if calls[index] > 0 {
                let time = time(contender, calls[index]).as_secs_f64() * 1e9;
                samples[index].push(time / (calls[index] * contender.messages) as f64);
            }
        }
    }
    samples.iter_mut().map(|samples| median(samples)).collect()
}

/// Calls that take about `turn`, at least one.
fn calls_in(contender: &mut Contender, turn: Duration) -> usize {
    let mut calls = 1;
    loop {
        let time = time(contender, calls);
        if time >= turn / 4 {
            let scale = turn.as_secs_f64() / time.as_secs_f64();
            return ((calls as f64 * scale) as usize).max(1);
        }
        calls *= 4;
    }
}

fn time(contender: &mut Contender, calls: usize) -> Duration {
    let start = Instant::now();
    for _ in 0..calls {
        (contender.call)();
        black_box(());
    }
    start.elapsed()
}

fn median(samples: &mut [f64]) -> Option<f64> {
    samples.sort_by(f64::total_cmp);
    samples.get(samples.len() / 2).copied()
}
