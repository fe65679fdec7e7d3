//! The table, in Markdown.

use std::fmt;
use std::fs;

use sealwire_bench_measure::statistics::median;

use crate::cells::Cell;

/// The counts of a cell, in instructions for each message.
pub(crate) struct Row {
    pub(crate) cell: Cell,
    /// Of this build and of the one it is compared with.
    counts: [Vec<f64>; 2],
}

impl Row {
    pub(crate) fn new(cell: Cell) -> Self {
        Row {
            cell,
            counts: [Vec::new(), Vec::new()],
        }
    }

    pub(crate) fn add(&mut self, build: usize, instructions: f64) {
        let counts = &mut self.counts[build];
        let place = counts.partition_point(|count| *count < instructions);
        counts.insert(place, instructions);
    }

    fn median(&self, build: usize) -> f64 {
        median(&self.counts[build])
    }

    /// From the smallest count to the largest, in per cent of the median.
    fn spread(&self, build: usize) -> f64 {
        let counts = &self.counts[build];
        (counts[counts.len() - 1] - counts[0]) / self.median(build) * 100.0
    }
}

pub(crate) struct Table {
    /// Of valgrind.
    pub(crate) version: String,
    pub(crate) rounds: u32,
    /// Whether there are counts of another build.
    pub(crate) compared: bool,
    pub(crate) rows: Vec<Row>,
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (processor, version, rounds) = (processor(), &self.version, self.rounds);
        writeln!(
            f,
            "{processor}, {version}, median of {rounds}; instructions for each message\n"
        )?;
        if self.compared {
            writeln!(f, "| | this build | spread | against | spread | ratio |")?;
            writeln!(f, "|---|---:|---:|---:|---:|---:|")?;
        } else {
            writeln!(f, "| | instructions | spread |\n|---|---:|---:|")?;
        }
        for row in &self.rows {
            write!(
                f,
                "| {} | {:.0} | {:.2} % |",
                row.cell,
                row.median(0),
                row.spread(0)
            )?;
            if self.compared {
                let ratio = row.median(0) / row.median(1);
                write!(
                    f,
                    " {:.0} | {:.2} % | {ratio:.3} |",
                    row.median(1),
                    row.spread(1)
                )?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

/// The model of the processor, as the system calls it.
fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    model
        .map_or("unknown processor", |(_, model)| model)
        .to_owned()
}
