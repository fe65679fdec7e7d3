//! `sealwire bench mechanism`: what BLAKE3ZMQ and CURVE cost by themselves, in this process.
//!
//! Two protocol state machines hand their bytes to each other in memory: no socket, no queue, no
//! thread. Only the part over a Unix socket has a second thread and the system between them. All
//! mechanisms take turns. A build with libsodium has the operations of CURVE by it as well, and no
//! state machine around them.

mod in_memory;
mod pair;
#[cfg_attr(not(feature = "box-peers"), path = "no_peers.rs")]
mod peers;
#[cfg(unix)]
mod unix;

use std::fmt;

use sealwire_bench_measure::cores;
use sealwire_bench_measure::statistics::{median, rounded};
use serde::Serialize;

use crate::nacl::libsodium_version;
use crate::{Error, failed};
use in_memory::InMemory;
use pair::{Contender, Parties};

const BLAKE3: &str = "BLAKE3";
const CURVE: &str = "CURVE";
/// The operations of CURVE by libsodium.
const LIBSODIUM: &str = "CURVE, libsodium";

/// Nanoseconds of each mechanism.
type Times = Vec<(&'static str, f64)>;

/// Turns of each mechanism over a Unix socket.
const TURNS: usize = 5;
const SIZES: [usize; 8] = [
    64,
    256,
    1 << 10,
    4 << 10,
    16 << 10,
    64 << 10,
    128 << 10,
    256 << 10,
];
const UNIX_SIZES: [usize; 3] = [64, 1 << 10, 64 << 10];

/// What `--json` prints.
#[derive(Debug, Serialize)]
pub struct Record {
    bench: &'static str,
    /// `null` when not pinned.
    core: Option<usize>,
    /// Its version; `null` in a build without it.
    libsodium: Option<&'static str>,
    handshakes: u32,
    messages: u32,
    unix_messages: u32,
    results: Vec<Figure>,
    blake3_over_curve: Vec<Ratio>,
    /// Empty in a build without libsodium.
    blake3_over_libsodium: Vec<Ratio>,
}

/// The measurements of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Part {
    /// Both sides of a handshake.
    Handshake,
    Seal,
    Open,
    /// A handshake and messages over a Unix socket.
    Unix,
}

impl Part {
    fn name(self) -> &'static str {
        match self {
            Part::Handshake => "handshake, both sides",
            Part::Seal => "seal",
            Part::Open => "open",
            Part::Unix => "Unix socket, all of it",
        }
    }

    /// How many times this is done by one figure's unit.
    fn unit(self) -> &'static str {
        match self {
            Part::Handshake => "a handshake",
            Part::Seal | Part::Open => "a message",
            Part::Unix => "a connection",
        }
    }
}

#[derive(Debug, Serialize)]
struct Figure {
    mechanism: &'static str,
    part: Part,
    /// `null` for handshakes.
    size: Option<usize>,
    /// For one handshake, message or connection with its messages.
    nanoseconds: f64,
    /// Of these.
    per_second: f64,
    /// 10^6 bytes of payload; `null` for handshakes.
    megabytes_per_second: Option<f64>,
}

/// How many times as fast BLAKE3ZMQ is.
#[derive(Debug, Serialize)]
struct Ratio {
    part: Part,
    size: Option<usize>,
    ratio: f64,
}

/// How much of each is measured, none of it 0.
#[derive(Debug, Clone, Copy)]
pub struct Counts {
    /// Handshakes of each mechanism.
    pub handshakes: u32,
    /// Messages of each size that are sealed and opened.
    pub messages: u32,
    /// Messages that follow a handshake over a Unix socket.
    pub unix_messages: u32,
}

