//! Starts the processes, in rounds, and keeps what they found.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use std::{env, process, thread};

use clap::Args;
use sealwire_bench_measure::cores;
use serde::de::DeserializeOwned;

use crate::cells::{PLANS, Plan, Table, Unit};
use crate::contender::{Contender, Library};
use crate::installed::Installed;
use crate::results::{Figure, Results};
use crate::side::Introduction;
use crate::task::{Role, Work};
use crate::work::Measured;
use crate::{Outcome, machine, render};

/// How long one measurement may take beside its turn before its processes are ended.
const TIMEOUT: Duration = Duration::from_secs(10);
/// More of it for each connection that has to be made first.
const TIMEOUT_PER_PEER: Duration = Duration::from_millis(3);
/// How long a process may take to end once it was told to.
const PARTING: Duration = Duration::from_millis(500);
const QUICK_ROUNDS: usize = 3;
const QUICK_MS: u64 = 300;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Tables to measure [default: all]
    #[arg(long = "table", value_enum)]
    tables: Vec<Table>,

    /// Columns to measure: sizes in bytes, or numbers of peers [default: all]
    #[arg(long = "column")]
    columns: Vec<usize>,

    /// Contenders to measure, such as "libzmq curve" [default: all]
    #[arg(long = "contender")]
    contenders: Vec<Contender>,

    /// Turns of each contender in each cell
    #[arg(long, default_value_t = 5)]
    rounds: usize,

    /// Length of a turn in milliseconds, after a warm-up of a third of it
    #[arg(long, default_value_t = 600)]
    turn: u64,

    /// Three rounds of 300 ms
    #[arg(long)]
    quick: bool,

    /// Our libzmq.so.5, for the contenders that run on it
    #[arg(long, default_value = "target/release/libsealwire_libzmq.so")]
    libzmq_library: PathBuf,

    /// Print the figures as one JSON object
    #[arg(long)]
    json: bool,

    /// Keep the figures in this file; those of other cells stay in it
    #[arg(long)]
    out: Option<PathBuf>,
}

pub(crate) fn run(options: &Options) -> Outcome<()> {
    let mut results = match &options.out {
        Some(path) if path.exists() => Results::load(path)?,
        _ => Results::default(),
    };
    let mut now = Results::default();
    for plan in PLANS {
        if !options.tables.is_empty() && !options.tables.contains(&plan.table) {
            continue;
        }
        for &column in plan.columns {
            if options.columns.is_empty() || options.columns.contains(&column) {
                for figure in measure(plan, column, options)? {
                    results.put(figure.clone());
                    now.put(figure);
                }
            }
        }
        if !options.json {
            print!(
                "{}\n{}",
                plan.heading(),
                render::table(plan, &now, |_| true)
            );
        }
    }
    if !options.json {
        print!("{}", render::ratios(&now));
    }
    for results in [&mut results, &mut now] {
        results.machine = machine::describe();
        results.date = machine::today()?;
        results.versions = versions();
    }
    if options.json {
        println!("{}", serde_json::to_string(&now)?);
    }
    match &options.out {
        Some(path) => results.save(path),
        None => Ok(()),
    }
}

/// One cell: every contender in turn, round by round. One that fails is left out, by name.
fn measure(plan: &Plan, column: usize, options: &Options) -> Outcome<Vec<Figure>> {
    let (rounds, turn) = match options.quick {
        true => (QUICK_ROUNDS, QUICK_MS),
        false => (options.rounds, options.turn),
    };
    let chosen = |contender: &&Contender| {
        options.contenders.is_empty() || options.contenders.contains(contender)
    };
    let contenders: Vec<_> = plan.contenders.iter().filter(chosen).collect();
    let mut figures: Vec<_> = contenders
        .iter()
        .map(|contender| Figure {
            table: plan.slug(),
            column,
            contender: contender.to_string(),
            samples: Vec::new(),
            second: Vec::new(),
        })
        .collect();
    let rounds = if plan.work == Work::Idle { 1 } else { rounds };
    let mut failed = vec![false; contenders.len()];
    for _ in 0..rounds {
        for ((contender, figure), failed) in contenders.iter().zip(&mut figures).zip(&mut failed) {
            if *failed {
                continue;
            }
            match turn_of(**contender, plan, column, turn, &options.libzmq_library) {
                Ok(measured) => {
                    let (first, second) = match plan.unit() {
                        Unit::PerSecond => (measured.per_second, None),
                        Unit::Microseconds => (measured.p50_us, measured.p99_us),
                        Unit::Bytes => (
                            measured.bytes_per_connection,
                            measured.bytes_per_used_connection,
                        ),
                    };
                    figure.samples.extend(first);
                    figure.second.extend(second);
                }
                Err(error) => {
                    // It would take as long to fail in every round.
                    *failed = true;
                    eprintln!("{contender}, {}: {error}", plan.column_name(column));
                }
            }
        }
    }
    let figures = figures.into_iter().zip(failed);
    Ok(figures
        .filter(|(figure, failed)| !failed && !figure.samples.is_empty())
        .map(|(figure, _)| figure)
        .collect())
}

