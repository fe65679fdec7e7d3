//! `sealwire bench aead`: the cipher alone, in this process, on one core.
//!
//! All contenders of a size take turns, so that a change of the machine's clock meets them all. A
//! figure is the median of a contender's turns.

mod contenders;
#[cfg_attr(not(feature = "aead-peers"), path = "no_peers.rs")]
mod peers;

use std::fmt;

use sealwire_bench_measure::cores;
use sealwire_bench_measure::statistics::rounded;
use serde::Serialize;

use crate::contender::{self, Contender};
use crate::{Error, failed};
use contenders::BATCH;

/// Largest message, in bytes: keeps the buffers of all contenders together below 512 MiB.
pub const MAX_SIZE: u32 = 4 << 20;

/// What `--json` prints.
#[derive(Debug, Serialize)]
pub struct Record {
    bench: &'static str,
    back_end: &'static str,
    /// `null` when not pinned.
    core: Option<usize>,
    batch: usize,
    results: Vec<Figure>,
    /// Empty in a build without peers.
    ratios: Vec<Ratio>,
    #[serde(skip)]
    sizes: Vec<usize>,
}

/// One contender at one size.
#[derive(Debug, Serialize)]
struct Figure {
    name: &'static str,
    size: usize,
    ns_per_message: f64,
    gigabytes_per_second: f64,
}

/// How many times as fast as a peer.
#[derive(Debug, Serialize)]
struct Ratio {
    name: &'static str,
    peer: &'static str,
    size: usize,
    ratio: f64,
}

/// The sizes that are measured where none are given, in bytes.
pub const SIZES: &[usize] = &[16, 64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 1 << 20];

/// Measures all contenders with messages of these sizes in bytes, none above [`MAX_SIZE`]. The thread
/// stays on one core from then on, where it may choose.
///
/// # Errors
///
/// The core was refused.
pub fn measure(sizes: &[usize]) -> Result<Record, Error> {
    let core = cores::any();
    if let Some(core) = core {
        cores::pin_to(core).map_err(failed)?;
    }
    let mut record = Record {
        bench: "aead",
        back_end: back_end(),
        core,
        batch: BATCH,
        results: Vec::new(),
        ratios: Vec::new(),
        sizes: sizes.to_vec(),
    };
    for &size in sizes {
        let figures = figures(size);
        record.ratios.extend(ratios(size, &figures));
        record.results.extend(figures);
    }
    Ok(record)
}

fn figures(size: usize) -> Vec<Figure> {
    let mut contenders = contenders::all(size);
    contenders.extend(peers::all(size));
    let times = contender::medians(&mut contenders);
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

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match self.core {
            Some(core) => format!("core {core}"),
            None => "not pinned to a core".to_owned(),
        };
        writeln!(f, "ChaCha20-BLAKE3, {}, {place}", self.back_end)?;
        for &size in &self.sizes {
            writeln!(f, "\n{size} bytes")?;
            for figure in self.results.iter().filter(|figure| figure.size == size) {
                let (ns, rate) = (figure.ns_per_message, figure.gigabytes_per_second);
                writeln!(f, "  {:<34}{ns:>12.1} ns{rate:>9.3} GB/s", figure.name)?;
            }
            for ratio in self.ratios.iter().filter(|ratio| ratio.size == size) {
                let (name, peer, ratio) = (ratio.name, ratio.peer, ratio.ratio);
                writeln!(f, "  {ratio:>6.2} x  {name} : {peer}")?;
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
