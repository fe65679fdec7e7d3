//! The handing out: a distributor, and a PUSH socket.

use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use sealwire::blocking::Socket;
use sealwire::{Generate as _, KeyPair, Security, SocketType, auth::AllowAnyone};
use sealwire_rpc::work::Distributor;

use crate::side::{Receiver, Side};
use crate::{Error, SIZE};

/// Tasks held, as many as a PUSH socket has messages for a peer.
const HELD: usize = 1_000;
/// Between two questions whether all workers are there.
const PAUSE: Duration = Duration::from_millis(5);
/// Handed out between two looks at the clock.
const ROUND: usize = 64;

pub(crate) enum Contender {
    /// With this credit for each worker.
    Work(u32),
    Sockets,
}

impl Contender {
    /// How many a second `workers` do, on `core`, once they have warmed up for a quarter of the time.
    pub(crate) fn rate(&self, workers: usize, core: usize, turn: Duration) -> Result<f64, Error> {
        let keys = KeyPair::generate();
        let security = Security::blake3_server(keys.clone(), AllowAnyone);
        let start = |receiver, endpoint: &str| -> Result<Vec<Side>, Error> {
            let key = keys.public().to_z85();
            let side = |_| Side::start(receiver, endpoint, &key, core);
            (0..workers).map(side).collect()
        };
        match self {
            Contender::Work(credit) => {
                let distributor = Distributor::builder(security).max_tasks(HELD).build()?;
                let endpoint = distributor.bind("tcp://127.0.0.1:0")?.to_string();
                let _sides = start(Receiver::Worker(*credit), &endpoint)?;
                while distributor.counters().workers < workers {
                    thread::sleep(PAUSE);
                }
                let add = || {
                    let task = Bytes::copy_from_slice(&[0x5a; SIZE]);
                    distributor.add_blocking(task, None).map(drop)
                };
                let done = || distributor.counters().done;
                until(Instant::now() + turn / 4, add)?;
                let (before, started) = (done(), Instant::now());
                until(started + turn, add)?;
                let (after, time) = (done(), started.elapsed());
                distributor.shutdown(Duration::from_secs(1));
                Ok((after - before) as f64 / time.as_secs_f64())
            }
            Contender::Sockets => {
                let push = Socket::builder(SocketType::Push)
                    .security(security)
                    .linger(Duration::ZERO)
                    .build_blocking()?;
                let endpoint = push.bind("tcp://127.0.0.1:0")?.to_string();
                let mut sides = start(Receiver::Pull, &endpoint)?;
                while push.peers().len() < workers {
                    thread::sleep(PAUSE);
                }
                let body = [0x5a; SIZE];
                let send = || push.send(&body);
                let received = |sides: &mut [Side]| -> Result<u64, Error> {
                    sides.iter_mut().map(Side::received).sum()
                };
                until(Instant::now() + turn / 4, send)?;
                let (before, started) = (received(&mut sides)?, Instant::now());
                until(started + turn, send)?;
                let (after, time) = (received(&mut sides)?, started.elapsed());
                Ok((after - before) as f64 / time.as_secs_f64())
            }
        }
    }
}

/// Hands out until then.
fn until<E: Into<Error>>(
    end: Instant,
    mut hand_out: impl FnMut() -> Result<(), E>,
) -> Result<(), Error> {
    while Instant::now() < end {
        for _ in 0..ROUND {
            hand_out().map_err(Into::into)?;
        }
    }
    Ok(())
}
