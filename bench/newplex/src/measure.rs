//! Takes turns and medians.

use crate::workload::Contender;
use std::time::{Duration, Instant};

/// How long to measure.
#[derive(Clone, Copy)]
pub(crate) enum Effort {
    /// A second or two in all, for a look.
    Quick,
    /// For numbers to be written down.
    Full,
}

impl Effort {
    const fn turns(self) -> usize {
        match self {
            Self::Quick => 9,
            Self::Full => 61,
        }
    }

    const TURN: Duration = Duration::from_millis(3);
}

/// Nanoseconds a message for each contender.
pub(crate) fn medians(contenders: &mut [Contender], effort: Effort) -> Vec<f64> {
    let calls: Vec<usize> = contenders.iter_mut().map(calls_in_turn).collect();
    let mut samples = vec![Vec::new(); contenders.len()];
    for _ in 0..effort.turns() {
        for (index, contender) in contenders.iter_mut().enumerate() {
            let (calls, messages) = (calls[index], contender.messages);
            let beside = contender.beside.as_mut().map(|beside| time(beside, calls));
            let time = time(&mut contender.run, calls).saturating_sub(beside.unwrap_or_default());
            samples[index].push(time.as_secs_f64() * 1e9 / (calls * messages) as f64);
        }
    }
    samples.iter_mut().map(|samples| median(samples)).collect()
}

fn calls_in_turn(contender: &mut Contender) -> usize {
    let mut calls = 1;
    loop {
        let time = time(&mut contender.run, calls);
        if time >= Effort::TURN / 4 {
            let scale = Effort::TURN.as_secs_f64() / time.as_secs_f64();
            return ((calls as f64 * scale) as usize).max(1);
        }
        calls *= 4;
    }
}

fn time(run: &mut impl FnMut(usize), calls: usize) -> Duration {
    let start = Instant::now();
    run(calls);
    start.elapsed()
}

fn median(samples: &mut [f64]) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}
