//! `sealwire newplex siv`: deterministic encryption under a symmetric key.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use sealwire_newplex::files::message;

use super::inputs::read_whole;
use super::outputs::{FileOutput, write_all};
use super::{failed, keys};
use crate::exit::Failure;
use crate::file::{Direction, Input};

pub(super) const HELP: &str = "\
Examples:
  sealwire newplex siv seal --key-file files.key record.txt -o record.sealed
  sealwire newplex siv open --key-file files.key record.sealed

Equal inputs have equal ciphertexts: everybody who sees two of them learns whether the messages are
the same, and who can guess a message and have it sealed learns whether the guess is right.";

const SEAL: &str = "\
Examples:
  sealwire newplex siv seal --key-file files.key record.txt -o record.sealed
  sealwire newplex siv seal --key-file files.key --associated-data 'row 4' < record.txt > row4.sealed

The same key, associated data and message give the same bytes, so that files can be compared, found and
stored once while they are sealed. That is also what it tells: everybody who sees two of them learns
whether the messages are the same, and nothing else but their sizes. Where that is too much, use
'sealwire newplex seal'. Up to 64 MiB, held in memory.";

const OPEN: &str = "\
Examples:
  sealwire newplex siv open --key-file files.key record.sealed
  sealwire newplex siv open --key-file files.key --associated-data 'row 4' < row4.sealed

Nothing comes out before all of it was verified.";

#[derive(Debug, Subcommand)]
pub(crate) enum SivCommand {
    /// Encrypt a message so that equal messages have equal ciphertexts
    #[command(after_help = SEAL)]
    Seal(SivOptions),
    /// Decrypt what seal made, if nothing of it was changed
    #[command(after_help = OPEN)]
    Open(SivOptions),
}

/// Options of both directions.
#[derive(Debug, Args)]
pub(crate) struct SivOptions {
    /// What to read; '-' or nothing is standard input
    #[arg(value_name = "INPUT", default_value = "-", hide_default_value = true)]
    input: PathBuf,

    /// The symmetric key, as 'sealwire newplex keygen --symmetric FILE' writes it
    #[arg(long, value_name = "FILE")]
    key_file: PathBuf,

    /// What the message belongs to; it is not part of the output, and opening takes the same
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true
    )]
    associated_data: String,

    #[command(flatten)]
    output: FileOutput,
}

impl SivCommand {
    pub(super) fn run(&self) -> Result<(), Failure> {
        match self {
            SivCommand::Seal(options) => run(options, Direction::Seal),
            SivCommand::Open(options) => run(options, Direction::Open),
        }
    }
}

fn run(options: &SivOptions, direction: Direction) -> Result<(), Failure> {
    let key = keys::read_symmetric(&options.key_file)?;
    let input = Input::open(&options.input)?;
    let name = input.name.clone();
    let destination = options.output.open(direction)?;
    let bytes = read_whole(input)?;
    let associated_data = options.associated_data.as_bytes();
    match direction {
        Direction::Seal => {
            let sealed = message::seal_deterministically(&key, associated_data, &bytes);
            write_all(destination, &sealed)
        }
        Direction::Open => {
            let opened = message::open_deterministic(&key, associated_data, &bytes)
                .map_err(|problem| failed(format!("{name}: {problem}")))?;
            write_all(destination, &opened)
        }
    }
}
