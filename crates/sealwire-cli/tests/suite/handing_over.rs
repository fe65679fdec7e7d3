//! A server is restarted under load, and its clients notice nothing: the listener goes from one process to the next.

use std::collections::{BTreeSet, HashMap};
use std::io::Read as _;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};

use sealwire::{Security, Socket, SocketType, blocking};
use sealwire_rpc::{CallOptions, Client, Error, Limits};

use crate::support::{Finished, Keys, Running, TIMEOUT, eventually, start, start_passed};

/// Restarts in a test.
const ROUNDS: usize = 4;
const CLIENTS: usize = 4;
/// Requests of each client that are answered between restarts.
const BETWEEN: usize = 5;

/// A server whose program writes the request down, and answers with it.
struct Service {
    keys: Keys,
    door: Door,
}

/// Where its processes get their connections.
enum Door {
    /// A listener that is passed from one to the next.
    Passed(TcpListener),
    /// Listeners of their own on a port that this socket keeps for them. It does not listen itself.
    Shared(socket2::Socket),
}

impl Service {
    fn of(door: Door) -> Self {
        Service {
            keys: Keys::new(),
            door,
        }
    }

    fn passed() -> Self {
        Self::of(Door::Passed(
            TcpListener::bind("127.0.0.1:0").expect("a port"),
        ))
    }

    fn shared() -> Self {
        let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None);
        let socket = socket.expect("a socket");
        socket.set_reuse_port(true).expect("the option");
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        socket.bind(&any.into()).expect("a port");
        Self::of(Door::Shared(socket))
    }

    fn endpoint(&self) -> String {
        let address = match &self.door {
            Door::Passed(listener) => listener.local_addr().expect("a port"),
            Door::Shared(socket) => {
                let address = socket.local_addr().expect("a port");
                address.as_socket().expect("a port")
            }
        };
        format!("tcp://{address}")
    }

    /// Starts a process, and waits until it listens.
    fn start(&self) -> Running {
        let endpoint = self.endpoint();
        let mut running = match &self.door {
            Door::Passed(listener) => {
                start_passed(listener, &self.command(&["--listen-fds"]).each())
            }
            Door::Shared(_) => start(&self.command(&["--bind", &endpoint, "--reuse-port"]).each()),
        };
        assert_eq!(running.endpoint(), endpoint);
        running
    }

    fn command(&self, listen: &[&str]) -> Arguments {
        self.command_with(listen, "read x; echo \"$x\" >>\"$0\"; echo \"$x\"")
    }

    /// The same with another program, whose `$0` is the file that it writes to.
    fn command_with(&self, listen: &[&str], program: &str) -> Arguments {
        let (key, log) = (self.keys.path("server.key"), self.keys.path("log"));
        let answer = ["sh", "--", "-c", program, &log];
        let serve = ["rpc", "serve", "--grace", "60s"];
        let security = ["--server", "--secret-key-file", &key, "--allow-anyone"];
        let all = [&serve[..], listen, &security, &["--exec"], &answer];
        Arguments(all.concat().into_iter().map(str::to_owned).collect())
    }

    fn client(&self) -> Client {
        let server = sealwire::keys::read_public_key(self.keys.path("server.pub"));
        let server = server.expect("a key");
        let mut limits = Limits::default();
        limits.request = Some(TIMEOUT);
        limits.write = TIMEOUT;
        limits.read = TIMEOUT;
        Client::builder(Security::blake3_client(server))
            .limits(limits)
            .dial_limit(TIMEOUT)
            .handshake_limit(TIMEOUT)
            .build(self.endpoint())
            .expect("a client")
    }

    /// How often the program was run for each request.
    fn runs(&self) -> HashMap<String, usize> {
        let log = std::fs::read_to_string(Path::new(&self.keys.path("log"))).expect("a log");
        let mut runs = HashMap::new();
        for line in log.lines() {
            *runs.entry(line.to_owned()).or_default() += 1;
        }
        runs
    }
}

struct Arguments(Vec<String>);

impl Arguments {
    fn each(&self) -> Vec<&str> {
        self.0.iter().map(String::as_str).collect()
    }
}

/// Clients that call all the time, each request under a name of its own.
struct Load {
    over: Arc<AtomicBool>,
    answered: Vec<Arc<AtomicUsize>>,
    threads: Vec<JoinHandle<Vec<String>>>,
}

