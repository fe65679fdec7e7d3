//! Log lines that peers cause, limited to one a second for each cause.

use crate::limits::LOG_PERIOD;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Lets through one line a second ([`Kind::LogLines`](super::Kind::LogLines)) and counts the
/// others: one of these for each thing that others can make happen at any rate.
#[derive(Debug, Default)]
pub struct LogLines {
    count: u64,
    told: Option<Duration>,
}

/// [`LogLines`] by the clock of the system, for several threads.
#[derive(Debug, Default)]
pub struct LogGate(Mutex<Option<(Instant, LogLines)>>);

/// [`LogLines`] for each cause, by the clock of the system and for several threads. The number of
/// causes must be bounded: none is forgotten.
#[derive(Debug)]
pub struct LogGates<C> {
    epoch: Instant,
    lines: Mutex<HashMap<C, LogLines>>,
}

impl<C: Eq + Hash> LogGates<C> {
    /// Returns gates through which nothing has passed.
    pub fn new() -> Self {
        LogGates {
            epoch: Instant::now(),
            lines: Mutex::default(),
        }
    }

    /// Counts an occurrence of this cause. When a line about it is due, returns how many there were
    /// since the last one, this one included.
    pub fn pass(&self, cause: C) -> Option<u64> {
        self.pass_at(cause, self.epoch.elapsed())
    }

    fn pass_at(&self, cause: C, now: Duration) -> Option<u64> {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.entry(cause).or_default().note(now)
    }
}

impl<C: Eq + Hash> Default for LogGates<C> {
    fn default() -> Self {
        Self::new()
    }
}

impl LogGate {
    /// Returns a gate through which nothing has passed. Usable in a `static`.
    pub const fn new() -> Self {
        LogGate(Mutex::new(None))
    }

    /// Counts an occurrence. When a line is due, returns how many there were since the last one,
    /// this one included.
    pub fn pass(&self) -> Option<u64> {
        let mut gate = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (epoch, lines) = gate.get_or_insert_with(|| (Instant::now(), LogLines::new()));
        lines.note(epoch.elapsed())
    }
}

impl LogLines {
    /// Returns lines of which none was logged.
    pub const fn new() -> Self {
        LogLines {
            count: 0,
            told: None,
        }
    }

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

    #[test]
    fn each_cause_has_lines_of_its_own() {
        let gates = LogGates::new();
        let at = Duration::from_millis;
        assert_eq!(gates.pass_at("connect", at(0)), Some(1));
        for time in 1..=5 {
            assert_eq!(gates.pass_at("connect", at(time)), None);
        }
        assert_eq!(gates.pass_at("protocol", at(6)), Some(1));
        assert_eq!(gates.pass_at("connect", at(999)), None);
        assert_eq!(gates.pass_at("connect", at(1_000)), Some(7));
    }

    #[test]
    fn a_gate_lets_no_more_lines_through_than_seconds_have_begun() {
        let (gate, began) = (LogGate::new(), Instant::now());
        assert_eq!(gate.pass(), Some(1));
        let passed = (0..100_000).filter(|_| gate.pass().is_some()).count();
        assert!(passed as u64 <= began.elapsed().as_secs());
    }
}
