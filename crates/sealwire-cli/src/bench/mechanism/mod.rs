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

use std::io::{self, Write};

use clap::Args;
use sealwire_bench_measure::cores;
use sealwire_bench_measure::statistics::median;
use serde::Serialize;

use super::nacl::libsodium_version;
use super::result::rounded;
use crate::exit::{Code, Failure};
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

/// What `--json` prints.
#[derive(Serialize)]
struct Record {
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

/// What is measured of each.
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

#[derive(Serialize)]
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
#[derive(Serialize)]
struct Ratio {
    part: Part,
    size: Option<usize>,
    ratio: f64,
}

pub(super) fn run(options: &MechanismOptions) -> Result<(), Failure> {
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
        handshakes: options.handshakes,
        messages: options.messages,
        unix_messages: options.unix_messages,
        results: Vec::new(),
        blake3_over_curve: Vec::new(),
        blake3_over_libsodium: Vec::new(),
    };
    #[cfg(unix)]
    for size in UNIX_SIZES {
        let times = unix::medians(&parties, size, options.unix_messages as usize, TURNS)?;
        record.add(
            Part::Unix,
            Some(size),
            options.unix_messages as usize,
            &times,
        );
    }
    if let Some(core) = core {
        cores::pin_to(core).map_err(|error| Failure::new(Code::Failed, error))?;
    }
    let peers = peers::all();
    let ours = parties.iter().map(|parties| parties as &dyn InMemory);
    let all: Vec<_> = ours.chain(peers.iter().map(AsRef::as_ref)).collect();
    let times = in_memory::handshakes(&all, options.handshakes as usize)?;
    record.add(Part::Handshake, None, 0, &times);
    for size in SIZES {
        let [seal, open] = in_memory::messages(&all, size, options.messages as usize)?;
        record.add(Part::Seal, Some(size), 1, &seal);
        record.add(Part::Open, Some(size), 1, &open);
    }
    let print = |out: &mut dyn Write| {
        if options.json {
            serde_json::to_writer(&mut *out, &record)?;
            out.write_all(b"\n")
        } else {
            record.write_text(out)
        }
    };
    print(&mut io::stdout().lock()).map_err(|error| Failure::output(&error))
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

    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let (handshakes, messages) = (self.handshakes, self.messages);
        writeln!(
            out,
            "BLAKE3ZMQ beside CURVE: {handshakes} handshakes, {messages} messages of each size, {} \
             over a Unix socket",
            self.unix_messages
        )?;
        if let Some(version) = self.libsodium {
            writeln!(
                out,
                "The first ratio is to Sealwire's CURVE, the second to its operations by libsodium \
                 {version}, without a state machine"
            )?;
        }
        writeln!(out)?;
        for ratio in &self.blake3_over_curve {
            let size = ratio
                .size
                .map_or_else(String::new, |size| format!("{size} B"));
            write!(out, "  {:<24}{size:>9}", ratio.part.name())?;
            let cell = (ratio.part, ratio.size);
            let same = |figure: &&Figure| (figure.part, figure.size) == cell;
            for figure in self.results.iter().filter(same) {
                let microseconds = figure.nanoseconds / 1e3;
                write!(out, "  {} {microseconds:>11.3} us", figure.mechanism)?;
            }
            write!(out, " {:<14}{:>6.2} x", ratio.part.unit(), ratio.ratio)?;
            let same = |ratio: &&Ratio| (ratio.part, ratio.size) == cell;
            if let Some(ratio) = self.blake3_over_libsodium.iter().find(same) {
                write!(out, " {:>6.2} x", ratio.ratio)?;
            }
            writeln!(out)?;
        }
        Ok(())
    }
}
