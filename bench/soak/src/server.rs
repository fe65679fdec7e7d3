//! The process of the server: it takes what clients push, publishes news, answers calls, changes its keys, and watches both
//! processes.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, BufWriter, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use sealwire::blocking::Socket;
use sealwire::options::Withdrawn;
use sealwire::{Error as SocketError, SocketType};
use sealwire_rpc::handler::Inline;
use sealwire_rpc::{Request, Server, Status};

use crate::keys::Keys;
use crate::ledger::{Ledger, Left, ON_ITS_WAY};
use crate::message::{self, Header};
use crate::sample::{HEADING, Process, Sample};
use crate::{Error, Options, report};

/// Between two samples.
const EVERY: Duration = Duration::from_secs(5);
/// Messages taken at a time.
const BATCH: usize = 256;
/// Between two news.
const NEWS: Duration = Duration::from_millis(50);
/// At a time.
const HANDSHAKES: usize = 4_096;
/// Strangers at a time, and how long they stay.
const STRANGERS: usize = 20;
const STRANGERS_STAY: Duration = Duration::from_secs(30);

/// What the clients' process has said so far.
#[derive(Default)]
struct Said {
    news: u64,
    missed: u64,
    wrong_news: u64,
    calls: [u64; 5],
    /// Calls that were not begun, by the error.
    failed: BTreeMap<String, u64>,
    rotated: u64,
    faults: Vec<String>,
}

#[derive(Default)]
struct World {
    ledger: Mutex<Ledger>,
    said: Mutex<Said>,
    arrived: AtomicU64,
    published: AtomicU64,
    stop: AtomicBool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What serves.
struct Services {
    intake: Socket,
    news: Socket,
    calls: Server,
    answered: Arc<AtomicU64>,
    keys: Keys,
}

impl Services {
    fn new(keys: Keys) -> Result<Self, Error> {
        let socket = |socket_type| {
            Socket::builder(socket_type)
                .security(keys.server(0, false))
                // All come from one address, and all at once as a key is withdrawn.
                .max_handshakes(HANDSHAKES)
                .max_handshakes_per_address(HANDSHAKES)
                .heartbeat(Duration::from_secs(10))
                .heartbeat_timeout(Duration::from_secs(60))
        };
        let intake = socket(SocketType::Pull).build_blocking()?;
        let news = socket(SocketType::Pub)
            .send_high_water_mark(100)
            .send_byte_budget(1 << 20);
        let answered = Arc::new(AtomicU64::new(0));
        let count = answered.clone();
        let answer = move |request: &Request| -> Result<Vec<u8>, Status> {
            count.fetch_add(1, Ordering::Relaxed);
            Ok(request.body().to_vec())
        };
        Ok(Services {
            intake,
            news: news.build_blocking()?,
            calls: Server::builder(keys.server(0, false)).build(Inline::new(answer))?,
            answered,
            keys,
        })
    }

    /// Has the key of this round, and during the overlap the one before it too.
    fn renew(&self, round: u64, overlap: bool) -> Result<(), Error> {
        let security = || self.keys.server(round, overlap);
        for socket in [&self.intake, &self.news] {
            for endpoint in socket.bound_endpoints() {
                let options = socket
                    .endpoint_options(endpoint.clone())?
                    .security(security());
                socket.reconfigure_endpoint(endpoint, options, Withdrawn::End)?;
            }
        }
        Ok(self.calls.renew_security(security(), Withdrawn::End)?)
    }

