//! One connection over a byte stream: bytes between the transport and the protocol, messages
//! between the protocol and the socket's pipe.
//!
//! ```text
//!   transport ─▶ protocol ─▶ pipe.inbound
//!   transport ◀─ protocol ◀─ pipe.outbound
//! ```
//!
//! Its parts own their state, and it makes them work together: the [`Transport`] (a stream, the bytes read
//! from it, the current reader), the protocol, the peer's [`Standing`] with the end of the pipe, the
//! [`Phase`] on the way to its end, and the [`Deadline`]. `handshake.rs` turns a connection into a peer of
//! the socket.
//!
//! Reading stops while the protocol holds messages that the pipe has no room for. Writing takes no
//! more from the pipe while the protocol holds `WRITE_BUDGET` bytes. So each connection's memory is
//! bounded, whatever the peer does.

mod deadline;
mod direct;
mod end;
mod ending;
mod handshake;
mod identity;
mod input;
mod leasing;
mod ledger;
mod moving;
mod pauses;
mod permits;
mod phase;
mod pipe_end;
mod readiness;
mod renewing;
mod standing;
mod transport;

use std::io;
use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::BytesMut;
use mio::Registry;
use sealwire_zmtp::connection::Warning;
use sealwire_zmtp::{Connection, Entropy, Error as ProtocolError, SocketType};
use zeroize::Zeroizing;

use self::deadline::Deadline;
pub(in crate::engine) use self::end::End;
pub(in crate::engine) use self::ending::Parting;
pub(in crate::engine) use self::identity::Identity;
use self::pauses::Pauses;
use self::permits::Permits;
use self::phase::Phase;
use self::standing::{Review, Standing};
use self::transport::{Pieces, Read, Transport};
use super::bursts::Bursts;
use super::raw::Raw;
use super::reactor::Reactor;
use super::session_key::Origin;
use super::timers::Timers;
use super::wire::Wire;
use super::world::World;
use crate::account::{Kind, Place};
use crate::endpoint::Endpoint;
use crate::limits::{READS_PER_TIME_SLICE, WRITES_PER_TIME_SLICE};
use crate::pattern::Link;
use crate::transport::Stream;

/// The work that is left after a time slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) enum Progress {
    /// Nothing until the transport, the pipe or the clock says so.
    Idle,
    /// There may be more to read or write at once.
    Again,
}

pub(in crate::engine) struct Session {
    pub(in crate::engine) identity: Identity,
    transport: Transport,
    protocol: Box<dyn Wire>,
    standing: Standing,
    phase: Phase,
    permits: Permits,
    deadline: Deadline,
    /// It ends as its key was withdrawn.
    retired: bool,
    pub(in crate::engine) bursts: Arc<Bursts>,
    /// What its pipe is given to reach it.
    link: Option<Weak<dyn Link>>,
}

impl Session {
    pub(in crate::engine) fn new(identity: Identity, stream: Stream, world: &dyn World) -> Self {
        let (core, options) = (&identity.core, &identity.options);
        let transport = Transport::new(stream, &options.tcp);
        let mut protocol = speak(&identity, world);
        if transport.has_heartbeat() {
            protocol.heartbeat_by_transport();
        }
        core.add_attachment();
        if options.security.shows_a_password() && identity.is_exposed() {
            identity.warn(Warning::PasswordExposed);
        }
        Session {
            identity,
            transport,
            protocol,
            standing: Standing::Reviewed(Review::default()),
            phase: Phase::Open,
            permits: Permits::default(),
            deadline: Deadline::default(),
            retired: false,
            bursts: Arc::default(),
            link: None,
        }
    }

    pub(in crate::engine) fn linked_by(mut self, link: Weak<dyn Link>) -> Self {
        self.link = Some(link);
        self
    }

    pub(in crate::engine) fn take_place(&mut self, place: Place) {
        self.permits.take_place(place);
    }

    // ---- for any thread that drives it ------------------------------------------------------------------

    pub(in crate::engine) fn is_ready(&self) -> bool {
        self.standing.is_attached()
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
        if let Some(attached) = self.standing.attached_mut() {
            attached.pipe.output_ready();
        }
    }

    pub(in crate::engine) fn input_wanted(&mut self, now: Duration) {
        if let Some(attached) = self.standing.attached_mut() {
            attached.pipe.resume();
        }
        self.protocol.set_reading(true, now);
    }

    /// A full pipe stops the reading, except for the end of the stream; behind that there is nothing.
    pub(in crate::engine) fn wants_to_read(&self) -> bool {
        self.transport.is_readable()
            && !self.phase.is_flushing()
            && (self.phase.is_finished() || !self.standing.is_paused())
    }

