//! Instructions for each message, from PUSH to PULL over `ipc`, of each side by itself.
//!
//! ```text
//!   run ──starts──▶ receiver: binds, prints its public key
//!    │  ──starts──▶ sender: connects
//!    ◀── one of the two runs under callgrind, which counts its instructions
//! ```
//!
//! A side is counted twice, with few messages and with many. The difference is what the messages
//! between them took: start, handshake and end are in both.

mod callgrind;
mod cells;
mod run;
mod side;
mod table;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// What any step may fail with; the program prints it and ends.
type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Count both sides of every cell and print a table
    Run(run::Options),
    /// Receive messages. A build is measured by starting it this way, so its options stay
    Receive(side::Receive),
    /// Send messages. Likewise
    Send(side::Send),
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Run(options) => run::run(&options),
        Command::Receive(options) => side::receive(&options),
        Command::Send(options) => side::send(&options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
