//! What a test program said: a line of Unity for each case, and how the program ended.

use std::collections::BTreeMap;
use std::process::ExitStatus;

use std::os::unix::process::ExitStatusExt;

/// The name under which the end of the program stands among its cases.
pub(crate) const END: &str = "(end)";

/// "pass", "fail", "ignore" or "missing"; of [`END`] also "exit 1", "signal 6" and "time limit".
pub(crate) type Outcomes = BTreeMap<String, String>;

/// A run of a program.
pub(crate) struct Report {
    pub(crate) outcomes: Outcomes,
    /// What Unity said of cases that did not pass.
    pub(crate) texts: BTreeMap<String, String>,
    /// All that the program wrote.
    pub(crate) output: String,
    pub(crate) seconds: f64,
}

impl Report {
    /// Reads `output`; `status` is `None` when the time limit ended the program.
    pub(crate) fn new(output: String, status: Option<ExitStatus>, seconds: f64) -> Self {
        let mut outcomes = Outcomes::new();
        let mut texts = BTreeMap::new();
        for (case, outcome, text) in output.lines().filter_map(case) {
            let mut name = case.to_owned();
            for count in 2.. {
                if !outcomes.contains_key(&name) {
                    break;
                }
                name = format!("{case} #{count}");
            }
            if !text.is_empty() {
                texts.insert(name.clone(), text.to_owned());
            }
            outcomes.insert(name, outcome.to_owned());
        }
        let failures = outcomes
            .values()
            .filter(|outcome| *outcome == "fail")
            .count();
        outcomes.insert(END.to_owned(), end(status, failures));
        Report {
            outcomes,
            texts,
            output,
            seconds,
        }
    }
}

/// Unity's `FILE:LINE:CASE:PASS`, `FAIL: TEXT` or `IGNORE: TEXT`; a program may have written something before it on the
/// same line.
fn case(line: &str) -> Option<(&str, &str, &str)> {
    let (_, rest) = line.split_once(".cpp:")?;
    let (number, rest) = rest.split_once(':')?;
    number.parse::<u32>().ok()?;
    for (word, outcome) in [(":PASS", "pass"), (":FAIL", "fail"), (":IGNORE", "ignore")] {
        if let Some((name, text)) = rest.split_once(word)
            && !name.contains(' ')
        {
            return Some((name, outcome, text.trim_start_matches(": ")));
        }
    }
    None
}

/// The exit code is the number of failed cases; 77 says that the program skipped itself.
fn end(status: Option<ExitStatus>, failures: usize) -> String {
    let Some(status) = status else {
        return "time limit".to_owned();
    };
    match (status.code(), status.signal()) {
        (Some(0), _) => "pass".to_owned(),
        (Some(77), _) => "ignore".to_owned(),
        (Some(code), _) if usize::try_from(code) == Ok(failures) => "pass".to_owned(),
        (Some(code), _) => format!("exit {code}"),
        (None, signal) => format!("signal {}", signal.unwrap_or(0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_are_read_from_the_lines_of_unity() {
        let output = "a/test_x.cpp:12:test_one:PASS\n\
                      connectinga/test_x.cpp:13:test_two:FAIL: Expected 1 Was 2\n\
                      a/test_x.cpp:14:test_one:IGNORE: no IPv6\n\
                      3 Tests 1 Failures 1 Ignored\n";
        let report = Report::new(output.to_owned(), Some(ExitStatus::from_raw(1 << 8)), 0.0);
        let outcomes: Vec<_> = report
            .outcomes
            .iter()
            .map(|(name, outcome)| format!("{name}={outcome}"))
            .collect();
        assert_eq!(
            outcomes,
            [
                "(end)=pass",
                "test_one=pass",
                "test_one #2=ignore",
                "test_two=fail"
            ]
        );
        assert_eq!(report.texts["test_two"], "Expected 1 Was 2");
    }

    #[test]
    fn an_end_that_no_case_explains_is_an_outcome() {
        let end = |status| Report::new(String::new(), status, 0.0).outcomes[END].clone();
        assert_eq!(end(Some(ExitStatus::from_raw(6))), "signal 6");
        assert_eq!(end(Some(ExitStatus::from_raw(127 << 8))), "exit 127");
        assert_eq!(end(Some(ExitStatus::from_raw(77 << 8))), "ignore");
        assert_eq!(end(None), "time limit");
    }
}
