//! `sealwire bench box`: NaCl's box, in one step and in two, in this process, on one core.
//!
//! ```text
//! one step    crypto_box             X25519, HSalsa20, XSalsa20-Poly1305      for every message
//! two steps   crypto_box_beforenm    X25519, HSalsa20                         once for each peer
//!             crypto_box_afternm     XSalsa20-Poly1305                        for every message
//! ```

mod contenders;
#[cfg_attr(not(feature = "box-peers"), path = "nacl/no_peers.rs")]
mod peers;

use std::io::{self, Write};
use std::iter;

use clap::Args;
use sealwire_bench_measure::cores;
use serde::Serialize;

use super::measure;
use super::result::rounded;
use crate::exit::{Code, Failure};
use contenders::{Boxed, ONE_STEP_OPEN, ONE_STEP_SEAL, TWO_STEP_OPEN, TWO_STEP_SEAL};
pub(super) use peers::version as libsodium_version;

/// Keeps the buffers of all contenders together below 128 MiB.
const MAX_SIZE: u32 = 4 << 20;

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

/// Why the table looks as it does.
const REASON: &str = "\
One step agrees on the key with X25519 for every message, and it is the same key each time. Only two
steps are fit for messages: agree once for each peer, as CURVE does in its handshake, and keep the
key. One step is for a single message, such as one to somebody who is offline.";

/// What `--json` prints.
#[derive(Serialize)]
struct Record {
    bench: &'static str,
    /// `null` when not pinned.
    core: Option<usize>,
    /// Its version; `null` in a build without it.
    libsodium: Option<&'static str>,
    results: Vec<Figure>,
    two_steps_over_one: Vec<Ratio>,
    /// Empty in a build without libsodium.
    over_libsodium: Vec<Ratio>,
}

/// One contender at one size.
#[derive(Serialize)]
struct Figure {
    name: &'static str,
    /// `null` for the agreement alone.
    steps: Option<u8>,
    /// `null` for the agreement alone.
    size: Option<usize>,
    ns_per_operation: f64,
    operations_per_second: f64,
}

/// How many times as fast.
#[derive(Serialize)]
struct Ratio {
    name: &'static str,
    than: &'static str,
    /// `null` for the agreement alone.
    size: Option<usize>,
    ratio: f64,
}

/// Two steps, then one.
const GAINS: &[(&str, &str)] = &[
    (TWO_STEP_SEAL, ONE_STEP_SEAL),
    (TWO_STEP_OPEN, ONE_STEP_OPEN),
];

pub(super) fn run(options: &BoxOptions) -> Result<(), Failure> {
    let core = cores::any();
    if let Some(core) = core {
        cores::pin_to(core).map_err(|error| Failure::new(Code::Failed, error))?;
    }
    let sizes = match &options.size[..] {
        [] => vec![64, 1 << 10, 64 << 10],
        sizes => sizes.iter().map(|&size| size as usize).collect(),
    };
    let mut record = Record {
        bench: "box",
        core,
        libsodium: peers::version(),
        results: Vec::new(),
        two_steps_over_one: Vec::new(),
        over_libsodium: Vec::new(),
    };
    let agreements = iter::once(contenders::agreement()).chain(peers::agreement());
    record.add(None, agreements.collect());
    for &size in &sizes {
        let mut boxes = contenders::all(size);
        boxes.extend(peers::all(size));
        record.add(Some(size), boxes);
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

fn figures(size: Option<usize>, boxes: Vec<Boxed>) -> Vec<Figure> {
    let (steps, mut contenders): (Vec<_>, Vec<_>) = boxes
        .into_iter()
        .map(|boxed| (boxed.steps, boxed.contender))
        .unzip();
    let times = measure::medians(&mut contenders);
    let figure = |((contender, steps), ns): ((&measure::Contender, Option<u8>), f64)| Figure {
        name: contender.name,
        steps,
        size,
        ns_per_operation: rounded(ns, 1),
        operations_per_second: rounded(1e9 / ns, 0),
    };
    contenders
        .iter()
        .zip(steps)
        .zip(times)
        .map(figure)
        .collect()
}

/// How many times as fast the first of each two is, of those that were measured.
fn ratios<'a>(
    size: Option<usize>,
    figures: &'a [Figure],
    pairs: &'a [(&'static str, &'static str)],
) -> impl Iterator<Item = Ratio> + 'a {
    let time = |name| {
        let figure = figures.iter().find(|figure| figure.name == name);
        figure.map(|figure| figure.ns_per_operation)
    };
    pairs.iter().filter_map(move |&(name, than)| {
        Some(Ratio {
            name,
            than,
            size,
            ratio: rounded(time(than)? / time(name)?, 2),
        })
    })
}

impl Record {
    /// Measures these, which take turns.
    fn add(&mut self, size: Option<usize>, boxes: Vec<Boxed>) {
        let figures = figures(size, boxes);
        for pairs in [GAINS, peers::GAINS] {
            self.two_steps_over_one
                .extend(ratios(size, &figures, pairs));
        }
        self.over_libsodium
            .extend(ratios(size, &figures, peers::COMPARISONS));
        self.results.extend(figures);
    }

    fn write_text(&self, out: &mut dyn Write, sizes: &[usize]) -> io::Result<()> {
        let place = match self.core {
            Some(core) => format!("core {core}"),
            None => "not pinned to a core".to_owned(),
        };
        write!(out, "NaCl's box, {place}")?;
        match self.libsodium {
            Some(version) => writeln!(out, ", beside libsodium {version}\n")?,
            None => writeln!(out, "\n")?,
        }
        self.write_figures(out, None)?;
        for &size in sizes {
            writeln!(out, "\n{size} bytes")?;
            self.write_figures(out, Some(size))?;
        }
        writeln!(out, "\n{REASON}")
    }

    fn write_figures(&self, out: &mut dyn Write, size: Option<usize>) -> io::Result<()> {
        for figure in self.results.iter().filter(|figure| figure.size == size) {
            let (ns, rate) = (figure.ns_per_operation, figure.operations_per_second);
            writeln!(out, "  {:<34}{ns:>12.1} ns{rate:>12.0} /s", figure.name)?;
        }
        let ratios = self.two_steps_over_one.iter().chain(&self.over_libsodium);
        for ratio in ratios.filter(|ratio| ratio.size == size) {
            let (name, than, ratio) = (ratio.name, ratio.than, ratio.ratio);
            writeln!(out, "  {ratio:>7.2} x  {name} : {than}")?;
        }
        Ok(())
    }
}
