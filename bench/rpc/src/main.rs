//! `sealwire-rpc` beside gRPC over TLS, Sealwire's own sockets and bare TCP: two processes, one core
//! each, in turns; then, with both ends in one process, what monte's benchmarks do.
//!
//! ```text
//! cargo run --release -p sealwire-bench-rpc -- [--json] [--rounds N] [--millis N] [--only TEXT]
//!     [--monte TEST_BINARY] [--monte-processes PROGRAM]
//! ```
//!
//! `TEXT` is part of the names of what is to be measured: `one-way`, `64 in flight`, `in one process`.
//! `TEST_BINARY` is what `go test -c` makes of monte's tests, `PROGRAM` what `go build` makes of
//! `bench/rpc/monte`. Both are then measured in turns with ours.

mod bare;
mod grpc;
mod monte;
mod ours;
mod report;
mod shapes;
mod side;
mod sockets;

use std::time::Duration;

use report::Report;
use sealwire_bench_measure::cores;
use side::Side;

pub(crate) type Error = Box<dyn std::error::Error + Send + Sync>;

/// Body of a call, in bytes.
pub(crate) const CALL: usize = 64;
/// Body of a one-way message, and of all that monte's benchmarks send, in bytes.
pub(crate) const MESSAGE: usize = 1_400;
/// Calls at a time.
const DEPTHS: [usize; 3] = [1, 64, 1_024];

struct Options {
    json: bool,
    rounds: usize,
    turn: Duration,
    only: String,
    monte: Option<String>,
    monte_processes: Option<String>,
}

fn options() -> Result<Options, Error> {
    let mut options = Options {
        json: false,
        rounds: 7,
        turn: Duration::from_millis(400),
        only: String::new(),
        monte: None,
        monte_processes: None,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} takes a value"));
        match argument.as_str() {
            "--json" => options.json = true,
            "--rounds" => options.rounds = value()?.parse::<usize>()?.max(1),
            "--millis" => options.turn = Duration::from_millis(value()?.parse()?),
            "--only" => options.only = value()?,
            "--monte" => options.monte = Some(value()?),
            "--monte-processes" => options.monte_processes = Some(value()?),
            _ => return Err(format!("unknown argument {argument}").into()),
        }
    }
    Ok(options)
}

fn main() -> Result<(), Error> {
    if std::env::args().nth(1).as_deref() == Some("side") {
        return side::run();
    }
    let options = options()?;
    let mut report = Report::of(&options.only);
    between_processes(&options, &mut report)?;
    in_one_process(&options, &mut report)?;
    report.print(options.json)
}

fn between_processes(options: &Options, report: &mut Report) -> Result<(), Error> {
    let all = cores::allowed();
    let apart = all.first().copied().zip(all.last().copied());
    let (for_side, for_us) = apart.ok_or("no core to run on")?;
    // Threads that start now stay on the core that this thread is on now.
    cores::pin_to(for_side)?;
    let mut side = Side::start()?;
    let mut processes = options.monte_processes.as_deref();
    let mut monte_side = processes.map(monte::Server::start).transpose()?;
    cores::pin_to(for_us)?;

    let introduction = side.introduction.clone();
    let mut bare = bare::Client::connect(&introduction.bare_tcp)?;
    let ours = ours::Client::connect(&introduction)?;
    let mut grpc = grpc::Client::connect(&introduction)?;
    let push = sockets::Sender::connect(&introduction)?;
    for _ in 0..options.rounds {
        let turn = options.turn;
        report.measure("bare TCP, 64 B, one at a time", || bare.exchanges(turn))?;
        for depth in DEPTHS {
            let name = format!("sealwire-rpc, 64 B, {depth} in flight");
            report.measure(&name, || ours.calls(depth, turn))?;
            let name = format!("tonic, 64 B, {depth} in flight");
            report.measure(&name, || grpc.calls(depth, turn))?;
        }
        report.measure("sealwire-rpc, one-way, 1400 B", || {
            side.arrivals("ours", turn, |until| ours.one_way(until))
        })?;
        report.measure("PUSH and PULL, 1400 B", || {
            side.arrivals("sockets", turn, |until| push.send(until))
        })?;
        report.measure("tonic, streaming, 1400 B", || {
            side.arrivals("grpc", turn, |until| grpc.one_way(until))
        })?;
        if let Some((program, server)) = processes.zip(monte_side.as_mut()) {
            report.measure("monte, one-way, 1400 B", || server.one_way(program, turn))?;
            for depth in [1, 64] {
                let name = format!("monte, 64 B, {depth} in flight");
                report.measure(&name, || {
                    monte::calls(program, server.address(), depth, turn)
                })?;
            }
        }
    }
    processes = None;
    drop((monte_side, processes));
    cores::stay_on(&all)?;

    let calls = |depth| format!("sealwire-rpc, 64 B, {depth} in flight");
    report.ratio(
        "calls, 64 in flight: of tonic's",
        &calls(64),
        "tonic, 64 B, 64 in flight",
    );
    report.ratio(
        "calls, 1024 in flight: of tonic's",
        &calls(1_024),
        "tonic, 64 B, 1024 in flight",
    );
    report.ratio(
        "one at a time: time of bare TCP's",
        "bare TCP, 64 B, one at a time",
        &calls(1),
    );
    report.ratio(
        "one-way: of the sockets'",
        "sealwire-rpc, one-way, 1400 B",
        "PUSH and PULL, 1400 B",
    );
    report.ratio(
        "one-way: of tonic's",
        "sealwire-rpc, one-way, 1400 B",
        "tonic, streaming, 1400 B",
    );
    report.ratio(
        "one-way: of monte's",
        "sealwire-rpc, one-way, 1400 B",
        "monte, one-way, 1400 B",
    );
    report.ratio(
        "calls, 64 in flight: of monte's",
        &calls(64),
        "monte, 64 B, 64 in flight",
    );
    report.ratio(
        "one at a time: of monte's",
        &calls(1),
        "monte, 64 B, 1 in flight",
    );
    Ok(())
}

fn in_one_process(options: &Options, report: &mut Report) -> Result<(), Error> {
    const CALLERS_PART: &str =
        "sealwire-rpc, in one process, send without waiting, the caller's part";
    let shapes = shapes::Pair::new()?;
    for _ in 0..options.rounds {
        report.measure_time(CALLERS_PART, || shapes.measure_caller(options.turn))?;
        for shape in &shapes::SHAPES {
            let name = format!("sealwire-rpc, in one process, {}", shape.name);
            report.measure_time(&name, || shapes.measure(shape, options.turn))?;
        }
        let wanted = report.wants("monte, in one process, ");
        let monte = options.monte.as_deref().filter(|_| wanted);
        for (name, time) in monte::in_one_process(monte, options.turn)? {
            report.measure_time(&format!("monte, in one process, {name}"), || Ok(time))?;
        }
    }
    for shapes::Shape { name, .. } in shapes::SHAPES {
        let [ours, theirs] =
            ["sealwire-rpc", "monte"].map(|who| format!("{who}, in one process, {name}"));
        report.ratio(
            &format!("in one process, {name}: time of monte's"),
            &ours,
            &theirs,
        );
    }
    report.ratio(
        "in one process, send without waiting, the caller's part: time of monte's",
        CALLERS_PART,
        "monte, in one process, send without waiting",
    );
    Ok(())
}
