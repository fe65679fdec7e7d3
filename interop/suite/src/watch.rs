//! Waiting for what happens on our side.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use sealwire::blocking::Socket;
use sealwire::{ConnectionFailure, Event, Monitor, Peer, SocketBuilder, SocketType};

/// Nothing here takes that long unless it is broken.
pub const TIMEOUT: Duration = Duration::from_secs(60);

/// Pause between two polls.
const POLL: Duration = Duration::from_millis(2);

/// Options under which a broken test ends, and a peer that restarts is soon found again.
pub fn options(socket_type: SocketType) -> SocketBuilder {
    Socket::builder(socket_type)
        .send_timeout(TIMEOUT)
        .receive_timeout(TIMEOUT)
        .reconnect(Duration::from_millis(10), Duration::from_millis(100))
}

/// Waits for an event that fits.
///
/// # Panics
///
/// When none comes in time.
pub fn await_event<T>(monitor: &Monitor, what: &str, fits: impl Fn(&Event) -> Option<T>) -> T {
    let deadline = Instant::now() + TIMEOUT;
    let mut seen = Vec::new();
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let Some(event) = monitor.wait_next_timeout(left) else {
            panic!("no event in time: {what}; seen: {seen:#?}")
        };
        if let Some(found) = fits(&event) {
            return found;
        }
        seen.push(event.to_string());
    }
}

/// Waits until this holds; for what no event tells.
///
/// # Panics
///
/// When it does not in time.
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + TIMEOUT;
    while !holds() {
        assert!(Instant::now() < deadline, "not in time: {what}");
        thread::sleep(POLL);
    }
}

/// Waits for a finished handshake.
///
/// # Panics
///
/// When there is none in time.
pub fn await_ready(monitor: &Monitor) -> Arc<Peer> {
    await_event(monitor, "a finished handshake", |event| match event {
        Event::Ready { peer } => Some(peer.clone()),
        _ => None,
    })
}

/// Waits for a connection to fail.
///
/// # Panics
///
/// When none does in time.
pub fn await_failure(monitor: &Monitor) -> ConnectionFailure {
    await_event(monitor, "a failed connection", |event| match event {
        Event::Failed(failure) => Some(failure.clone()),
        _ => None,
    })
}
