//! Keeping a connection to an endpoint: resolve, connect, and again after a wait that grows.

use std::io::{self, IoSlice};
use std::mem;
use std::sync::Arc;
use std::time::Duration;

use super::load::LoadShare;
use super::mailbox::{Command, Mailbox};
use super::session_key::SessionKey;
use super::world::World;
use crate::core::SocketCore;
use crate::endpoint::Endpoint;
use crate::failure::{ConnectionFailure, FailureCause};
use crate::guard;
use crate::monitor::Event;
use crate::options::{CurrentOptions, EndpointOptions, SocketOptions};
use crate::peer::{Ends, PeerAddress};
use crate::transport::socks::{Handshake, MAX_ANSWER};
use crate::transport::{SocksError, SocksRefusal, Stream, Target};

/// A connection that was ready for this time starts the waits anew.
const PROVEN_AFTER: Duration = Duration::from_secs(1);

pub(super) struct Connector {
    pub(super) core: Arc<SocketCore>,
    /// Those of attempts that begin now.
    current: Arc<CurrentOptions>,
    pub(super) options: Arc<EndpointOptions>,
    pub(super) id: u64,
    pub(super) endpoint: Endpoint,
    pub(super) state: State,
    /// Attempts that failed in a row.
    failures: u32,
    /// A session whose peer has left while something was on its way to it, beside the present one. One at most, or a
    /// peer that leaves and does not read would have another each time.
    flushing: Option<SessionKey>,
    _share: LoadShare,
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
        /// With the proxy, where the target is behind one.
        tunnel: Option<Box<Handshake>>,
        deadline: Duration,
    },
    Connected(SessionKey),
}

impl Connector {
    pub(super) fn new(
        core: Arc<SocketCore>,
        current: Arc<CurrentOptions>,
        endpoint: Endpoint,
        id: u64,
        share: LoadShare,
    ) -> Self {
        Connector {
            core,
            options: current.get(),
            current,
            id,
            endpoint,
            state: State::Waiting(Duration::ZERO),
            failures: 0,
            flushing: None,
            _share: share,
        }
    }

    /// Takes the options that the endpoint has now for the attempts that begin from now on.
    pub(super) fn renew(&mut self) {
        let options = self.current.get();
        if !Arc::ptr_eq(&options, &self.options) {
            let before = mem::replace(&mut self.options, options);
            // What the application gave it to call may end with them.
            guard::contain("dropping options", || drop(before));
        }
    }

    /// Begins with the addresses of the endpoint; names are looked up on a thread of their own
    /// and come back as [`Command::Resolved`].
    pub(super) fn resolve(
        &mut self,
        mailbox: &Arc<Mailbox>,
        world: &Arc<dyn World>,
    ) -> Option<Vec<Target>> {
        if let Some(targets) = Target::immediate(&self.endpoint, self.options.socks_proxy.as_ref())
        {
            return Some(targets);
        }
        self.state = State::Resolving;
        let (id, endpoint, reply) = (self.id, self.endpoint.clone(), mailbox.clone());
        let (options, resolver) = (self.options.clone(), world.clone());
        let lookup = move || {
            let targets = resolver.resolve(&endpoint, &options);
            reply.post(Command::Resolved { id, targets });
        };
        if let Err(error) = world.spawn_blocking("sealwire-resolve", Box::new(lookup)) {
            mailbox.post(Command::Resolved {
                id,
                targets: Err(error),
            });
        }
        None
    }

