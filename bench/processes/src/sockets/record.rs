//! A measurement, on its way from the measuring process to the user.

use std::fmt;

use sealwire_bench_measure::statistics::rounded;
use serde::{Deserialize, Serialize};

use super::{Kind, Load};

/// What the measuring side prints for the process that started it.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Measured {
    /// Messages, round trips or handshakes within the time.
    pub(super) count: u64,
    /// The time, in seconds.
    pub(super) seconds: f64,
    /// Of a round trip, in microseconds.
    pub(super) p50_us: Option<f64>,
    /// Of a round trip, in microseconds.
    pub(super) p99_us: Option<f64>,
}

impl Measured {
    fn per_second(&self) -> f64 {
        if self.seconds > 0.0 {
            self.count as f64 / self.seconds
        } else {
            0.0
        }
    }
}

/// What `--json` prints. What does not apply is left out.
#[derive(Debug, Serialize)]
pub struct Record {
    bench: &'static str,
    mechanism: &'static str,
    pattern: &'static str,
    /// Not of handshakes.
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<usize>,
    seconds: f64,
    messages: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    messages_per_second: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    megabytes_per_second: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    p50_us: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    p99_us: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    handshakes_per_second: Option<f64>,
    /// The cores of the two processes; `null` when they were not pinned.
    cores: Option<[usize; 2]>,
}

impl Record {
    pub(super) fn new(load: &Load, cores: Option<[usize; 2]>, measured: &Measured) -> Self {
        let rate = measured.per_second();
        let handshakes = load.kind == Kind::Handshake;
        let megabytes = rate * load.size as f64 / 1e6;
        Record {
            bench: load.kind.name(),
            mechanism: load.mechanism.name(),
            pattern: load.pattern.name(),
            size: (!handshakes).then_some(load.size),
            seconds: rounded(measured.seconds, 6),
            messages: measured.count,
            messages_per_second: (!handshakes).then(|| rounded(rate, 1)),
            megabytes_per_second: (!handshakes).then(|| rounded(megabytes, 3)),
            p50_us: measured.p50_us,
            p99_us: measured.p99_us,
            handshakes_per_second: handshakes.then(|| rounded(rate, 1)),
            cores,
        }
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match self.cores {
            Some([server, client]) => format!("cores {server} and {client}"),
            None => "not pinned to cores".to_owned(),
        };
        let size = match self.size {
            Some(size) => format!(", {size} bytes"),
            None => String::new(),
        };
        writeln!(
            f,
            "{}, {}, {}{size}: {:.2} s, {place}",
            self.bench, self.mechanism, self.pattern, self.seconds
        )?;
        if let (Some(p50), Some(p99)) = (self.p50_us, self.p99_us) {
            writeln!(f, "  {:>14} round trips", self.messages)?;
            writeln!(f, "  {p50:>14.1} us median")?;
            return writeln!(f, "  {p99:>14.1} us 99th percentile");
        }
        if let Some(rate) = self.handshakes_per_second {
            return writeln!(f, "  {rate:>14.0} handshakes/s");
        }
        if let Some(rate) = self.messages_per_second {
            writeln!(f, "  {rate:>14.0} messages/s")?;
        }
        if let Some(rate) = self.megabytes_per_second {
            writeln!(f, "  {rate:>14.1} MB/s")?;
        }
        Ok(())
    }
}
