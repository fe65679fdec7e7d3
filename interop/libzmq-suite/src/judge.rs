//! Runs programs and compares; what differs is repeated before it counts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::Failure;
use crate::build::{Build, each};
use crate::expected::differences;
use crate::programs::Program;
use crate::run::run;
use crate::unity::{END, Outcomes, Report};

/// How often a case is repeated before a difference counts.
const REPEATS: usize = 3;

/// The two libraries, each a folder with its `libzmq.so.5`.
pub(crate) struct Libraries {
    pub(crate) libzmq: PathBuf,
    pub(crate) ours: PathBuf,
}

/// Runs all of `programs`, `jobs` at once and those that have to be alone after them, and calls `told` with each report.
pub(crate) fn run_all(
    build: &Build,
    programs: &[Program],
    library: &Path,
    jobs: usize,
    told: impl Fn(&Program, &Report) + Sync,
) -> Result<BTreeMap<&'static str, Report>, Failure> {
    let reports = Mutex::new(BTreeMap::new());
    let (alone, together) = programs
        .iter()
        .partition::<Vec<_>, _>(|program| program.alone.is_some());
    for (jobs, programs) in [(jobs, together), (1, alone)] {
        each(jobs, programs, |program| {
            let report = run(&build.program(program.name), library, program.limit)?;
            told(program, &report);
            reports
                .lock()
                .expect("no panic inside")
                .insert(program.name, report);
            Ok(())
        })?;
    }
    Ok(reports.into_inner().expect("no panic inside"))
}

/// Of the cases in which `first` differs from `expected` those that do so in every repeat, while libzmq ends them as
/// `libzmq` says. A line about each of the others goes to standard error.
pub(crate) fn confirmed(
    build: &Build,
    program: &Program,
    libraries: &Libraries,
    libzmq: &Outcomes,
    expected: &Outcomes,
    first: &Report,
) -> Result<Vec<(String, String, String)>, Failure> {
    let mut suspects = differences(expected, &first.outcomes);
    for _ in 0..REPEATS {
        if suspects.is_empty() {
            break;
        }
        let path = build.program(program.name);
        let reference = run(&path, &libraries.libzmq, program.limit)?.outcomes;
        let ours = run(&path, &libraries.ours, program.limit)?.outcomes;
        for forgiven in repeated(&mut suspects, (libzmq, &reference), (expected, &ours)) {
            eprintln!("    {} {forgiven}", program.name);
        }
    }
    Ok(suspects)
}

/// Keeps the suspects that differ again, while libzmq ends them as it should. Each pair is what was expected and what a
/// repeat ended in. Returns a line about each of the others.
fn repeated(
    suspects: &mut Vec<(String, String, String)>,
    (libzmq, reference): (&Outcomes, &Outcomes),
    (expected, ours): (&Outcomes, &Outcomes),
) -> Vec<String> {
    let strange = differences(libzmq, reference);
    let again = differences(expected, ours);
    let mut forgiven = Vec::new();
    suspects.retain(|(case, wanted, got)| {
        let strange = strange.iter().any(|(other, ..)| other == case);
        let again = again.iter().any(|(other, ..)| other == case);
        if strange {
            forgiven.push(format!("{case}: {got} does not count: libzmq varies too"));
        } else if !again {
            forgiven.push(format!(
                "{case}: {got} does not count: {wanted} when repeated"
            ));
        }
        again && !strange
    });
    forgiven
}

/// What libzmq's cases end in: the best of up to [`REPEATS`] runs.
pub(crate) fn reference(
    build: &Build,
    program: &Program,
    library: &Path,
) -> Result<Outcomes, Failure> {
    let mut best = Outcomes::new();
    for _ in 0..REPEATS {
        let report = run(&build.program(program.name), library, program.limit)?;
        for (case, outcome) in report.outcomes {
            let place = best.entry(case).or_insert_with(|| outcome.clone());
            if outcome == "pass" {
                *place = outcome;
            }
        }
        if best
            .iter()
            .all(|(_, outcome)| outcome == "pass" || outcome == "ignore")
        {
            break;
        }
    }
    Ok(best)
}

/// A line for a program: how many of its cases passed, and the others.
pub(crate) fn line(name: &str, report: &Report) -> String {
    let cases = || report.outcomes.iter().filter(|(case, _)| *case != END);
    let passed = cases().filter(|(_, outcome)| *outcome == "pass").count();
    let mut line = format!(
        "{name}: {passed} of {} pass, {:.1} s",
        cases().count(),
        report.seconds
    );
    if report.outcomes[END] != "pass" {
        line += &format!(", {}", report.outcomes[END]);
    }
    for (case, outcome) in cases().filter(|(_, outcome)| *outcome != "pass") {
        let text = report.texts.get(case).map_or("", String::as_str);
        line += &format!("\n    {case}: {outcome} {text}");
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcomes(list: &[(&str, &str)]) -> Outcomes {
        let owned = |(case, outcome): &(&str, &str)| ((*case).to_owned(), (*outcome).to_owned());
        list.iter().map(owned).collect()
    }

    #[test]
    fn what_differs_again_counts_unless_libzmq_varies_too() {
        let good = outcomes(&[("a", "pass"), ("b", "pass"), ("c", "pass"), (END, "pass")]);
        let first = outcomes(&[("a", "fail"), ("b", "fail"), ("c", "fail"), (END, "pass")]);
        let mut suspects = differences(&good, &first);
        // `b` passes when repeated, and libzmq fails `c`.
        let ours = outcomes(&[("a", "fail"), ("b", "pass"), ("c", "fail"), (END, "pass")]);
        let libzmq = outcomes(&[("a", "pass"), ("b", "pass"), ("c", "fail"), (END, "pass")]);
        let forgiven = repeated(&mut suspects, (&good, &libzmq), (&good, &ours));
        assert_eq!(
            forgiven,
            [
                "b: fail does not count: pass when repeated",
                "c: fail does not count: libzmq varies too"
            ]
        );
        let left: Vec<_> = suspects.iter().map(|(case, ..)| case.as_str()).collect();
        assert_eq!(left, ["a"]);
        // A program that ends early differs in each case that it did not come to, and in its end.
        let ended = outcomes(&[("a", "pass"), (END, "signal 6")]);
        let mut suspects = differences(&good, &ended);
        assert!(repeated(&mut suspects, (&good, &good), (&good, &ended)).is_empty());
        assert_eq!(suspects.len(), 3);
        // So does a pass where a failure is written.
        let mut suspects = differences(&first, &good);
        assert!(repeated(&mut suspects, (&good, &good), (&first, &good)).is_empty());
        assert_eq!(suspects.len(), 3);
    }
}
