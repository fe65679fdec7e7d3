//! `sealwire run`: a program written for libzmq under rules for encryption. The rules are checked before it begins, and
//! so is what can be seen of whether they will reach it.

mod executable;
mod library;

use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use sealwire_policy::{Policy, Sources};

use crate::exit::{Code, Failure, eprintln_quietly};
use crate::file_size;

/// Run a program written for libzmq with encryption by rules
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct RunOptions {
    /// The file of rules [default: what SEALWIRE_CONFIG names, or SEALWIRE_SERVER_KEY,
    /// SEALWIRE_SECRET_KEY_FILE and SEALWIRE_ALLOW]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Sealwire's libzmq.so.5 [default: beside this program, or in ../lib]
    #[arg(long, value_name = "FILE")]
    library: Option<PathBuf>,

    /// The program, and what it is given
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

const HELP: &str = "\
Examples:
  sealwire run --config rules.conf -- python3 server.py
  SEALWIRE_SERVER_KEY=$KEY sealwire run -- ./client       all connections, to one server

Each rule is told on standard error, with what it does; a file with a fault ends it there. The program is not
run if it cannot be given Sealwire's libzmq, and stopped (exit code 126) when its calls reach another one.
docs/libzmq.md says what may be in the file, and what cannot be seen.";

/// The variable that names the file of rules.
const CONFIG: &str = "SEALWIRE_CONFIG";
/// The variable that has the library check where calls lead.
const VERIFY: &str = "SEALWIRE_VERIFY";
const PRELOAD: &str = "LD_PRELOAD";
const LIBRARY_PATH: &str = "LD_LIBRARY_PATH";

pub(crate) fn run(options: &RunOptions) -> Result<(), Failure> {
    let config = options.config.as_deref().map(absolute).transpose()?;
    let policy = read(config.as_deref())?;
    for line in policy.to_string().lines() {
        eprintln_quietly(&format!("sealwire run: {line}"));
    }
    let library = library::find(options.library.as_deref())?;
    let Some((name, arguments)) = options.program.split_first() else {
        return Err(Failure::usage("name the program to run behind --"));
    };
    let program = executable::find(name)?;
    executable::check(&program, &library)?;

    let mut command = Command::new(&program);
    command.arg0(name).args(arguments).env(VERIFY, "1");
    if let Some(config) = config {
        command.env(CONFIG, config);
    }
    command.env(PRELOAD, in_front(library.path.as_os_str(), PRELOAD));
    // A library that is loaded by its name alone, as interpreters do, is looked for there.
    if let Some(folder) = library.path.parent() {
        command.env(LIBRARY_PATH, in_front(folder.as_os_str(), LIBRARY_PATH));
    }
    library::check_that_it_loads(&program, &command, &library)?;
    let error = file_size::with_its_signal(|| command.exec());
    Err(failed(format!("cannot run {}: {error}", program.display())))
}

fn failed(message: impl Into<String>) -> Failure {
    Failure::new(Code::Failed, message)
}

fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path).map_err(|error| failed(format!("{}: {error}", path.display())))
}

/// The rules that will count for the program.
fn read(config: Option<&Path>) -> Result<Policy, Failure> {
    let sources = Sources::of_process(false);
    let sources = match config {
        Some(path) => sources.with_config(path),
        None => sources,
    };
    let policy = sources.read().map_err(|fault| failed(fault.to_string()))?;
    let Some(policy) = policy else {
        return Err(Failure::usage(
            "nothing says what to encrypt: give --config, or set SEALWIRE_SERVER_KEY or SEALWIRE_ALLOW",
        ));
    };
    if let Some(path) = config.filter(|_| policy.is_locked()) {
        return Err(failed(format!(
            "{} is locked and counts in place of {}; run without --config",
            policy.place(),
            path.display()
        )));
    }
    Ok(policy)
}

/// A list of paths that a variable has, with one in front.
fn in_front(path: &OsStr, variable: &str) -> OsString {
    let mut list = path.to_owned();
    if let Some(others) = env::var_os(variable).filter(|others| !others.is_empty()) {
        list.push(":");
        list.push(others);
    }
    list
}
