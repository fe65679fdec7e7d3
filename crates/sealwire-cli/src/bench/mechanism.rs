//! `sealwire bench mechanism`: what BLAKE3ZMQ and CURVE cost by themselves.

use clap::Args;
use sealwire_bench_cryptography::mechanism::{self, Counts};

use super::record::print_record;
use crate::exit::{Code, Failure};

/// Options of the benchmark.
#[derive(Debug, Args)]
pub(crate) struct MechanismOptions {
    /// Handshakes of each mechanism
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    handshakes: u32,

    /// Messages of each size that are sealed and opened
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    messages: u32,

    /// Messages that follow a handshake over a Unix socket
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    unix_messages: u32,

    /// Print one JSON object on one line
    #[arg(long)]
    pub(crate) json: bool,
}

pub(super) const EXAMPLES: &str = "\
Examples:
  sealwire bench mechanism
  sealwire bench mechanism --messages 2000 --json

Messages are sealed and opened in batches, as connections do. Sealing begins with the message as the
application hands it over and ends with the bytes to be written; opening is the way back. Over a
Unix socket a figure is the time from connecting to the last message, in turns of five.

A build with '--features box-peers' has what CURVE asks of both sides done by libsodium beside them,
in turn with ours, and ratios to it: key pairs, agreements, boxes and the frames around them, copied
as libzmq does. There is no state machine around it, so it cannot speak over the Unix socket.";

pub(super) fn run(options: &MechanismOptions) -> Result<(), Failure> {
    let record = mechanism::measure(Counts {
        handshakes: options.handshakes,
        messages: options.messages,
        unix_messages: options.unix_messages,
    });
    let record = record.map_err(|error| Failure::new(Code::Failed, error.to_string()))?;
    print_record(&record, options.json)
}
