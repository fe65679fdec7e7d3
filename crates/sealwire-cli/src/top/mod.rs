//! `sealwire top`: what a running command does, on a terminal or as JSON lines.
//!
//! ```text
//! reader ── snapshots ──▶ state ──▶ view ──▶ terminal
//!    │                      ▲
//!    └──▶ JSON lines       keys
//! ```
//!
//! A view is made of two snapshots, a state and a size, and of nothing else ([`view`]).

mod amounts;
mod reader;
mod rows;
mod screen;
mod state;
mod view;

use std::io::{self, IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use clap::Args;

use self::reader::Reader;
use crate::duration;
use crate::exit::Failure;
use crate::service::inspection::parse_path;
use crate::untrusted;

/// Options of top.
#[derive(Debug, Args)]
pub(crate) struct TopOptions {
    /// Where a command serves its snapshots: its --inspect
    #[arg(value_name = "PATH", value_parser = parse_path)]
    path: PathBuf,

    /// Time between two snapshots
    #[arg(short, long, value_name = "TIME", default_value = "1s", value_parser = duration::parse_positive)]
    interval: Duration,

    /// For scripts: a line of JSON for each snapshot
    #[arg(long)]
    pub(crate) json: bool,

    /// One snapshot only
    #[arg(long, requires = "json")]
    once: bool,

    /// Longest wait for a snapshot
    #[arg(short, long, value_name = "TIME", default_value = "5s", value_parser = duration::parse_positive)]
    timeout: Duration,
}

pub(crate) const HELP: &str = "\
Examples:
  sealwire pull -b tcp://*:5555 --inspect /run/user/1000/pull.sock
  sealwire top /run/user/1000/pull.sock                           in another terminal
  sealwire top /run/user/1000/pull.sock --json --once | jq '.sockets[].peers[]'

Keys: 1 to 4 or Tab change the view, s the order, arrows and Page keys scroll, p pauses, q quits.";

pub(crate) fn run(options: &TopOptions) -> Result<(), Failure> {
    if options.json {
        let reader = Reader::connect(&options.path, options.timeout)?;
        return print(options, &reader);
    }
    if !io::stdout().is_terminal() || !io::stdin().is_terminal() {
        return Err(Failure::usage(
            "top draws on a terminal, and there is none; give --json for lines that a program reads",
        ));
    }
    let reader = Reader::connect(&options.path, options.timeout)?;
    screen::run(reader, options.interval)
}

/// Prints a line for each snapshot.
fn print(options: &TopOptions, reader: &Reader) -> Result<(), Failure> {
    loop {
        let answer = reader.ask()?;
        let line = untrusted::json_line(&answer.text).map_err(io::Error::from);
        let mut out = io::stdout().lock();
        line.and_then(|line| writeln!(out, "{line}"))
            .and_then(|()| out.flush())
            .map_err(|error| Failure::output(&error))?;
        if options.once {
            return Ok(());
        }
        drop(out);
        thread::sleep(options.interval);
    }
}
