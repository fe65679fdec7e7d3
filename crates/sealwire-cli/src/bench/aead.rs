//! `sealwire bench aead`: the cipher alone.

use clap::Args;
use sealwire_bench_cryptography::aead::{self, MAX_SIZE};

use super::record::print_record;
use crate::exit::{Code, Failure};

/// Options of the benchmark.
#[derive(Debug, Args)]
pub(crate) struct AeadOptions {
    /// Size of a message, at most 4 MiB; may be given several times [default: 16, 64, 256, 1 KiB,
    /// 4 KiB, 16 KiB, 64 KiB and 1 MiB]
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_SIZE)))]
    size: Vec<u32>,

    /// Print one JSON object on one line
    #[arg(long)]
    pub(crate) json: bool,
}

pub(super) const EXAMPLES: &str = "\
Examples:
  sealwire bench aead
  sealwire bench aead --size 64 --size 4096 --json

Messages are sealed or opened in place, without associated data. A batch is 16 messages, each in a
buffer of its own; its figures are per message. Opening restores the ciphertext with a copy each
time, and the copy is part of the figure. A build with '--features aead-peers' adds the crate
chacha20-blake3, ring and aws-lc, and ratios to them. libsodium and RustCrypto are in bench/aead.";

pub(super) fn run(options: &AeadOptions) -> Result<(), Failure> {
    let record = match &options.size[..] {
        [] => aead::measure(aead::SIZES),
        sizes => aead::measure(&in_bytes(sizes)),
    };
    let record = record.map_err(|error| Failure::new(Code::Failed, error.to_string()))?;
    print_record(&record, options.json)
}

pub(super) fn in_bytes(sizes: &[u32]) -> Vec<usize> {
    sizes.iter().map(|&size| size as usize).collect()
}