impl Load {
    fn begin(service: &Service) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let answered: Vec<Arc<AtomicUsize>> = (0..CLIENTS).map(|_| Arc::default()).collect();
        let threads = answered.iter().enumerate().map(|(number, answered)| {
            let (client, over, answered) = (service.client(), over.clone(), answered.clone());
            thread::spawn(move || call_until(&client, number, &over, &answered))
        });
        Load {
            threads: threads.collect(),
            over,
            answered,
        }
    }

    /// Waits for answers to each client.
    fn goes_on(&self) {
        let count = |counter: &Arc<AtomicUsize>| counter.load(Ordering::SeqCst);
        let before: Vec<_> = self.answered.iter().map(count).collect();
        eventually("every client has answers", || {
            let mut both = self.answered.iter().zip(&before);
            both.all(|(counter, before)| count(counter) >= before + BETWEEN)
        });
    }

    /// The requests that were answered.
    fn end(self) -> Vec<String> {
        self.over.store(true, Ordering::SeqCst);
        let ended = self
            .threads
            .into_iter()
            .map(|thread| thread.join().expect("a client"));
        ended.flatten().collect()
    }
}

/// Calls again what certainly was not begun, as a program may do with any request.
fn call_until(
    client: &Client,
    number: usize,
    over: &AtomicBool,
    answered: &AtomicUsize,
) -> Vec<String> {
    let client = client.blocking();
    let mut requests = Vec::new();
    while !over.load(Ordering::SeqCst) {
        let request = format!("{number}.{}", requests.len());
        let answer = loop {
            match client.request_with(request.as_bytes(), CallOptions::within(TIMEOUT)) {
                Err(error) if may_call_again(&error) => {}
                other => break other,
            }
        };
        let answer = answer.unwrap_or_else(|error| panic!("{request}: {error}"));
        assert_eq!(&answer[..], format!("{request}\n").as_bytes());
        answered.fetch_add(1, Ordering::SeqCst);
        requests.push(request);
    }
    requests
}

fn may_call_again(error: &Error) -> bool {
    !error.may_have_run() && !matches!(error, Error::DeadlineExceeded { .. })
}

/// Restarts the service under load, as `restart` does it, and checks that each request was answered and carried out
/// once.
fn hand_over(service: &Service, restart: impl Fn(Running) -> Running) {
    let mut running = service.start();
    let load = Load::begin(service);
    for _ in 0..ROUNDS {
        load.goes_on();
        running = restart(running);
    }
    load.goes_on();
    let requests = load.end();
    running.terminated().expect_code(0);
    let runs = service.runs();
    assert!(requests.len() >= CLIENTS * BETWEEN * (ROUNDS + 1));
    assert_eq!(runs.len(), requests.len(), "requests that nobody made");
    for request in requests {
        assert_eq!(runs.get(&request), Some(&1), "{request}");
    }
}

/// `systemctl restart`: meanwhile callers wait in the queue of the listener, which the service manager holds.
#[test]
fn a_listener_that_is_passed_on_loses_no_call_and_repeats_none() {
    let service = Service::passed();
    hand_over(&service, |old| {
        old.terminated().expect_code(0);
        service.start()
    });
}

/// For a while both accept.
#[test]
fn two_processes_share_a_listener_while_one_takes_over() {
    let service = Service::passed();
    hand_over(&service, |old| {
        let new = service.start();
        old.terminated().expect_code(0);
        new
    });
}

/// Without a service manager.
#[test]
fn two_listeners_share_a_port_while_one_takes_over() {
    let service = Service::shared();
    hand_over(&service, |old| {
        let new = service.start();
        old.terminated().expect_code(0);
        new
    });
}

/// Those who wait for the old one to accept them are greeted before it goes: none is reset.
#[test]
fn who_waits_at_the_old_listener_of_a_port_is_greeted() {
    const WAIT: usize = 48;
    const GREETING: usize = 64;
    let service = Service::shared();
    let endpoint = service.endpoint();
    let shared = ["--bind", &endpoint, "--reuse-port"];
    // A call under way keeps the process there.
    let until_told =
        "read x; echo begun >\"$0\"; while [ ! -e \"$0.end\" ]; do sleep 0.05; done; echo \"$x\"";
    let mut old = start(&service.command_with(&shared, until_told).each());
    old.endpoint();
    let client = service.client();
    let calling = thread::spawn(move || {
        let client = client.blocking();
        client.request_with(&b"one"[..], CallOptions::within(TIMEOUT))
    });
    let log = service.keys.path("log");
    eventually("a call is under way", || Path::new(&log).exists());
    let new = service.start();
    old.signal("-STOP");
    let address = endpoint.trim_start_matches("tcp://").to_owned();
    let connect = |_| TcpStream::connect(&address).expect("a connection");
    let strangers: Vec<_> = (0..WAIT).map(connect).collect();
    old.terminate();
    old.signal("-CONT");
    for mut stranger in strangers {
        stranger.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
        let greeted = stranger.read_exact(&mut [0; GREETING]);
        greeted.expect("a greeting of one of the two");
    }
    std::fs::write(format!("{log}.end"), "").expect("a file");
    let answer = calling.join().expect("the client").expect("an answer");
    assert_eq!(&answer[..], b"one\n");
    old.finish().expect_code(0);
    new.terminated().expect_code(0);
}

