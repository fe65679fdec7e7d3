//! One connection over a byte stream: bytes between the transport and the protocol, messages
//! between the protocol and the socket's pipe.
//!
//! ```text
//!   transport ─▶ input ─▶ protocol ─▶ pipe.inbound
//!   transport ◀────────── protocol ◀─ pipe.outbound
//! ```
//!
//! Reading stops while the protocol holds messages that the pipe has no room for, writing takes no
//! more from the pipe while the protocol holds `WRITE_BUDGET` bytes: so each connection's memory is
//! bounded, whatever the peer does.

mod direct;
mod ending;
mod handshake;
mod input;
mod ledger;
mod phase;
mod readiness;
mod reading;
mod standing;
mod writing;

use std::sync::{Arc, Weak};
use std::time::Duration;

use sealwire_zmtp::connection::Warning;
use sealwire_zmtp::{Connection, Entropy, SocketType};
use zeroize::Zeroizing;

use self::direct::DirectReading;
use self::phase::Phase;
use self::readiness::TransportReadiness;
use self::reading::Inbound;
use self::standing::{Permits, Review, Standing};
use self::writing::Outbound;
use super::bursts::Bursts;
use super::raw::Raw;
use super::reactor::Reactor;
use super::session_key::{Origin, SessionKey};
use super::timers::Timers;
use super::wire::Wire;
use super::world::World;
use crate::account::{Kind, Place};
use crate::core::SocketCore;
use crate::endpoint::Endpoint;
use crate::failure::FailureCause;
use crate::limits::WRITES_PER_TIME_SLICE;
use crate::monitor::Event;
use crate::pattern::Link;
use crate::peer::PeerAddress;
use crate::transport::Stream;

/// How a session ended.
pub(in crate::engine) enum End {
    /// As it should.
    Clean,
    Failed(FailureCause),
}

impl From<sealwire_zmtp::Error> for End {
    fn from(error: sealwire_zmtp::Error) -> Self {
        End::Failed(error.into())
    }
}

/// The work that is left after a time slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) enum Progress {
    /// Nothing until the transport, the pipe or the clock says so.
    Idle,
    /// There may be more to read or write at once.
    Again,
}

pub(in crate::engine) struct Session {
    pub(in crate::engine) core: Arc<SocketCore>,
    pub(in crate::engine) key: SessionKey,
    pub(in crate::engine) origin: Origin,
    pub(in crate::engine) endpoint: Endpoint,
    pub(in crate::engine) address: PeerAddress,
    stream: Stream,
    transport: TransportReadiness,
    protocol: Box<dyn Wire>,
    standing: Standing,
    phase: Phase,
    inbound: Inbound,
    outbound: Outbound,
    permits: Permits,
    /// The deadline that is among the I/O thread's timers.
    timer: Option<Duration>,
    pub(in crate::engine) bursts: Arc<Bursts>,
    /// What its pipe is given to reach it.
    link: Option<Weak<dyn Link>>,
    direct: DirectReading,
}

impl Session {
    pub(in crate::engine) fn new(
        core: Arc<SocketCore>,
        key: SessionKey,
        origin: Origin,
        endpoint: Endpoint,
        address: PeerAddress,
        stream: Stream,
        world: &dyn World,
    ) -> Self {
        stream.tune(&core.options().tcp);
        let mut protocol = speak(&core, world);
        if stream.has_heartbeat() {
            protocol.heartbeat_by_transport();
        }
        core.add_attachment();
        let readable = !matches!(endpoint, Endpoint::Wss { .. }) && address.leaves_the_machine();
        if core.options().security.shows_a_password() && readable {
            core.hub.emit(Event::Warning {
                connection: key.connection,
                address: address.clone(),
                warning: Warning::PasswordExposed,
            });
        }
        Session {
            core,
            key,
            origin,
            endpoint,
            address,
            stream,
            transport: TransportReadiness::new(),
            protocol,
            standing: Standing::Reviewed(Review::default()),
            phase: Phase::Open,
            inbound: Inbound::default(),
            outbound: Outbound::default(),
            permits: Permits::default(),
            timer: None,
            bursts: Arc::default(),
            link: None,
            direct: DirectReading::default(),
        }
    }

    pub(in crate::engine) fn linked_by(mut self, link: Weak<dyn Link>) -> Self {
        self.link = Some(link);
        self
    }

    pub(in crate::engine) fn take_place(&mut self, place: Place) {
        self.permits.place = Some(place);
    }

    pub(in crate::engine) fn stream_mut(&mut self) -> &mut Stream {
        &mut self.stream
    }

