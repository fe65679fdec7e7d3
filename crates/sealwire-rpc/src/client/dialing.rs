//! How a client comes to connections.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Mutex;
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use sealwire::{Endpoint, Event};

use super::Shared;
use crate::hub::{Hub, block_until, lock};

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
    let mut attempt = Attempt {
        route: None,
        reason: "no answer in time".into(),
    };
    loop {
        let changed = hub.changed.listen();
        if attempt.route.is_some_and(|route| hub.has_link(route)) {
            return Ok(());
        }
        match block_until(deadline, first(monitor.next(), changed)) {
            Some(Some(Some(event))) => attempt.take(&event)?,
            // Something changed; perhaps it is this connection that is ready now.
            Some(None) if !hub.has_ended() => {}
            _ => return Err(attempt.reason),
        }
    }
}

/// The next event, or nothing when the other future is done before.
async fn first(
    event: impl Future<Output = Option<Event>>,
    other: impl Future<Output = ()>,
) -> Option<Option<Event>> {
    let (mut event, mut other) = (pin!(event), pin!(other));
    poll_fn(|context| match event.as_mut().poll(context) {
        Poll::Ready(event) => Poll::Ready(Some(event)),
        Poll::Pending => other.as_mut().poll(context).map(|()| None),
    })
    .await
}

struct Attempt {
    /// Set when the handshake is done; the server has to take the connection yet.
    route: Option<u32>,
    /// Why it fails if nothing more happens.
    reason: String,
}

impl Attempt {
    /// An event of any connection of the client's. An error says that this one came to nothing.
    fn take(&mut self, event: &Event) -> Result<(), String> {
        match (event, self.route) {
            // Only one connection is dialed at a time, so a new one is this one. The hub may know
            // it already.
            (Event::Ready { peer }, _) => {
                self.route = Some(peer.route());
                self.reason = "the server did not take the connection in time".into();
            }
            (Event::Disconnected { peer }, Some(route)) if peer.route() == route => {
                return Err("the server ended the connection".into());
            }
            (Event::Failed(failure), Some(route))
                if failure.connection().map(|c| c as u32) == Some(route) =>
            {
                return Err(failure.to_string());
            }
            (Event::Failed(failure), None) if !failure.was_ready() => {
                self.reason = failure.to_string();
            }
            (Event::GaveUp { .. }, None) => return Err(std::mem::take(&mut self.reason)),
            _ => {}
        }
        Ok(())
    }
}
