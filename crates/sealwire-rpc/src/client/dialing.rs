//! How a client comes to connections.

use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use sealwire::{Endpoint, Event};

use super::Shared;
use crate::hub::{Hub, lock};

#[derive(Clone, Copy)]
pub(super) struct DialOptions {
    pub(super) max_connections: usize,
    pub(super) busy: usize,
    pub(super) attempts: u32,
    pub(super) limit: Duration,
    pub(super) retries: u32,
}

#[derive(Default)]
pub(super) struct Dialing {
    active: bool,
    /// Attempts that failed so far, and why the last did.
    pub(super) failures: u64,
    last_failure: String,
}

impl Shared {
    /// Why the last attempt failed, if more have failed than these.
    pub(super) fn failed_since(&self, failures: u64) -> Option<String> {
        let dialing = lock(&self.dialing);
        (dialing.failures > failures).then(|| dialing.last_failure.clone())
    }

    /// Opens a connection in the background, unless that is under way.
    pub(super) fn dial(&self) {
        if std::mem::replace(&mut lock(&self.dialing).active, true) {
            return;
        }
        let (hub, dialing) = (self.hub.clone(), self.dialing.clone());
        let (endpoint, options) = (self.endpoint.clone(), self.options);
        let spawned = thread::Builder::new()
            .name("sealwire-rpc-dial".into())
            .spawn(move || {
                let mut outcome = Ok(());
                for _ in 0..options.attempts {
                    outcome = connect(&hub, &endpoint, options.limit);
                    if outcome.is_ok() || hub.has_ended() {
                        break;
                    }
                }
                finish(&dialing, outcome);
                hub.changed.notify(usize::MAX);
            });
        if let Err(error) = spawned {
            finish(&self.dialing, Err(error.to_string()));
            self.hub.changed.notify(usize::MAX);
        }
    }
}

fn finish(dialing: &Mutex<Dialing>, outcome: Result<(), String>) {
    let mut dialing = lock(dialing);
    dialing.active = false;
    if let Err(reason) = outcome {
        dialing.failures += 1;
        dialing.last_failure = reason;
    }
}

/// One attempt: from connecting to a connection that takes calls.
fn connect(hub: &Hub, endpoint: &Endpoint, limit: Duration) -> Result<(), String> {
    let deadline = Instant::now() + limit;
    let monitor = hub.socket.monitor();
    hub.socket
        .connect(endpoint.clone())
        .map_err(|error| error.to_string())?;
    let mut route = None;
    let mut reason = String::from("no answer in time");
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if let Some(route) = route {
            return await_settings(hub, &monitor, route, left);
        }
        match monitor.wait_next_for(left) {
            Some(Event::Ready { peer }) if !hub.has_link(peer.route()) => {
                route = Some(peer.route());
            }
            Some(Event::Failed(failure)) if !failure.was_ready() => reason = failure.to_string(),
            Some(Event::GaveUp { .. }) | None => return Err(reason),
            Some(_) => {}
        }
    }
}

/// The handshake is done; the server has to take the connection yet.
fn await_settings(
    hub: &Hub,
    monitor: &sealwire::Monitor,
    route: u32,
    limit: Duration,
) -> Result<(), String> {
    use event_listener::Listener as _;
    let deadline = Instant::now() + limit;
    loop {
        let changed = hub.changed.listen();
        if hub.has_link(route) {
            return Ok(());
        }
        while let Some(event) = monitor.try_next() {
            match event {
                Event::Failed(failure) if failure.connection().map(|c| c as u32) == Some(route) => {
                    return Err(failure.to_string());
                }
                Event::Disconnected { peer } if peer.route() == route => {
                    return Err("the server ended the connection".into());
                }
                _ => {}
            }
        }
        if hub.has_ended() || Instant::now() >= deadline {
            return Err("the server did not take the connection in time".into());
        }
        let look_again = Instant::now() + Duration::from_millis(20);
        let _ = changed.wait_deadline(look_again.min(deadline));
    }
}
