//! Where results go: lines of text, and files that appear when they are complete.

use std::io::Read;
use std::path::PathBuf;

use clap::Args;
use sealwire_newplex::files::sealed::SealedFileError;
use serde::Serialize;

use super::{failed, print};
use crate::exit::Failure;
use crate::file::destination::Destination;
use crate::file::progress::{Counted, Progress};
use crate::file::{Direction, Input};

/// Options of commands whose result is a line.
#[derive(Debug, Args)]
pub(crate) struct LineOutput {
    /// Write the result to this file [default: standard output]
    #[arg(long, short, value_name = "FILE", conflicts_with = "json")]
    pub(super) output: Option<PathBuf>,

    /// Replace the output file if it exists
    #[arg(long, requires = "output")]
    force: bool,

    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

/// A line to come. Its file can be written, which is known before anything is used up.
pub(super) struct Line {
    destination: Option<Destination>,
    json: bool,
}

impl LineOutput {
    /// For a line that others may read.
    pub(super) fn open(&self) -> Result<Line, Failure> {
        self.open_for(Direction::Seal)
    }

    /// For a line that is the user's own.
    pub(super) fn open_private(&self) -> Result<Line, Failure> {
        self.open_for(Direction::Open)
    }

    fn open_for(&self, direction: Direction) -> Result<Line, Failure> {
        let path = self.output.as_deref();
        let destination = path.map(|path| Destination::file(path, self.force, direction));
        Ok(Line {
            destination: destination.transpose()?,
            json: self.json,
        })
    }
}

impl Line {
    /// Writes `line` to the file, or prints it, or `record` where JSON is asked for.
    pub(super) fn finish(self, record: &impl Serialize, line: &str) -> Result<(), Failure> {
        match self.destination {
            Some(destination) => write_all(destination, format!("{line}\n").as_bytes()),
            None => print(self.json, record, line),
        }
    }
}

/// Options of commands whose result is a file of bytes.
#[derive(Debug, Args)]
pub(crate) struct FileOutput {
    /// Write this file, complete or not at all [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Replace the output file if it exists
    #[arg(long, requires = "output")]
    force: bool,
}

impl FileOutput {
    pub(super) fn open(&self, direction: Direction) -> Result<Destination, Failure> {
        match &self.output {
            Some(path) => Destination::file(path, self.force, direction),
            None => Destination::stdout(direction),
        }
    }
}

/// Writes `bytes`, which are all of it.
pub(super) fn write_all(mut destination: Destination, bytes: &[u8]) -> Result<(), Failure> {
    match destination.writer().write_all(bytes) {
        Ok(()) => destination.finish(),
        Err(error) => Err(destination.failure(&error)),
    }
}

/// Takes `input` through `step` to the output, which appears if that worked.
pub(super) fn stream(
    input: Input,
    mut destination: Destination,
    step: impl FnOnce(Counted<Box<dyn Read>>, &mut Destination) -> Result<(), SealedFileError>,
) -> Result<(), Failure> {
    let Input { reader, size, name } = input;
    let progress = Progress::new(size, destination.is_terminal());
    match step(Counted::new(reader, progress), &mut destination) {
        Ok(()) => destination.finish(),
        Err(SealedFileError::Write(error)) => Err(destination.failure(&error)),
        Err(error) => Err(failed(format!("{name}: {error}"))),
    }
}
