//! Counts every cell, of this build and of one to compare it with.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::Outcome;
use crate::callgrind;
use crate::cells::Cell;
use crate::table::{Row, Table};

/// Messages of the two counts, the difference of which is divided by that of the messages.
const FEW: u64 = 20_000;
const MANY: u64 = 120_000;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Another build of this program to compare with
    #[arg(long, value_name = "BINARY")]
    against: Option<PathBuf>,

    /// Counts of each cell; the median is printed, and how far apart they lie
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,

    /// Where the profiles of the last round are written, for callgrind_annotate
    #[arg(long, value_name = "FOLDER", default_value = "target/instructions")]
    profiles: PathBuf,
}

pub(crate) fn run(options: &Options) -> Outcome<()> {
    let version = callgrind::version()?;
    let mut builds = vec![("this", env::current_exe()?)];
    builds.extend(options.against.clone().map(|binary| ("against", binary)));
    let mut rows: Vec<Row> = Cell::all().into_iter().map(Row::new).collect();
    for round in 1..=options.rounds {
        for row in &mut rows {
            for (build, (name, program)) in builds.iter().enumerate() {
                let profiles = options.profiles.join(name);
                let instructions = per_message(program, row.cell, &profiles)?;
                eprintln!("round {round}, {}, {name}: {instructions:.1}", row.cell);
                row.add(build, instructions);
            }
        }
    }
    let table = Table {
        version,
        rounds: options.rounds,
        compared: options.against.is_some(),
        rows,
    };
    print!("{table}");
    Ok(())
}

fn per_message(program: &Path, cell: Cell, profiles: &Path) -> Outcome<f64> {
    fs::create_dir_all(profiles)?;
    let count = |messages| {
        let Cell { size, side, .. } = cell;
        let mechanism = cell.mechanism.argument();
        let file = format!("{mechanism}-{size}-{side}-{messages}.callgrind");
        callgrind::count(program, cell, messages, &profiles.join(file))
    };
    let (few, many) = (count(FEW)?, count(MANY)?);
    Ok((many as f64 - few as f64) / (MANY - FEW) as f64)
}
