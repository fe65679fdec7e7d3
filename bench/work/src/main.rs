//! Acknowledged work beside PUSH and PULL: this process hands out, workers are others.
//!
//! ```text
//! cargo run --release -p sealwire-bench-work -- [--rounds N] [--millis N] [--credit N] [--workers N]
//! ```
//!
//! In each round both have their turn, with new workers. Work counts once the distributor knows that it is done, a
//! message once its receiver has it. Both sides hold as many on the way: a distributor 1,000 tasks, PUSH its default of
//! 1,000 messages for each peer.

mod contenders;
mod side;

use std::time::Duration;

use sealwire_bench_measure::cores;
use sealwire_bench_measure::statistics::median;

use crate::contenders::Contender;

pub(crate) type Error = Box<dyn std::error::Error + Send + Sync>;

/// Bytes of a task or message.
pub(crate) const SIZE: usize = 1_024;
/// Numbers of workers.
const WORKERS: [usize; 2] = [1, 3];

struct Options {
    rounds: usize,
    turn: Duration,
    credit: u32,
    workers: Vec<usize>,
}

fn options() -> Result<Options, Error> {
    let mut options = Options {
        rounds: 5,
        turn: Duration::from_secs(2),
        credit: 64,
        workers: WORKERS.to_vec(),
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} takes a value"));
        match argument.as_str() {
            "--rounds" => options.rounds = value()?.parse::<usize>()?.max(1),
            "--millis" => options.turn = Duration::from_millis(value()?.parse()?),
            "--credit" => options.credit = value()?.parse()?,
            "--workers" => options.workers = vec![value()?.parse::<usize>()?.max(1)],
            _ => return Err(format!("unknown argument {argument}").into()),
        }
    }
    Ok(options)
}

fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() == Some("side") {
        return side::run(arguments);
    }
    let options = options()?;
    let [for_us, for_workers] = cores::two_apart().ok_or("there are not two cores to run on")?;
    cores::pin_to(for_us)?;
    let contenders = [Contender::Work(options.credit), Contender::Sockets];
    for &workers in &options.workers {
        let mut rates = [(); 2].map(|()| Vec::new());
        for _ in 0..options.rounds {
            for (contender, rates) in contenders.iter().zip(&mut rates) {
                rates.push(contender.rate(workers, for_workers, options.turn)?);
            }
        }
        let [work, sockets] = &rates;
        let mut ratios: Vec<f64> = work.iter().zip(sockets).map(|(a, b)| a / b).collect();
        ratios.sort_by(f64::total_cmp);
        println!(
            "{workers} worker{}: acknowledged work {:.0}/s, PUSH to PULL {:.0}/s, ratio {:.2} ({:.2} to {:.2})",
            if workers == 1 { "" } else { "s" },
            median(work),
            median(sockets),
            median(&ratios),
            ratios[0],
            ratios[ratios.len() - 1],
        );
    }
    Ok(())
}
