//! Log lines that somebody else causes.

use std::time::Duration;

/// Time between two lines about the same.
pub const LOG_PERIOD: Duration = Duration::from_secs(1);

/// Lets through one line a second ([`Kind::LogLines`](super::Kind::LogLines)) and counts the
/// others: one of these for each thing that others can make happen at any rate.
#[derive(Debug, Default)]
pub struct LogLines {
    count: u64,
    told: Option<Duration>,
}

impl LogLines {
    /// Counts an occurrence at `now`, since any moment that stays the same. When a line is due,
    /// returns how many there were since the last one, this one included.
    pub fn note(&mut self, now: Duration) -> Option<u64> {
        self.count += 1;
        let due = self.told.is_none_or(|told| now >= told + LOG_PERIOD);
        due.then(|| {
            self.told = Some(now);
            std::mem::take(&mut self.count)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_a_period_tells_of_all() {
        let mut lines = LogLines::default();
        assert_eq!(lines.note(Duration::ZERO), Some(1));
        for _ in 0..5 {
            assert_eq!(lines.note(LOG_PERIOD / 2), None);
        }
        assert_eq!(lines.note(LOG_PERIOD), Some(6));
        assert_eq!(lines.note(LOG_PERIOD), None);
    }
}
