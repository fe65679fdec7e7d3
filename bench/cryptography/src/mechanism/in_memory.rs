//! Handshakes and messages between two ends in memory.

use std::hint::black_box;
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::{Times, medians};
use crate::{Error, failed};

/// Turns in which handshakes and messages are measured.
const TURNS: usize = 10;
/// Payload that is on its way at once: it stays in the cache, as that of a connection does.
const IN_FLIGHT: usize = 256 << 10;

/// Two parties that connect to each other without a socket.
pub(super) trait InMemory {
    fn name(&self) -> &'static str;

    /// Does both sides of a handshake.
    fn connect(&self) -> Result<Box<dyn Channel>, Error>;
}

/// A connection, in the direction in which its messages go.
pub(super) trait Channel {
    /// Seals messages, up to the bytes to be written.
    fn seal(&mut self, payloads: Vec<Bytes>) -> Result<(), Error>;

    /// Brings what is sealed to the other side; not measured.
    fn carry(&mut self);

    /// Opens what was carried: messages and their bytes.
    fn open(&mut self) -> Result<(usize, usize), Error>;
}

/// Nanoseconds a handshake, both sides together: the median of the turns.
pub(super) fn handshakes(all: &[&dyn InMemory], count: usize) -> Result<Times, Error> {
    let mut times = vec![Vec::new(); all.len()];
    for share in shares(count) {
        for (parties, times) in all.iter().zip(&mut times) {
            let started = Instant::now();
            for _ in 0..share {
                black_box(parties.connect()?);
            }
            times.push(started.elapsed().as_nanos() as f64 / share as f64);
        }
    }
    Ok(medians(names(all), times))
}

/// Nanoseconds a message, of sealing and of opening.
pub(super) fn messages(
    all: &[&dyn InMemory],
    size: usize,
    count: usize,
) -> Result<[Times; 2], Error> {
    let channels = all.iter().map(|parties| parties.connect());
    let mut channels = channels.collect::<Result<Vec<_>, _>>()?;
    let mut sealing = vec![Vec::new(); all.len()];
    let mut opening = sealing.clone();
    for share in shares(count) {
        for (index, channel) in channels.iter_mut().enumerate() {
            let [seal, open] = send(channel.as_mut(), size, share)?;
            sealing[index].push(seal.as_nanos() as f64 / share as f64);
            opening[index].push(open.as_nanos() as f64 / share as f64);
        }
    }
    Ok([sealing, opening].map(|times| medians(names(all), times)))
}

fn names(all: &[&dyn InMemory]) -> impl Iterator<Item = &'static str> {
    all.iter().map(|parties| parties.name())
}

/// The messages of each turn.
fn shares(count: usize) -> impl Iterator<Item = usize> {
    let turns = TURNS.min(count);
    (0..turns).map(move |turn| count * (turn + 1) / turns - count * turn / turns)
}

/// Sends messages, as many at once as may be on their way: the time that sealing and opening took.
fn send(channel: &mut dyn Channel, size: usize, count: usize) -> Result<[Duration; 2], Error> {
    let at_once = (IN_FLIGHT / size).max(1);
    let [mut sealing, mut opening] = [Duration::ZERO; 2];
    let mut left = count;
    while left > 0 {
        let now = left.min(at_once);
        left -= now;
        let payloads: Vec<Bytes> = (0..now).map(|_| vec![0x5a; size].into()).collect();
        let started = Instant::now();
        channel.seal(payloads)?;
        sealing += started.elapsed();

        channel.carry();
        let started = Instant::now();
        let (messages, bytes) = channel.open()?;
        opening += started.elapsed();
        if (messages, bytes) != (now, now * size) {
            return Err(failed(format!(
                "{messages} of {now} messages of {size} bytes were opened"
            )));
        }
    }
    Ok([sealing, opening])
}
