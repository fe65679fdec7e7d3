//! `rpc bench`: this process calls, another one of this program answers, each on a core of its own
//! where there are two. The other one lives as long as its standard input is open.

use std::collections::VecDeque;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use sealwire::auth::AllowAnyone;
use sealwire::{Generate as _, KeyPair, PublicKey, Security};
use sealwire_bench_measure::cores;
use sealwire_bench_measure::statistics::percentile;
use sealwire_rpc::handler::Inline;
use sealwire_rpc::{Call, CallOptions, Client, OneWay, Request, Server, Status, blocking};
use serde::{Deserialize, Serialize};

use super::failed;
use crate::duration;
use crate::exit::{Code, Failure};

/// A body that asks how many one-way messages have come.
const COUNT: &[u8] = b"sealwire rpc bench: how many messages?";

/// Options of rpc bench.
#[derive(Debug, Args)]
pub(crate) struct BenchOptions {
    /// Body of a call, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 64)]
    size: usize,

    /// Body of a one-way message, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 1_400)]
    one_way_size: usize,

    /// Calls in flight (repeatable)
    #[arg(long, value_name = "N", default_values_t = [1, 64, 1_024])]
    in_flight: Vec<usize>,

    /// How long to measure each, after a warm-up of half that
    #[arg(long, value_name = "N", default_value = "2", value_parser = duration::parse_positive)]
    seconds: Duration,

    /// Print one JSON object per line
    #[arg(long)]
    pub(super) json: bool,
}

/// Options of the answering process.
#[derive(Debug, Args)]
pub(crate) struct SideOptions {
    #[arg(long)]
    core: Option<usize>,
    /// Bytes of the bare TCP exchange.
    #[arg(long)]
    size: usize,
}

/// What the answering process says first.
#[derive(Debug, Serialize, Deserialize)]
struct Introduction {
    endpoint: String,
    public_key: String,
    /// Echoes what it gets, without anything between.
    bare_tcp: String,
}

/// One line of the result.
#[derive(Debug, Serialize)]
struct Record {
    what: &'static str,
    size: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    in_flight: Option<usize>,
    per_second: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    p50_us: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    p99_us: Option<f64>,
    cores: Option<[usize; 2]>,
}

impl Record {
    fn print(&self, json: bool) -> Result<(), Failure> {
        let line = if json {
            serde_json::to_string(self).map_err(|error| Failure::output(&error.into()))?
        } else {
            let depth = self.in_flight.map(|n| format!(", {n} in flight"));
            let times = match (self.p50_us, self.p99_us) {
                (Some(p50), Some(p99)) => {
                    format!(", {p50:.1} us median, {p99:.1} us 99th percentile")
                }
                _ => String::new(),
            };
            format!(
                "{:<10} {:>6} B{:<16} {:>10.0}/s{times}",
                self.what,
                self.size,
                depth.unwrap_or_default(),
                self.per_second
            )
        };
        writeln!(io::stdout().lock(), "{line}").map_err(|error| Failure::output(&error))
    }
}

pub(super) fn run(options: &BenchOptions) -> Result<(), Failure> {
    let cores = cores::two_apart();
    let mut side = Side::start(options.size, cores.map(|cores| cores[0]))?;
    let introduction = side.introduction()?;
    if let Some([_, core]) = cores {
        cores::pin_to(core).map_err(|error| Failure::new(Code::Failed, error))?;
    }
    let record = |what, size| Record {
        what,
        size,
        in_flight: None,
        per_second: 0.0,
        p50_us: None,
        p99_us: None,
        cores,
    };
    let mut bare = bare_tcp(&introduction.bare_tcp, options)
        .map_err(|error| Failure::new(Code::Failed, format!("bare TCP: {error}")))?;
    Record {
        in_flight: Some(1),
        ..bare.record(record("bare TCP", options.size))
    }
    .print(options.json)?;

    let key: PublicKey = introduction
        .public_key
        .parse()
        .map_err(|_| Failure::new(Code::Failed, "the other process sent no key"))?;
    let security = Security::blake3_client_with_keys(key, KeyPair::generate());
    let client = Client::builder(security)
        .max_connections(1)
        .build(introduction.endpoint)
        .map_err(|error| failed(&error))?
        .blocking();
    let conn = client.conn().map_err(|error| failed(&error))?;
    for &depth in &options.in_flight {
        let mut times = calls(&conn, options, depth.max(1)).map_err(|error| failed(&error))?;
        Record {
            in_flight: Some(depth.max(1)),
            ..times.record(record("calls", options.size))
        }
        .print(options.json)?;
    }
    let per_second = one_way(&conn, options).map_err(|error| failed(&error))?;
    Record {
        per_second,
        ..record("one-way", options.one_way_size)
    }
    .print(options.json)
}

/// What was measured of exchanges.
struct Exchanges {
    times: Vec<Duration>,
    within: Duration,
}

impl Exchanges {
    fn record(&mut self, record: Record) -> Record {
        self.times.sort_unstable();
        Record {
            per_second: self.times.len() as f64 / self.within.as_secs_f64(),
            p50_us: percentile(&self.times, 50),
            p99_us: percentile(&self.times, 99),
            ..record
        }
    }
}

/// Exchanges until the time is over, measured after the warm-up.
fn exchanges<E>(
    options: &BenchOptions,
    mut exchange: impl FnMut() -> Result<Duration, E>,
) -> Result<Exchanges, E> {
    let started = Instant::now();
    while started.elapsed() < options.seconds / 2 {
        exchange()?;
    }
    let first = Instant::now();
    let mut times = Vec::with_capacity(1 << 20);
    loop {
        times.push(exchange()?);
        if first.elapsed() >= options.seconds {
            break;
        }
    }
    Ok(Exchanges {
        times,
        within: first.elapsed(),
    })
}

