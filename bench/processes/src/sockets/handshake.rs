//! How many connections become ready per second.

use std::collections::VecDeque;
use std::time::Instant;

use sealwire::{Event, Monitor, blocking::Socket};

use super::record::Measured;
use super::side::Client;
use super::{Load, TIMEOUT};
use crate::Error;

/// Handshakes under way at the same time: enough to keep both sides busy.
const UNDER_WAY: usize = 8;

/// The measuring side: connects, waits for the handshake, and connects anew.
pub(super) fn measure(client: &Client, load: &Load) -> Result<Measured, Error> {
    let mut pending: VecDeque<(Socket, Monitor)> = VecDeque::with_capacity(UNDER_WAY);
    let mut complete_one = || -> Result<Instant, Error> {
        while pending.len() < UNDER_WAY {
            pending.push_back(client.connect()?);
        }
        if let Some((_socket, events)) = pending.pop_front() {
            wait_until_ready(&events)?;
        }
        Ok(Instant::now())
    };
    let started = Instant::now();
    let mut now = complete_one()?;
    while now - started < load.warm_up {
        now = complete_one()?;
    }
    let first = now;
    let mut count = 0;
    while now - first < load.time {
        now = complete_one()?;
        count += 1;
    }
    Ok(Measured {
        count,
        seconds: (now - first).as_secs_f64(),
        ..Measured::default()
    })
}

fn wait_until_ready(events: &Monitor) -> Result<(), Error> {
    loop {
        match events.wait_next_timeout(TIMEOUT) {
            Some(Event::Ready { .. }) => return Ok(()),
            Some(Event::Failed(failure)) => {
                return Err(Error::Failed(failure.to_string()));
            }
            Some(_) => {}
            None => {
                return Err(Error::TimedOut(
                    "a handshake did not end in time".to_owned(),
                ));
            }
        }
    }
}
