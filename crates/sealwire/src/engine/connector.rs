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
        let ipv6 = self.core.options().tcp.ipv6;
        let lookup = move || {
            let targets = Target::resolve(&endpoint, ipv6);
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
            match Stream::connect(&target, &self.core.options().tcp) {
                Ok(stream) => {
                    let options = self.core.options();
                    let limit = options.reconnect.connect_timeout;
                    let deadline = now + limit.unwrap_or(options.handshake_timeout);
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

    /// Notes that the attempt failed and says when the next one is due, if one is.
    pub(super) fn failed(&mut self, End(cause, address): End, now: Duration) -> Option<Duration> {
        let stop = self.core.options().reconnect.stop;
        let refused = matches!(&cause, FailureCause::Connect(error)
            if error.kind() == io::ErrorKind::ConnectionRefused);
        let stops = if refused {
            stop.connection_refused
        } else {
            stop.unreachable
        };
        self.core.hub.emit(Event::Failed(ConnectionFailure {
            connection: None,
            endpoint: self.endpoint.clone(),
            address,
            was_ready: false,
            cause,
        }));
        self.retry(stops, now)
    }

    /// Notes that the connection is over and says when the next attempt is due, if one is.
    pub(super) fn ended(&mut self, ready_for: Option<Duration>, now: Duration) -> Option<Duration> {
        let stop = self.core.options().reconnect.stop;
        let stops = match ready_for {
            Some(_) => stop.after_disconnect,
            None => stop.handshake_failed,
        };
        if ready_for.is_some_and(|time| time >= PROVEN_AFTER) {
            self.failures = 0;
        }
        self.retry(stops, now)
    }

    fn retry(&mut self, stops: bool, now: Duration) -> Option<Duration> {
        if stops {
            let endpoint = self.endpoint.clone();
            self.core.give_up(self.id);
            self.core.hub.emit(Event::GaveUp { endpoint });
            return None;
        }
        let delay = backoff(self.core.options(), self.failures);
        self.failures = self.failures.saturating_add(1);
        let (endpoint, attempt) = (self.endpoint.clone(), self.failures);
        self.core.hub.emit(Event::Retrying {
            endpoint,
            attempt,
            delay,
        });
        self.state = State::Waiting(now + delay);
        Some(now + delay)
    }
}

/// Why an attempt failed, and at which address.
pub(super) struct End(pub(super) FailureCause, pub(super) PeerAddress);

/// Doubles with each failure up to the maximum; a random part of up to a half is taken off.
fn backoff(options: &SocketOptions, failures: u32) -> Duration {
    let factor = 1_u32.checked_shl(failures).unwrap_or(u32::MAX);
    let full = options
        .reconnect
        .interval
        .saturating_mul(factor)
        .min(options.reconnect.maximum);
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
