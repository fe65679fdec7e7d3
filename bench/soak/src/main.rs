//! A server for hours: a thousand clients come and go, keys change, some peers stop reading, strangers connect and say
//! nothing. Memory, descriptors and threads have to stay flat, and every message is accounted for.
//!
//! ```text
//! cargo run --release -p sealwire-bench-soak -- run [--minutes N] [--clients N] [--rotate SECONDS] [--seed N] [--samples FILE]
//! cargo run --release -p sealwire-bench-soak -- plot FILE PLOT.svg
//! ```
//!
//! This process serves, another one has the clients: each can be seen for itself. The program ends with 1 if a message is not
//! accounted for.

mod clients;
mod keys;
mod ledger;
mod message;
mod plot;
mod report;
mod sample;
mod server;
mod slot;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

pub(crate) type Error = Box<dyn std::error::Error + Send + Sync>;

pub(crate) struct Options {
    pub(crate) length: Duration,
    pub(crate) clients: usize,
    pub(crate) rotate: Duration,
    pub(crate) seed: u64,
    pub(crate) samples: PathBuf,
}

fn options(mut arguments: impl Iterator<Item = String>) -> Result<Options, Error> {
    let mut options = Options {
        length: Duration::from_secs(60 * 60),
        clients: 1_000,
        rotate: Duration::from_secs(60),
        seed: 1,
        samples: PathBuf::from("soak.csv"),
    };
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} takes a value"));
        match argument.as_str() {
            "--minutes" => {
                options.length = Duration::from_secs(value()?.parse::<u64>()?.max(1) * 60)
            }
            "--clients" => options.clients = value()?.parse::<usize>()?.max(1),
            "--rotate" => options.rotate = Duration::from_secs(value()?.parse::<u64>()?.max(1)),
            "--seed" => options.seed = value()?.parse()?,
            "--samples" => options.samples = value()?.into(),
            _ => return Err(format!("unknown argument {argument}").into()),
        }
    }
    Ok(options)
}

fn main() -> Result<ExitCode, Error> {
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some("run") => server::run(&options(arguments)?),
        Some("clients") => clients::run(arguments).map(|()| ExitCode::SUCCESS),
        Some("plot") => {
            let (Some(samples), Some(to)) = (arguments.next(), arguments.next()) else {
                return Err("plot takes the file of samples and the file of the plot".into());
            };
            let samples = sample::read(&samples)?;
            std::fs::write(to, plot::plot(&samples))?;
            Ok(ExitCode::SUCCESS)
        }
        _ => Err("run or plot: see the first lines of src/main.rs".into()),
    }
}
