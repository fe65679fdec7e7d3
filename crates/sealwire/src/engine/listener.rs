//! Accepting connections, with bounds on how many there are and how many are in their handshake.

use std::collections::HashMap;
use std::io;
use std::mem;
use std::sync::Arc;
use std::time::Duration;

use super::load::LoadShare;
use super::session_key::SessionKey;
use crate::account::{
    self, AddressLimit, AddressLimits, Addresses, DescriptorLimit, Eviction, LogLines,
    SpareDescriptor,
};
use crate::core::SocketCore;
use crate::endpoint::Endpoint;
use crate::failure::FailureCause;
use crate::guard;
use crate::monitor::Event;
use crate::options::{CurrentOptions, EndpointOptions};
use crate::peer::PeerAddress;
use crate::transport::{BoundListener, Stream};

/// Wait after the system refused to accept.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

pub(super) struct Listener {
    pub(super) core: Arc<SocketCore>,
    /// Those of connections that begin now.
    current: Arc<CurrentOptions>,
    pub(super) options: Arc<EndpointOptions>,
    pub(super) id: u64,
    pub(super) endpoint: Endpoint,
    listener: BoundListener,
    pub(super) descriptors: DescriptorLimit,
    limits: AddressLimits,
    addresses: Addresses,
    /// The slots of the connections that are in their handshake.
    handshaking: HashMap<u64, usize>,
    spare: SpareDescriptor,
    /// Nothing is accepted before. One timer is set for it.
    paused_until: Option<Duration>,
    failures: LogLines,
    _share: LoadShare,
}

/// What an attempt to accept led to.
pub(super) enum Accepted {
    Connection(Stream, PeerAddress, account::Source),
    /// The address has used up what it may have: this one was closed.
    TurnedAway(PeerAddress, FailureCause),
    /// The peer was gone again before it was accepted, or a signal came between.
    Gone,
    /// Nobody is waiting.
    Nothing,
    /// Somebody is waiting, and the system has no descriptor or memory for one more connection.
    Exhausted(io::Error),
    /// The system refused for another reason.
    Failed(io::Error),
}

impl Listener {
    pub(super) fn new(
        core: Arc<SocketCore>,
        current: Arc<CurrentOptions>,
        listener: BoundListener,
        endpoint: Endpoint,
        id: u64,
        descriptors: DescriptorLimit,
        share: LoadShare,
    ) -> Self {
        let options = current.get();
        Listener {
            limits: limits(&options, descriptors),
            core,
            current,
            options,
            id,
            endpoint,
            listener,
            descriptors,
            addresses: Addresses::default(),
            handshaking: HashMap::new(),
            spare: SpareDescriptor::new(),
            paused_until: None,
            failures: LogLines::default(),
            _share: share,
        }
    }

    /// Takes the options that the endpoint has now for the connections that begin from now on.
    pub(super) fn renew(&mut self) {
        let options = self.current.get();
        if !Arc::ptr_eq(&options, &self.options) {
            self.limits = limits(&options, self.descriptors);
            let before = mem::replace(&mut self.options, options);
            // What the application gave it to call may end with them.
            guard::contain("dropping options", || drop(before));
        }
    }

    /// How many connections it takes before it is closed: as many as may be in their handshake, as each further one
    /// would end another. None where another process goes on with those who wait.
    pub(super) fn last_accepts(&self) -> usize {
        match self.listener.is_passed() {
            true => 0,
            false => self.limits.all_handshakes,
        }
    }

    /// Nobody finds it any more, where that is a matter of a file.
    pub(super) fn remove_file(&mut self) {
        self.listener.remove_file();
    }

    pub(super) fn source_mut(&mut self) -> &mut BoundListener {
        &mut self.listener
    }

    /// Whether it is to wait because accepting failed. The wait ends with the call that finds it
    /// over.
    pub(super) fn is_paused(&mut self, now: Duration) -> bool {
        let paused = self.paused_until.is_some_and(|until| now < until);
        if !paused {
            self.paused_until = None;
        }
        paused
    }

