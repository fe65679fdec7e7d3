//! Every deadline of a connection: the handshake's, and those of heartbeats.
//!
//! Source: ZMTP 3.1 (RFC 37), "connection heartbeating".
//!
//! ```text
//!   now ......... PING ............ PING ........ PING
//!     |- interval -|--- interval ----|
//!                  |-- timeout --|  something must arrive before this, whatever it is
//!   last traffic |------ ttl from the peer's PING ------|  likewise
//! ```
//!
//! While this side does not read because its queue is full, it cannot answer a PING, and may not have seen
//! the first one yet. So that a peer does not take a slow application for a dead one, this side sends
//! unsolicited PONGs, as RFC 6455 allows for WebSocket. Peers take any traffic as a sign of life, and none
//! checks which PING a PONG answers.
//!
//! A PING cannot overtake the frame before it, which may be large, on a slow network. While the
//! output moves, the peer is alive. Its time to answer begins once the PING is out.

use core::time::Duration;

use arrayvec::ArrayVec;

use super::{Config, Heartbeat};
use crate::error::{Error, Step};
use crate::limits::{MAX_OWED_PONGS, MAX_PING_CONTEXT, MIN_PONG_INTERVAL};
use crate::wire::command::heartbeat::{Ping, Pong};

/// How often this side says that it is there while it does not read, as long as it knows nothing of the peer's
/// own heartbeats. Timeouts of seconds are usual.
const PONG_INTERVAL: Duration = Duration::from_secs(1);

type PingContext = ArrayVec<u8, MAX_PING_CONTEXT>;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Liveness {
    handshake_deadline: Option<Duration>,
    /// Our own heartbeats, once they run.
    heartbeat: Option<Heartbeat>,
    /// The transport carries them.
    by_transport: bool,
    /// The transport is to carry one now.
    transport_ping: bool,
    next_ping: Option<Duration>,
    /// When something must have arrived since the oldest PING that nothing followed.
    answer_deadline: Option<Duration>,
    /// Bytes of output before the oldest PING that nothing followed.
    before_oldest_ping: u64,
    /// Those that were taken when `answer_deadline` was set.
    taken_then: u64,
    /// Bytes of output before the last PING.
    before_last_ping: Option<u64>,
    /// When that PING was queued, until it is answered.
    last_ping_at: Option<Duration>,
    /// How long the latest answer took, until somebody has asked.
    round_trip: Option<Duration>,
    /// Bytes of output before the last PING that was answered.
    confirmed: u64,
    last_heard: Duration,
    /// How long the peer lets us wait.
    peer_ttl: Option<Duration>,
    reading: bool,
    /// The peer knows PING and PONG.
    has_heartbeats: bool,
    /// When the peer's last PING came, and how long after the one before.
    last_pinged: Option<Duration>,
    peer_interval: Option<Duration>,
    /// While this side does not read: when it says next that it is there.
    next_pong: Option<Duration>,
    /// The contexts of the last PINGs not yet answered, the oldest first.
    owed_pongs: ArrayVec<PingContext, MAX_OWED_PONGS>,
}

impl Liveness {
    pub(super) fn new(config: &Config, now: Duration) -> Self {
        Self {
            handshake_deadline: Some(now.saturating_add(config.handshake_timeout)),
            heartbeat: None,
            by_transport: false,
            transport_ping: false,
            next_ping: None,
            answer_deadline: None,
            before_oldest_ping: 0,
            taken_then: 0,
            before_last_ping: None,
            last_ping_at: None,
            round_trip: None,
            confirmed: 0,
            last_heard: now,
            peer_ttl: None,
            reading: true,
            has_heartbeats: false,
            last_pinged: None,
            peer_interval: None,
            next_pong: None,
            owed_pongs: ArrayVec::new(),
        }
    }

    /// Heartbeats are the transport's: see `take_transport_ping`.
    pub(super) fn leave_to_transport(&mut self) {
        self.by_transport = true;
    }

    /// The handshake is done. Peers of ZMTP 3.0 know no heartbeat but that of a transport, by the protocol.
    pub(super) fn established(&mut self, config: &Config, zmtp_minor: u8, now: Duration) {
        self.handshake_deadline = None;
        self.has_heartbeats = zmtp_minor > 0 && !self.by_transport;
        self.heartbeat = config
            .heartbeat
            .filter(|_| zmtp_minor > 0 || config.heartbeats_to_zmtp_3_0 || self.by_transport);
        self.next_ping = self.heartbeat.map(|beat| now.saturating_add(beat.interval));
        self.last_heard = now;
    }

    /// The connection is over: nothing is due any more.
    pub(super) fn stop(&mut self) {
        self.handshake_deadline = None;
        self.heartbeat = None;
        self.next_ping = None;
        self.answer_deadline = None;
        self.peer_ttl = None;
        self.next_pong = None;
        self.owed_pongs.clear();
    }

    /// Something arrived, which is all the proof of life there is.
    #[inline]
    pub(super) fn heard(&mut self, now: Duration) {
        self.last_heard = now;
        self.answer_deadline = None;
    }

    pub(super) fn pinged(&mut self, ping: Ping<'_>) {
        // When it was heard.
        let now = self.last_heard;
        self.peer_interval = self.last_pinged.map(|last| now.saturating_sub(last));
        self.last_pinged = Some(now);
        self.peer_ttl = ping.ttl;
        // The last answer says most: all before it has arrived as well.
        if self.owed_pongs.is_full() {
            self.owed_pongs.remove(0);
        }
        self.owed_pongs.extend(ping.context.try_into().ok());
    }

