//! The file of expectations: what libzmq's cases end in, and where ours end otherwise.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;

use crate::Failure;
use crate::unity::{END, Outcomes};

/// Of all programs, by name.
pub(crate) type Expected = BTreeMap<String, Program>;

/// Of one program.
#[derive(Default, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Program {
    /// Cases that libzmq passes.
    #[serde(default)]
    pub(crate) passes: Vec<String>,
    /// Cases that libzmq ends in another way, and which.
    #[serde(default)]
    pub(crate) others: Outcomes,
    /// Cases that ours does not come to, since the program ends before; the end says why.
    #[serde(default)]
    pub(crate) missing: Vec<String>,
    /// Cases that end otherwise with ours.
    #[serde(default)]
    pub(crate) ours: BTreeMap<String, Difference>,
}

/// A case that libzmq and ours do not end alike.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Difference {
    pub(crate) outcome: String,
    /// Empty until somebody has found it.
    pub(crate) reason: String,
}

impl Program {
    /// Takes libzmq's outcomes.
    pub(crate) fn new(libzmq: &Outcomes) -> Self {
        let mut program = Program::default();
        for (case, outcome) in libzmq {
            if outcome == "pass" {
                program.passes.push(case.clone());
            } else {
                program.others.insert(case.clone(), outcome.clone());
            }
        }
        program
    }

    /// Adds how a case ends with ours.
    pub(crate) fn differ(&mut self, case: String, difference: Difference) {
        if difference.outcome == MISSING {
            self.missing.push(case);
        } else {
            self.ours.insert(case, difference);
        }
    }

    /// What libzmq's cases end in.
    pub(crate) fn libzmq(&self) -> Outcomes {
        let passes = self
            .passes
            .iter()
            .map(|case| (case.clone(), "pass".to_owned()));
        passes.chain(self.others.clone()).collect()
    }

    /// What our cases have to end in.
    pub(crate) fn ours(&self) -> Outcomes {
        let mut outcomes = self.libzmq();
        for case in &self.missing {
            outcomes.insert(case.clone(), MISSING.to_owned());
        }
        for (case, difference) in &self.ours {
            outcomes.insert(case.clone(), difference.outcome.clone());
        }
        outcomes
    }
}

/// Returns what the file says, and nothing if there is none.
pub(crate) fn read(path: &Path) -> Result<Expected, Failure> {
    if !path.exists() {
        return Ok(Expected::new());
    }
    let text = fs::read_to_string(path)?;
    toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()).into())
}

/// Writes the file, each case on a line of its own.
pub(crate) fn write(path: &Path, expected: &Expected) -> Result<(), Failure> {
    let mut text = HEAD.to_owned();
    for (name, program) in expected {
        text += &format!("\n[{name}]\n");
        for (list, cases) in [("passes", &program.passes), ("missing", &program.missing)] {
            if cases.is_empty() {
                continue;
            }
            text += &format!("{list} = [\n");
            for case in cases {
                text += &format!("    {case:?},\n");
            }
            text += "]\n";
        }
        for (case, outcome) in &program.others {
            text += &format!("others.{case:?} = {outcome:?}\n");
        }
        for (case, Difference { outcome, reason }) in &program.ours {
            text += &format!("ours.{case:?} = {{ outcome = {outcome:?}, reason = {reason:?} }}\n");
        }
    }
    Ok(fs::write(path, text)?)
}

const HEAD: &str = "\
# What the cases of libzmq's test programs end in; `libzmq-suite record` writes it and keeps the reasons.
# passes, others: with libzmq 4.3.5. ours: with Sealwire, where that differs. missing: the program ends before them.
";

/// The outcome of a case that the program did not come to.
const MISSING: &str = "missing";

/// Returns the cases that differ, each with what was expected and what it ended in.
pub(crate) fn differences(expected: &Outcomes, actual: &Outcomes) -> Vec<(String, String, String)> {
    let outcome = |outcomes: &Outcomes, case| {
        outcomes
            .get(case)
            .map_or(MISSING, String::as_str)
            .to_owned()
    };
    let mut cases: Vec<_> = expected.keys().chain(actual.keys()).collect();
    cases.sort();
    cases.dedup();
    // The end explains the cases that are missing, and so stands last.
    cases.sort_by_key(|case| *case == END);
    cases
        .into_iter()
        .map(|case| (case.clone(), outcome(expected, case), outcome(actual, case)))
        .filter(|(_, expected, actual)| expected != actual)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcomes(list: &[(&str, &str)]) -> Outcomes {
        list.iter()
            .map(|(case, outcome)| ((*case).to_owned(), (*outcome).to_owned()))
            .collect()
    }

    #[test]
    fn what_is_written_is_read_again() {
        let libzmq = outcomes(&[("test_a", "pass"), ("test_b", "ignore"), (END, "pass")]);
        let mut program = Program::new(&libzmq);
        let reason = "says \"no\"".to_owned();
        program.ours.insert(
            "test_a".to_owned(),
            Difference {
                outcome: "fail".to_owned(),
                reason,
            },
        );
        let missing = Difference {
            outcome: MISSING.to_owned(),
            reason: String::new(),
        };
        program.differ("test_b".to_owned(), missing);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("expected.toml");
        write(&path, &Expected::from([("test_x".to_owned(), program)])).unwrap();
        let read = read(&path).unwrap();
        let program = &read["test_x"];
        assert_eq!(program.libzmq(), libzmq);
        assert_eq!(program.ours()["test_a"], "fail");
        assert_eq!(program.ours()["test_b"], "missing");
        assert_eq!(program.ours["test_a"].reason, "says \"no\"");
    }

    #[test]
    fn a_pass_that_nobody_expected_is_a_difference_as_a_failure_is() {
        let expected = outcomes(&[("a", "pass"), ("b", "fail"), ("c", "pass"), (END, "pass")]);
        let actual = outcomes(&[
            ("a", "pass"),
            ("b", "pass"),
            ("d", "pass"),
            (END, "signal 6"),
        ]);
        let found: Vec<_> = differences(&expected, &actual)
            .into_iter()
            .map(|(case, expected, actual)| format!("{case}: {expected}, {actual}"))
            .collect();
        assert_eq!(
            found,
            [
                "b: fail, pass",
                "c: pass, missing",
                "d: missing, pass",
                "(end): pass, signal 6"
            ]
        );
    }
}