    /// Tells that accepting failed, and when to try again.
    pub(super) fn pause(&mut self, error: &io::Error, now: Duration) -> Duration {
        if let Some(count) = self.failures.note(now) {
            self.core.hub.emit(Event::AcceptFailed {
                endpoint: self.endpoint.clone(),
                reason: error.to_string(),
                os_error: error.raw_os_error(),
                count,
            });
        }
        let until = now + ACCEPT_PAUSE;
        self.paused_until = Some(until);
        until
    }

    pub(super) fn accept(&mut self, now: Duration) -> Accepted {
        match self.listener.accept() {
            Ok((stream, address)) => {
                // After it was accepted: who connects once they were replaced finds the new ones.
                self.renew();
                let source = match &address {
                    PeerAddress::Tcp(address) => (*address).into(),
                    _ => stream.process().into(),
                };
                match self.addresses.check(source, &self.limits, now) {
                    Ok(()) => Accepted::Connection(stream, address, source),
                    Err(limit) => Accepted::TurnedAway(address, FailureCause::AddressLimit(limit)),
                }
            }
            Err(error) if account::is_exhaustion(&error) => {
                // Linux looks for a descriptor before it looks for a connection.
                if self.listener.has_waiting() {
                    Accepted::Exhausted(error)
                } else {
                    Accepted::Nothing
                }
            }
            Err(error) => outcome_of(error),
        }
    }

    /// Closes the connection that waits longest, with the descriptor that was kept for this.
    pub(super) fn refuse(&mut self) -> io::Result<PeerAddress> {
        self.spare.refuse(|| self.listener.accept())
    }

    /// Whether the socket's own limit lets no more connections in.
    pub(super) fn is_full(&self) -> bool {
        self.addresses.connections() >= self.options.max_connections
    }

    /// Notes a new connection, and names the handshake that has to end for it.
    pub(super) fn began(
        &mut self,
        session: SessionKey,
        source: account::Source,
    ) -> Option<(SessionKey, FailureCause)> {
        self.handshaking.insert(session.connection, session.slot);
        let evicted = self
            .addresses
            .began(session.connection, source, &self.limits)?;
        let Eviction {
            connection,
            over_share,
        } = evicted;
        let slot = *self.handshaking.get(&connection)?;
        let cause = if over_share {
            FailureCause::AddressLimit(AddressLimit::Handshakes)
        } else {
            FailureCause::HandshakeEvicted
        };
        Some((SessionKey { slot, connection }, cause))
    }

    /// The oldest handshake of the address that has most, and how many that has.
    pub(super) fn first_to_give_way(&self) -> Option<(SessionKey, usize)> {
        let (connection, handshakes) = self.addresses.first_to_give_way()?;
        let slot = *self.handshaking.get(&connection)?;
        Some((SessionKey { slot, connection }, handshakes))
    }

    pub(super) fn became_ready(&mut self, session: SessionKey) {
        self.handshaking.remove(&session.connection);
        self.addresses.became_ready(session.connection);
    }

    pub(super) fn ended(&mut self, session: SessionKey) {
        self.handshaking.remove(&session.connection);
        self.addresses.ended(session.connection);
    }
}

/// The limits of single addresses.
fn limits(options: &EndpointOptions, descriptors: DescriptorLimit) -> AddressLimits {
    let handshakes = options.max_handshakes.min(descriptors.handshakes());
    options.per_address.limits(handshakes)
}

/// What an error says that is not about descriptors or memory.
fn outcome_of(error: io::Error) -> Accepted {
    match error.kind() {
        io::ErrorKind::WouldBlock => Accepted::Nothing,
        _ if account::is_of_one_connection(&error) => Accepted::Gone,
        _ => Accepted::Failed(error),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use rustix::io::Errno;

    use super::*;

    #[test]
    fn a_connection_that_is_gone_does_not_stop_the_next_one() {
        for errno in [Errno::CONNABORTED, Errno::INTR, Errno::HOSTUNREACH] {
            let outcome = outcome_of(errno.into());
            assert!(matches!(outcome, Accepted::Gone), "{errno}");
        }
        assert!(matches!(outcome_of(Errno::AGAIN.into()), Accepted::Nothing));
        assert!(matches!(
            outcome_of(Errno::INVAL.into()),
            Accepted::Failed(_)
        ));
    }
}
