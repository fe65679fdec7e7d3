//! One connection over a byte stream: bytes between the transport and the protocol, messages
//! between the protocol and the socket's pipe.
//!
//! ```text
//!   transport ─▶ input ─▶ protocol ─▶ pipe.inbound
//!   transport ◀────────── protocol ◀─ pipe.outbound
//! ```
//!
//! Reading stops while the protocol holds messages that the pipe has no room for, writing takes no more from the pipe while the
//! protocol holds [`WRITE_BUDGET`] bytes: so each connection's memory is bounded, whatever the
//! peer does.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::BytesMut;
use mio::{Registry, Token};
use sealwire_zmtp::Event as ProtocolEvent;
use sealwire_zmtp::connection::{PeerInfo, Warning};
use sealwire_zmtp::error::CloseKind;

use super::decisions::{Answer, Applicant, Inquiry, Pending};
use super::io_thread::Reactor;
use super::shared::{LeaseUse, Pace, SharedSession};
use super::timers::{Timer, Timers};
use super::wire::Wire;
use crate::auth::{Verdict, zap};
use crate::endpoint::Endpoint;
use crate::monitor::{ConnectionFailure, Event, FailureCause, add};
use crate::pattern::{Item, PipeId};
use crate::peer::{Approval, Peer, PeerAddress};
use crate::security::Kind;
use crate::socket::SocketCore;
use crate::transport::{Polled, Stream};

/// The protocol is given more messages while it holds fewer bytes than this.
const WRITE_BUDGET: usize = 128 << 10;
/// Reads in a row before other connections get their turn.
const READS_PER_TURN: usize = 8;
/// How long nobody may have waited for a session's bytes before the I/O thread reads again.
const LEASE: Duration = Duration::from_millis(10);

/// Names a session: its slot, and the connection's number because slots are used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SessionKey {
    pub(super) slot: usize,
    pub(super) connection: u64,
}

impl SessionKey {
    fn timer(self) -> Timer {
        Timer::Source {
            slot: self.slot,
            number: self.connection,
        }
    }
}

/// Where a session came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// The listener in this slot, with this id.
    Listener { slot: usize, id: u64 },
    /// The connector in this slot, with this id.
    Connector { slot: usize, id: u64 },
}

impl Origin {
    /// The number of the `connect` behind it.
    fn connector(self) -> Option<u64> {
        match self {
            Origin::Connector { id, .. } => Some(id),
            Origin::Listener { .. } => None,
        }
    }
}

/// How a session ended.
pub(super) enum End {
    /// As it should.
    Clean,
    Failed(FailureCause),
}

impl From<sealwire_zmtp::Error> for End {
    fn from(error: sealwire_zmtp::Error) -> Self {
        End::Failed(error.into())
    }
}

/// What is still to do once a turn is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// Nothing until the transport, the pipe or the clock says so.
    Idle,
    /// There may be more to read at once.
    Again,
}

pub(super) struct Session {
    pub(super) core: Arc<SocketCore>,
    pub(super) key: SessionKey,
    pub(super) origin: Origin,
    pub(super) endpoint: Endpoint,
    pub(super) address: PeerAddress,
    stream: Stream,
    protocol: Wire,
    input: BytesMut,
    /// Set once the handshake is done and the socket has taken the peer.
    attached: Option<(PipeId, Arc<Peer>)>,
    /// When that was.
    ready_since: Option<Duration>,
    readable: bool,
    /// The transport said that no more bytes will come after those it holds.
    hung_up: bool,
    writable: bool,
    /// The pipe said that it has something to send.
    output_waiting: bool,
    /// The pipe is full; it will say when it is not.
    paused: bool,
    /// Messages taken from the pipe since the transport last took everything.
    in_flight: usize,
    /// No more is wanted from the peer: send what is queued, then end, at this time at the latest.
    finishing: Option<Duration>,
    /// All was sent and the peer was told; its own end is awaited.
    finished: bool,
    /// The deadline that is among the I/O thread's timers.
    timer: Option<Duration>,
    /// What the authenticator was asked about this peer and has not answered yet.
    question: Option<Pending>,
    /// The peer of a handshake that is done, while the question about it is open.
    unapproved: Option<Arc<PeerInfo>>,
    /// What was said about the peer as it was let in.
    approval: Option<Approval>,
    taken: VecDeque<Item>,
    pub(super) pace: Arc<Pace>,
    /// What this session is part of.
    shared: Weak<SharedSession>,
    lease: Lease,
    /// How it ended while a thread of the application drove it.
    ending: Option<End>,
    /// It has ended and is about to be taken away.
    over: bool,
}

