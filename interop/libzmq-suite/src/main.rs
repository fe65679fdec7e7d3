//! libzmq's own test programs, run with Sealwire's `libzmq.so.5` and with libzmq's.

mod build;
mod expected;
mod judge;
mod platform;
mod programs;
mod run;
mod speed;
mod unity;
mod vendor;

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use tempfile::TempDir;

use build::Build;
use expected::{Difference, Expected, differences};
use judge::{Libraries, confirmed, line, reference, run_all};
use programs::Program;
use speed::Speed;

/// Why the suite itself could not go on.
pub(crate) type Failure = Box<dyn Error + Send + Sync>;

/// Runs libzmq's own test programs with Sealwire's libzmq.so.5.
#[derive(Parser)]
struct Arguments {
    #[arg(value_enum, default_value = "check")]
    mode: Mode,
    /// Only this program, or measurements with this in their name; may be repeated.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// The library under test [default: what `cargo build -p sealwire-libzmq` makes].
    #[arg(long, value_name = "PATH")]
    library: Option<PathBuf>,
    /// Keeps libzmq and the programs, compiled.
    #[arg(long, value_name = "DIR", default_value_os_t = home().join("../target/libzmq-suite"))]
    cache: PathBuf,
    /// The file of expectations [default: expected.toml, or expected-drafts.toml].
    #[arg(long, value_name = "FILE")]
    expected: Option<PathBuf>,
    /// Compile the programs with this zmq.h instead of libzmq's.
    #[arg(long, value_name = "FILE")]
    header: Option<PathBuf>,
    /// With the drafts, and the programs that need them.
    #[arg(long)]
    drafts: bool,
    /// Programs to run, and files to compile, at once.
    #[arg(long, value_name = "N", default_value_t = 2)]
    jobs: usize,
    /// With `speed`: how often each library runs.
    #[arg(long, value_name = "N", default_value_t = 5)]
    rounds: usize,
    /// With `speed`: a Python that has pyzmq.
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// With `speed`: `sealwire-bench-sockets`, for the measurements beside native sockets.
    #[arg(long, value_name = "PATH")]
    native: Option<PathBuf>,
    /// Print all that the programs write.
    #[arg(long)]
    verbose: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Mode {
    /// Run ours and compare with the file of expectations.
    Check,
    /// Run both and write the file of expectations.
    Record,
    /// Run ours and compare with nothing.
    Ours,
    /// Run libzmq and compare with nothing.
    Libzmq,
    /// Name the programs, and why some do not run.
    List,
    /// Measure both in turns, on a machine with nothing else to do.
    Speed,
}

fn home() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn main() -> ExitCode {
    match suite(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("libzmq-suite: {error}");
            ExitCode::from(2)
        }
    }
}

/// Returns whether all is as expected.
fn suite(arguments: &Arguments) -> Result<bool, Failure> {
    let vendor = vendor::folder()?;
    if matches!(arguments.mode, Mode::Speed) {
        measure(arguments, &vendor)?;
        return Ok(true);
    }
    let tests = vendor.join("tests");
    let mut programs = programs::all(&tests, arguments.drafts)?;
    if !arguments.only.is_empty() {
        for name in &arguments.only {
            if !programs.iter().any(|program| program.name == name) {
                return Err(
                    format!("{name}: no such program; `libzmq-suite list` names them").into(),
                );
            }
        }
        programs.retain(|program| arguments.only.iter().any(|name| name == program.name));
    }
    if matches!(arguments.mode, Mode::List) {
        list(&tests, &programs)?;
        return Ok(true);
    }
    let mut build = begin(arguments, &vendor)?;
    if let Some(header) = &arguments.header {
        build = build.with_header(header)?;
    }
    build.programs(&programs)?;
    let libzmq = build.libzmq()?;
    let tell = |_: &Program, report: &unity::Report, name: &str| {
        if arguments.verbose {
            print!("{}", report.output);
        }
        println!("{}", line(name, report));
    };
    let run = |library: &Path| {
        run_all(
            &build,
            &programs,
            library,
            arguments.jobs,
            |program, report| {
                tell(program, report, program.name);
            },
        )
    };
    if matches!(arguments.mode, Mode::Libzmq) {
        let reports = run(&libzmq)?;
        return Ok(reports.values().all(|report| {
            report
                .outcomes
                .values()
                .all(|outcome| outcome == "pass" || outcome == "ignore")
        }));
    }
    let ours = under_its_name(arguments.library.as_deref())?;
    let reports = run(ours.path())?;
    let libraries = Libraries {
        libzmq,
        ours: ours.path().to_owned(),
    };
    let path = arguments.expected.clone().unwrap_or_else(|| {
        home().join(if arguments.drafts {
            "expected-drafts.toml"
        } else {
            "expected.toml"
        })
    });
    match arguments.mode {
        Mode::Check => check(
            &build,
            &programs,
            &libraries,
            &reports,
            &expected::read(&path)?,
        ),
        Mode::Record => {
            let mut expected = expected::read(&path)?;
            for program in &programs {
                record(
                    &build,
                    program,
                    &libraries,
                    &reports[program.name],
                    &mut expected,
                )?;
            }
            expected::write(&path, &expected)?;
            Ok(true)
        }
        Mode::Ours | Mode::Libzmq | Mode::List | Mode::Speed => Ok(true),
    }
}

