//! How long a round trip takes.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use bytes::Bytes;
use sealwire::blocking::Socket;
use sealwire::{Error, Message};

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
        p50_us: Some(percentile(&times, 50)),
        p99_us: Some(percentile(&times, 99)),
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

/// The smallest time that `percent` of all do not exceed, in microseconds. The times are sorted.
fn percentile(times: &[Duration], percent: usize) -> f64 {
    let rank = (times.len() * percent).div_ceil(100).max(1);
    let time = times.get(rank - 1).copied().unwrap_or_default();
    time.as_nanos() as f64 / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_nearest_ranks() {
        let times: Vec<_> = (1..=200).map(Duration::from_micros).collect();
        assert_eq!(percentile(&times, 50), 100.0);
        assert_eq!(percentile(&times, 99), 198.0);
        assert_eq!(percentile(&times[..1], 99), 1.0);
    }
}