    /// Begins to connect to the first address that takes it.
    pub(super) fn connect(
        &mut self,
        targets: Vec<Target>,
        now: Duration,
        world: &dyn World,
    ) -> Result<(), End> {
        let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
        let mut targets = targets.into_iter();
        let options = self.options.clone();
        while let Some(target) = targets.next() {
            match world.connect(&target, self.endpoint.source(), &options.tcp) {
                Ok(stream) => {
                    let descriptor = stream.descriptor();
                    let tunnel = self.tunnel_to(&target).map_err(|error| End {
                        cause: error.into(),
                        address: target.address(),
                        descriptor,
                    })?;
                    let limit = options.reconnect.connect_timeout;
                    let deadline = now + limit.unwrap_or(options.handshake_timeout);
                    let others = targets.collect();
                    self.state = State::Connecting {
                        stream,
                        target,
                        others,
                        tunnel,
                        deadline,
                    };
                    return Ok(());
                }
                Err(error) => last = error,
            }
        }
        Err(End::nowhere(self.not_connected(last)))
    }

    fn tunnel_to(&self, target: &Target) -> Result<Option<Box<Handshake>>, SocksError> {
        let (Target::Proxied { host, port, .. }, Some(proxy)) = (target, &self.options.socks_proxy)
        else {
            return Ok(None);
        };
        Handshake::new(host, *port, proxy.login()).map(|handshake| Some(Box::new(handshake)))
    }

    /// Goes on with what is under way. `true` once the peer can be talked to.
    pub(super) fn advance(&mut self) -> Result<bool, ConnectError> {
        let State::Connecting { stream, tunnel, .. } = &mut self.state else {
            return Ok(false);
        };
        match (stream.connected(), tunnel) {
            (None, _) => Ok(false),
            (Some(Err(error)), _) => Err(ConnectError::Address(error)),
            (Some(Ok(())), None) => Ok(true),
            (Some(Ok(())), Some(tunnel)) => advance_tunnel(stream, tunnel),
        }
    }

    /// What ends the wait for an answer that is overdue.
    pub(super) fn overdue(&self) -> ConnectError {
        match &self.state {
            State::Connecting {
                stream,
                tunnel: Some(_),
                ..
            } if matches!(stream.connected(), Some(Ok(()))) => {
                ConnectError::Proxy(SocksError::TimedOut)
            }
            _ => ConnectError::Address(io::ErrorKind::TimedOut.into()),
        }
    }

    /// Why there is no connection to the peer, or to the proxy before it.
    pub(super) fn not_connected(&self, error: io::Error) -> FailureCause {
        let proxy = self.options.socks_proxy.as_ref();
        FailureCause::Connect(Arc::new(
            match proxy.filter(|_| self.endpoint.over_tcp().is_some()) {
                Some(proxy) => proxy.blame(error),
                None => error,
            },
        ))
    }

    /// Notes that the attempt failed and says when the next one is due, if one is.
    pub(super) fn failed(
        &mut self,
        End {
            cause,
            address,
            descriptor,
        }: End,
        now: Duration,
        world: &dyn World,
    ) -> Option<Duration> {
        let stop = self.options.reconnect.stop;
        let refused = match &cause {
            FailureCause::Connect(error) => error.kind() == io::ErrorKind::ConnectionRefused,
            FailureCause::Proxy(error) => {
                *error == SocksError::Refused(SocksRefusal::ConnectionRefused)
            }
            _ => false,
        };
        let stops = if refused {
            stop.connection_refused
        } else {
            stop.unreachable
        };
        self.core.tell_failure(ConnectionFailure {
            connection: None,
            ends: Arc::new(Ends {
                descriptor,
                ..Ends::outward(self.endpoint.clone(), address)
            }),
            peer: None,
            cause,
        });
        self.retry(stops, now, world)
    }

    /// Notes that the connection is over and says when the next attempt is due, if one is.
    pub(super) fn ended(
        &mut self,
        ready_for: Option<Duration>,
        by_the_protocol: bool,
        now: Duration,
        world: &dyn World,
    ) -> Option<Duration> {
        let stop = self.options.reconnect.stop;
        let stops = match ready_for {
            // libzmq comes back to no peer that broke the protocol or turned it away.
            _ if by_the_protocol && self.options.as_libzmq => true,
            Some(_) => stop.after_disconnect,
            None => stop.handshake_failed,
        };
        if ready_for.is_some_and(|time| time >= PROVEN_AFTER) {
            self.failures = 0;
        }
        self.retry(stops, now, world)
    }

