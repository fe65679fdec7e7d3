//! A server whose process may have 1,024 file descriptors, which is the usual soft limit, and
//! attackers who open many more connections than that and say nothing.
//!
//! The server is a process of its own: this binary, run again with a variable set. It tells what
//! it counted when it is asked.
//!
//! A binary of its own: it changes how many descriptors the process may have.

#![cfg(target_os = "linux")]

#[expect(dead_code, reason = "the suite uses the rest")]
mod support;

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use sealwire::account::LOG_PERIOD;
use sealwire::auth::AllowAnyone;
use sealwire::blocking::Socket;
use sealwire::{Event, Generate as _, KeyPair, Monitor, PublicKey, Security, SocketType};
use socket2::{Domain, SockAddr, Type};
use support::{TIMEOUT, eventually, options};

/// Set where this binary is the server.
const SERVER: &str = "SEALWIRE_TEST_OF_DESCRIPTORS";
const SOFT_LIMIT: u64 = 1_024;
/// What the attackers and clients of all tests need here.
const CLIENTS_LIMIT: u64 = 12_000;

fn limit_descriptors(soft: u64) {
    let limit = getrlimit(Resource::Nofile);
    let enough = limit.maximum.is_none_or(|maximum| maximum >= soft);
    assert!(enough, "{soft} descriptors are more than the hard limit");
    let current = Some(soft);
    setrlimit(Resource::Nofile, Rlimit { current, ..limit }).unwrap();
}

/// Counts what is logged at `WARN` and worse.
struct LogCounter(Arc<AtomicUsize>);

