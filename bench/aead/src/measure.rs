//! How long contenders are measured.

use crate::contenders::Contender;
use sealwire_bench_measure::turns::{self, Turns};
use std::hint::black_box;
use std::time::Duration;

/// How long to measure.
#[derive(Clone, Copy)]
pub(crate) enum Effort {
    /// A few seconds in all: a first impression.
    Quick,
    /// A minute or two, for numbers to be written down.
    Full,
}

impl Effort {
    const fn turns(self) -> Turns {
        let (count, milliseconds) = match self {
            Self::Quick => (7, 2),
            Self::Full => (41, 4),
        };
        Turns {
            count,
            length: Duration::from_millis(milliseconds),
        }
    }
}

/// Nanoseconds a message for each contender; `None` where it does not run at this size.
pub(crate) fn medians(
    contenders: &mut [Contender],
    size: usize,
    effort: Effort,
) -> Vec<Option<f64>> {
    let runs = |contender: &Contender| contender.sizes.contains(&size);
    let all: Vec<bool> = contenders.iter().map(runs).collect();
    let mut running: Vec<&mut Contender> = contenders
        .iter_mut()
        .filter(|contender| runs(contender))
        .collect();
    let times = effort.turns().medians(&mut running, |contender, calls| {
        turns::time(
            || {
                (contender.call)();
                black_box(());
            },
            calls,
        )
    });
    let each = running.iter().zip(times);
    let mut each = each.map(|(contender, time)| time / contender.messages as f64);
    let time = |runs| if runs { each.next() } else { None };
    all.into_iter().map(time).collect()
}
