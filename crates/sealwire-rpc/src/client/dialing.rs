//! How a client comes to connections.

use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sealwire::{Endpoint, Event, Monitor};

use super::ClientInner;
use crate::hub::{First, Hub, first};
use crate::limits::bounded;
use crate::lock::lock;

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

impl ClientInner {
    /// Why the last attempt failed, if more have failed than these.
    pub(super) fn failed_since(&self, failures: u64) -> Option<String> {
        let dialing = lock(&self.dialing);
        (dialing.failures > failures).then(|| dialing.last_failure.clone())
    }

    /// Opens a connection in the background, unless that is under way or not `wanted` any more: the
    /// connection of an attempt is there before the attempt is over.
    pub(super) fn dial(&self, wanted: impl FnOnce(&Hub) -> bool) {
        let mut attempts = lock(&self.dialing);
        if attempts.active || !wanted(&self.hub) {
            return;
        }
        attempts.active = true;
        drop(attempts);
        let (hub, dialing) = (self.hub.clone(), self.dialing.clone());
        let (endpoint, options) = (self.endpoint.clone(), self.options);
        let spawned = self.hub.spawn("sealwire-rpc-dial", async move {
            let mut outcome = Ok(());
            for _ in 0..options.attempts {
                outcome = connect(&hub, &endpoint, options.limit).await;
                if outcome.is_ok() || hub.has_ended() {
                    break;
                }
            }
            finish(&dialing, outcome);
            hub.changes.tell();
        });
        if let Err(error) = spawned {
            finish(&self.dialing, Err(error.to_string()));
            self.hub.changes.tell();
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
///
/// Events of earlier connections may still come, so what decides is the number of this one.
async fn connect(hub: &Arc<Hub>, endpoint: &Endpoint, limit: Duration) -> Result<(), String> {
    let deadline = hub.now() + bounded(limit);
    let monitor = hub.socket.monitor();
    let admitted_before = hub.last_admitted();
    let mut reason = String::from("no answer in time");
    let mut connecting = pin!(hub.socket.connect_peer(endpoint.clone()));
    let routing_id = loop {
        let outcome = match hub
            .by(deadline, first(connecting.as_mut(), monitor.next()))
            .await
        {
            Some(First::That(Some(event))) => {
                note_failure(&event, &mut reason);
                continue;
            }
            // The socket has ended, and so does the attempt, which knows why.
            Some(First::That(None)) => hub.by(deadline, connecting.as_mut()).await,
            Some(First::This(outcome)) => Some(outcome),
            None => None,
        };
        match outcome {
            Some(Ok(routing_id)) => break routing_id,
            Some(Err(sealwire::Error::GaveUp)) => {
                // One connection is dialed at a time: this one was taken, used and ended before this task
                // came to look.
                if hub.last_admitted() != admitted_before {
                    return Ok(());
                }
                while let Some(event) = monitor.try_next() {
                    note_failure(&event, &mut reason);
                }
                return Err(reason);
            }
            Some(Err(error)) => {
                // The reading thread may not have come to it yet.
                if matches!(error, sealwire::Error::EngineFailed) {
                    hub.fail();
                }
                return Err(error.to_string());
            }
            None => return Err(reason),
        }
    };
    let taken = wait_to_be_taken(hub, &monitor, routing_id, deadline).await;
    if taken.is_err() {
        // It may have been taken, used and ended before this task came to look.
        if hub.has_admitted(routing_id) {
            return Ok(());
        }
        // Nobody would use it any more.
        let _ = hub
            .socket
            .disconnect_peer(routing_id, "rpc: not taken in time");
    }
    taken
}

async fn wait_to_be_taken(
    hub: &Arc<Hub>,
    monitor: &Monitor,
    routing_id: u32,
    deadline: Duration,
) -> Result<(), String> {
    if hub.has_admitted(routing_id) {
        return Ok(());
    }
    let peers = hub.socket.peers();
    let connection = peers
        .iter()
        .find(|peer| peer.connection_routing_id() == routing_id);
    let Some(connection) = connection.map(|peer| peer.connection()) else {
        return Err("the server ended the connection".into());
    };
    loop {
        let changed = hub.changes.listen();
        // One connection is dialed at a time.
        if hub.has_admitted(routing_id) {
            return Ok(());
        }
        match hub.by(deadline, first(monitor.next(), changed)).await {
            Some(First::This(Some(event))) => check_for_end(&event, connection)?,
            Some(First::That(())) if !hub.has_ended() => {}
            _ => return Err("the server did not take the connection in time".into()),
        }
    }
}

/// Why the attempt fails if nothing more happens.
fn note_failure(event: &Event, reason: &mut String) {
    if let Event::Failed(failure) = event
        && !failure.was_ready()
    {
        *reason = failure.to_string();
    }
}

/// An error if the event says that the connection is gone.
fn check_for_end(event: &Event, connection: u64) -> Result<(), String> {
    match event {
        Event::Disconnected { peer, .. } if peer.connection() == connection => {
            Err("the server ended the connection".into())
        }
        Event::Failed(failure) if failure.connection() == Some(connection) => {
            Err(failure.to_string())
        }
        _ => Ok(()),
    }
}