    /// Whether its socket is closing, and nothing waits for a peer.
    pub(super) fn is_done(&self) -> bool {
        self.core.is_closing() && self.core.backlog() == 0
    }

    /// The peer of this session has left. Returns whether the next attempt may be made before the session has ended.
    pub(super) fn left(&mut self, session: SessionKey) -> bool {
        let is_first = self.flushing.is_none();
        self.flushing.get_or_insert(session);
        is_first
    }

    /// Forgets a session that has ended. Returns whether the next attempt was made, or is due, without that.
    pub(super) fn forget(&mut self, session: SessionKey) -> bool {
        self.flushing.take_if(|left| *left == session).is_some()
    }

    fn retry(&mut self, stops: bool, now: Duration, world: &dyn World) -> Option<Duration> {
        if stops {
            let endpoint = self.endpoint.clone();
            self.core.give_up(self.id);
            self.core.hub.emit(Event::GaveUp { endpoint });
            return None;
        }
        let delay = backoff(&self.options, self.failures, |bound| {
            world.random_below(bound)
        });
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
pub(super) struct End {
    pub(super) cause: FailureCause,
    pub(super) address: PeerAddress,
    /// The number that the descriptor had, where there was one.
    pub(super) descriptor: Option<i32>,
}

impl End {
    pub(super) fn nowhere(cause: FailureCause) -> Self {
        End {
            cause,
            address: PeerAddress::Unknown,
            descriptor: None,
        }
    }
}

/// What stopped an attempt that was under way.
pub(super) enum ConnectError {
    /// This address does not answer; another one may.
    Address(io::Error),
    /// The proxy is there and makes no connection.
    Proxy(SocksError),
}

impl From<SocksError> for ConnectError {
    fn from(error: SocksError) -> Self {
        ConnectError::Proxy(error)
    }
}

/// Exchanges with the proxy what can be exchanged now. `true` once the tunnel stands.
fn advance_tunnel(stream: &mut Stream, tunnel: &mut Handshake) -> Result<bool, ConnectError> {
    let mut buffer = [0; MAX_ANSWER];
    let io = |outcome: io::Result<usize>| match outcome {
        Ok(0) => Err(ConnectError::Proxy(SocksError::Closed)),
        Ok(length) => Ok(Some(length)),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(ConnectError::Address(error)),
    };
    loop {
        while !tunnel.pending().is_empty() {
            match io(stream.write_vectored(&[IoSlice::new(tunnel.pending())]))? {
                Some(length) => tunnel.sent(length),
                None => return Ok(false),
            }
        }
        let wanted = tunnel.wanted();
        match io(stream.read(&mut buffer[..wanted]))? {
            Some(length) if tunnel.receive(&buffer[..length])? => return Ok(true),
            Some(_) => {}
            None => return Ok(false),
        }
    }
}

/// Doubles with each failure up to the maximum; a random part of up to a half is taken off.
fn backoff(
    options: &SocketOptions,
    failures: u32,
    random_below: impl FnOnce(u64) -> u64,
) -> Duration {
    let factor = 1_u32.checked_shl(failures).unwrap_or(u32::MAX);
    let full = options
        .reconnect
        .interval
        .saturating_mul(factor)
        .min(options.reconnect.maximum);
    let jitter = random_below(u64::try_from(full.as_nanos() / 2).unwrap_or(u64::MAX));
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
            for part in 0..20 {
                let delay = backoff(&options, failures, |bound| bound * part / 20);
                let jitter = (full - delay).as_secs_f64() / full.as_secs_f64();
                assert!(
                    (jitter - part as f64 / 40.0).abs() < 1e-6,
                    "{failures}: {delay:?}"
                );
            }
        }
    }
}