/// Whether reading is left to a thread of the application that waits for a message.
#[derive(Default)]
struct Lease {
    active: bool,
    /// When the I/O thread looks whether it is still in use.
    check_at: Option<Duration>,
    /// Made the first time; a poll may still use it when the session is gone.
    polled: Option<Polled>,
}

impl Session {
    pub(super) fn new(
        core: Arc<SocketCore>,
        key: SessionKey,
        origin: Origin,
        endpoint: Endpoint,
        address: PeerAddress,
        stream: Stream,
        now: Duration,
    ) -> Self {
        stream.tune();
        let protocol = Wire::new(&core, now);
        core.add_attachment();
        if core.options().security.shows_a_password() && address.leaves_the_machine() {
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
            protocol,
            input: BytesMut::new(),
            attached: None,
            ready_since: None,
            readable: false,
            hung_up: false,
            writable: true,
            output_waiting: false,
            paused: false,
            in_flight: 0,
            finishing: None,
            finished: false,
            timer: None,
            question: None,
            unapproved: None,
            approval: None,
            taken: VecDeque::new(),
            pace: Arc::default(),
            shared: Weak::new(),
            lease: Lease::default(),
            ending: None,
            over: false,
        }
    }

    pub(super) fn shared_as(mut self, shared: Weak<SharedSession>) -> Self {
        self.shared = shared;
        self
    }

    pub(super) fn stream_mut(&mut self) -> &mut Stream {
        &mut self.stream
    }

    pub(super) fn is_ready(&self) -> bool {
        self.attached.is_some()
    }

    /// How long the connection has been of use.
    pub(super) fn ready_for(&self, now: Duration) -> Option<Duration> {
        self.ready_since.map(|since| now.saturating_sub(since))
    }

    /// Keeps one entry for the next deadline among the timers.
    pub(super) fn set_timer(&mut self, timers: &mut Timers) {
        let next = self
            .protocol
            .next_timeout()
            .into_iter()
            .chain(self.finishing)
            .chain(self.lease.check_at)
            .min();
        if next != self.timer {
            self.cancel_timer(timers);
            if let Some(at) = next {
                timers.set(at, self.key.timer());
            }
            self.timer = next;
        }
    }

    pub(super) fn cancel_timer(&mut self, timers: &mut Timers) {
        if let Some(at) = self.timer.take() {
            timers.cancel(at, self.key.timer());
        }
    }

    // ---- what happens to a session --------------------------------------------------------------

    pub(super) fn transport_event(&mut self, readable: bool, writable: bool, hung_up: bool) {
        self.readable |= readable;
        self.writable |= writable;
        self.hung_up |= hung_up;
    }

    pub(super) fn output_ready(&mut self) {
        self.output_waiting = true;
    }

    pub(super) fn input_wanted(&mut self, now: Duration) {
        self.paused = false;
        self.protocol.set_reading(true, now);
    }

    /// Sends what is queued, then ends the connection; within the linger time.
    pub(super) fn finish(&mut self, now: Duration) {
        self.finishing
            .get_or_insert(now + self.core.options().linger);
    }

    pub(super) fn timer_due(&mut self, now: Duration) -> Result<(), End> {
        if self.finishing.is_some_and(|at| at <= now) {
            return Err(End::Clean);
        }
        if self.timer.is_some_and(|at| at <= now) {
            self.timer = None;
            self.protocol
                .handle_timeout(now)
                .map_err(|error| self.fail(error))?;
        }
        Ok(())
    }

