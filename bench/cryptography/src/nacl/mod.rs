//! `sealwire bench box`: NaCl's box, in one step and in two, in this process, on one core.
//!
//! ```text
//! one step    crypto_box             X25519, HSalsa20, XSalsa20-Poly1305      for every message
//! two steps   crypto_box_beforenm    X25519, HSalsa20                         once for each peer
//!             crypto_box_afternm     XSalsa20-Poly1305                        for every message
//! ```

mod contenders;
#[cfg_attr(not(feature = "box-peers"), path = "no_peers.rs")]
mod peers;

use std::{fmt, iter};

use sealwire_bench_measure::cores;
use sealwire_bench_measure::statistics::rounded;
use serde::Serialize;

use crate::contender::{self, Contender};
use crate::{Error, failed};
use contenders::{Boxed, ONE_STEP_OPEN, ONE_STEP_SEAL, TWO_STEP_OPEN, TWO_STEP_SEAL};
pub(crate) use peers::version as libsodium_version;

/// Largest message, in bytes: keeps the buffers of all contenders together below 128 MiB.
pub const MAX_SIZE: u32 = 4 << 20;

/// Why the table looks as it does.
const REASON: &str = "\
One step agrees on the key with X25519 for every message, and it is the same key each time. Only two
steps are fit for messages: agree once for each peer, as CURVE does in its handshake, and keep the
key. One step is for a single message, such as one to somebody who is offline.";

/// What `--json` prints.
#[derive(Debug, Serialize)]
pub struct Record {
    bench: &'static str,
    /// `null` when not pinned.
    core: Option<usize>,
    /// Its version; `null` in a build without it.
    libsodium: Option<&'static str>,
    results: Vec<Figure>,
    two_steps_over_one: Vec<Ratio>,
    /// Empty in a build without libsodium.
    over_libsodium: Vec<Ratio>,
    #[serde(skip)]
    sizes: Vec<usize>,
}

/// One contender at one size.
#[derive(Debug, Serialize)]
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
#[derive(Debug, Serialize)]
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

/// The sizes that are measured where none are given, in bytes.
pub const SIZES: &[usize] = &[64, 1 << 10, 64 << 10];

/// Measures the agreement, and boxes of messages of these sizes in bytes, none above [`MAX_SIZE`]. The
/// thread stays on one core from then on, where it may choose.
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
        bench: "box",
        core,
        libsodium: peers::version(),
        results: Vec::new(),
        two_steps_over_one: Vec::new(),
        over_libsodium: Vec::new(),
        sizes: sizes.to_vec(),
    };
    let agreements = iter::once(contenders::agreement()).chain(peers::agreement());
    record.add(None, agreements.collect());
    for &size in sizes {
        let mut boxes = contenders::all(size);
        boxes.extend(peers::all(size));
        record.add(Some(size), boxes);
    }
    Ok(record)
}

fn figures(size: Option<usize>, boxes: Vec<Boxed>) -> Vec<Figure> {
    let (steps, mut contenders): (Vec<_>, Vec<_>) = boxes
        .into_iter()
        .map(|boxed| (boxed.steps, boxed.contender))
        .unzip();
    let times = contender::medians(&mut contenders);
    let figure = |((contender, steps), ns): ((&Contender, Option<u8>), f64)| Figure {
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

    fn write_figures(&self, f: &mut fmt::Formatter<'_>, size: Option<usize>) -> fmt::Result {
        for figure in self.results.iter().filter(|figure| figure.size == size) {
            let (ns, rate) = (figure.ns_per_operation, figure.operations_per_second);
            writeln!(f, "  {:<34}{ns:>12.1} ns{rate:>12.0} /s", figure.name)?;
        }
        let ratios = self.two_steps_over_one.iter().chain(&self.over_libsodium);
        for ratio in ratios.filter(|ratio| ratio.size == size) {
            let (name, than, ratio) = (ratio.name, ratio.than, ratio.ratio);
            writeln!(f, "  {ratio:>7.2} x  {name} : {than}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match self.core {
            Some(core) => format!("core {core}"),
            None => "not pinned to a core".to_owned(),
        };
        write!(f, "NaCl's box, {place}")?;
        match self.libsodium {
            Some(version) => writeln!(f, ", beside libsodium {version}\n")?,
            None => writeln!(f, "\n")?,
        }
        self.write_figures(f, None)?;
        for &size in &self.sizes {
            writeln!(f, "\n{size} bytes")?;
            self.write_figures(f, Some(size))?;
        }
        writeln!(f, "\n{REASON}")
    }
}