    pub(in crate::engine) fn is_ready(&self) -> bool {
        self.standing.is_attached()
    }

    /// How long the connection has been of use.
    pub(in crate::engine) fn ready_for(&self, now: Duration) -> Option<Duration> {
        self.standing.attached().map(|attached| attached.age(now))
    }

    /// Keeps one entry for the next deadline among the timers.
    pub(in crate::engine) fn set_timer(&mut self, timers: &mut Timers) {
        let heartbeats = self.protocol.next_timeout();
        let next = heartbeats
            .filter(|_| !self.awaits_end())
            .into_iter()
            .chain(self.phase.until())
            .chain(self.direct.check_at())
            .min();
        if next != self.timer {
            self.move_timer(timers, next);
        }
    }

    pub(in crate::engine) fn cancel_timer(&mut self, timers: &mut Timers) {
        self.move_timer(timers, None);
    }

    fn move_timer(&mut self, timers: &mut Timers, next: Option<Duration>) {
        timers.replace(self.timer, next, self.key.timer());
        self.timer = next;
        if let Some(attached) = self.standing.attached() {
            let account = attached.peer.account();
            account.set(Kind::Timers, usize::from(next.is_some()));
        }
    }

    pub(in crate::engine) fn transport_event(
        &mut self,
        readable: bool,
        writable: bool,
        hung_up: bool,
    ) {
        self.transport.note(readable, writable, hung_up);
    }

    pub(in crate::engine) fn output_ready(&mut self) {
        self.outbound.waiting = true;
    }

    pub(in crate::engine) fn input_wanted(&mut self, now: Duration) {
        self.inbound.paused = false;
        self.protocol.set_reading(true, now);
    }

    /// Sends what is queued, then ends the connection; within the linger time.
    pub(in crate::engine) fn finish(&mut self, now: Duration) {
        self.phase.finish(now + self.core.options().linger);
    }

    pub(in crate::engine) fn timer_due(&mut self, now: Duration) -> Result<(), End> {
        if self.phase.until().is_some_and(|at| at <= now) {
            return Err(End::Clean);
        }
        if self.timer.is_some_and(|at| at <= now) {
            self.timer = None;
            // A peer that is not asked any more owes no answer. The phase has the time by which it must be heard of.
            if !self.awaits_end() {
                self.heartbeats_due(now)?;
            }
            self.inbound.input.give_back();
        }
        Ok(())
    }

    /// Whether all was sent to the peer, and its own end is awaited.
    fn awaits_end(&self) -> bool {
        self.phase.is_finished() && self.standing.is_attached()
    }

    fn heartbeats_due(&mut self, now: Duration) -> Result<(), End> {
        if self.stream.take_heard() {
            self.protocol.heard(now);
        }
        self.protocol
            .handle_timeout(now)
            .map_err(|error| self.fail(error))?;
        if self.protocol.take_transport_ping() {
            self.stream.ping();
        }
        Ok(())
    }

    /// By when a peer that was heard of now has to be heard of again, where heartbeats say so.
    fn heard_until(&self, now: Duration) -> Option<Duration> {
        let heartbeat = self.core.options().heartbeat;
        heartbeat.map(|heartbeat| now.saturating_add(heartbeat.timeout))
    }

    /// Does whatever can be done now.
    pub(in crate::engine) fn drive(&mut self, reactor: &mut Reactor) -> Result<Progress, End> {
        if let Some(end) = self.phase.take_end() {
            return Err(end);
        }
        let progress = self.read(reactor)?;
        if self.write(WRITES_PER_TIME_SLICE)? {
            // The last write may have taken all, which only the next one finds.
            return Ok(Progress::Again);
        }
        if self.phase.is_finishing() && self.nothing_to_send() {
            self.phase.all_is_sent(self.heard_until(reactor.now()));
            self.stream.finish_writing();
            if self.transport.readable {
                return Ok(Progress::Again);
            }
        }
        Ok(progress)
    }
}

/// What the connections of this socket speak, from their beginning.
fn speak(core: &SocketCore, world: &dyn World) -> Box<dyn Wire> {
    if core.options().socket_type == SocketType::Stream {
        return Box::new(Raw::default());
    }
    let mut random = Zeroizing::new([0; Entropy::SIZE]);
    world.fill_random(&mut random[..]);
    let (config, provider) = (core.protocol().clone(), core.options().provider.clone());
    let entropy = Entropy::new(*random);
    Box::new(Connection::new(config, provider, entropy, world.now()))
}
