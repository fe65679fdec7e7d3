//! How long contenders are measured.

use crate::workload::Contender;
use sealwire_bench_measure::turns::Turns;
use std::time::{Duration, Instant};

/// How long to measure.
#[derive(Clone, Copy)]
pub(crate) enum Effort {
    /// A second or two in all: a first impression.
    Quick,
    /// For numbers to be written down.
    Full,
}

impl Effort {
    const fn turns(self) -> Turns {
        let count = match self {
            Self::Quick => 9,
            Self::Full => 61,
        };
        Turns {
            count,
            length: Duration::from_millis(3),
        }
    }
}

/// Nanoseconds a message for each contender.
pub(crate) fn medians(contenders: &mut [Contender], effort: Effort) -> Vec<f64> {
    let times = effort.turns().medians(contenders, |contender, calls| {
        let beside = contender.beside.as_mut().map(|beside| time(beside, calls));
        time(&mut contender.run, calls).saturating_sub(beside.unwrap_or_default())
    });
    let each = contenders.iter().zip(times);
    each.map(|(contender, time)| time / contender.messages as f64)
        .collect()
}

fn time(run: &mut impl FnMut(usize), calls: usize) -> Duration {
    let start = Instant::now();
    run(calls);
    start.elapsed()
}
