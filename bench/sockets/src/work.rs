//! What the sockets are made to do, the same for every library.

use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use bytes::Bytes;
use sealwire_bench_measure::statistics::percentile;
use serde::{Deserialize, Serialize};

use crate::Outcome;
use crate::control::{Control, pause};
use crate::libraries::{Kind, Messages as _, Node, Socket};
use crate::machine;
use crate::task::{Task, Work};

/// A subscriber acknowledges bursts, this many to a queue, and two may be under way: libzmq tells
/// the publisher of what left its queue only by halves of the queue, and what is more it drops.
const BURSTS_PER_QUEUE: usize = 5;
const BURSTS_UNDER_WAY: usize = 2;
/// The first byte of what tells a publisher's subscribers that they are heard.
const PROBE: u8 = 1;
const PROBE_PERIOD: Duration = Duration::from_millis(2);
const PAYLOAD: u8 = 0x5a;
/// How long a process must have used no time to count as idle.
const IDLE_FOR: Duration = Duration::from_millis(300);

/// What the measuring side found. Which fields are set depends on the work.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Measured {
    pub(crate) per_second: Option<f64>,
    pub(crate) p50_us: Option<f64>,
    pub(crate) p99_us: Option<f64>,
    pub(crate) bytes_per_connection: Option<f64>,
    pub(crate) bytes_per_used_connection: Option<f64>,
}

/// A bound server, before its client is there.
pub(crate) struct Server<S> {
    socket: S,
    control: Option<TcpListener>,
    /// Of the process before the first client.
    baseline: machine::Footprint,
    pub(crate) endpoint: String,
}

impl<S: Socket> Server<S> {
    pub(crate) async fn bind<N: Node<Socket = S>>(node: &N, task: &Task) -> Outcome<Self> {
        let kind = match task.work {
            Work::PushPull => Kind::Pull,
            Work::ReqRep | Work::Handshake => Kind::Rep,
            Work::PubSub => Kind::Pub,
            Work::DealerRouter | Work::Idle => Kind::Router,
        };
        let mut socket = node.server(kind)?;
        let endpoint = socket.bind(&task.endpoint).await?;
        let control = match task.work {
            Work::PubSub | Work::Idle => Some(TcpListener::bind("127.0.0.1:0")?),
            _ => None,
        };
        Ok(Server {
            socket,
            control,
            baseline: machine::Footprint::now()?,
            endpoint,
        })
    }

    /// Where acknowledgements are taken.
    pub(crate) fn control(&self) -> String {
        let address = self.control.as_ref().map(TcpListener::local_addr);
        address.map_or_else(String::new, |address| {
            address
                .map(|address| address.to_string())
                .unwrap_or_default()
        })
    }

    /// Serves; gives something back where the server is the side that measures.
    pub(crate) async fn serve(self, task: &Task) -> Outcome<Measured> {
        let Server {
            mut socket,
            control,
            baseline,
            ..
        } = self;
        match (task.work, control) {
            (Work::PushPull, _) => {
                let mut messages = socket.messages();
                per_second(task, 1, async || messages.next().await.map(drop)).await
            }
            (Work::PubSub, Some(control)) => publish(&mut socket, control, task).await,
            (Work::Idle, Some(control)) => idle(&mut socket, control, &baseline, task).await,
            _ => {
                // Until the clients have what they want.
                while socket.echo().await.is_ok() {}
                Ok(Measured::default())
            }
        }
    }
}

/// The side that connects.
pub(crate) async fn client<N: Node>(node: &N, task: &Task) -> Outcome<Measured> {
    let payload = Bytes::from(vec![PAYLOAD; task.size]);
    match task.work {
        Work::PushPull => {
            let mut socket = connected(node, Kind::Push, task).await?;
            // Until the server has what it wants.
            while socket.send(&payload).await.is_ok() {}
            Ok(Measured::default())
        }
        Work::ReqRep => round_trips(&mut connected(node, Kind::Req, task).await?, task).await,
        Work::PubSub => subscribe(node, task).await,
        Work::DealerRouter => {
            let mut sockets = Vec::new();
            for _ in 0..task.peers {
                sockets.push(connected(node, Kind::Dealer, task).await?);
            }
            per_second(task, task.peers, async || {
                for socket in &mut sockets {
                    socket.send(&payload).await?;
                }
                for socket in &mut sockets {
                    socket.receive().await?;
                }
                Ok(())
            })
            .await
        }
        Work::Handshake => {
            per_second(task, 1, async || {
                let mut socket = connected(node, Kind::Req, task).await?;
                socket.send(&payload).await?;
                socket.receive().await?;
                socket.close().await
            })
            .await
        }
        Work::Idle => {
            let mut control = Control::new(TcpStream::connect(&task.control)?)?;
            let mut socket = node.client(Kind::Dealer, &task.key)?;
            for _ in 0..task.peers {
                socket.connect(&task.endpoint).await?;
            }
            // The server is satisfied with what it sees; then each connection is used once.
            loop {
                control.signs(None).await?;
                for _ in 0..task.peers {
                    socket.send(&payload).await?;
                }
            }
        }
    }
}

