//! What encryption costs: a short run with it and one without.

use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use sealwire::auth::AllowAnyone;
use sealwire::blocking::Socket;
use sealwire::{Context, Error, Generate as _, KeyPair, Security, SocketType};

use super::mechanism::DemoMechanism;
use super::stage::Stage;
use crate::exit::Failure;

/// Length of each of the two runs.
const RUN: Duration = Duration::from_millis(800);
/// Payload of each message, in bytes.
const SIZE: usize = 1_024;
/// Messages taken at a time.
const BATCH: usize = 1_000;

pub(super) fn run(stage: &mut Stage, mechanism: DemoMechanism) -> Result<(), Failure> {
    stage.scene("How fast it is here, in one process")?;
    let keys = KeyPair::generate();
    let client = mechanism.client(keys.public(), KeyPair::generate());
    let sealed = measure(mechanism.server(keys, AllowAnyone), client)?;
    let open = measure(Security::plain_text(), Security::plain_text())?;
    for (name, rate) in [(mechanism.name(), sealed), ("NULL", open)] {
        let megabytes = rate * SIZE as f64 / 1e6;
        stage.fact(
            name,
            format_args!("{rate:>9.0} messages of {SIZE} bytes a second, {megabytes:.0} MB/s"),
        )?;
    }
    stage.claim(sealed > 0.0 && open > 0.0, "messages arrived all the time")?;
    stage.say("'sealwire bench' measures between two processes.")
}

/// Messages per second from a PUSH to a PULL over TCP, an I/O thread for each.
fn measure(server: Security, client: Security) -> Result<f64, Failure> {
    let pull = Socket::builder(SocketType::Pull)
        .security(server)
        .context(&Context::new()?)
        .receive_timeout(RUN * 3)
        .build_blocking()?;
    let push = Socket::builder(SocketType::Push)
        .security(client)
        .context(&Context::new()?)
        .linger(Duration::ZERO)
        .build_blocking()?;
    push.connect(pull.bind("tcp://127.0.0.1:0")?)?;
    let sender = thread::spawn({
        let push = push.clone();
        let payload = Bytes::from(vec![0x5a; SIZE]);
        // Until the socket is closed below.
        move || while push.send(payload.clone()).is_ok() {}
    });
    let rate = receive(&pull);
    match push.close() {
        Ok(()) | Err(Error::Unsent(_)) => {}
        Err(error) => return Err(error.into()),
    }
    sender
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    rate
}

fn receive(pull: &Socket) -> Result<f64, Failure> {
    let mut batch = Vec::with_capacity(BATCH);
    pull.recv_many(&mut batch, BATCH)?;
    let started = Instant::now();
    let (mut count, mut last) = (0, started);
    while last - started < RUN {
        batch.clear();
        count += pull.recv_many(&mut batch, BATCH)?;
        last = Instant::now();
    }
    Ok(count as f64 / (last - started).as_secs_f64())
}
