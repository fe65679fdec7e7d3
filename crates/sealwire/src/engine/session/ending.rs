//! Ends sessions, and reports it to the socket and the monitor.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use mio::Registry;
use sealwire_zmtp::Error as ProtocolError;
use sealwire_zmtp::error::CloseKind;

use super::Session;
use super::end::End;
use super::standing::Standing;
use crate::core::SocketCore;
use crate::engine::reactor::Reactor;
use crate::engine::session_key::{Origin, SessionKey};
use crate::engine::timers::Timers;
use crate::failure::{ConnectionFailure, FailureCause};
use crate::monitor::{Event, add};
use crate::pattern::PipeId;
use crate::peer::{Ends, Peer};

/// A peer that has ended its half of the connection: it takes what is on its way to it and no more.
pub(in crate::engine) struct Parting {
    core: Arc<SocketCore>,
    pub(in crate::engine) origin: Origin,
    pub(in crate::engine) key: SessionKey,
    /// How long the connection has been of use.
    pub(in crate::engine) ready_for: Duration,
    peer: Arc<Peer>,
    ends: Arc<Ends>,
    by_peer: bool,
    retired: bool,
    pipe: PipeId,
}

impl Parting {
    /// Lets the socket go on without the peer: what it had queued for it may go to others.
    pub(in crate::engine) fn tell(self) {
        let Parting {
            core,
            key,
            peer,
            ends,
            by_peer,
            retired,
            pipe,
            ..
        } = self;
        core.detach(pipe);
        match retired {
            true => core.tell_failure(ConnectionFailure {
                connection: Some(key.connection),
                ends,
                peer: Some(peer),
                cause: FailureCause::KeyWithdrawn,
            }),
            false => core.hub.emit(Event::Disconnected { peer, by_peer }),
        }
    }
}

impl Session {
    /// An ERROR for the peer, if there is one and the transport takes it at once.
    pub(super) fn flush_error(&mut self) {
        self.transport
            .write_last(&mut *self.protocol, self.standing.account());
    }

    pub(super) fn fail(&mut self, error: ProtocolError) -> End {
        self.flush_error();
        error.into()
    }

    pub(super) fn end_of_stream(&mut self) -> End {
        if self.phase.is_finished() {
            return End::Clean;
        }
        match self.protocol.end_of_stream() {
            Some(ProtocolError::Closed(CloseKind::Clean)) if self.transport.is_consumed() => {
                // One that is retired may owe the peer something yet.
                if !self.retired {
                    self.phase.peer_ended();
                }
                End::Clean
            }
            Some(error) => error.into(),
            None => End::Clean,
        }
    }

    pub(super) fn transport_failed(&mut self, error: io::Error) -> End {
        // The peer's end had come before, or is all that is awaited.
        if self.phase.is_finished() || self.phase.is_flushing() {
            return End::Clean;
        }
        End::Failed(FailureCause::of_transport(error))
    }

    /// Sends what is queued, then ends the connection; within the linger time.
    pub(in crate::engine) fn finish(&mut self, now: Duration) {
        self.phase.finish(now + self.identity.core.linger());
    }

    /// Takes what the peer sends until its end, until then at the latest.
    pub(in crate::engine) fn drain(&mut self, until: Duration) {
        self.phase.drain(until);
    }

    /// The peer has ended its half of the connection. The error says how the connection ends; without one, what is
    /// on its way to the peer goes out first.
    pub(super) fn peer_ended(&mut self, now: Duration) -> Result<(), End> {
        let end = self.end_of_stream();
        let in_order = matches!(end, End::Clean) && self.protocol.has_handshake();
        let owes = in_order && self.standing.is_attached() && !self.is_flushed();
        match owes && self.phase.flush(self.heard_until(now)) {
            true => Ok(()),
            false => {
                self.transport.finish_writing();
                Err(end)
            }
        }
    }

    /// What the socket has to know at once of a peer that has ended its half of the connection while something is on
    /// its way to it. Told once.
    pub(in crate::engine) fn part(&mut self, reactor: &Reactor) -> Option<Parting> {
        let attached = self.standing.attached_mut();
        let attached = attached.filter(|_| self.phase.is_flushing())?;
        let pipe = attached.pipe.part()?;
        Some(Parting {
            core: self.identity.core.clone(),
            origin: self.identity.origin,
            key: self.identity.key,
            ready_for: attached.age(reactor.now()),
            peer: attached.peer().clone(),
            ends: self.identity.ends.clone(),
            by_peer: !self.phase.was_begun_here(),
            retired: self.retired,
            pipe,
        })
    }

    /// Whether the socket has let the peer go already.
    fn has_parted(&self) -> bool {
        let attached = self.standing.attached();
        attached.is_some_and(|attached| attached.pipe.has_parted())
    }

    /// No thread of the application may drive it from now on.
    pub(in crate::engine) fn mark_over(&mut self) {
        self.phase.over();
    }

    /// Takes it out of the poll and the timers. Returns how long the connection was of use, if it was.
    pub(in crate::engine) fn withdraw(
        &mut self,
        registry: &Registry,
        timers: &mut Timers,
        now: Duration,
    ) -> Option<Duration> {
        self.transport.deregister(registry);
        self.move_timer(timers, None);
        self.standing.attached().map(|attached| attached.age(now))
    }

    /// Lets the socket know that the connection is over, and everybody else why.
    pub(in crate::engine) fn ended(self, end: End) {
        let was_told = self.has_parted();
        let Session {
            identity,
            transport,
            mut protocol,
            standing,
            mut phase,
            retired,
            ..
        } = self;
        phase.over();
        let by_peer = !phase.was_begun_here();
        // A handshake that failed had no peer.
        let had_peer = standing.is_attached() || matches!(end, End::Clean);
        if phase.is_cut_off() && had_peer && !retired {
            identity.core.note_cut_off();
        }
        transport.close();
        let peer = match standing {
            Standing::Attached(attached) => {
                Some(attached.close(&identity.core, &mut *protocol, &end))
            }
            Standing::Reviewed(_) => {
                add(&identity.core.counters.handshakes_failed, 1);
                None
            }
        };
        let end = match end {
            End::Clean if retired && !was_told => End::Failed(FailureCause::KeyWithdrawn),
            end => end,
        };
        identity.tell_end(end, peer.filter(|_| !was_told), by_peer);
    }
}
