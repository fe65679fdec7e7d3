//! One connection over a byte stream: bytes between the transport and the protocol, messages
//! between the protocol and the socket's pipe.
//!
//! ```text
//!   transport ─▶ input ─▶ protocol ─▶ undelivered ─▶ pipe.inbound
//!   transport ◀─────────── protocol ◀────────────── pipe.outbound
//! ```
//!
//! Reading stops while `undelivered` is not empty, writing takes no more from the pipe while the
//! protocol holds [`WRITE_BUDGET`] bytes: so each connection's memory is bounded, whatever the
//! peer does.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf as _, BytesMut};
use sealwire_zmtp::connection::PeerInfo;
use sealwire_zmtp::error::CloseKind;
use sealwire_zmtp::{Connection as Protocol, Entropy, Event as ProtocolEvent};

use super::decisions::{Answer, Applicant, Inquiry, Pending};
use super::io_thread::Reactor;
use super::mailbox::{Command, Mailbox};
use super::timers::{Timer, Timers};
use crate::auth::{Verdict, zap};
use crate::endpoint::Endpoint;
use crate::entropy;
use crate::monitor::{ConnectionFailure, Event, FailureCause, add};
use crate::pattern::{Item, Link, PipeId};
use crate::peer::{Approval, Peer, PeerAddress};
use crate::security::Kind;
use crate::socket::SocketCore;
use crate::transport::Stream;