fn begin(arguments: &Arguments, vendor: &Path) -> Result<Build, Failure> {
    fs::create_dir_all(&arguments.cache)?;
    let cache = arguments.cache.canonicalize()?;
    Build::new(vendor, &cache, arguments.drafts, arguments.jobs)
}

/// Measures both libraries.
fn measure(arguments: &Arguments, vendor: &Path) -> Result<(), Failure> {
    let build = begin(arguments, vendor)?;
    let ours = under_its_name(arguments.library.as_deref())?;
    let libraries = Libraries {
        libzmq: build.libzmq()?,
        ours: ours.path().to_owned(),
    };
    let speed = Speed {
        build: &build,
        libraries: &libraries,
        python: arguments.python.as_deref(),
        native: arguments.native.as_deref(),
        rounds: arguments.rounds.max(1),
        only: &arguments.only,
    };
    speed.run()
}

/// Compares the reports with `expected`, and says what counts.
fn check(
    build: &Build,
    programs: &[Program],
    libraries: &Libraries,
    reports: &BTreeMap<&str, unity::Report>,
    expected: &Expected,
) -> Result<bool, Failure> {
    let mut counted = 0;
    let mut unexplained = 0;
    for program in programs {
        let Some(expected) = expected.get(program.name) else {
            println!(
                "UNEXPECTED {}: not in the file of expectations; record it",
                program.name
            );
            counted += 1;
            continue;
        };
        unexplained += expected
            .ours
            .values()
            .filter(|difference| difference.reason.is_empty())
            .count();
        let first = &reports[program.name];
        let found = confirmed(
            build,
            program,
            libraries,
            &expected.libzmq(),
            &expected.ours(),
            first,
        )?;
        for (case, wanted, got) in found {
            println!("UNEXPECTED {} {case}: {got}, not {wanted}", program.name);
            counted += 1;
        }
    }
    println!(
        "libzmq-suite: {} programs, {counted} unexpected outcomes, {unexplained} known ones without a reason",
        programs.len()
    );
    Ok(counted == 0)
}

/// Replaces what `expected` says of `program`. Reasons of cases that end as before are kept.
fn record(
    build: &Build,
    program: &Program,
    libraries: &Libraries,
    first: &unity::Report,
    expected: &mut Expected,
) -> Result<(), Failure> {
    let libzmq = reference(build, program, &libraries.libzmq)?;
    let mut recorded = expected::Program::new(&libzmq);
    let before = expected.remove(program.name);
    for (case, _, outcome) in confirmed(build, program, libraries, &libzmq, &libzmq, first)? {
        let reason = before
            .as_ref()
            .and_then(|before| before.ours.get(&case))
            .filter(|difference| difference.outcome == outcome)
            .map_or_else(String::new, |difference| difference.reason.clone());
        recorded.differ(case, Difference { outcome, reason });
    }
    // Of a program that is new all would be news.
    if let Some(before) = before {
        for (case, before, now) in differences(&before.ours(), &recorded.ours()) {
            println!("recorded {} {case}: {now}, before {before}", program.name);
        }
    }
    expected.insert(program.name.to_owned(), recorded);
    Ok(())
}

/// Returns a folder in which `library` is `libzmq.so.5`.
fn under_its_name(library: Option<&Path>) -> Result<TempDir, Failure> {
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| home().join("../../target"), PathBuf::from);
    let library = library.map_or_else(
        || target.join("debug/libsealwire_libzmq.so"),
        Path::to_owned,
    );
    let library = library
        .canonicalize()
        .map_err(|error| format!("{}: {error}", library.display()))?;
    let folder = tempfile::tempdir()?;
    symlink(library, folder.path().join("libzmq.so.5"))?;
    Ok(folder)
}

fn list(tests: &Path, programs: &[Program]) -> Result<(), Failure> {
    for name in programs::names(tests)? {
        match programs.iter().find(|program| program.name == name) {
            Some(program) => match program.alone {
                Some(reason) => println!("{name}: alone: {reason}"),
                None => println!("{name}"),
            },
            None => println!(
                "{name}: skipped: {}",
                programs::skipped(&name).unwrap_or("needs --drafts, or --only leaves it out")
            ),
        }
    }
    Ok(())
}
