//! `sealwire bench aead`: the cipher alone, in this process, on one core.
//!
//! All contenders of a size take turns, so that a change of the machine's clock meets them all. A
//! figure is the median of a contender's turns.

mod contenders;
#[cfg_attr(not(feature = "aead-peers"), path = "no_peers.rs")]
mod peers;

use std::io::{self, Write};

use clap::Args;
use sealwire_bench_measure::cores;
use serde::Serialize;

use super::measure::{self, Contender};
use super::result::rounded;
use crate::exit::{Code, Failure};
use contenders::BATCH;

/// Keeps the buffers of all contenders together below 512 MiB.
const MAX_SIZE: u32 = 4 << 20;

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

/// What `--json` prints.
#[derive(Serialize)]
struct Record {
    bench: &'static str,
    back_end: &'static str,
    /// `null` when not pinned.
    core: Option<usize>,
    batch: usize,
    results: Vec<Figure>,
    /// Empty in a build without peers.
    ratios: Vec<Ratio>,
}

/// One contender at one size.
#[derive(Serialize)]
struct Figure {
    name: &'static str,
    size: usize,
    ns_per_message: f64,
    gigabytes_per_second: f64,
}

/// How many times as fast as a peer.
#[derive(Serialize)]
struct Ratio {
    name: &'static str,
    peer: &'static str,
    size: usize,
    ratio: f64,
}

pub(super) fn run(options: &AeadOptions) -> Result<(), Failure> {
    let core = cores::any();
    if let Some(core) = core {
        cores::pin_to(core).map_err(|error| Failure::new(Code::Failed, error))?;
    }
    let mut record = Record {
        bench: "aead",
        back_end: back_end(),
        core,
        batch: BATCH,
        results: Vec::new(),
        ratios: Vec::new(),
    };
    let sizes = match &options.size[..] {
        [] => vec![16, 64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 1 << 20],
        sizes => sizes.iter().map(|&size| size as usize).collect(),
    };
    for &size in &sizes {
        let figures = figures(size);
        record.ratios.extend(ratios(size, &figures));
        record.results.extend(figures);
    }
    let print = |out: &mut dyn Write| {
        if options.json {
            serde_json::to_writer(&mut *out, &record)?;
            out.write_all(b"\n")
        } else {
            record.write_text(out, &sizes)
        }
    };
    print(&mut io::stdout().lock()).map_err(|error| Failure::output(&error))
}

fn figures(size: usize) -> Vec<Figure> {
    let mut contenders = contenders::all(size);
    contenders.extend(peers::all(size));
    let times = measure::medians(&mut contenders);
    let figure = |(contender, ns): (&Contender, f64)| Figure {
        name: contender.name,
        size,
        ns_per_message: rounded(ns, 1),
        gigabytes_per_second: rounded(size as f64 / ns, 3),
    };
    contenders.iter().zip(times).map(figure).collect()
}

fn ratios(size: usize, figures: &[Figure]) -> Vec<Ratio> {
    let time = |name| {
        let figure = figures.iter().find(|figure| figure.name == name);
        figure.map(|figure| figure.ns_per_message)
    };
    let ratio = |&(name, peer)| {
        Some(Ratio {
            name,
            peer,
            size,
            ratio: rounded(time(peer)? / time(name)?, 2),
        })
    };
    peers::COMPARISONS.iter().filter_map(ratio).collect()
}

impl Record {
    fn write_text(&self, out: &mut dyn Write, sizes: &[usize]) -> io::Result<()> {
        let place = match self.core {
            Some(core) => format!("core {core}"),
            None => "not pinned to a core".to_owned(),
        };
        writeln!(out, "ChaCha20-BLAKE3, {}, {place}", self.back_end)?;
        for &size in sizes {
            writeln!(out, "\n{size} bytes")?;
            for figure in self.results.iter().filter(|figure| figure.size == size) {
                let (ns, rate) = (figure.ns_per_message, figure.gigabytes_per_second);
                writeln!(out, "  {:<34}{ns:>12.1} ns{rate:>9.3} GB/s", figure.name)?;
            }
            for ratio in self.ratios.iter().filter(|ratio| ratio.size == size) {
                let (name, peer, ratio) = (ratio.name, ratio.peer, ratio.ratio);
                writeln!(out, "  {ratio:>6.2} x  {name} : {peer}")?;
            }
        }
        Ok(())
    }
}

/// The instructions that `sealwire-aead` uses on this CPU: it asks the same questions in the same
/// order.
fn back_end() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    {
        use std::is_x86_feature_detected as has;
        if has!("avx512f") && has!("avx512vl") && has!("avx512bw") && has!("bmi2") {
            return "avx512";
        }
        if has!("avx2") {
            return "avx2";
        }
        if has!("sse4.1") {
            return "sse4.1";
        }
    }
    #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
    if std::arch::is_aarch64_feature_detected!("neon") {
        return "neon";
    }
    "portable"
}