    /// One read, which the protocol is given. `None` when the transport was empty; else what the
    /// protocol says, which may have events beside an error.
    fn receive(
        &mut self,
        spare: &mut BytesMut,
        now: Duration,
    ) -> Result<Option<Result<(), ProtocolError>>, End> {
        let received = match self.transport.read(self.protocol.wanted(), spare) {
            // Once everything was sent and said, only the end of the stream is still of
            // interest.
            Ok(Read::Bytes) if self.phase.is_finished() => {
                self.transport.unread().clear();
                self.phase.heard(self.heard_until(now));
                Ok(Some(Ok(())))
            }
            Ok(Read::Bytes) => Ok(Some(self.protocol.receive(self.transport.unread(), now))),
            Ok(Read::Aside) => Ok(Some(Ok(()))),
            Ok(Read::Nothing) => Ok(None),
            Ok(Read::End) => self.peer_ended(now).map(|()| None),
            Err(error) => Err(self.transport_failed(error)),
        };
        self.transport.settle(self.protocol.wanted(), spare);
        // The peer is charged with what is here of an unfinished message.
        if let Some(attached) = self.standing.attached_mut() {
            let in_protocol = self.protocol.arriving();
            attached.charge_arriving(self.transport.arriving_beside(in_protocol));
        }
        received
    }

    /// Hands over what the protocol has for the socket.
    fn deliver(&mut self, now: Duration) {
        let Some(attached) = self.standing.attached_mut() else {
            return;
        };
        let core = &self.identity.core;
        let warnings = attached.pipe.deliver(core, &mut *self.protocol, now);
        warnings
            .into_iter()
            .for_each(|warning| self.identity.warn(warning));
    }

    /// Writes up to `limit` times, long writes count as several. Returns whether it could go on at once.
    fn write(&mut self, limit: usize, pieces: Pieces, pauses: Pauses<'_>) -> Result<bool, End> {
        let goes_on = self.write_batches(limit, pieces, pauses)?;
        if let Some(attached) = self.standing.attached_mut().filter(|_| !goes_on) {
            attached.pipe.stalled(&self.identity.core);
        }
        Ok(goes_on)
    }

    fn write_batches(
        &mut self,
        limit: usize,
        pieces: Pieces,
        pauses: Pauses<'_>,
    ) -> Result<bool, End> {
        let mut rest = limit;
        while rest > 0 {
            if !self.transport.is_writable() || self.phase.has_finished_writing() {
                return Ok(false);
            }
            let protocol = &mut *self.protocol;
            // What a peer that leaves does not get may go to others. A socket that is closed has nobody to give it to.
            let leaves = self.transport.has_hung_up() && self.phase.is_open();
            let takes_more = !self.phase.is_flushing() && !leaves;
            if let Some(attached) = self.standing.attached_mut().filter(|_| takes_more) {
                attached
                    .pipe
                    .take_outbound(&self.identity.core, protocol, pauses);
            }
            let written = self
                .transport
                .write(protocol, self.standing.account(), pieces);
            match written {
                Ok(true) => rest = rest.saturating_sub(self.transport.writes_of_last()),
                Ok(false) => return Ok(false),
                Err(error) => return Err(self.transport_failed(error)),
            }
        }
        Ok(self.transport.is_writable() && !self.phase.has_finished_writing())
    }

    // ---- for the I/O thread --------------------------------------------------------------------------

    /// Has the poll tell of its transport. That of a connector is known to it.
    pub(in crate::engine) fn register(&mut self, registry: &Registry) -> io::Result<()> {
        match self.identity.origin {
            Origin::Listener { .. } => self.transport.register(registry, self.identity.key),
            Origin::Connector { .. } => self.transport.reregister(registry, self.identity.key),
        }
    }

    /// Does whatever can be done now.
    pub(in crate::engine) fn drive(&mut self, reactor: &mut Reactor) -> Result<Progress, End> {
        if let Some(end) = self.phase.take_end() {
            return Err(end);
        }
        if self.is_waiting() && self.peer_has_ended_unseen(reactor.now()) {
            self.see_end(reactor.world.registry())?;
        }
        let progress = self.read(reactor)?;
        if self.phase.is_flushing() && self.transport.is_writable() {
            self.phase.takes(self.heard_until(reactor.now()));
        }
        let pause = |time| reactor.world.pause(time);
        let pauses = match reactor.others_wait {
            true => Pauses::NONE,
            false => Pauses::by(&pause),
        };
        if self.write(WRITES_PER_TIME_SLICE, Pieces::Long, pauses)? {
            // The last write may have taken all, which only the next one finds.
            return Ok(Progress::Again);
        }
        if self.phase.is_flushing() && self.is_flushed() {
            self.transport.finish_writing();
            return Err(End::Clean);
        }
        let tells = self.phase.is_draining() && !self.phase.has_finished_writing();
        let tells = tells && self.standing.is_attached();
        if tells && self.nothing_to_send() {
            self.phase.tell();
            self.transport.finish_writing();
            if self.wants_to_read() {
                return Ok(Progress::Again);
            }
        }
        if self.phase.is_finishing() && self.nothing_to_send() {
            self.phase.all_is_sent(self.heard_until(reactor.now()));
            self.transport.finish_writing();
            if self.transport.is_readable() {
                return Ok(Progress::Again);
            }
        }
        Ok(progress)
    }

