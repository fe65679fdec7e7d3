//! Lines on standard error that others can cause: one a second of each kind, so that nobody fills a log.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use sealwire::account::LogLines;

/// Lets lines through by their kind.
#[derive(Debug)]
pub(crate) struct LineQuota {
    began: Instant,
    kinds: BTreeMap<&'static str, LogLines>,
}

impl LineQuota {
    pub(crate) fn new() -> Self {
        LineQuota {
            began: Instant::now(),
            kinds: BTreeMap::new(),
        }
    }

    /// How many lines of this kind were left out since the last one; `None` where this one is left out
    /// too.
    pub(crate) fn pass(&mut self, kind: &'static str) -> Option<u64> {
        self.pass_at(kind, self.began.elapsed())
    }

    fn pass_at(&mut self, kind: &'static str, now: Duration) -> Option<u64> {
        let lines = self.kinds.entry(kind).or_default();
        lines.note(now).map(|count| count - 1)
    }
}

/// What is put behind a line before which others were left out.
pub(crate) fn with_left_out(line: String, left_out: u64) -> String {
    match left_out {
        0 => line,
        count => format!("{line} ({count} more like this since the last time)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_a_line_a_second_which_counts_those_left_out() {
        let mut quota = LineQuota::new();
        let at = Duration::from_millis;
        assert_eq!(quota.pass_at("connect", at(0)), Some(0));
        for time in 1..=5 {
            assert_eq!(quota.pass_at("connect", at(time)), None);
        }
        assert_eq!(quota.pass_at("protocol", at(6)), Some(0));
        assert_eq!(quota.pass_at("connect", at(999)), None);
        assert_eq!(quota.pass_at("connect", at(1_000)), Some(6));
        assert_eq!(with_left_out("a".into(), 0), "a");
        assert!(with_left_out("a".into(), 6).contains("6 more"));
    }
}
