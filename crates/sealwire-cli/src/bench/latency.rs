//! How long a round trip takes.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use bytes::Bytes;
use sealwire::blocking::Socket;
use sealwire::{Error, Message};
use sealwire_bench_measure::statistics::percentile;

use super::result::Measured;
use super::side::{Client, SideOptions};
use crate::exit::Failure;

/// The measuring side: asks, one request at a time.
pub(super) fn measure(client: &Client, options: &SideOptions) -> Result<Measured, Failure> {
    let (socket, _) = client.connect()?;
    let payload = Bytes::from(vec![0x5a; options.size]);
    let round_trip = || -> Result<(Instant, Duration), Failure> {
        let sent = Instant::now();
        socket.send(payload.clone()).map_err(Error::from)?;
        socket.recv()?;
        let received = Instant::now();
        Ok((received, received - sent))
    };
    let (connected, _) = round_trip()?;
    let mut now = connected;
    while now - connected < options.warm_up {
        (now, _) = round_trip()?;
    }
    let first = now;
    let mut times = Vec::new();
    while now - first < options.time {
        let time;
        (now, time) = round_trip()?;
        times.push(time);
    }
    times.sort_unstable();
    Ok(Measured {
        count: times.len() as u64,
        seconds: (now - first).as_secs_f64(),
        p50_us: percentile(&times, 50),
        p99_us: percentile(&times, 99),
    })
}

/// The other side: answers.
pub(super) fn answer(socket: &Socket) -> Result<Infallible, Failure> {
    loop {
        let request = socket.recv()?;
        socket
            .send(Message::from(request.into_frames()))
            .map_err(Error::from)?;
    }
}