    fn connections(&self) -> usize {
        self.intake.peers().len() + self.news.peers().len() + self.calls.connections().len()
    }
}

pub(crate) fn run(options: &Options) -> Result<ExitCode, Error> {
    let keys = Keys { seed: options.seed };
    let services = Services::new(keys)?;
    let any = "tcp://127.0.0.1:0";
    let intake = services.intake.bind(any)?.to_string();
    let news = services.news.bind(any)?.to_string();
    let calls = services.calls.bind(any)?.to_string();
    let mut failures = BTreeMap::new();
    let monitors = [
        services.intake.monitor(),
        services.news.monitor(),
        services.calls.monitor(),
    ];
    let (mut clients, input, output) = start(options, [&intake, &news, &calls])?;
    let world = World::default();
    let mut samples = Vec::new();
    thread::scope(|scope| -> Result<(), Error> {
        let (world, services) = (&world, &services);
        let taking = scope.spawn(|| world.take(&services.intake));
        scope.spawn(|| world.publish(&services.news));
        scope.spawn(|| world.strangers(&intake));
        let listening = scope.spawn(|| world.listen(output));
        let watched = world.watch(options, services, &mut clients, input, &mut samples, || {
            for event in monitors
                .iter()
                .flat_map(|it| std::iter::from_fn(|| it.try_next()))
            {
                if let sealwire::Event::Failed(failure) = event {
                    *failures.entry(failure.cause().name()).or_insert(0_u64) += 1;
                }
            }
        });
        // All has been said once the clients have ended; what they sent is waited for.
        let _ = listening.join();
        let ended = Instant::now();
        while watched.is_ok() && ended.elapsed() < ON_ITS_WAY && lock(&world.ledger).unsettled() > 0
        {
            lock(&world.ledger).settle(Instant::now());
            thread::sleep(Duration::from_millis(100));
        }
        lock(&world.ledger).settle(Instant::now() + ON_ITS_WAY);
        world.stop.store(true, Ordering::SeqCst);
        let _ = taking.join();
        watched
    })?;
    Ok(tell(&world, &services, &samples, &failures))
}

type Started = (Child, ChildStdin, BufReader<ChildStdout>);

fn start(options: &Options, endpoints: [&str; 3]) -> Result<Started, Error> {
    let mut child = Command::new(std::env::current_exe()?)
        .arg("clients")
        .args([options.seed.to_string(), options.clients.to_string()])
        .args(endpoints)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let input = child.stdin.take().ok_or("no input of the clients")?;
    let output = child.stdout.take().ok_or("no output of the clients")?;
    Ok((child, input, BufReader::new(output)))
}

impl World {
    fn stops(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    /// Takes what clients push.
    fn take(&self, intake: &Socket) {
        let mut batch = Vec::with_capacity(BATCH);
        while !self.stops() {
            match intake.recv_many_timeout(&mut batch, BATCH, Duration::from_millis(200)) {
                Ok(_) | Err(SocketError::TimedOut { .. }) => {}
                Err(error) => lock(&self.said).faults.push(format!("taking: {error}")),
            }
            self.arrived
                .fetch_add(batch.len() as u64, Ordering::Relaxed);
            let mut ledger = lock(&self.ledger);
            batch
                .drain(..)
                .for_each(|it| ledger.arrived(message::read(it.as_bytes())));
        }
    }

    /// Publishes news to all clients: 1 KiB, now and then 64 KiB.
    fn publish(&self, news: &Socket) {
        let mut number = 0;
        while !self.stops() {
            let header = Header {
                client: 0,
                number,
                is_last: false,
            };
            let size = if number % 40 == 0 { 64 << 10 } else { 1 << 10 };
            if let Err(error) = news.send(message::build(&header, size)) {
                lock(&self.said).faults.push(format!("publishing: {error}"));
                return;
            }
            number += 1;
            self.published.store(number, Ordering::Relaxed);
            thread::sleep(NEWS);
        }
    }

    /// Connects without being a client: silent, with half a greeting, with something else. A listener has to end them.
    fn strangers(&self, endpoint: &str) {
        let address = endpoint.trim_start_matches("tcp://");
        let mut here: Vec<(TcpStream, Instant)> = Vec::new();
        let says: [&[u8]; 4] = [
            b"",
            b"\xff\0\0\0\0",
            b"GET / HTTP/1.1\r\n\r\n",
            &[0x55; 300],
        ];
        for number in 0.. {
            if self.stops() {
                return;
            }
            here.retain(|(_, since)| since.elapsed() < STRANGERS_STAY);
            if here.len() < STRANGERS
                && let Ok(mut stranger) = TcpStream::connect(address)
            {
                let _ = stranger.write_all(says[number % says.len()]);
                here.push((stranger, Instant::now()));
            }
            thread::sleep(Duration::from_millis(200));
        }
    }

    /// Reads what the clients' process says, until it ends.
    fn listen(&self, output: impl std::io::BufRead) {
        for line in output.lines() {
            let Ok(line) = line else { return };
            if let Err(error) = self.note(&line) {
                lock(&self.said).faults.push(format!("{line}: {error}"));
            }
        }
    }

    fn note(&self, line: &str) -> Result<(), Error> {
        let (kind, rest) = line.split_once(' ').ok_or("one word")?;
        let mut words = rest.split(' ');
        let mut number =
            || -> Result<u64, Error> { Ok(words.next().ok_or("a number is missing")?.parse()?) };
        let mut said = lock(&self.said);
        match kind {
            "left" => {
                let (client, sent, unsent, unconfirmed) =
                    (number()?, number()?, number()?, number()?);
                let in_order = words.next() == Some("true");
                let left = Left {
                    client,
                    sent,
                    unsent,
                    unconfirmed,
                    in_order,
                };
                lock(&self.ledger).left(left, Instant::now());
            }
            "news" => {
                said.news += number()?;
                said.missed += number()?;
                said.wrong_news += number()?;
            }
            "calls" => {
                for total in &mut said.calls {
                    *total += number()?;
                }
            }
            "rotated" => said.rotated = number()?,
            "failed" => *said.failed.entry(rest.to_owned()).or_default() += 1,
            _ => said.faults.push(rest.to_owned()),
        }
        Ok(())
    }

    /// Takes samples and changes keys until the time is over; then has the clients leave.
    fn watch(
        &self,
        options: &Options,
        services: &Services,
        clients: &mut Child,
        mut input: ChildStdin,
        samples: &mut Vec<Sample>,
        mut each_time: impl FnMut(),
    ) -> Result<(), Error> {
        let mut file = BufWriter::new(File::create(&options.samples)?);
        writeln!(file, "{HEADING}")?;
        let (begun, mut round) = (Instant::now(), 0);
        let mut next = Instant::now();
        while begun.elapsed() < options.length {
            thread::sleep(next.saturating_duration_since(Instant::now()));
            next += EVERY;
            if let Some(status) = clients.try_wait()? {
                return Err(format!("the clients' process has ended: {status}").into());
            }
            let due = begun.elapsed().as_secs() / options.rotate.as_secs();
            if due > round {
                round += 1;
                self.rotate(services, &mut input, round)?;
            }
            lock(&self.ledger).settle(Instant::now());
            each_time();
            let sample = Sample {
                seconds: begun.elapsed().as_secs(),
                server: Process::of(std::process::id())?,
                clients: Process::of(clients.id())?,
                connections: services.connections() as u64,
                arrived: self.arrived.load(Ordering::Relaxed),
                rounds: round,
            };
            writeln!(file, "{}", sample.line())?;
            file.flush()?;
            samples.push(sample);
        }
        writeln!(input, "stop")?;
        drop(input);
        let status = clients.wait()?;
        status
            .success()
            .then_some(())
            .ok_or_else(|| format!("the clients' process ended with {status}").into())
    }

    /// Both keys are good, until all clients have the new one.
    fn rotate(&self, services: &Services, input: &mut ChildStdin, round: u64) -> Result<(), Error> {
        services.renew(round, true)?;
        writeln!(input, "rotate {round}")?;
        let asked = Instant::now();
        while lock(&self.said).rotated < round {
            if asked.elapsed() > ON_ITS_WAY {
                return Err("the clients do not change their keys".into());
            }
            thread::sleep(Duration::from_millis(10));
        }
        services.renew(round, false)
    }
}

/// Says what has become of everything.
fn tell(
    world: &World,
    services: &Services,
    samples: &[Sample],
    failures: &BTreeMap<&str, u64>,
) -> ExitCode {
    let (ledger, said) = (lock(&world.ledger), lock(&world.said));
    let totals = ledger.totals;
    let mut faults: Vec<String> = ledger.faults.iter().chain(&said.faults).cloned().collect();
    let unsettled = ledger.unsettled();
    if unsettled > 0 {
        faults.push(format!("{unsettled} clients are not settled"));
    }
    let [made, answered, may_have_run, not_begun, wrong] = said.calls;
    let handled = services.answered.load(Ordering::Relaxed);
    let all = answered + may_have_run + not_begun == made;
    if !all || handled < answered || handled > answered + may_have_run {
        faults.push(format!("calls: {handled} handled, {wrong} wrong"));
    }
    let counters = services.news.counters();
    let dropped = counters.dropped_at_send + counters.dropped_unsent;
    if said.wrong_news > 0 || said.missed > dropped {
        faults.push(format!(
            "news: {} wrong, {} missed, {dropped} dropped",
            said.wrong_news, said.missed
        ));
    }
    report::flatness(samples)
        .iter()
        .for_each(|line| println!("{line}"));
    println!(
        "keys changed {} times",
        samples.last().map_or(0, |it| it.rounds)
    );
    println!(
        "clients: {} left in order, {} were cut off",
        totals.in_order, totals.cut_off
    );
    println!(
        "pushed: {} sent, {} arrived, {} counted as unsent, {} lost on connections that were cut off",
        totals.sent, totals.arrived, totals.unsent, totals.lost_on_the_way
    );
    println!(
        "news: {} published, {} read, {} missed within a connection, {dropped} counted by the publisher",
        world.published.load(Ordering::Relaxed),
        said.news,
        said.missed
    );
    println!(
        "calls: {made} made, {answered} answered, {may_have_run} may have run, {not_begun} not begun, {handled} handled"
    );
    for (why, calls) in &said.failed {
        println!("calls that were not begun, {calls}: {why}");
    }
    println!("connections that failed at the server, by cause: {failures:?}");
    for fault in &faults {
        println!("NOT ACCOUNTED FOR: {fault}");
    }
    println!("{} faults", faults.len());
    ExitCode::from(u8::from(!faults.is_empty()))
}
