//! How long a round trip takes.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use bytes::Bytes;
use sealwire::Message;
use sealwire::blocking::Socket;
use sealwire_bench_measure::statistics::percentile;

use super::Load;
use super::record::Measured;
use super::side::Client;
use crate::Error;

/// The measuring side: asks, one request at a time.
pub(super) fn measure(client: &Client, load: &Load) -> Result<Measured, Error> {
    let (socket, _) = client.connect()?;
    let payload = Bytes::from(vec![0x5a; load.size]);
    let round_trip = || -> Result<(Instant, Duration), Error> {
        let sent = Instant::now();
        socket
            .send(payload.clone())
            .map_err(sealwire::Error::from)?;
        socket.recv()?;
        let received = Instant::now();
        Ok((received, received - sent))
    };
    let (connected, _) = round_trip()?;
    let mut now = connected;
    while now - connected < load.warm_up {
        (now, _) = round_trip()?;
    }
    let first = now;
    let mut times = Vec::new();
    while now - first < load.time {
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
pub(super) fn answer(socket: &Socket) -> Result<Infallible, Error> {
    loop {
        let request = socket.recv()?;
        socket
            .send(Message::from(request.into_frames()))
            .map_err(sealwire::Error::from)?;
    }
}
