//! Lines on standard error that others can cause: one a second of each cause, so that nobody fills a log.

use sealwire::account::LogGates;

/// Lets lines through by their cause.
#[derive(Debug, Default)]
pub(crate) struct LineQuota(LogGates<&'static str>);

impl LineQuota {
    /// How many lines of this cause were left out since the last one; `None` where this one is left out
    /// too.
    pub(crate) fn pass(&self, cause: &'static str) -> Option<u64> {
        self.0.pass(cause).map(|count| count - 1)
    }
}

/// Adds to a line how many were left out before it.
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
    fn those_left_out_are_told_behind_the_line() {
        assert_eq!(LineQuota::default().pass("connect"), Some(0));
        assert_eq!(with_left_out("a".into(), 0), "a");
        assert!(with_left_out("a".into(), 6).contains("6 more"));
    }
}