async fn connected<N: Node>(node: &N, kind: Kind, task: &Task) -> Outcome<N::Socket> {
    let mut socket = node.client(kind, &task.key)?;
    socket.connect(&task.endpoint).await?;
    Ok(socket)
}

/// How often `step` is done, times `weight`, after the warm-up.
async fn per_second(
    task: &Task,
    weight: usize,
    mut step: impl AsyncFnMut() -> Outcome<()>,
) -> Outcome<Measured> {
    /// Steps between two readings of the clock, which costs as much as a small message.
    const CLOCK_EVERY: usize = 16;
    let steps = if weight == 1 { CLOCK_EVERY } else { 1 };
    // The first takes as long as the connection.
    step().await?;
    let started = Instant::now();
    while started.elapsed() < task.warm_up() {
        step().await?;
    }
    let (first, mut count) = (Instant::now(), 0);
    loop {
        for _ in 0..steps {
            step().await?;
        }
        count += steps * weight;
        let elapsed = first.elapsed();
        if elapsed >= task.time() {
            return Ok(Measured {
                per_second: Some(count as f64 / elapsed.as_secs_f64()),
                ..Measured::default()
            });
        }
    }
}

async fn round_trips(socket: &mut impl Socket, task: &Task) -> Outcome<Measured> {
    let payload = Bytes::from(vec![PAYLOAD; task.size]);
    let started = Instant::now();
    let mut times = Vec::new();
    loop {
        let sent = Instant::now();
        socket.send(&payload).await?;
        socket.receive().await?;
        let received = Instant::now();
        if sent - started >= task.warm_up() {
            times.push(received - sent);
        }
        if received - started >= task.warm_up() + task.time() {
            break;
        }
    }
    times.sort_unstable();
    Ok(Measured {
        p50_us: percentile(&times, 50),
        p99_us: percentile(&times, 99),
        ..Measured::default()
    })
}

/// Publishes in bursts and lets few of them wait for acknowledgement.
async fn publish(socket: &mut impl Socket, control: TcpListener, task: &Task) -> Outcome<Measured> {
    let mut control = Control::new(control.accept()?.0)?;
    let probe = Bytes::from(vec![PROBE; task.size]);
    let payload = Bytes::from(vec![PAYLOAD; task.size]);
    // Until every subscriber has heard something.
    while control.signs(Some(PROBE_PERIOD)).await? == 0 {
        socket.send(&probe).await?;
    }
    let burst = task.queue() / BURSTS_PER_QUEUE;
    let mut credit = BURSTS_UNDER_WAY;
    loop {
        if credit == 0 {
            match control.signs(None).await {
                Ok(signs) => credit += signs,
                // The subscribers have what they want.
                Err(_) => return Ok(Measured::default()),
            }
        }
        credit -= 1;
        for _ in 0..burst {
            socket.send(&payload).await?;
        }
    }
}

async fn subscribe<N: Node>(node: &N, task: &Task) -> Outcome<Measured> {
    let mut control = Control::new(TcpStream::connect(&task.control)?)?;
    let mut sockets = Vec::new();
    for _ in 0..task.peers {
        let mut socket = node.client(Kind::Sub, &task.key)?;
        socket.subscribe().await?;
        socket.connect(&task.endpoint).await?;
        sockets.push(socket);
    }
    for socket in &mut sockets {
        socket.receive().await?;
    }
    control.give_sign()?;
    let burst = task.queue() / BURSTS_PER_QUEUE;
    let deliveries = burst * task.peers;
    let mut subscribers: Vec<_> = sockets.iter_mut().map(Socket::messages).collect();
    per_second(task, deliveries, async || {
        for messages in &mut subscribers {
            let mut received = 0;
            while received < burst {
                received += usize::from(messages.next().await? == PAYLOAD);
            }
        }
        control.give_sign()
    })
    .await
}

/// Memory of this process for each connection: when all are there, and when each was used once.
async fn idle(
    socket: &mut impl Socket,
    control: TcpListener,
    baseline: &machine::Footprint,
    task: &Task,
) -> Outcome<Measured> {
    let mut control = Control::new(control.accept()?.0)?;
    loop {
        let now = machine::Footprint::now()?;
        if now.descriptors >= baseline.descriptors + task.peers {
            break;
        }
        pause(Duration::from_millis(20)).await;
    }
    let fresh = settled().await?;
    control.give_sign()?;
    for _ in 0..task.peers {
        socket.receive().await?;
    }
    let used = settled().await?;
    let per_connection = |now: machine::Footprint| {
        Some(now.resident.saturating_sub(baseline.resident) as f64 / task.peers as f64)
    };
    Ok(Measured {
        bytes_per_connection: per_connection(fresh),
        bytes_per_used_connection: per_connection(used),
        ..Measured::default()
    })
}

/// Once the process has stopped computing.
async fn settled() -> Outcome<machine::Footprint> {
    let mut before = machine::Footprint::now()?;
    loop {
        pause(IDLE_FOR).await;
        let now = machine::Footprint::now()?;
        if now.ticks <= before.ticks + 1 {
            return Ok(now);
        }
        before = now;
    }
}
