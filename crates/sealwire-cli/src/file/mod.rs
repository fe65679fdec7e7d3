//! `sealwire seal` and `sealwire open`: files and pipes, sealed under a symmetric key.
//!
//! The format is that of [`sealwire_file`]; here are paths, progress and outputs.

pub(crate) mod destination;
pub(crate) mod key;
pub(crate) mod progress;

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::Args;

use crate::exit::{Code, Failure};
use destination::Destination;
use progress::{Counted, Progress};

pub(crate) const SEAL: &str = "\
Examples:
  sealwire keygen --symmetric files.key               a key, once; it seals any number of files
  sealwire seal --key-file files.key notes.txt -o notes.sealed
  tar c folder | sealwire seal --key-file files.key > folder.tar.sealed

Content is encrypted and authenticated in chunks of 64 KiB. Its size stays visible.";

pub(crate) const OPEN: &str = "\
Examples:
  sealwire open --key-file files.key notes.sealed -o notes.txt
  sealwire open --key-file files.key < folder.tar.sealed | tar x

With -o nothing appears under that name before the whole input is verified. On standard output
each chunk of 64 KiB is released as soon as it is verified: of an input that is cut short or
damaged farther on, the beginning comes out, and then an error and exit code 1. What reads the pipe
must not act on it before it knows the exit code ('set -o pipefail' in a shell).";

/// Options of both directions.
#[derive(Debug, Args)]
pub(crate) struct FileOptions {
    /// What to read; '-' or nothing is standard input
    #[arg(value_name = "INPUT", default_value = "-", hide_default_value = true)]
    input: PathBuf,

    /// The symmetric key, as 'sealwire keygen --symmetric FILE' writes it
    #[arg(long, value_name = "FILE")]
    key_file: PathBuf,

    /// Write this file, complete or not at all [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Replace the output file if it exists
    #[arg(long, requires = "output")]
    force: bool,
}

/// Which way the bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Seal,
    Open,
}

pub(crate) fn seal(options: &FileOptions) -> Result<(), Failure> {
    run(options, Direction::Seal)
}

pub(crate) fn open(options: &FileOptions) -> Result<(), Failure> {
    run(options, Direction::Open)
}

fn run(options: &FileOptions, direction: Direction) -> Result<(), Failure> {
    let key = key::read(&options.key_file)?;
    let Input { reader, size, name } = Input::open(&options.input)?;
    let mut destination = match &options.output {
        Some(path) => Destination::file(path, options.force, direction)?,
        None => Destination::stdout(direction)?,
    };
    let progress = Progress::new(size, destination.is_terminal());
    let input = Counted::new(reader, progress);
    let outcome = match direction {
        Direction::Seal => sealwire_file::seal(&key, input, destination.writer()),
        Direction::Open => sealwire_file::open(&key, input, destination.writer()),
    };
    match outcome {
        Ok(()) => destination.finish(),
        Err(sealwire_file::Error::Write(error)) => Err(destination.failure(&error)),
        Err(error) => Err(Failure::new(Code::Failed, format!("{name}: {error}"))),
    }
}

pub(crate) struct Input {
    pub(crate) reader: Box<dyn Read>,
    /// If it is known.
    pub(crate) size: Option<u64>,
    /// What to call it.
    pub(crate) name: String,
}

impl Input {
    pub(crate) fn open(path: &Path) -> Result<Self, Failure> {
        if path == Path::new("-") {
            return Ok(Input {
                reader: Box::new(io::stdin().lock()),
                size: None,
                name: "standard input".to_owned(),
            });
        }
        let name = path.display().to_string();
        let failure =
            |error: io::Error| Failure::new(Code::Failed, format!("cannot read {name}: {error}"));
        let file = File::open(path).map_err(failure)?;
        let metadata = file.metadata().map_err(failure)?;
        Ok(Input {
            reader: Box::new(file),
            size: metadata.is_file().then_some(metadata.len()),
            name,
        })
    }
}
