//! Handshakes and messages between two ends in memory.

use std::hint::black_box;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};

use super::pair::{End, Parties, failed};
use crate::exit::Failure;

/// Turns in which handshakes and messages are measured.
const TURNS: usize = 10;
/// Payload that is on its way at once: it stays in the cache, as that of a connection does.
const IN_FLIGHT: usize = 256 << 10;

/// Nanoseconds a handshake, both sides together: the median of the turns.
pub(super) fn handshakes(parties: &[Parties; 2], count: usize) -> Result<[f64; 2], Failure> {
    let mut times = [Vec::new(), Vec::new()];
    for share in shares(count) {
        for (parties, times) in parties.iter().zip(&mut times) {
            let started = Instant::now();
            for _ in 0..share {
                black_box(parties.connected()?);
            }
            times.push(started.elapsed().as_nanos() as f64 / share as f64);
        }
    }
    Ok(times.map(super::median))
}

/// Nanoseconds a message, of sealing and of opening.
pub(super) fn messages(
    parties: &[Parties; 2],
    size: usize,
    count: usize,
) -> Result<[[f64; 2]; 2], Failure> {
    let [first, second] = parties;
    let mut ends = [first.connected()?, second.connected()?];
    let mut sealing = [Vec::new(), Vec::new()];
    let mut opening = [Vec::new(), Vec::new()];
    for share in shares(count) {
        for (index, [client, server]) in ends.iter_mut().enumerate() {
            let [seal, open] = send(client, server, size, share)?;
            sealing[index].push(seal.as_nanos() as f64 / share as f64);
            opening[index].push(open.as_nanos() as f64 / share as f64);
        }
    }
    Ok([sealing.map(super::median), opening.map(super::median)])
}

/// The messages of each turn.
fn shares(count: usize) -> impl Iterator<Item = usize> {
    let turns = TURNS.min(count);
    (0..turns).map(move |turn| count * (turn + 1) / turns - count * turn / turns)
}

/// Sends messages, as many at once as may be on their way: the time that sealing and opening took.
fn send(
    client: &mut End,
    server: &mut End,
    size: usize,
    count: usize,
) -> Result<[Duration; 2], Failure> {
    let at_once = (IN_FLIGHT / size).max(1);
    let [mut sealing, mut opening] = [Duration::ZERO; 2];
    let mut left = count;
    while left > 0 {
        let now = left.min(at_once);
        left -= now;
        let payloads: Vec<Bytes> = (0..now).map(|_| vec![0x5a; size].into()).collect();
        let started = Instant::now();
        for payload in payloads {
            client.stage(payload)?;
        }
        client.seal();
        sealing += started.elapsed();

        let mut wire = BytesMut::new();
        client.take_output(&mut wire);
        *server.input() = wire;
        let started = Instant::now();
        server.open()?;
        let (messages, bytes) = server.take_messages();
        opening += started.elapsed();
        if (messages, bytes) != (now, now * size) {
            return Err(failed(format!(
                "{messages} of {now} messages of {size} bytes were opened"
            )));
        }
    }
    Ok([sealing, opening])
}
