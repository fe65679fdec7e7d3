//! A worker: a process that takes what it gets. It lives as long as its standard input is open, and tells on each line of
//! it how much it has received.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::{process, thread};

use sealwire::blocking::Socket;
use sealwire::{Generate as _, KeyPair, PublicKey, Security, SocketType};
use sealwire_bench_measure::cores;
use sealwire_rpc::work::Worker;

use crate::Error;

/// Messages taken from a socket at a time.
const BATCH: usize = 512;

static RECEIVED: AtomicU64 = AtomicU64::new(0);

/// What it receives with.
#[derive(Clone, Copy)]
pub(crate) enum Receiver {
    /// A worker with this credit.
    Worker(u32),
    Pull,
}

pub(crate) struct Side {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Side {
    pub(crate) fn start(
        receiver: Receiver,
        endpoint: &str,
        key: &str,
        core: usize,
    ) -> Result<Self, Error> {
        let credit = match receiver {
            Receiver::Worker(credit) => credit,
            Receiver::Pull => 0,
        };
        let mut child = Command::new(std::env::current_exe()?)
            .args([
                "side",
                endpoint,
                key,
                &core.to_string(),
                &credit.to_string(),
            ])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take();
        let output = child.stdout.take().ok_or("no output of a worker")?;
        Ok(Side {
            child,
            input,
            output: BufReader::new(output),
        })
    }

    /// How many it has received so far.
    pub(crate) fn received(&mut self) -> Result<u64, Error> {
        let input = self.input.as_mut().ok_or("already told to end")?;
        writeln!(input)?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        Ok(line.trim().parse()?)
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        // Its sign to end.
        drop(self.input.take());
        let _ = self.child.wait();
    }
}

/// The worker's part.
pub(crate) fn run(mut arguments: impl Iterator<Item = String>) -> Result<(), Error> {
    let mut next = || arguments.next().ok_or("an argument is missing");
    let (endpoint, key, core) = (next()?, next()?, next()?);
    let credit: u32 = next()?.parse()?;
    cores::pin_to(core.parse()?)?;
    let key: PublicKey = key.parse()?;
    let security = Security::blake3_client_with_keys(key, KeyPair::generate());
    thread::spawn(move || {
        let ended = match credit {
            0 => pull(security.into(), &endpoint),
            credit => work(security.into(), &endpoint, credit),
        };
        if let Err(error) = ended {
            eprintln!("a worker: {error}");
        }
    });
    for line in std::io::stdin().lines() {
        line?;
        println!("{}", RECEIVED.load(Ordering::Relaxed));
    }
    process::exit(0)
}

fn work(security: Security, endpoint: &str, credit: u32) -> Result<(), Error> {
    let worker = Worker::builder(security).credit(credit).build(endpoint)?;
    loop {
        worker.take_blocking(None)?.done();
        RECEIVED.fetch_add(1, Ordering::Relaxed);
    }
}

fn pull(security: Security, endpoint: &str) -> Result<(), Error> {
    let pull = Socket::builder(SocketType::Pull)
        .security(security)
        .build_blocking()?;
    pull.connect(endpoint)?;
    let mut batch = Vec::with_capacity(BATCH);
    loop {
        let taken = pull.recv_many(&mut batch, BATCH)?;
        RECEIVED.fetch_add(taken as u64, Ordering::Relaxed);
        batch.clear();
    }
}
