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
        let strange = differences(libzmq, &reference);
        let again = differences(expected, &ours);
        suspects.retain(|(case, wanted, got)| {
            let strange = strange.iter().any(|(other, ..)| other == case);
            let again = again.iter().any(|(other, ..)| other == case);
            if strange {
                eprintln!(
                    "    {} {case}: {got} does not count: libzmq varies too",
                    program.name
                );
            } else if !again {
                eprintln!(
                    "    {} {case}: {got} does not count: {wanted} when repeated",
                    program.name
                );
            }
            again && !strange
        });
    }
    Ok(suspects)
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
