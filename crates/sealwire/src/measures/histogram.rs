//! Times, counted in ranges.

use std::time::Duration;

/// Counts times by range. Each range ends at four times the end of the one before: 1 µs, 4 µs, and so on to 67 s.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Histogram {
    counts: [u64; Histogram::RANGES],
    sum: Duration,
}

impl Histogram {
    /// Number of ranges: the last has all times over 67 s.
    pub const RANGES: usize = 15;

    /// Returns the end of a range, which belongs to it; `None` for the last, which has none.
    pub fn end_of(range: usize) -> Option<Duration> {
        (range + 1 < Self::RANGES).then(|| Duration::from_micros(1 << (2 * range)))
    }

    pub(crate) fn record(&mut self, time: Duration) {
        let within = |range: &usize| Self::end_of(*range).is_none_or(|end| time <= end);
        let range = (0..Self::RANGES).find(within);
        self.counts[range.unwrap_or(Self::RANGES - 1)] += 1;
        self.sum = self.sum.saturating_add(time);
    }

    /// Returns how many times lie in each range.
    pub fn counts(&self) -> &[u64; Self::RANGES] {
        &self.counts
    }

    /// Returns how many times were recorded.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns the sum of all recorded times.
    pub fn sum(&self) -> Duration {
        self.sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_lies_in_the_first_range_that_ends_with_it_or_later() {
        let mut histogram = Histogram::default();
        let times = [0, 1_000, 1_001, 4_000, 67_108_864_000, 67_108_864_001];
        for time in times {
            histogram.record(Duration::from_nanos(time));
        }
        let mut expected = [0; Histogram::RANGES];
        (expected[0], expected[1], expected[13], expected[14]) = (2, 2, 1, 1);
        assert_eq!(histogram.counts(), &expected);
        assert_eq!(histogram.count(), 6);
        assert_eq!(histogram.sum(), Duration::from_nanos(times.iter().sum()));
    }
}