    pub(super) fn decided(&mut self, verdict: Verdict, reactor: &mut Reactor) -> Result<(), End> {
        self.question = None;
        let (reason, cause) = match verdict {
            Verdict::Allowed { user_id, metadata } => {
                self.approval = Some(Approval {
                    user_id: user_id.clone(),
                    metadata,
                });
                if let Some(info) = self.unapproved.take() {
                    self.input_wanted(reactor.now());
                    return self.ready(Some(info), reactor);
                }
                return self
                    .protocol
                    .authorize(Ok(user_id), reactor.now())
                    .map_err(|error| self.fail(error));
            }
            Verdict::Refused { reason } => (reason, None),
            Verdict::RefusedByZap { status, text } => {
                let cause = FailureCause::RefusedByZap { status, text };
                (status.to_string(), Some(cause))
            }
        };
        let error = self.protocol.reject(&reason);
        self.last_words();
        let cause = cause.or(error.map(Into::into));
        Err(cause.map_or(End::Clean, End::Failed))
    }

    /// Asks whoever decides about peers.
    fn ask(&mut self, inquiry: Inquiry, reactor: &mut Reactor) -> Result<(), End> {
        match reactor.decisions.ask(self.key, inquiry) {
            Answer::Now(verdict) => self.decided(verdict, reactor),
            Answer::Later(question) => {
                self.question = Some(question);
                Ok(())
            }
        }
    }

    /// The question for the ZAP handler, where there is one for this mechanism.
    fn zap_request(
        &self,
        mechanism: &'static str,
        routing_id: &[u8],
        credentials: Vec<Vec<u8>>,
    ) -> Option<zap::Request> {
        let options = self.core.options();
        let domain = options.zap_domain.as_ref()?;
        if mechanism == "NULL" && domain.is_empty() {
            return None;
        }
        Some(zap::Request {
            context: self.core.context().clone(),
            limit: options.zap_timeout,
            domain: domain.clone(),
            address: self.address.for_zap(),
            routing_id: routing_id.to_vec(),
            mechanism,
            credentials,
        })
    }

    /// Tells the peer why it is turned away and ends.
    pub(super) fn reject(&mut self, reason: &'static str) -> End {
        self.protocol.reject(reason);
        self.last_words();
        End::Failed(FailureCause::Rejected(reason))
    }

    // ---- moving bytes and messages --------------------------------------------------------------

    /// Does whatever can be done now.
    pub(super) fn drive(&mut self, reactor: &mut Reactor) -> Result<Turn, End> {
        if let Some(end) = self.ending.take() {
            return Err(end);
        }
        let turn = self.read(reactor)?;
        self.write(usize::MAX)?;
        if self.finishing.is_some() && !self.finished && self.nothing_to_send() {
            self.finished = true;
            self.stream.finish_writing();
            if self.readable {
                return Ok(Turn::Again);
            }
        }
        Ok(turn)
    }

    fn read(&mut self, reactor: &mut Reactor) -> Result<Turn, End> {
        for _ in 0..READS_PER_TURN {
            self.take_events(reactor)?;
            if !self.wants_to_read() {
                return Ok(Turn::Idle);
            }
            if !self.fill(&mut reactor.read_buffer)? {
                return Ok(Turn::Idle);
            }
            let received = self.protocol.receive(&mut self.input, reactor.now());
            self.take_events(reactor)?;
            received.map_err(|error| self.fail(error))?;
        }
        Ok(if self.wants_to_read() {
            Turn::Again
        } else {
            Turn::Idle
        })
    }

