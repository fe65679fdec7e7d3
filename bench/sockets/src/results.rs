//! Figures, kept in a file: each run replaces the cells that it measured.

use std::fs;
use std::path::Path;

use sealwire_bench_measure::statistics::median;
use serde::{Deserialize, Serialize};

use crate::Outcome;

#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Results {
    pub(crate) machine: String,
    pub(crate) date: String,
    /// Libraries with their versions.
    pub(crate) versions: Vec<String>,
    pub(crate) figures: Vec<Figure>,
}

/// What one contender reached in one cell.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Figure {
    pub(crate) table: String,
    pub(crate) column: usize,
    pub(crate) contender: String,
    /// One for each round: what the table shows first.
    pub(crate) samples: Vec<f64>,
    /// The number behind it: the 99th percentile, or the memory of a used connection.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) second: Vec<f64>,
}

impl Results {
    pub(crate) fn load(path: &Path) -> Outcome<Self> {
        Ok(serde_json::from_str(&fs::read_to_string(path)?)?)
    }

    pub(crate) fn save(&self, path: &Path) -> Outcome<()> {
        let mut text = String::from("{\n");
        let line = |name: &str, value: &str| format!("\"{name}\": {value}");
        text += &line("machine", &serde_json::to_string(&self.machine)?);
        text += ",\n";
        text += &line("date", &serde_json::to_string(&self.date)?);
        text += ",\n";
        text += &line("versions", &serde_json::to_string(&self.versions)?);
        text += ",\n\"figures\": [\n";
        let figures = self.figures.iter().map(serde_json::to_string);
        text += &figures.collect::<Result<Vec<_>, _>>()?.join(",\n");
        text += "\n]\n}\n";
        Ok(fs::write(path, text)?)
    }

    pub(crate) fn put(&mut self, figure: Figure) {
        self.figures.retain(|kept| !kept.is_same_cell(&figure));
        self.figures.push(figure);
    }

    pub(crate) fn find(&self, table: &str, column: usize, contender: &str) -> Option<&Figure> {
        self.figures.iter().find(|figure| {
            figure.table == table && figure.column == column && figure.contender == contender
        })
    }
}

impl Figure {
    fn is_same_cell(&self, other: &Figure) -> bool {
        (&self.table, self.column, &self.contender)
            == (&other.table, other.column, &other.contender)
    }

    pub(crate) fn median(&self) -> f64 {
        median(&self.samples)
    }

    pub(crate) fn second_median(&self) -> Option<f64> {
        (!self.second.is_empty()).then(|| median(&self.second))
    }

    /// Half the distance between the extremes, as a part of the median.
    pub(crate) fn spread(&self) -> f64 {
        let least = self.samples.iter().copied().fold(f64::INFINITY, f64::min);
        let most = self.samples.iter().copied().fold(0.0, f64::max);
        (most - least) / 2.0 / self.median()
    }
}
