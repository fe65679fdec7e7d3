//! Contenders of one process take turns, so that a change of the machine's clock meets them all. The
//! median of a contender's turns counts.

use std::time::{Duration, Instant};

use crate::statistics::median;

/// How long to measure.
#[derive(Debug, Clone, Copy)]
pub struct Turns {
    /// Turns of each contender.
    pub count: usize,
    /// Of one turn: long enough for the clock, short enough that a disturbance spoils one turn and
    /// not the median.
    pub length: Duration,
}

impl Turns {
    /// Returns nanoseconds a call, for each contender. `time` makes a number of calls to a contender and
    /// returns how long they took.
    pub fn medians<C>(
        self,
        contenders: &mut [C],
        mut time: impl FnMut(&mut C, usize) -> Duration,
    ) -> Vec<f64> {
        let mut calls = Vec::with_capacity(contenders.len());
        for contender in contenders.iter_mut() {
            calls.push(self.calls(|calls| time(contender, calls)));
        }
        let mut samples = vec![Vec::with_capacity(self.count); contenders.len()];
        for _ in 0..self.count {
            for ((contender, &calls), samples) in
                contenders.iter_mut().zip(&calls).zip(&mut samples)
            {
                samples.push(time(contender, calls).as_secs_f64() * 1e9 / calls as f64);
            }
        }
        samples.iter().map(|samples| median(samples)).collect()
    }

    /// Calls that fill a turn, at least one.
    fn calls(self, mut time: impl FnMut(usize) -> Duration) -> usize {
        let mut calls = 1;
        loop {
            let start = Instant::now();
            time(calls);
            let time = start.elapsed();
            if time >= self.length / 4 {
                let scale = self.length.as_secs_f64() / time.as_secs_f64();
                return ((calls as f64 * scale) as usize).max(1);
            }
            calls *= 2;
        }
    }
}

/// Makes this number of calls and returns how long they took.
pub fn time(mut call: impl FnMut(), calls: usize) -> Duration {
    let start = Instant::now();
    for _ in 0..calls {
        call();
    }
    start.elapsed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contenders_take_turns_and_their_medians_count() {
        let turns = Turns {
            count: 3,
            length: Duration::ZERO,
        };
        let mut order = Vec::new();
        let medians = turns.medians(&mut [5, 7], |&mut microseconds, calls| {
            order.push(microseconds);
            let disturbed = u64::from(order.len() == 3) * 1_000;
            Duration::from_micros(microseconds * calls as u64 + disturbed)
        });
        assert_eq!(medians, [5_000.0, 7_000.0]);
        assert_eq!(order, [5, 7, 5, 7, 5, 7, 5, 7]);
    }
}