/// Measures all mechanisms. The thread stays on one core from then on, where it may choose.
///
/// # Errors
///
/// The system refused the core, random bytes or a Unix socket, or a connection failed.
pub fn measure(counts: Counts) -> Result<Record, Error> {
    // The second thread of the last part has a core of its own if there is one.
    let core = cores::any();
    let parties = Contender::ALL
        .into_iter()
        .map(Parties::new)
        .collect::<Result<Vec<_>, _>>()?;
    let mut record = Record {
        bench: "mechanism",
        core,
        libsodium: libsodium_version(),
        handshakes: counts.handshakes,
        messages: counts.messages,
        unix_messages: counts.unix_messages,
        results: Vec::new(),
        blake3_over_curve: Vec::new(),
        blake3_over_libsodium: Vec::new(),
    };
    #[cfg(unix)]
    for size in UNIX_SIZES {
        let times = unix::medians(&parties, size, counts.unix_messages as usize, TURNS)?;
        record.add(
            Part::Unix,
            Some(size),
            counts.unix_messages as usize,
            &times,
        );
    }
    if let Some(core) = core {
        cores::pin_to(core).map_err(failed)?;
    }
    let peers = peers::all();
    let ours = parties.iter().map(|parties| parties as &dyn InMemory);
    let all: Vec<_> = ours.chain(peers.iter().map(AsRef::as_ref)).collect();
    let times = in_memory::handshakes(&all, counts.handshakes as usize)?;
    record.add(Part::Handshake, None, 0, &times);
    for size in SIZES {
        let [seal, open] = in_memory::messages(&all, size, counts.messages as usize)?;
        record.add(Part::Seal, Some(size), 1, &seal);
        record.add(Part::Open, Some(size), 1, &open);
    }
    Ok(record)
}

/// The medians of each mechanism's samples.
fn medians(names: impl Iterator<Item = &'static str>, samples: Vec<Vec<f64>>) -> Times {
    names
        .zip(samples.iter().map(|samples| median(samples)))
        .collect()
}

impl Record {
    /// Notes what was measured of each mechanism, and how they compare.
    fn add(
        &mut self,
        part: Part,
        size: Option<usize>,
        messages: usize,
        times: &[(&'static str, f64)],
    ) {
        for &(mechanism, nanoseconds) in times {
            let megabytes = |size: usize| (size * messages) as f64 / nanoseconds * 1e3;
            self.results.push(Figure {
                mechanism,
                part,
                size,
                nanoseconds: rounded(nanoseconds, 1),
                per_second: rounded(1e9 / nanoseconds, 1),
                megabytes_per_second: size.map(|size| rounded(megabytes(size), 1)),
            });
        }
        let time = |name| {
            let found = times.iter().find(|(mechanism, _)| *mechanism == name);
            found.map(|&(_, nanoseconds)| nanoseconds)
        };
        let over = |other| {
            Some(Ratio {
                part,
                size,
                ratio: rounded(time(other)? / time(BLAKE3)?, 2),
            })
        };
        self.blake3_over_curve.extend(over(CURVE));
        self.blake3_over_libsodium.extend(over(LIBSODIUM));
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (handshakes, messages) = (self.handshakes, self.messages);
        writeln!(
            f,
            "BLAKE3ZMQ beside CURVE: {handshakes} handshakes, {messages} messages of each size, {} \
             over a Unix socket",
            self.unix_messages
        )?;
        if let Some(version) = self.libsodium {
            writeln!(
                f,
                "The first ratio is to Sealwire's CURVE, the second to its operations by libsodium \
                 {version}, without a state machine"
            )?;
        }
        writeln!(f)?;
        for ratio in &self.blake3_over_curve {
            let size = ratio
                .size
                .map_or_else(String::new, |size| format!("{size} B"));
            write!(f, "  {:<24}{size:>9}", ratio.part.name())?;
            let cell = (ratio.part, ratio.size);
            let same = |figure: &&Figure| (figure.part, figure.size) == cell;
            for figure in self.results.iter().filter(same) {
                let microseconds = figure.nanoseconds / 1e3;
                write!(f, "  {} {microseconds:>11.3} us", figure.mechanism)?;
            }
            write!(f, " {:<14}{:>6.2} x", ratio.part.unit(), ratio.ratio)?;
            let same = |ratio: &&Ratio| (ratio.part, ratio.size) == cell;
            if let Some(ratio) = self.blake3_over_libsodium.iter().find(same) {
                write!(f, " {:>6.2} x", ratio.ratio)?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
