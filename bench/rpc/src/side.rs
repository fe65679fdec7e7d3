//! The answering process: everything that is measured listens there. It lives as long as its
//! standard input is open, and tells on each line of it how much has arrived.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::{Error, bare, grpc, ours, sockets};

/// What the answering process says first.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Introduction {
    pub(crate) ours: String,
    pub(crate) public_key: String,
    pub(crate) sockets: String,
    pub(crate) sockets_key: String,
    pub(crate) grpc: String,
    pub(crate) certificate: String,
    pub(crate) bare_tcp: String,
}

/// A count, and the time it was taken at by the clock of that process.
#[derive(Serialize, Deserialize)]
struct Arrived {
    messages: u64,
    nanoseconds: u64,
}

pub(crate) struct Side {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    pub(crate) introduction: Introduction,
}

impl Side {
    pub(crate) fn start() -> Result<Self, Error> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg("side")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take();
        let output = child
            .stdout
            .take()
            .ok_or("no output of the other process")?;
        let mut output = BufReader::new(output);
        let mut line = String::new();
        output.read_line(&mut line)?;
        let introduction = serde_json::from_str(&line)?;
        Ok(Side {
            child,
            input,
            output,
            introduction,
        })
    }

    fn arrived(&mut self, what: &str) -> Result<Arrived, Error> {
        let input = self.input.as_mut().ok_or("already told to end")?;
        writeln!(input, "{what}")?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        Ok(serde_json::from_str(&line)?)
    }

    /// Messages that arrive in a second while `send` sends: once it has warmed up.
    pub(crate) fn arrivals(
        &mut self,
        what: &str,
        turn: Duration,
        mut send: impl FnMut(Instant) -> Result<(), Error>,
    ) -> Result<f64, Error> {
        send(Instant::now() + turn / 4)?;
        let before = self.arrived(what)?;
        send(Instant::now() + turn)?;
        let after = self.arrived(what)?;
        let within = Duration::from_nanos(after.nanoseconds - before.nanoseconds);
        Ok((after.messages - before.messages) as f64 / within.as_secs_f64())
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        // Its sign to end.
        drop(self.input.take());
        let _ = self.child.wait();
    }
}

pub(crate) fn run() -> Result<(), Error> {
    let [by_ours, by_sockets, by_grpc] = [(); 3].map(|()| Arc::new(AtomicU64::new(0)));
    let (_server, ours, public_key) = ours::serve(by_ours.clone())?;
    let (pull, sockets, sockets_key) = sockets::serve()?;
    let counter = by_sockets.clone();
    thread::spawn(move || sockets::count(&pull, &counter));
    let bare = TcpListener::bind("127.0.0.1:0")?;
    let tls = TcpListener::bind("127.0.0.1:0")?;
    let certificate = grpc::certificate()?;
    let introduction = Introduction {
        ours,
        public_key,
        sockets,
        sockets_key,
        grpc: tls.local_addr()?.to_string(),
        certificate: certificate.cert.pem(),
        bare_tcp: bare.local_addr()?.to_string(),
    };
    thread::spawn(move || bare::answer(&bare));
    let counter = by_grpc.clone();
    thread::spawn(move || grpc::serve(tls, &certificate, counter));
    println!("{}", serde_json::to_string(&introduction)?);
    let started = Instant::now();
    for line in std::io::stdin().lines() {
        let counter = match line?.as_str() {
            "ours" => &by_ours,
            "sockets" => &by_sockets,
            _ => &by_grpc,
        };
        let arrived = Arrived {
            messages: counter.load(Ordering::Relaxed),
            nanoseconds: started.elapsed().as_nanos() as u64,
        };
        println!("{}", serde_json::to_string(&arrived)?);
    }
    Ok(())
}
