//! `sealwire newplex seal` and `sealwire newplex open`.

use std::path::PathBuf;

use clap::Args;
use sealwire_newplex::files::sealed;

use super::keys;
use super::outputs::{FileOutput, stream};
use crate::exit::Failure;
use crate::file::{Direction, Input};

pub(super) const SEAL: &str = "\
Examples:
  sealwire newplex keygen --symmetric files.key       a key, once; it seals any number of files
  sealwire newplex seal --key-file files.key notes.txt -o notes.sealed
  tar c folder | sealwire newplex seal --key-file files.key > folder.tar.sealed

Content is encrypted and authenticated in blocks of 64 KiB. Its size stays visible. 'sealwire seal'
does the same with a cipher that many have looked at; its files and keys are of another kind.";

pub(super) const OPEN: &str = "\
Examples:
  sealwire newplex open --key-file files.key notes.sealed -o notes.txt
  sealwire newplex open --key-file files.key < folder.tar.sealed | tar x

With -o nothing appears under that name before the whole input is verified. On standard output
each block of 64 KiB is released as soon as it is verified: of an input that is cut short or
damaged farther on, the beginning comes out, and then an error and exit code 1. What reads the pipe
must not act on it before it knows the exit code ('set -o pipefail' in a shell).";

/// Options of both directions.
#[derive(Debug, Args)]
pub(crate) struct SealOptions {
    /// What to read; '-' or nothing is standard input
    #[arg(value_name = "INPUT", default_value = "-", hide_default_value = true)]
    input: PathBuf,

    /// The symmetric key, as 'sealwire newplex keygen --symmetric FILE' writes it
    #[arg(long, value_name = "FILE")]
    key_file: PathBuf,

    #[command(flatten)]
    output: FileOutput,
}

pub(super) fn seal(options: &SealOptions) -> Result<(), Failure> {
    run(options, Direction::Seal)
}

pub(super) fn open(options: &SealOptions) -> Result<(), Failure> {
    run(options, Direction::Open)
}

fn run(options: &SealOptions, direction: Direction) -> Result<(), Failure> {
    let key = keys::read_symmetric(&options.key_file)?;
    let input = Input::open(&options.input)?;
    let destination = options.output.open(direction)?;
    match direction {
        Direction::Seal => {
            let nonce = keys::random()?;
            stream(input, destination, |input, destination| {
                sealed::seal(&key, &nonce, input, destination.writer())
            })
        }
        Direction::Open => stream(input, destination, |input, destination| {
            sealed::open(&key, input, destination.writer())
        }),
    }
}