/// Bytes handed to one write call. Loopback gets two to three times slower from 65,536 on.
const WRITE_SIZE: usize = 65_472;
/// The protocol is given more messages while it holds fewer bytes than this.
const WRITE_BUDGET: usize = 128 << 10;
/// Reads in a row before other connections get their turn.
const READS_PER_TURN: usize = 8;
/// Slices handed to one write call.
const SLICES_PER_WRITE: usize = 16;

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
    protocol: Protocol,
    input: BytesMut,
    undelivered: VecDeque<Item>,
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
    taken: Vec<Item>,
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
        let mut random = zeroize::Zeroizing::new([0; Entropy::SIZE]);
        entropy::fill(&mut random[..]);
        let (config, provider) = (core.protocol().clone(), core.options().provider.clone());
        let protocol = Protocol::new(config, provider, Entropy::new(*random), now);
        core.add_attachment();
        Session {
            core,
            key,
            origin,
            endpoint,
            address,
            stream,
            protocol,
            input: BytesMut::new(),
            undelivered: VecDeque::new(),
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
            taken: Vec::new(),
        }
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
                    return self.ready(info, reactor);
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
        Err(End::Failed(cause.unwrap_or(error.into())))
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
        let turn = self.read(reactor)?;
        self.write()?;
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
            let buffer = &mut reactor.read_buffer[..];
            let length = match self.stream.read(buffer) {
                Ok(0) => return Err(self.end_of_stream()),
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.readable = false;
                    return Ok(Turn::Idle);
                }
                Err(error) => return Err(self.transport_failed(error)),
            };
            // A read that does not fill the buffer has emptied the transport, unless the end of
            // the stream is behind it.
            self.readable = length == buffer.len() || self.hung_up;
            if self.finished {
                // Only the end of the stream is still of interest.
                continue;
            }
            self.input.extend_from_slice(&buffer[..length]);
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

    /// A full pipe stops the reading, except for the end of the stream.
    fn wants_to_read(&self) -> bool {
        self.readable && (self.finished || !self.paused)
    }

    fn take_events(&mut self, reactor: &mut Reactor) -> Result<(), End> {
        while let Some(event) = self.protocol.poll_event() {
            match event {
                ProtocolEvent::Message(frames) => {
                    self.undelivered.push_back(Item::Message(frames));
                }
                ProtocolEvent::Subscribe(topic) => {
                    self.undelivered.push_back(Item::Subscribe(topic));
                }
                ProtocolEvent::Cancel(topic) => self.undelivered.push_back(Item::Cancel(topic)),
                ProtocolEvent::Ready(info) => self.established(info, reactor)?,
                ProtocolEvent::Authenticate(credentials) => {
                    let Kind::Server { authenticator, .. } = &self.core.options().security.0 else {
                        unreachable!("only servers are asked to authenticate")
                    };
                    let applicant = Applicant::Key(authenticator.clone(), credentials);
                    let mechanism = self.core.options().security.mechanism();
                    let (routing_id, proof) = (applicant.routing_id(), applicant.zap_credentials());
                    let inquiry = Inquiry {
                        zap: self.zap_request(mechanism, routing_id, proof),
                        applicant: Some(applicant),
                        address: self.address.clone(),
                    };
                    self.ask(inquiry, reactor)?;
                }
                ProtocolEvent::Warning(warning) => self.core.hub.emit(Event::Warning {
                    connection: self.key.connection,
                    address: self.address.clone(),
                    warning,
                }),
                _ => {}
            }
        }
        self.deliver(reactor.now());
        Ok(())
    }

    fn deliver(&mut self, now: Duration) {
        let Some((pipe, _)) = self.attached else {
            return;
        };
        let paused = self.core.deliver(pipe, &mut self.undelivered);
        if paused != self.paused {
            self.paused = paused;
            self.protocol.set_reading(!paused, now);
        }
    }

    /// The protocol's handshake is done. NULL has not asked anyone on its way: that is done now,
    /// and nothing is read from the peer until the answer is there.
    fn established(&mut self, info: Arc<PeerInfo>, reactor: &mut Reactor) -> Result<(), End> {
        let request = match info.mechanism {
            "NULL" => self.zap_request("NULL", &info.routing_id, Vec::new()),
            _ => None,
        };
        if request.is_none() {
            return self.ready(info, reactor);
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

    fn ready(&mut self, info: Arc<PeerInfo>, reactor: &mut Reactor) -> Result<(), End> {
        let approval = self.approval.take();
        let (address, connection) = (self.address.clone(), self.key.connection);
        let process = self.stream.process();
        let peer = Arc::new(Peer::wire(address, connection, info, approval, process));
        let link = Arc::new(SessionLink {
            mailbox: reactor.mailbox.clone(),
            key: self.key,
        });
        match self
            .core
            .attach(peer.clone(), link, self.origin.connector())
        {
            Ok(pipe) => {
                self.attached = Some((pipe, peer.clone()));
                // A backlog may have moved into the pipe as it was attached.
                self.output_waiting = true;
            }
            Err(reason) => return Err(self.reject(reason)),
        }
        self.ready_since = Some(reactor.now());
        add(&self.core.counters.handshakes_completed, 1);
        self.core.hub.emit(Event::Ready { peer });
        if self.core.is_closing() {
            self.finish(reactor.now());
        }
        reactor.became_ready(self.origin, self.key);
        Ok(())
    }

    fn write(&mut self) -> Result<(), End> {
        while self.writable && !self.finished {
            self.take_outbound();
            match self.write_once() {
                Ok(true) => {}
                Ok(false) => {
                    self.in_flight = 0;
                    return Ok(());
                }
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
                match item {
                    Item::Message(frames) | Item::Notice(frames) => {
                        self.in_flight += 1;
                        // Refused only before the handshake is done or after the end.
                        let sent = self.protocol.send(frames);
                        debug_assert!(sent.is_ok(), "an attached protocol takes messages");
                    }
                    Item::Subscribe(topic) => self.protocol.subscribe(&topic),
                    Item::Cancel(topic) => self.protocol.cancel(&topic),
                }
            }
        }
    }

    /// `false` when there was nothing to write.
    fn write_once(&mut self) -> io::Result<bool> {
        let mut transmit = self.protocol.transmit();
        if !transmit.has_remaining() {
            return Ok(false);
        }
        let mut slices = [IoSlice::new(&[]); SLICES_PER_WRITE];
        let mut room = WRITE_SIZE;
        let mut count = 0;
        for (slice, chunk) in slices.iter_mut().zip(transmit.chunks()) {
            let length = chunk.len().min(room);
            *slice = IoSlice::new(&chunk[..length]);
            room -= length;
            count += 1;
            if room == 0 {
                break;
            }
        }
        let written = self.stream.write_vectored(&slices[..count])?;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        transmit.advance(written);
        Ok(true)
    }

    fn nothing_to_send(&self) -> bool {
        // A handshake under way may still bring a peer for the backlog.
        let settled = self.attached.is_some() || self.core.backlog() == 0;
        settled && !self.output_waiting && self.protocol.pending_bytes() == 0
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
        let error = self.protocol.end_of_stream();
        match error {
            sealwire_zmtp::Error::Closed(CloseKind::Clean) if self.input.is_empty() => End::Clean,
            error => error.into(),
        }
    }

    fn transport_failed(&mut self, error: io::Error) -> End {
        if self.finished {
            return End::Clean;
        }
        End::Failed(FailureCause::Transport(Arc::new(error)))
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
            ..
        } = self;
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

/// How a pipe reaches its session: through the mailbox of the I/O thread.
struct SessionLink {
    mailbox: Arc<Mailbox>,
    key: SessionKey,
}

impl Link for SessionLink {
    fn output_ready(&self) {
        self.mailbox.post(Command::Output(self.key));
    }

    fn input_wanted(&self) {
        self.mailbox.post(Command::Input(self.key));
    }

    fn disconnect(&self, reason: &'static str) {
        self.mailbox.post(Command::Disconnect(self.key, reason));
    }
}
