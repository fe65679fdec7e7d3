//! This process calls, another one of this program answers, each on a core of its own where there are
//! two.

use std::collections::VecDeque;
use std::io::{self, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use std::{fmt, thread};

use sealwire::auth::AllowAnyone;
use sealwire::{Generate as _, KeyPair, PublicKey, Security};
use sealwire_bench_measure::cores;
use sealwire_bench_measure::statistics::percentile;
use sealwire_rpc::handler::Inline;
use sealwire_rpc::{Call, CallOptions, Client, OneWay, Request, Server, Status, blocking};
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::process::{self, Process};

/// A body that asks how many one-way messages have come.
const COUNT: &[u8] = b"sealwire rpc bench: how many messages?";

/// How much is measured.
#[derive(Debug, Clone)]
pub struct Options {
    /// Body of a call, in bytes.
    pub size: usize,
    /// Body of a one-way message, in bytes.
    pub one_way_size: usize,
    /// Calls in flight: each is measured.
    pub in_flight: Vec<usize>,
    /// How long to measure each, after a warm-up of half that.
    pub time: Duration,
}

/// The answering process.
#[derive(Debug, Clone)]
pub struct Side {
    /// The core it stays on; `None` where there are not two.
    pub core: Option<usize>,
    /// Bytes of the bare TCP exchange.
    pub size: usize,
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
pub struct Record {
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

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let depth = self.in_flight.map(|n| format!(", {n} in flight"));
        write!(
            f,
            "{:<10} {:>6} B{:<16} {:>10.0}/s",
            self.what,
            self.size,
            depth.unwrap_or_default(),
            self.per_second
        )?;
        if let (Some(p50), Some(p99)) = (self.p50_us, self.p99_us) {
            write!(f, ", {p50:.1} us median, {p99:.1} us 99th percentile")?;
        }
        writeln!(f)
    }
}

/// Starts the answering process, measures, and prints each record as soon as it is there. `command`
/// makes a command that calls [`run_side`] with this side.
///
/// # Errors
///
/// The other process or a call failed, or printing did.
pub fn measure<E: From<Error>>(
    options: &Options,
    command: impl FnOnce(&Side) -> io::Result<Command>,
    mut print: impl FnMut(&Record) -> Result<(), E>,
) -> Result<(), E> {
    let cores = cores::two_apart();
    let side = Side {
        core: cores.map(|cores| cores[0]),
        size: options.size,
    };
    let mut side = Process::start(command(&side))?;
    let introduction: Introduction = side.read()?;
    if let Some([_, core]) = cores {
        cores::pin_to(core).map_err(Error::Failed)?;
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
        .map_err(|error| Error::Failed(format!("bare TCP: {error}")))?;
    print(&Record {
        in_flight: Some(1),
        ..bare.record(record("bare TCP", options.size))
    })?;

    let key = introduction.public_key.parse::<PublicKey>();
    let key = key.map_err(|_| Error::Failed("the other process sent no key".to_owned()))?;
    let security = Security::blake3_client_with_keys(key, KeyPair::generate());
    let client = Client::builder(security)
        .max_connections(1)
        .build(introduction.endpoint)
        .map_err(Error::Call)?
        .blocking();
    let conn = client.conn().map_err(Error::Call)?;
    for &depth in &options.in_flight {
        let mut times = calls(&conn, options, depth.max(1)).map_err(Error::Call)?;
        print(&Record {
            in_flight: Some(depth.max(1)),
            ..times.record(record("calls", options.size))
        })?;
    }
    let per_second = one_way(&conn, options).map_err(Error::Call)?;
    print(&Record {
        per_second,
        ..record("one-way", options.one_way_size)
    })
}

/// The measurements of exchanges.
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
    options: &Options,
    mut exchange: impl FnMut() -> Result<Duration, E>,
) -> Result<Exchanges, E> {
    let started = Instant::now();
    while started.elapsed() < options.time / 2 {
        exchange()?;
    }
    let first = Instant::now();
    let mut times = Vec::with_capacity(1 << 20);
    loop {
        times.push(exchange()?);
        if first.elapsed() >= options.time {
            break;
        }
    }
    Ok(Exchanges {
        times,
        within: first.elapsed(),
    })
}

fn bare_tcp(address: &str, options: &Options) -> io::Result<Exchanges> {
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
    options: &Options,
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
fn one_way(conn: &blocking::Conn, options: &Options) -> Result<f64, sealwire_rpc::Error> {
    let body = vec![0x5a; options.one_way_size];
    let send_during = |time: Duration| {
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
    send_during(options.time / 2)?;
    let (before, from) = arrived()?;
    send_during(options.time)?;
    let (after, to) = arrived()?;
    Ok((after - before) as f64 / (to - from).as_secs_f64())
}

// ---- the other process ------------------------------------------------------------------------------

/// Answers, until the process that started this one closes its standard input.
///
/// # Errors
///
/// A socket failed.
pub fn run_side(side: &Side) -> Result<(), Error> {
    if let Some(core) = side.core {
        cores::pin_to(core).map_err(Error::Failed)?;
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
        .map_err(|error| Error::Failed(format!("cannot listen: {error}")))?;
    process::print(&Introduction {
        endpoint,
        public_key: keys.public().to_z85(),
        bare_tcp: bare
            .local_addr()
            .map_or_else(|_| String::new(), |address| address.to_string()),
    })?;
    let size = side.size.max(1);
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