fn bare_tcp(address: &str, options: &BenchOptions) -> io::Result<Exchanges> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    let mut body = vec![0x5a; options.size.max(1)];
    exchanges(options, || {
        let sent = Instant::now();
        stream.write_all(&body)?;
        stream.read_exact(&mut body)?;
        Ok(sent.elapsed())
    })
}

fn calls(
    conn: &blocking::Conn,
    options: &BenchOptions,
    depth: usize,
) -> Result<Exchanges, sealwire_rpc::Error> {
    let body = vec![0x5a; options.size];
    if depth == 1 {
        return exchanges(options, || {
            let sent = Instant::now();
            conn.request(&body)?;
            Ok(sent.elapsed())
        });
    }
    let mut pending: VecDeque<(Instant, Call)> = VecDeque::with_capacity(depth);
    exchanges(options, || {
        while pending.len() < depth {
            let call = conn.start(&body, CallOptions::default())?;
            pending.push_back((Instant::now(), call));
        }
        let Some((sent, call)) = pending.pop_front() else {
            return Ok(Duration::ZERO);
        };
        call.wait()?;
        Ok(sent.elapsed())
    })
}

/// Messages that arrived in a second.
fn one_way(conn: &blocking::Conn, options: &BenchOptions) -> Result<f64, sealwire_rpc::Error> {
    let body = vec![0x5a; options.one_way_size];
    let send_for = |time: Duration| {
        let started = Instant::now();
        loop {
            for _ in 0..64 {
                conn.send(&body)?;
            }
            if started.elapsed() >= time {
                return Ok::<_, sealwire_rpc::Error>(());
            }
        }
    };
    let arrived = || {
        let count = conn.request(COUNT)?;
        let count = count
            .first_chunk()
            .map_or(0, |count| u64::from_be_bytes(*count));
        Ok::<_, sealwire_rpc::Error>((count, Instant::now()))
    };
    send_for(options.seconds / 2)?;
    let (before, from) = arrived()?;
    send_for(options.seconds)?;
    let (after, to) = arrived()?;
    Ok((after - before) as f64 / (to - from).as_secs_f64())
}

// ---- the other process ------------------------------------------------------------------------------

struct Side {
    child: Child,
}

impl Side {
    fn start(size: usize, core: Option<usize>) -> Result<Self, Failure> {
        let failed = |error| Failure::new(Code::Failed, format!("cannot start a process: {error}"));
        let program = std::env::current_exe().map_err(failed)?;
        let child = Command::new(program)
            .args(["rpc", "bench-side", &format!("--size={size}")])
            .args(core.map(|core| format!("--core={core}")))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        Ok(Side { child })
    }

    fn introduction(&mut self) -> Result<Introduction, Failure> {
        let silent = || Failure::new(Code::Failed, "the other process failed");
        let stdout = self.child.stdout.take().ok_or_else(silent)?;
        let mut line = String::new();
        BufReader::new(stdout)
            .read_line(&mut line)
            .map_err(|_| silent())?;
        serde_json::from_str(&line).map_err(|_| silent())
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        // Its sign to end.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

pub(super) fn run_side(options: &SideOptions) -> Result<(), Failure> {
    if let Some(core) = options.core {
        cores::pin_to(core).map_err(|error| Failure::new(Code::Failed, error))?;
    }
    let keys = KeyPair::generate();
    let arrived = Arc::new(AtomicU64::new(0));
    let (counted, counter) = (arrived.clone(), arrived);
    let answer = move |request: &Request| {
        Ok::<_, Status>(match &request.body()[..] {
            COUNT => Answer::Count(counter.load(Ordering::Relaxed).to_be_bytes()),
            _ => Answer::Echo(request.body().clone()),
        })
    };
    let handler = Inline::new(answer).on_message(move |_: &OneWay| {
        counted.fetch_add(1, Ordering::Relaxed);
    });
    let security = Security::blake3_server(keys.clone(), AllowAnyone);
    let server = Server::builder(security).build(handler)?;
    let endpoint = server.bind("tcp://127.0.0.1:0")?.to_string();
    let bare = TcpListener::bind("127.0.0.1:0")
        .map_err(|error| Failure::new(Code::Failed, format!("cannot listen: {error}")))?;
    let introduction = Introduction {
        endpoint,
        public_key: keys.public().to_z85(),
        bare_tcp: bare
            .local_addr()
            .map_or_else(|_| String::new(), |address| address.to_string()),
    };
    let line = serde_json::to_string(&introduction).unwrap_or_default();
    writeln!(io::stdout().lock(), "{line}").map_err(|error| Failure::output(&error))?;
    let size = options.size.max(1);
    thread::spawn(move || echo(&bare, size));
    // Ends when the process that started this one does.
    let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
    Ok(())
}

fn echo(listener: &TcpListener, size: usize) {
    let Ok((mut stream, _)) = listener.accept() else {
        return;
    };
    let _ = stream.set_nodelay(true);
    let mut body = vec![0; size];
    while stream.read_exact(&mut body).is_ok() && stream.write_all(&body).is_ok() {}
}

enum Answer {
    Count([u8; 8]),
    Echo(sealwire_rpc::Body),
}

impl AsRef<[u8]> for Answer {
    fn as_ref(&self) -> &[u8] {
        match self {
            Answer::Count(count) => count,
            Answer::Echo(body) => body,
        }
    }
}