    fn read(&mut self, reactor: &mut Reactor) -> Result<Progress, End> {
        for _ in 0..READS_PER_TIME_SLICE {
            self.take_events(reactor)?;
            if self.standing.is_moving() {
                return Ok(Progress::Idle);
            }
            // The holder of a lease reads, or it ends before long.
            let left_to_others = self.is_leased() && self.is_usable();
            if left_to_others || !self.wants_to_read() {
                return Ok(Progress::Idle);
            }
            let now = reactor.now();
            let Some(received) = self.receive(&mut reactor.spare, now)? else {
                return Ok(Progress::Idle);
            };
            self.take_events(reactor)?;
            received.map_err(|error| self.fail(error))?;
        }
        Ok(if self.wants_to_read() {
            Progress::Again
        } else {
            Progress::Idle
        })
    }

    /// Whether its pipe has something to send.
    fn is_waiting(&self) -> bool {
        let attached = self.standing.attached();
        attached.is_some_and(|attached| attached.pipe.is_waiting())
    }

    fn nothing_to_send(&self) -> bool {
        // A handshake under way may still bring a peer for the backlog.
        let settled = match self.standing.attached() {
            Some(attached) => !attached.pipe.is_waiting(),
            None => self.identity.core.backlog() == 0,
        };
        settled && self.is_flushed()
    }

    /// Whether nothing is on its way to the peer.
    fn is_flushed(&self) -> bool {
        self.protocol.pending_bytes() == 0 && !self.transport.holds_output()
    }

    /// Keeps one entry for the next deadline among the timers.
    pub(in crate::engine) fn set_timer(&mut self, timers: &mut Timers) {
        let heartbeats = self.protocol.next_timeout();
        let next = heartbeats
            .filter(|_| !self.awaits_end())
            .into_iter()
            .chain(self.phase.until())
            .chain(self.transport.lease_check_at())
            .min();
        self.move_timer(timers, next);
    }

    fn move_timer(&mut self, timers: &mut Timers, next: Option<Duration>) {
        if self.deadline.set(next, self.identity.key, timers) {
            self.count_timer();
        }
    }

    /// Charges the peer with its entry among the timers.
    fn count_timer(&self) {
        if let Some(account) = self.standing.account() {
            account.set(Kind::Timers, usize::from(self.deadline.is_set()));
        }
    }

    pub(in crate::engine) fn timer_due(&mut self, now: Duration) -> Result<(), End> {
        if self.phase.until().is_some_and(|at| at <= now) {
            return Err(End::Clean);
        }
        if self.deadline.take_due(now) {
            self.count_timer();
            // A peer that is not asked any more owes no answer. The phase has the time by which it must be heard of.
            // So has one whose end a thread of the application has found.
            if !self.awaits_end() && !self.phase.has_ended() {
                self.heartbeats_due(now)?;
            }
            self.transport.give_back();
        }
        Ok(())
    }

    /// Whether the end of the connection is awaited, and the peer is not asked any more.
    fn awaits_end(&self) -> bool {
        let ends = self.phase.is_finished() || self.phase.is_draining() || self.phase.is_flushing();
        ends && self.standing.is_attached()
    }

    fn heartbeats_due(&mut self, now: Duration) -> Result<(), End> {
        if self.transport.take_heard() {
            self.protocol.heard(now);
        }
        // Of the heartbeat before this one.
        if let (Some(time), Some(attached)) =
            (self.protocol.take_round_trip(), self.standing.attached())
        {
            attached.peer().round_trip().note(time);
        }
        self.protocol
            .handle_timeout(now)
            .map_err(|error| self.fail(error))?;
        if self.protocol.take_transport_ping() {
            self.transport.ping();
        }
        Ok(())
    }

    /// By when a peer that was heard of now has to be heard of again, where heartbeats say so.
    fn heard_until(&self, now: Duration) -> Option<Duration> {
        let heartbeat = self.identity.options.heartbeat.heartbeat();
        heartbeat.map(|heartbeat| now.saturating_add(heartbeat.timeout))
    }
}

/// What libzmq reads at once: programs for its STREAM sockets have room for as much.
const READ_OF_LIBZMQ: usize = 8_192;

/// What the connections of this socket speak, from their beginning.
fn speak(identity: &Identity, world: &dyn World) -> Box<dyn Wire> {
    let options = &*identity.options;
    if options.socket_type == SocketType::Stream {
        let most = match options.as_libzmq {
            true => READ_OF_LIBZMQ,
            false => usize::MAX,
        };
        return Box::new(Raw::new(most));
    }
    let mut random = Zeroizing::new([0; Entropy::SIZE]);
    world.fill_random(&mut random[..]);
    let (config, provider) = (options.protocol().clone(), options.provider.clone());
    let entropy = Entropy::new(*random);
    // Over WebSocket libzmq sends no greeting.
    let is_websocket = matches!(
        identity.ends.endpoint,
        Endpoint::Ws { .. } | Endpoint::Wss { .. }
    );
    let connects = identity.origin.connector().is_some();
    let make = if options.as_libzmq && connects && !is_websocket {
        Connection::greeting_in_parts
    } else {
        Connection::new
    };
    Box::new(make(config, provider, entropy, world.now()))
}
