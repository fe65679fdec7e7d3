//! How many messages arrive per second.

use std::convert::Infallible;
use std::thread;
use std::time::Instant;

use bytes::Bytes;
use sealwire::blocking::Socket;
use sealwire::{Frame, Message, SocketType};

use super::Load;
use super::record::Measured;
use super::side::Client;
use crate::Error;

/// Messages taken at a time.
const BATCH: usize = 1_000;
/// Messages between two looks at what became of the earlier ones.
const LOOK_EVERY: u32 = 64;

/// The measuring side: counts what arrives after the warm-up.
pub(super) fn receive(socket: &Socket, load: &Load) -> Result<Measured, Error> {
    if socket.socket_type() == SocketType::Sub {
        socket.subscribe("")?;
    }
    let answers = socket.socket_type() == SocketType::Rep;
    let mut batch = Vec::with_capacity(BATCH);
    let mut take = || -> Result<u64, Error> {
        if answers {
            let request = socket.recv()?;
            socket
                .send(Message::from(request.into_frames()))
                .map_err(sealwire::Error::from)?;
            return Ok(1);
        }
        batch.clear();
        Ok(socket.recv_many(&mut batch, BATCH)? as u64)
    };
    // The first message takes as long as the connection.
    take()?;
    let started = Instant::now();
    while started.elapsed() < load.warm_up {
        take()?;
    }
    // What arrives with this batch came before the clock starts and does not count.
    take()?;
    let first = Instant::now();
    let (mut count, mut last) = (0, first);
    while last - first < load.time {
        count += take()?;
        last = Instant::now();
    }
    Ok(Measured {
        count,
        seconds: (last - first).as_secs_f64(),
        ..Measured::default()
    })
}

/// The other side: sends the same payload again and again until the process is told to end.
pub(super) fn send(client: &Client, load: &Load) -> Result<Infallible, Error> {
    let (socket, _) = client.connect()?;
    let payload = Bytes::from(vec![0x5a; load.size]);
    let asks = socket.socket_type() == SocketType::Req;
    let mut dropped = 0;
    loop {
        for _ in 0..LOOK_EVERY {
            // As a program would: what fits is copied, what is large is shared.
            let message = match payload.len() {
                0..=Frame::INLINE => Message::from(&payload[..]),
                _ => Message::from(payload.clone()),
            };
            socket.send(message).map_err(sealwire::Error::from)?;
            if asks {
                socket.recv()?;
            }
        }
        // A publisher never waits; without a pause it would take the core from the thread that
        // sends what it published.
        let dropped_now = socket.counters().dropped_at_send;
        if dropped_now > dropped || socket.peers().is_empty() {
            dropped = dropped_now;
            thread::yield_now();
        }
    }
}
