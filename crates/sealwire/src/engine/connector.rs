//! Keeping a connection to an endpoint: resolve, connect, and again after a wait that grows.

use std::io;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::mailbox::{Command, Mailbox};
use super::session::SessionKey;
use crate::endpoint::Endpoint;
use crate::entropy;
use crate::monitor::{ConnectionFailure, Event, FailureCause};
use crate::options::SocketOptions;
use crate::peer::PeerAddress;
use crate::socket::SocketCore;
use crate::transport::{Stream, Target};

/// A connection that was of use for so long starts the waits anew.
const PROVEN_AFTER: Duration = Duration::from_secs(1);

pub(super) struct Connector {
    pub(super) core: Arc<SocketCore>,
    pub(super) id: u64,
    pub(super) endpoint: Endpoint,
    pub(super) state: State,
    /// Attempts that failed in a row.
    failures: u32,
}

pub(super) enum State {
    /// Until the time, since the start of the I/O thread.
    Waiting(Duration),
    Resolving,
    /// The deadline is since the start of the I/O thread.
    Connecting {
        stream: Stream,
        target: Target,
        others: Vec<Target>,
        deadline: Duration,
    },
    Connected(SessionKey),
}

impl Connector {
    pub(super) fn new(core: Arc<SocketCore>, endpoint: Endpoint, id: u64) -> Self {
        Connector {
            core,
            id,
            endpoint,
            state: State::Waiting(Duration::ZERO),
            failures: 0,
        }
    }

    /// Begins with the addresses of the endpoint; names are looked up on a thread of their own
    /// and come back as [`Command::Resolved`].
    pub(super) fn resolve(&mut self, mailbox: &Arc<Mailbox>) -> Option<Vec<Target>> {
        if let Some(targets) = Target::immediate(&self.endpoint) {
            return Some(targets);
        }
        self.state = State::Resolving;
        let (id, endpoint, reply) = (self.id, self.endpoint.clone(), mailbox.clone());
        let lookup = move || {
            let targets = Target::resolve(&endpoint);
            reply.post(Command::Resolved { id, targets });
        };
        if let Err(error) = thread::Builder::new()
            .name("sealwire-resolve".into())
            .spawn(lookup)
        {
            mailbox.post(Command::Resolved {
                id,
                targets: Err(error),
            });
        }
        None
    }

    /// Begins to connect to the first address that takes it.
    pub(super) fn connect(&mut self, targets: Vec<Target>, now: Duration) -> Result<(), End> {
        let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
        let mut targets = targets.into_iter();
        while let Some(target) = targets.next() {
            match Stream::connect(&target) {
                Ok(stream) => {
                    let deadline = now + self.core.options().handshake_timeout;
                    let others = targets.collect();
                    self.state = State::Connecting {
                        stream,
                        target,
                        others,
                        deadline,
                    };
                    return Ok(());
                }
                Err(error) => last = error,
            }
        }
        Err(End(
            FailureCause::Connect(Arc::new(last)),
            PeerAddress::Unknown,
        ))
    }

    /// Notes that the attempt failed and says when the next one is due.
    pub(super) fn failed(&mut self, End(cause, address): End, now: Duration) -> Duration {
        self.core.hub.emit(Event::Failed(ConnectionFailure {
            connection: None,
            endpoint: self.endpoint.clone(),
            address,
            was_ready: false,
            cause,
        }));
        self.retry(now)
    }

    /// Notes that the connection is over and says when the next attempt is due.
    pub(super) fn ended(&mut self, ready_for: Option<Duration>, now: Duration) -> Duration {
        if ready_for.is_some_and(|time| time >= PROVEN_AFTER) {
            self.failures = 0;
        }
        self.retry(now)
    }

    fn retry(&mut self, now: Duration) -> Duration {
        let delay = backoff(self.core.options(), self.failures);
        self.failures = self.failures.saturating_add(1);
        let (endpoint, attempt) = (self.endpoint.clone(), self.failures);
        self.core.hub.emit(Event::Retrying {
            endpoint,
            attempt,
            delay,
        });
        self.state = State::Waiting(now + delay);
        now + delay
    }
}

/// Why an attempt failed, and at which address.
pub(super) struct End(pub(super) FailureCause, pub(super) PeerAddress);

/// Doubles with each failure up to the maximum; a random part of up to a half is taken off.
fn backoff(options: &SocketOptions, failures: u32) -> Duration {
    let factor = 1_u32.checked_shl(failures).unwrap_or(u32::MAX);
    let full = options
        .reconnect_interval
        .saturating_mul(factor)
        .min(options.reconnect_maximum);
    let jitter = entropy::below(u64::try_from(full.as_nanos() / 2).unwrap_or(u64::MAX));
    full - Duration::from_nanos(jitter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealwire_zmtp::SocketType;

    #[test]
    fn waits_grow_to_the_maximum_and_vary() {
        let options = SocketOptions::new(SocketType::Push);
        for (failures, full) in [(0, 100), (1, 200), (3, 800), (10, 10_000), (40, 10_000)] {
            let full = Duration::from_millis(full);
            for _ in 0..20 {
                let delay = backoff(&options, failures);
                assert!(delay <= full && delay >= full / 2, "{failures}: {delay:?}");
            }
        }
    }
}