    /// The peer answers a PING: what was sent before it has arrived. A PING's context says how much
    /// that was, in bytes; nobody can confirm more than the `taken` bytes of output.
    pub(super) fn ponged(&mut self, pong: Pong<'_>, taken: u64) {
        if let Ok(before) = pong.context.try_into().map(u64::from_be_bytes)
            && before <= taken
        {
            self.confirmed = self.confirmed.max(before);
            if self.before_last_ping == Some(before)
                && let Some(at) = self.last_ping_at.take()
            {
                // When it was heard.
                self.round_trip = Some(self.last_heard.saturating_sub(at));
            }
        }
    }

    /// How long the peer took to answer the latest PING. Told once.
    pub(super) fn take_round_trip(&mut self) -> Option<Duration> {
        self.round_trip.take()
    }

    /// Bytes of output that the peer is known to have processed.
    pub(super) fn confirmed(&self) -> u64 {
        self.confirmed
    }

    #[inline]
    pub(super) fn owed_pongs(&self) -> &[PingContext] {
        &self.owed_pongs
    }

    pub(super) fn take_owed_pong(&mut self) -> Option<PingContext> {
        self.owed_pongs.pop_at(0)
    }

    pub(super) fn set_reading(&mut self, reading: bool, now: Duration) {
        if reading && !self.reading {
            self.heard(now);
        }
        if self.reading && !reading && (self.has_heartbeats || self.by_transport) {
            self.next_pong = Some(now.saturating_add(self.pong_interval()));
        } else if reading {
            self.next_pong = None;
        }
        self.reading = reading;
    }

    /// Half of what the peer waits, as far as it is known.
    fn pong_interval(&self) -> Duration {
        let known = [self.peer_interval, self.peer_ttl].into_iter().flatten();
        let half = known.min().map(|wait| wait / 2);
        half.unwrap_or(PONG_INTERVAL).max(MIN_PONG_INTERVAL)
    }

    /// Whether this side is to say now that it is there. The transport says it where heartbeats are its own.
    pub(super) fn take_due_pong(&mut self, now: Duration) -> bool {
        if self.next_pong.is_none_or(|at| at > now) {
            return false;
        }
        self.next_pong = Some(now.saturating_add(self.pong_interval()));
        self.transport_ping |= self.by_transport;
        !self.by_transport
    }

    pub(super) fn next_timeout(&self) -> Option<Duration> {
        let silence = [self.answer_deadline, self.ttl_deadline()];
        let silence = silence.into_iter().flatten().filter(|_| self.reading);
        [self.handshake_deadline, self.next_ping, self.next_pong]
            .into_iter()
            .flatten()
            .chain(silence)
            .min()
    }

    /// Refuses to go on past a deadline. `taken` are the bytes of output taken so far.
    pub(super) fn check(&mut self, now: Duration, step: Step, taken: u64) -> Result<(), Error> {
        self.allow_for_output(now, taken);
        let due = |deadline: Option<Duration>| deadline.is_some_and(|deadline| deadline <= now);
        if due(self.handshake_deadline) {
            return Err(Error::HandshakeTimeout { step });
        }
        if self.reading && (due(self.answer_deadline) || due(self.ttl_deadline())) {
            return Err(Error::HeartbeatTimeout);
        }
        Ok(())
    }

    /// Whether the transport is to carry a PING of its own now.
    pub(super) fn take_transport_ping(&mut self) -> bool {
        core::mem::take(&mut self.transport_ping)
    }

    /// Gives the peer more time to answer when the PING was still on its way the last time, and the
    /// output has moved since.
    fn allow_for_output(&mut self, now: Duration, taken: u64) {
        if let (Some(beat), Some(deadline)) = (self.heartbeat, &mut self.answer_deadline)
            && *deadline <= now
            && self.taken_then < self.before_oldest_ping
            && self.taken_then < taken
        {
            *deadline = now.saturating_add(beat.timeout);
            self.taken_then = taken;
        }
    }

    /// Whether a PING of ZMTP is due; gives the ttl and the context that it carries. None is while the
    /// last one is not out. `taken` and `pending` are bytes of output.
    pub(super) fn take_due_ping(
        &mut self,
        now: Duration,
        taken: u64,
        pending: usize,
    ) -> Option<(Duration, [u8; 8])> {
        let beat = self.heartbeat?;
        if self.next_ping? > now {
            return None;
        }
        self.next_ping = Some(now.saturating_add(beat.interval));
        let before = taken + pending as u64;
        if self.answer_deadline.is_none() {
            self.answer_deadline = Some(now.saturating_add(beat.timeout));
            self.before_oldest_ping = before;
            self.taken_then = taken;
        }
        self.transport_ping |= self.by_transport;
        if self.by_transport || self.before_last_ping.is_some_and(|last| taken <= last) {
            return None;
        }
        self.before_last_ping = Some(before);
        self.last_ping_at = Some(now);
        Some((beat.ttl, before.to_be_bytes()))
    }

    fn ttl_deadline(&self) -> Option<Duration> {
        self.peer_ttl.map(|ttl| self.last_heard.saturating_add(ttl))
    }
}