    /// One read. `false` when there was nothing.
    fn fill(&mut self, buffer: &mut [u8]) -> Result<bool, End> {
        // What was read may be what writing had to wait for.
        self.writable |= self.stream.buffers();
        let length = match self.stream.read(buffer) {
            Ok(0) => return Err(self.end_of_stream()),
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.readable = false;
                return Ok(false);
            }
            Err(error) => return Err(self.transport_failed(error)),
        };
        // A read that does not fill the buffer has emptied the transport, unless the end of the
        // stream is behind it.
        self.readable = length == buffer.len() || self.hung_up || self.stream.buffers();
        // Once everything was sent and said, only the end of the stream is still of interest.
        if !self.finished {
            self.input.extend_from_slice(&buffer[..length]);
        }
        Ok(true)
    }

    /// A full pipe stops the reading, except for the end of the stream.
    pub(super) fn wants_to_read(&self) -> bool {
        self.readable && (self.finished || !self.paused)
    }

    fn take_events(&mut self, reactor: &mut Reactor) -> Result<(), End> {
        if self.protocol.is_raw() && self.attached.is_none() {
            self.ready(None, reactor)?;
        }
        while self.attached.is_none() && self.unapproved.is_none() {
            match self.protocol.poll_event() {
                Some(ProtocolEvent::Ready(info)) => self.established(info, reactor)?,
                Some(ProtocolEvent::Authenticate(credentials)) => {
                    let (Kind::Server { authenticator, .. }
                    | Kind::CurveServer { authenticator, .. }) = &self.core.options().security.0
                    else {
                        unreachable!("only servers are asked about keys")
                    };
                    let applicant = Applicant::Key(authenticator.clone(), credentials);
                    self.ask_about(applicant, reactor)?;
                }
                Some(ProtocolEvent::AuthenticatePassword(shown)) => {
                    let Kind::PlainServer { authenticator } = &self.core.options().security.0
                    else {
                        unreachable!("only PLAIN servers are asked about passwords")
                    };
                    let applicant = Applicant::Password(authenticator.clone(), shown);
                    self.ask_about(applicant, reactor)?;
                }
                Some(ProtocolEvent::Warning(warning)) => self.warn(warning),
                Some(_) => {}
                None => return Ok(()),
            }
        }
        self.deliver(reactor.now());
        Ok(())
    }

    fn ask_about(&mut self, applicant: Applicant, reactor: &mut Reactor) -> Result<(), End> {
        let mechanism = self.core.options().security.mechanism();
        let (routing_id, proof) = (applicant.routing_id(), applicant.zap_credentials());
        let inquiry = Inquiry {
            zap: self.zap_request(mechanism, routing_id, proof),
            applicant: Some(applicant),
            address: self.address.clone(),
        };
        self.ask(inquiry, reactor)
    }

    /// Hands over what the protocol has for the socket.
    fn deliver(&mut self, now: Duration) {
        let Some((pipe, _)) = self.attached else {
            return;
        };
        if !self.protocol.has_events() {
            return;
        }
        let mut warnings = Vec::new();
        let protocol = &mut self.protocol;
        let mut other = |event| {
            if let ProtocolEvent::Warning(warning) = event {
                warnings.push(warning);
            }
        };
        let delivered = self
            .core
            .deliver(pipe, &mut || protocol.next_item(&mut other));
        warnings.into_iter().for_each(|warning| self.warn(warning));
        self.pace.received();
        if delivered.full != self.paused {
            self.paused = delivered.full;
            self.protocol.set_reading(!delivered.full, now);
        }
    }

    fn warn(&self, warning: Warning) {
        self.core.hub.emit(Event::Warning {
            connection: self.key.connection,
            address: self.address.clone(),
            warning,
        });
    }

    /// The protocol's handshake is done. NULL has not asked anyone on its way: that is done now,
    /// and nothing is read from the peer until the answer is there.
    fn established(&mut self, info: Arc<PeerInfo>, reactor: &mut Reactor) -> Result<(), End> {
        let request = match info.mechanism {
            "NULL" => self.zap_request("NULL", &info.routing_id, Vec::new()),
            _ => None,
        };
        if request.is_none() {
            return self.ready(Some(info), reactor);
        }
        self.unapproved = Some(info);
        self.paused = true;
        self.protocol.set_reading(false, reactor.now());
        let inquiry = Inquiry {
            applicant: None,
            zap: request,
            address: self.address.clone(),
        };
        self.ask(inquiry, reactor)
    }

    /// Messages may flow. `None` where no protocol says who the peer is.
    fn ready(&mut self, info: Option<Arc<PeerInfo>>, reactor: &mut Reactor) -> Result<(), End> {
        let approval = self.approval.take();
        let (address, connection) = (self.address.clone(), self.key.connection);
        let process = self.stream.process();
        let peer = Arc::new(match info {
            Some(info) => Peer::wire(address, connection, info, approval, process),
            None => Peer::raw(address, connection, process),
        });
        let link = self
            .shared
            .upgrade()
            .expect("who drives a session holds it");
        let connector = self.origin.connector();
        match self.core.attach(peer.clone(), link, connector) {
            Ok(pipe) => {
                self.attached = Some((pipe, peer.clone()));
                // A backlog may have moved into the pipe as it was attached.
                self.output_waiting = true;
            }
            Err(reason) => return Err(self.reject(reason)),
        }
        self.stream.trust();
        self.ready_since = Some(reactor.now());
        add(&self.core.counters.handshakes_completed, 1);
        self.core.hub.emit(Event::Ready { peer });
        if self.core.is_closing() {
            self.finish(reactor.now());
        }
        reactor.became_ready(self.origin, self.key);
        Ok(())
    }

    fn write(&mut self, limit: usize) -> Result<(), End> {
        for _ in 0..limit {
            if !self.writable || self.finished {
                break;
            }
            self.take_outbound();
            match self.write_once() {
                Ok(true) => {}
                Ok(false) => match self.stream.flush() {
                    Ok(()) => {
                        self.in_flight = 0;
                        return Ok(());
                    }
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                        self.writable = false;
                    }
                    Err(error) => return Err(self.transport_failed(error)),
                },
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.writable = false,
                Err(error) => return Err(self.transport_failed(error)),
            }
        }
        Ok(())
    }

    /// Gives the protocol as many messages as one or two writes can carry.
    fn take_outbound(&mut self) {
        let Some((pipe, _)) = self.attached else {
            return;
        };
        while self.output_waiting && self.protocol.pending_bytes() < WRITE_BUDGET {
            self.core.take_outbound(pipe, &mut self.taken, WRITE_BUDGET);
            self.output_waiting = !self.taken.is_empty();
            for item in self.taken.drain(..) {
                self.in_flight += usize::from(matches!(item, Item::Message(_) | Item::Notice(_)));
                self.protocol.send(item);
            }
        }
    }

    /// `false` when there was nothing to write.
    fn write_once(&mut self) -> io::Result<bool> {
        let stream = &mut self.stream;
        self.protocol
            .write_with(|slices| stream.write_vectored(slices))
    }

    fn nothing_to_send(&self) -> bool {
        // A handshake under way may still bring a peer for the backlog.
        let settled = self.attached.is_some() || self.core.backlog() == 0;
        settled
            && !self.output_waiting
            && self.protocol.pending_bytes() == 0
            && !self.stream.holds_output()
    }

    // ---- on a thread of the application ---------------------------------------------------------

    /// No thread of the application may drive it from now on.
    pub(super) fn mark_over(&mut self) {
        self.over = true;
    }

    /// Whether a thread of the application may drive this session.
    pub(super) fn is_usable(&self) -> bool {
        self.attached.is_some() && self.finishing.is_none() && self.ending.is_none() && !self.over
    }

    /// Whether something is left that only the I/O thread does.
    pub(super) fn needs_io_thread(&self) -> bool {
        let sooner = match (self.protocol.next_timeout(), self.timer) {
            (Some(next), Some(timer)) => next < timer,
            (next, None) => next.is_some(),
            (None, Some(_)) => false,
        };
        let unwritten = self.writable && (self.output_waiting || self.protocol.pending_bytes() > 0);
        sooner || unwritten || self.ending.is_some()
    }

    /// Reads once, unless there was something left to deliver. Whoever calls this found the pipe
    /// empty, so it has room.
    pub(super) fn read_directly(&mut self, buffer: &mut [u8], now: Duration) {
        if self.paused {
            self.input_wanted(now);
        }
        if self.protocol.has_events() {
            return self.deliver(now);
        }
        let outcome = self.fill(buffer).and_then(|filled| {
            if !filled {
                return Ok(());
            }
            let received = self.protocol.receive(&mut self.input, now);
            self.deliver(now);
            received.map_err(|error| self.fail(error))
        });
        self.ending = outcome.err();
    }

    /// Writes up to `limit` times.
    pub(super) fn write_directly(&mut self, limit: usize) {
        if self.ending.is_none() {
            self.ending = self.write(limit).err();
        }
    }

    // ---- leaving the reading to a thread of the application --------------------------------------

    pub(super) fn lease(&mut self, registry: &Registry) -> io::Result<Polled> {
        let polled = match &self.lease.polled {
            Some(polled) => polled.clone(),
            None => self.lease.polled.insert(self.stream.polled()?).clone(),
        };
        if !self.lease.active {
            self.stream.watch_writing(registry, Token(self.key.slot))?;
            self.lease.active = true;
        }
        Ok(polled)
    }

    pub(super) fn is_leased(&self) -> bool {
        self.lease.active
    }

    pub(super) fn watch_lease(&mut self, now: Duration) {
        if self.lease.active {
            self.lease.check_at = Some(now + LEASE);
        }
    }

    pub(super) fn check_lease(
        &mut self,
        shared: &SharedSession,
        registry: &Registry,
        now: Duration,
    ) -> Result<(), End> {
        if self.lease.check_at.is_none_or(|at| at > now) {
            return Ok(());
        }
        self.lease.check_at = None;
        match shared.lease_use() {
            LeaseUse::Now => Ok(()),
            LeaseUse::Lately => {
                self.watch_lease(now);
                Ok(())
            }
            LeaseUse::Over => self.end_lease(registry),
        }
    }

    pub(super) fn end_lease(&mut self, registry: &Registry) -> Result<(), End> {
        self.lease.check_at = None;
        if std::mem::take(&mut self.lease.active) {
            // What has arrived meanwhile was not told.
            self.readable = true;
            self.stream
                .reregister(registry, Token(self.key.slot))
                .map_err(|error| self.transport_failed(error))?;
        }
        Ok(())
    }

    // ---- endings --------------------------------------------------------------------------------

    fn fail(&mut self, error: sealwire_zmtp::Error) -> End {
        self.last_words();
        error.into()
    }

    /// An ERROR for the peer, if there is one and the transport takes it at once.
    fn last_words(&mut self) {
        while matches!(self.write_once(), Ok(true)) {}
        self.stream.finish_writing();
    }

    fn end_of_stream(&mut self) -> End {
        if self.finished {
            return End::Clean;
        }
        match self.protocol.end_of_stream() {
            Some(sealwire_zmtp::Error::Closed(CloseKind::Clean)) if self.input.is_empty() => {
                End::Clean
            }
            Some(error) => error.into(),
            None => End::Clean,
        }
    }

    fn transport_failed(&mut self, error: io::Error) -> End {
        if self.finished {
            return End::Clean;
        }
        End::Failed(FailureCause::of_transport(error))
    }

    /// Lets the socket know that the connection is over, and everybody else why.
    pub(super) fn ended(self, end: End) {
        let Session {
            core,
            key,
            endpoint,
            address,
            attached,
            in_flight,
            stream,
            lease,
            ..
        } = self;
        if lease.polled.is_some() {
            // A thread that still polls must not keep the connection open.
            stream.shut_down();
        }
        drop((stream, lease));
        match &attached {
            Some((pipe, _)) => {
                core.count_unsent(in_flight);
                core.detach(*pipe);
                add(&core.counters.disconnects, 1);
            }
            None => add(&core.counters.handshakes_failed, 1),
        }
        match (end, attached) {
            (End::Failed(cause), attached) => core.hub.emit(Event::Failed(ConnectionFailure {
                connection: Some(key.connection),
                endpoint,
                address,
                was_ready: attached.is_some(),
                cause,
            })),
            (End::Clean, Some((_, peer))) => core.hub.emit(Event::Disconnected { peer }),
            // A socket that closes gives up its unfinished handshakes without a word.
            (End::Clean, None) => {}
        }
        core.remove_attachment();
    }
}
