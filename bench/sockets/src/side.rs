//! One of the two processes. It lives as long as its standard input is open, so that none is left
//! behind, however the process that started it ends.

use std::io::{self, Read as _, Write as _};
use std::process;
use std::thread;

use sealwire_bench_measure::cores;
use serde::{Deserialize, Serialize};

use crate::Outcome;
use crate::contender::Library;
use crate::libraries::{Node, libzmq, omq, sealwire, tcp, tls, zmq_rs};
use crate::task::{Role, Task};
use crate::work::{self, Measured, Server};

/// What a server says first.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Introduction {
    pub(crate) endpoint: String,
    pub(crate) key: String,
    pub(crate) control: String,
}

pub(crate) fn run(task: &Task) -> Outcome<()> {
    if let Some(core) = task.core {
        cores::pin_to(core)?;
    }
    thread::spawn(|| {
        let _ = io::stdin().lock().read_to_end(&mut Vec::new());
        process::exit(0);
    });
    match task.library {
        Library::Sealwire | Library::SealwireBatches => run_with::<sealwire::Node>(task),
        Library::Libzmq | Library::SealwireAsLibzmq => run_with::<libzmq::Node>(task),
        Library::Omq => run_with::<omq::newest::Node>(task),
        Library::OmqBlake3 => run_with::<omq::with_blake3::Node>(task),
        Library::ZmqRs => run_with::<zmq_rs::Node>(task),
        Library::Tcp => run_with::<tcp::Node>(task),
        Library::Tls => run_with::<tls::Node>(task),
    }
}

fn run_with<N: Node>(task: &Task) -> Outcome<()> {
    match task.role {
        Role::Server => serve::<N>(task, |introduction| say(&introduction)),
        Role::Client => {
            let node = N::new(task)?;
            let measured = node.run(work::client(&node, task))?;
            say(&measured)?;
            wait_for_the_end()
        }
        Role::Both => serve::<N>(task, |introduction| {
            let mut task = task.clone();
            thread::spawn(move || {
                let outcome = connect_to::<N>(&mut task, introduction);
                if let Err(error) = outcome {
                    eprintln!("{error}");
                    process::exit(1);
                }
            });
            Ok(())
        }),
    }
}

/// The client of a server in the same process, on the other core.
fn connect_to<N: Node>(task: &mut Task, introduction: Introduction) -> Outcome<()> {
    let [first, last] = cores::two_apart().unwrap_or_default();
    if let Some(core) = task.core {
        cores::pin_to(if core == first { last } else { first })?;
    }
    (task.endpoint, task.key) = (introduction.endpoint, introduction.key);
    let node = N::new(task)?;
    node.run(work::client(&node, task)).map(drop)
}

fn serve<N: Node>(task: &Task, introduce: impl FnOnce(Introduction) -> Outcome<()>) -> Outcome<()> {
    let node = N::new(task)?;
    let measured: Measured = node.run(async {
        let server = Server::bind(&node, task).await?;
        introduce(Introduction {
            endpoint: server.endpoint.clone(),
            key: node.public_key(),
            control: server.control(),
        })?;
        server.serve(task).await
    })?;
    say(&measured)?;
    wait_for_the_end()
}

/// The thread that reads standard input ends the process.
fn wait_for_the_end() -> ! {
    loop {
        thread::park();
    }
}

fn say(line: &impl Serialize) -> Outcome<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, line)?;
    out.write_all(b"\n")?;
    Ok(out.flush()?)
}
