//! Medians over the rounds, how far they lie apart, and ratios.

use sealwire_bench_measure::statistics::median;
use serde::Serialize;

use crate::Error;

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Unit {
    PerSecond,
    Nanoseconds,
}

struct Series {
    what: String,
    unit: Unit,
    rounds: Vec<f64>,
}

#[derive(Serialize)]
struct Line<'a> {
    what: &'a str,
    unit: Unit,
    median: f64,
    lowest: f64,
    highest: f64,
    rounds: usize,
}

#[derive(Serialize)]
struct Ratio {
    ratio: String,
    median: f64,
    lowest: f64,
    highest: f64,
}

#[derive(Default)]
pub(crate) struct Report {
    /// Part of the names of what is measured.
    only: String,
    series: Vec<Series>,
    ratios: Vec<Ratio>,
}

fn summary(values: &[f64]) -> (f64, f64, f64) {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    (median(values), sorted[0], sorted[sorted.len() - 1])
}

impl Report {
    /// Takes only what has this in its name.
    pub(crate) fn of(only: &str) -> Self {
        Report {
            only: only.to_owned(),
            ..Report::default()
        }
    }

    /// Whether anything whose name begins like this is taken.
    pub(crate) fn wants(&self, beginning: &str) -> bool {
        beginning.contains(&self.only)
    }

    /// Measures how many there are in a second, unless something else is wanted.
    pub(crate) fn measure(
        &mut self,
        what: &str,
        rate: impl FnOnce() -> Result<f64, Error>,
    ) -> Result<(), Error> {
        self.add(what, Unit::PerSecond, rate)
    }

    /// Measures the nanoseconds that one takes, likewise.
    pub(crate) fn measure_time(
        &mut self,
        what: &str,
        time: impl FnOnce() -> Result<f64, Error>,
    ) -> Result<(), Error> {
        self.add(what, Unit::Nanoseconds, time)
    }

    fn add(
        &mut self,
        what: &str,
        unit: Unit,
        measure: impl FnOnce() -> Result<f64, Error>,
    ) -> Result<(), Error> {
        if !what.contains(&self.only) {
            return Ok(());
        }
        let value = measure()?;
        match self.series.iter_mut().find(|series| series.what == what) {
            Some(series) => series.rounds.push(value),
            None => self.series.push(Series {
                what: what.to_owned(),
                unit,
                rounds: vec![value],
            }),
        }
        Ok(())
    }

    /// One by the other, round by round; nothing if one of both was not measured.
    pub(crate) fn ratio(&mut self, ratio: &str, one: &str, other: &str) {
        let rounds = |what| {
            let found = self.series.iter().find(|series| series.what == what);
            found.map_or(&[][..], |series| &series.rounds)
        };
        let ratios: Vec<f64> = rounds(one)
            .iter()
            .zip(rounds(other))
            .map(|(a, b)| a / b)
            .collect();
        if !ratios.is_empty() {
            let (median, lowest, highest) = summary(&ratios);
            self.ratios.push(Ratio {
                ratio: ratio.to_owned(),
                median,
                lowest,
                highest,
            });
        }
    }

    pub(crate) fn print(&self, json: bool) -> Result<(), Error> {
        for series in &self.series {
            let (median, lowest, highest) = summary(&series.rounds);
            let line = Line {
                what: &series.what,
                unit: series.unit,
                median,
                lowest,
                highest,
                rounds: series.rounds.len(),
            };
            if json {
                println!("{}", serde_json::to_string(&line)?);
                continue;
            }
            let unit = match series.unit {
                Unit::PerSecond => "/s",
                Unit::Nanoseconds => "ns",
            };
            let what = &series.what;
            println!("{what:<56} {median:>10.0} {unit}  ({lowest:.0} to {highest:.0})");
        }
        for ratio in &self.ratios {
            if json {
                println!("{}", serde_json::to_string(ratio)?);
                continue;
            }
            let Ratio {
                ratio,
                median,
                lowest,
                highest,
            } = ratio;
            println!("{ratio:<56} {median:>10.2}     ({lowest:.2} to {highest:.2})");
        }
        Ok(())
    }
}