/// A port is shared with listeners that share it as well.
#[test]
fn a_port_is_not_shared_unless_both_say_so() {
    let service = Service::shared();
    let endpoint = service.endpoint();
    let shares = service.start();
    let taken = start(&service.command(&["--bind", &endpoint]).each()).finish();
    assert_ne!(taken.code, Some(0));
    assert!(taken.stderr.contains("in use"), "{taken:?}");
    shares.terminated().expect_code(0);
}

#[test]
fn without_a_socket_that_is_passed_nothing_is_served() {
    let none = start(&Service::passed().command(&["--listen-fds"]).each()).finish();
    let none = none.expect_code(2);
    assert!(none.stderr.contains("LISTEN_FDS"), "{none:?}");
}

/// A PUSH of this process, and a PULL that is restarted.
struct Work {
    push: Socket,
    sent: usize,
    arrived: BTreeSet<usize>,
}

impl Work {
    /// Sends messages all the time, restarts the receiver as `end` ends it, and waits until all that is to come has come.
    fn handed_over(address: &str, end: impl Fn(Running) -> Finished) -> Self {
        // An address that nobody else has a port of.
        let any_port = format!("tcp://{address}:0");
        let mut pull = start(&["pull", "-b", &any_port, "--grace", "60s"]);
        let endpoint = pull.endpoint();
        let push = Socket::builder(SocketType::Push)
            .security(Security::plain_text())
            .send_high_water_mark(100)
            .send_timeout(TIMEOUT)
            .linger(TIMEOUT)
            .build()
            .expect("a socket");
        push.connect(&*endpoint).expect("an endpoint");
        let (sent, over) = (
            Arc::new(AtomicUsize::new(0)),
            Arc::new(AtomicBool::new(false)),
        );
        let sender = blocking::Socket::from(push.clone());
        let (counter, stops) = (sent.clone(), over.clone());
        let sending = thread::spawn(move || {
            while !stops.load(Ordering::SeqCst) {
                let number = counter.load(Ordering::SeqCst);
                sender.send(format!("{number}")).expect("room");
                counter.store(number + 1, Ordering::SeqCst);
            }
        });
        let mut arrived = BTreeSet::new();
        let mut take = |finished: Finished| {
            // The last line of one that was killed may be cut.
            let text = String::from_utf8(finished.stdout).expect("text");
            for line in text
                .split_inclusive('\n')
                .filter(|line| line.ends_with('\n'))
            {
                let number = line.trim_end().parse().expect("a number");
                assert!(arrived.insert(number), "{number} came twice");
            }
        };
        for _ in 0..ROUNDS {
            let before = sent.load(Ordering::SeqCst);
            eventually("messages go", || {
                sent.load(Ordering::SeqCst) >= before + 5_000
            });
            take(end(pull));
            pull = start(&["pull", "-b", &endpoint, "--grace", "60s"]);
            pull.endpoint();
        }
        over.store(true, Ordering::SeqCst);
        sending.join().expect("the sender");
        eventually("a connection to the last", || !push.peers().is_empty());
        eventually("all has left", || {
            let metrics = push.metrics().expect("metrics");
            metrics.outbound.messages == 0 && metrics.backlog == 0
        });
        pull.terminate();
        take(pull.finish().expect_code(0));
        Work {
            sent: sent.load(Ordering::SeqCst),
            push,
            arrived,
        }
    }

    fn missing(&self) -> usize {
        self.sent - self.arrived.len()
    }
}

#[test]
fn a_pull_that_ends_in_order_leaves_nothing_behind() {
    let work = Work::handed_over("127.91.0.1", |pull| pull.terminated().expect_code(0));
    assert_eq!(work.missing(), 0);
}

/// Messages that may have been under way are reported, and no others are lost.
#[test]
fn what_a_pull_that_is_killed_had_is_counted_by_the_push() {
    let work = Work::handed_over("127.91.0.2", |pull| {
        pull.signal("-KILL");
        pull.finish()
    });
    let counters = work.push.counters();
    let (missing, unsent) = (work.missing() as u64, counters.dropped_unsent);
    let at_most = unsent + counters.unconfirmed;
    assert!(
        (unsent..=at_most).contains(&missing),
        "{missing} of {counters:?}"
    );
}
