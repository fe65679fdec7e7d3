//! `sealwire bench box`: NaCl's box, in one step and in two.

use clap::Args;
use sealwire_bench_cryptography::nacl::{self, MAX_SIZE};

use super::aead::in_bytes;
use super::record::print_record;
use crate::exit::{Code, Failure};

/// Options of the benchmark.
#[derive(Debug, Args)]
pub(crate) struct BoxOptions {
    /// Size of a message, at most 4 MiB; may be given several times [default: 64, 1 KiB, 64 KiB]
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_SIZE)))]
    size: Vec<u32>,

    /// Print one JSON object on one line
    #[arg(long)]
    pub(crate) json: bool,
}

pub(super) const EXAMPLES: &str = "\
Examples:
  sealwire bench box
  sealwire bench box --size 1024 --json

An operation seals or opens one message into a buffer of its own. In one step it agrees on the key
with X25519 first, every time; in two steps that was done before, once for the peer. A build with
'--features box-peers' has libsodium beside it, in turn with ours, and ratios to it.";

pub(super) fn run(options: &BoxOptions) -> Result<(), Failure> {
    let record = match &options.size[..] {
        [] => nacl::measure(nacl::SIZES),
        sizes => nacl::measure(&in_bytes(sizes)),
    };
    let record = record.map_err(|error| Failure::new(Code::Failed, error.to_string()))?;
    print_record(&record, options.json)
}