impl tracing::Subscriber for LogCounter {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() <= tracing::Level::WARN
    }
    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn event(&self, _: &tracing::Event<'_>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

/// What the server counted.
#[derive(Debug, Default, Clone, Copy)]
struct Counted {
    /// Attempts to accept that failed, as far as they were told.
    failed_accepts: u64,
    /// Events about them.
    failure_events: u64,
    log_lines: usize,
}

impl Counted {
    fn take_events(&mut self, monitor: &Monitor) {
        while let Some(event) = monitor.try_next() {
            if let Event::AcceptFailed { count, .. } = event {
                self.failed_accepts += count;
                self.failure_events += 1;
            }
        }
    }
}

/// The server, where this is its process; elsewhere a test of nothing.
#[test]
fn server() {
    if std::env::var_os(SERVER).is_none() {
        return;
    }
    limit_descriptors(SOFT_LIMIT);
    let lines = Arc::new(AtomicUsize::new(0));
    tracing::subscriber::set_global_default(LogCounter(lines.clone())).unwrap();
    let keys = KeyPair::generate();
    let rep = options(SocketType::Rep)
        .security(Security::blake3_server(keys.clone(), AllowAnyone))
        // Only the bounds end a handshake, however slow the machine.
        .handshake_timeout(Duration::from_secs(3_600))
        .build_blocking()
        .unwrap();
    let monitor = rep.monitor();
    let endpoint = rep.bind("tcp://127.0.0.1:0").unwrap();
    println!("listening {endpoint} {}", keys.public());
    let (mut counted, mut occupied) = (Counted::default(), Vec::new());
    loop {
        let question = rep.recv().unwrap();
        let question = String::from_utf8(question.as_bytes().to_vec()).unwrap();
        counted.take_events(&monitor);
        let answer = match &*question {
            "counted" => {
                counted.log_lines = lines.load(Ordering::SeqCst);
                format!(
                    "{} {} {}",
                    counted.failed_accepts, counted.failure_events, counted.log_lines
                )
            }
            "descriptors" => {
                let open = std::fs::read_dir("/proc/self/fd").unwrap();
                open.count().to_string()
            }
            "occupy" => {
                while let Ok(file) = File::open("/dev/null") {
                    occupied.push(file);
                }
                occupied.len().to_string()
            }
            // Standard input and output have those below, so even the spare one is of no use.
            "starve" => {
                limit_descriptors(3);
                String::new()
            }
            "recover" => {
                limit_descriptors(SOFT_LIMIT);
                String::new()
            }
            other => other.to_owned(),
        };
        rep.send(answer).unwrap();
    }
}

struct Server {
    process: Child,
    /// It goes on writing there.
    _output: BufReader<ChildStdout>,
    address: SocketAddr,
    key: PublicKey,
}

impl Server {
    fn start() -> Self {
        limit_descriptors(CLIENTS_LIMIT);
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "server", "--nocapture"])
            .env(SERVER, "1")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let lines = output.by_ref().lines().map(Result::unwrap);
        let line = { lines }.find(|line| line.contains("listening ")).unwrap();
        // The test harness may have written on the same line.
        let mut words = line.split("listening ").nth(1).unwrap().split(' ');
        let address = words.next().unwrap().trim_start_matches("tcp://");
        Server {
            process,
            _output: output,
            address: address.parse().unwrap(),
            key: words.next().unwrap().parse().unwrap(),
        }
    }

    fn client(&self) -> Client {
        let socket = options(SocketType::Req)
            .security(Security::blake3_client(self.key))
            .reconnect(Duration::from_millis(10), Duration::from_secs(1))
            .linger(Duration::ZERO)
            .build_blocking()
            .unwrap();
        socket.connect(format!("tcp://{}", self.address)).unwrap();
        let client = Client { socket };
        client.is_served();
        client
    }

    /// Idle connections from one of several addresses of this machine.
    fn idle(&self, number: usize) -> TcpStream {
        let from = Ipv4Addr::new(127, 0, 0, 2 + u8::try_from(number % 40).unwrap());
        let socket = socket2::Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        socket
            .bind(&SockAddr::from(SocketAddr::from((from, 0))))
            .unwrap();
        socket.connect(&self.address.into()).unwrap();
        socket.into()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

struct Client {
    socket: Socket,
}

impl Client {
    fn ask(&self, question: &str) -> String {
        self.socket.send(question).unwrap();
        let answer = self.socket.recv_timeout(TIMEOUT).unwrap();
        String::from_utf8(answer.as_bytes().to_vec()).unwrap()
    }

    fn is_served(&self) {
        assert_eq!(self.ask("hello"), "hello");
    }

    fn counted(&self) -> Counted {
        let answer = self.ask("counted");
        let numbers: Vec<u64> = answer.split(' ').map(|n| n.parse().unwrap()).collect();
        Counted {
            failed_accepts: numbers[0],
            failure_events: numbers[1],
            log_lines: numbers[2] as usize,
        }
    }

    fn descriptors(&self) -> usize {
        self.ask("descriptors").parse().unwrap()
    }

    /// It has had the same connection since it was first served.
    fn was_never_cut(&self) {
        self.is_served();
        let counters = self.socket.counters();
        assert_eq!(counters.handshakes_completed, 1, "{counters:?}");
    }
}

/// Idle connections do not take the descriptors of a server by default, from any address.
#[test]
fn idle_connections_beyond_the_limit() {
    const IDLE: usize = 3 * SOFT_LIMIT as usize;
    let server = Server::start();
    let established: Vec<_> = (0..20).map(|_| server.client()).collect();
    let mut idle = Vec::with_capacity(IDLE);
    for number in 0..IDLE {
        idle.push(server.idle(number));
        if number % 100 == 99 {
            established[number / 100 % established.len()].is_served();
        }
    }
    let newcomer = server.client();
    let counted = newcomer.counted();
    assert_eq!(counted.failed_accepts, 0, "{counted:?}");
    // Handshakes have a quarter of the descriptors.
    let quarter = SOFT_LIMIT as usize / 4;
    let descriptors = newcomer.descriptors();
    assert!(descriptors < 2 * quarter, "{descriptors}");
    for client in &established {
        client.was_never_cut();
    }
}

/// Where the rest of the process has taken all descriptors, a handshake gives way for each new
/// connection, and where there is none the connection is refused: nothing waits, nothing spins.
#[test]
fn no_descriptor_left() {
    const IDLE: usize = 600;
    let start = Instant::now();
    let server = Server::start();
    let bystander = server.client();
    // Those that this process was given by its parent are among them.
    let before = bystander.descriptors();
    let mut idle: Vec<_> = (0..10).map(|number| server.idle(number)).collect();
    // All of them: for one that still waited a handshake would give up the descriptor that is occupied
    // next, and none would be left to make room for the newcomer.
    eventually("they are accepted", || {
        bystander.descriptors() == before + idle.len()
    });
    let occupied: usize = bystander.ask("occupy").parse().unwrap();
    assert!(occupied > 900, "{occupied}");
    for number in 0..IDLE {
        idle.push(server.idle(number));
        if number % 100 == 99 {
            bystander.is_served();
        }
    }
    // It takes the place of a handshake.
    let newcomer = server.client();
    newcomer.was_never_cut();
    bystander.was_never_cut();
    assert_eq!(bystander.ask("starve"), "");
    idle.extend((0..IDLE).map(|number| server.idle(number)));
    // The second event tells of all that failed since the first.
    eventually("accepting fails", || {
        // Fewer than the system's queue holds.
        if idle.len() < 4 * IDLE {
            idle.push(server.idle(idle.len()));
        }
        bystander.counted().failure_events > 1
    });
    assert_eq!(bystander.ask("recover"), "");
    let counted = bystander.counted();
    // A listener that waits does so for a tenth of a second, and there is one.
    let periods = start.elapsed().as_millis() as u64 / 100 + 1;
    assert!(
        counted.failed_accepts <= periods,
        "{counted:?} in {periods}"
    );
    let seconds = start.elapsed().as_secs() / LOG_PERIOD.as_secs() + 1;
    assert!(
        counted.failure_events <= seconds,
        "{counted:?} in {seconds}"
    );
    // Of failed accepts, evictions and refusals, each for two reasons.
    assert!(
        counted.log_lines as u64 <= 5 * seconds,
        "{counted:?} in {seconds}"
    );
    bystander.was_never_cut();
}