fn turn_of(
    contender: Contender,
    plan: &Plan,
    column: usize,
    turn: u64,
    libzmq_library: &Path,
) -> Outcome<Measured> {
    let installed = match contender.client() {
        Library::SealwireAsLibzmq => Some(Installed::new(libzmq_library)?),
        _ => None,
    };
    let environment = |role| {
        installed.as_ref().map_or_else(Vec::new, |installed| {
            installed.environment(role, contender.mechanism)
        })
    };
    let [first, last] = cores::two_apart().ok_or("two cores are needed")?;
    let (size, peers) = plan.shape(column);
    let timeout =
        TIMEOUT + Duration::from_millis(turn) * 2 + TIMEOUT_PER_PEER * peers.min(20_000) as u32;
    let arguments = |role: Role, library: Library, core: usize, endpoint: &str| {
        [
            name_of(&plan.work),
            name_of(&role),
            format!("--library={}", name_of(&library)),
            format!("--mechanism={}", name_of(&contender.mechanism)),
            format!("--size={size}"),
            format!("--peers={peers}"),
            format!("--time-ms={turn}"),
            format!("--warm-up-ms={}", turn / 3),
            format!("--core={core}"),
            format!("--endpoint={endpoint}"),
        ]
        .to_vec()
    };
    if plan.endpoint.starts_with("inproc") {
        let library = contender.server();
        let mut both = Side::start(
            arguments(Role::Both, library, last, plan.endpoint),
            environment(Role::Both),
        )?;
        return both.read(timeout);
    }
    let directory = env::temp_dir().join(format!("sealwire-bench-{}", process::id()));
    let socket_file = directory.join("socket");
    let endpoint = if plan.endpoint == "ipc://" {
        std::fs::create_dir_all(&directory)?;
        let _ = std::fs::remove_file(&socket_file);
        format!("ipc://{}", socket_file.display())
    } else {
        plan.endpoint.to_owned()
    };
    let server_core = if plan.one_core { first } else { last };
    let server_arguments = arguments(Role::Server, contender.server(), server_core, &endpoint);
    let mut server = Side::start(server_arguments, environment(Role::Server))?;
    let introduction: Introduction = server.read(timeout)?;
    let mut client_arguments = arguments(
        Role::Client,
        contender.client(),
        first,
        &introduction.endpoint,
    );
    client_arguments.push(format!("--key={}", introduction.key));
    client_arguments.push(format!("--control={}", introduction.control));
    let mut client = Side::start(client_arguments, environment(Role::Client))?;
    let measured = match plan.work {
        Work::PushPull | Work::Idle => server.read(timeout),
        _ => client.read(timeout),
    };
    drop((client, server));
    let _ = std::fs::remove_dir_all(directory);
    measured
}

fn name_of(value: &impl clap::ValueEnum) -> String {
    let value = value.to_possible_value();
    value.map_or_else(String::new, |value| value.get_name().to_owned())
}

/// A process that was started.
struct Side {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: mpsc::Receiver<String>,
}

impl Side {
    fn start(arguments: Vec<String>, environment: Vec<(&str, String)>) -> Outcome<Self> {
        let mut child = Command::new(env::current_exe()?)
            .arg("side")
            .args(arguments)
            .envs(environment)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let stdout = child.stdout.take().ok_or("no output to read")?;
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || forward(stdout, &sender));
        Ok(Side {
            stdin: child.stdin.take(),
            child,
            lines,
        })
    }

    fn read<T: DeserializeOwned>(&mut self, timeout: Duration) -> Outcome<T> {
        match self.lines.recv_timeout(timeout) {
            Ok(line) => Ok(serde_json::from_str(&line)?),
            Err(mpsc::RecvTimeoutError::Timeout) => {
                Err(format!("nothing within {} s", timeout.as_secs()).into())
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => Err("its process ended".into()),
        }
    }
}

fn forward(stdout: ChildStdout, lines: &mpsc::Sender<String>) {
    for line in BufReader::new(stdout).lines().map_while(Result::ok) {
        if lines.send(line).is_err() {
            return;
        }
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        // Its sign to end; a process that hangs does not hear it.
        drop(self.stdin.take());
        let deadline = Instant::now() + PARTING;
        // What it writes to ends with it.
        while self
            .lines
            .recv_timeout(deadline.saturating_duration_since(Instant::now()))
            .is_ok()
        {}
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// From the lock file that this program was built with.
fn versions() -> Vec<String> {
    const LOCK: &str = include_str!("../../Cargo.lock");
    let (major, minor, patch) = zmq::version();
    let mut versions = vec![format!("libzmq {major}.{minor}.{patch}")];
    let mut lines = LOCK.lines();
    while let Some(line) = lines.next() {
        let name = line
            .strip_prefix("name = ")
            .map(|name| name.trim_matches('"'));
        let shown = ["omq-tokio", "zeromq", "rustls", "aws-lc-rs", "sealwire"];
        if let Some(name) = name.filter(|name| shown.contains(name)) {
            let version = lines
                .next()
                .and_then(|line| line.strip_prefix("version = "));
            versions.push(format!(
                "{name} {}",
                version.unwrap_or_default().trim_matches('"')
            ));
        }
    }
    versions
}
