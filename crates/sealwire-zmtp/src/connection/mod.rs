//! One connection: bytes in, events out; messages in, bytes out.
//!
//! ```text
//!              input: BytesMut                          Transmit: Buf
//!                    |                                       ^
//!   receive.rs   parse, open a batch                     output.rs   seal a batch
//!                    |                                       |
//!   deliver.rs   commands, multipart                     send.rs     messages, subscriptions
//!                    |                                       ^
//!                poll_event()                             send()
//!
//!   handshake.rs drives the mechanism in between; liveness.rs owns every deadline.
//! ```
//!
//! Nothing here reads a clock, a socket or a source of randomness: time, bytes and [`Entropy`] are
//! arguments. Time is a [`Duration`] since an epoch that the caller chooses and keeps.

mod assembly;
mod blocks;
#[cfg(test)]
mod blocks_tests;
mod config;
mod deliver;
mod event;
mod events;
mod handshake;
mod liveness;
mod memory;
mod output;
mod receive;
mod send;
mod trace;

use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;
use core::time::Duration;

use self::assembly::Assembly;
use self::blocks::Blocks;
pub use self::config::{Config, Heartbeat};
pub use self::event::{Event, PeerInfo, Warning};
use self::events::Events;
use self::handshake::{GreetingExchange, HandshakeInProgress};
use self::liveness::Liveness;
use self::output::Output;
pub use self::output::Transmit;
use self::receive::Receiver;
pub use self::send::SendError;
use self::trace::Trace;
pub use self::trace::{Direction, HandshakeStep};
use crate::error::{CloseKind, Error, Refusal, Step};
use crate::mechanism::{Entropy, NotSealed};
use crate::mechanism_type::Mechanism;
use crate::message::Frames;
use crate::provider::Provider;

/// One ZMTP connection, from the greeting to its end.
///
/// The caller moves bytes and time:
///
/// 1. write what [`transmit`](Self::transmit) holds,
/// 2. append what arrived to a `BytesMut` and call [`receive`](Self::receive),
/// 3. drain [`poll_event`](Self::poll_event),
/// 4. call [`handle_timeout`](Self::handle_timeout) when [`next_timeout`](Self::next_timeout) has
///    passed and nothing that arrived is left to be handed over.
///
/// Any method that gives an [`Error`] ends the connection: events from before stay pollable,
/// `transmit` may hold a last ERROR command to be flushed, everything else does nothing more.
pub struct Connection {
    config: Arc<Config>,
    provider: Arc<dyn Provider>,
    phase: Phase,
    receiver: Receiver,
    assembly: Assembly,
    blocks: Blocks,
    events: Events,
    output: Output,
    liveness: Liveness,
    trace: Trace,
    mechanism: Option<Mechanism>,
    peer: Option<Arc<PeerInfo>>,
}

enum Phase {
    Greeting(GreetingExchange),
    Handshake(HandshakeInProgress),
    Ready,
    Over(Error),
}

/// How far a connection's output has come, in bytes since it began, those of the handshake included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutputProgress {
    /// Staged, whether taken or not. A message that is sent now begins here.
    pub staged: u64,
    /// Taken out of [`Connection::transmit`]; at most `staged`.
    pub taken: u64,
    /// Known to have been processed by the peer, since it answered a PING behind them; at most `taken`.
    /// Moves only with [`heartbeat`](Config::heartbeat), and only where the peer sends a PING's context
    /// back, as RFC 37 wants it.
    pub confirmed: u64,
}

impl Connection {
    /// Starts a connection; its greeting is ready to be transmitted.
    ///
    /// `entropy` must come from a cryptographic generator and serve this connection only. The
    /// handshake deadline counts from `now`. With a `config` that does not
    /// [`validate`](Config::validate), the connection is over from the start.
    pub fn new(
        config: Arc<Config>,
        provider: Arc<dyn Provider>,
        entropy: Entropy,
        now: Duration,
    ) -> Self {
        Self::begin(config, provider, entropy, now, false)
    }

    /// Starts a connection that sends its greeting as libzmq does: the signature first, the rest once the peer's signature
    /// has come. Takes a round trip more than [`new`](Self::new). Without effect for BLAKE3, and where the peer's greeting
    /// decides on the mechanism.
    pub fn greeting_in_parts(
        config: Arc<Config>,
        provider: Arc<dyn Provider>,
        entropy: Entropy,
        now: Duration,
    ) -> Self {
        Self::begin(config, provider, entropy, now, true)
    }

    fn begin(
        config: Arc<Config>,
        provider: Arc<dyn Provider>,
        entropy: Entropy,
        now: Duration,
        in_parts: bool,
    ) -> Self {
        let mut output = Output::default();
        let mut trace = Trace::new();
        let mut liveness = Liveness::new(&config, now);
        let phase = match config.validate() {
            Ok(()) => Phase::Greeting(GreetingExchange::new(
                &config,
                entropy,
                in_parts,
                &mut output,
                &mut trace,
            )),
            Err(error) => {
                liveness.stop();
                Phase::Over(error.into())
            }
        };
        Self {
            config,
            provider,
            phase,
            receiver: Receiver::default(),
            assembly: Assembly::default(),
            blocks: Blocks::default(),
            events: Events::default(),
            output,
            liveness,
            trace,
            mechanism: None,
            peer: None,
        }
    }

    /// The oldest event not yet taken.
    #[inline]
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop()
    }

    /// Moves messages that are the next events behind what `into` holds, up to `limit` of them and
    /// until they have `bytes` of payload. Returns how many bytes they have.
    pub fn take_messages(
        &mut self,
        into: &mut VecDeque<Frames>,
        limit: usize,
        bytes: usize,
    ) -> usize {
        self.events.take_messages(into, limit, bytes)
    }

    /// Returns whether [`poll_event`](Self::poll_event) has something to give.
    pub fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// The oldest step of the handshake not yet taken; at most a dozen are kept.
    pub fn poll_handshake_trace(&mut self) -> Option<HandshakeStep> {
        self.trace.poll()
    }

    /// Answers [`Event::Authorize`] with the user's name, or with a refusal that is sent to the
    /// peer in ERROR. Without a question to answer it does nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] for a refusal: the connection is over once ERROR is flushed. Otherwise
    /// the error that ended the connection before.
    pub fn authorize(
        &mut self,
        decision: Result<Option<String>, Refusal>,
        now: Duration,
    ) -> Result<(), Error> {
        if let Phase::Over(error) = &self.phase {
            return Err(error.clone());
        }
        self.conclude_authorization(decision, now)
            .map_err(|error| self.fail(error))
    }

    /// Turns the peer away at any time, with a reason that is sent to it in ERROR, and says what
    /// the connection ended with.
    pub fn reject(&mut self, reason: &str) -> Error {
        if let Phase::Over(error) = &self.phase {
            return error.clone();
        }
        self.fail(Error::Refused(Refusal::new(reason)))
    }

    /// Returns whether the handshake is done and the connection not over.
    #[inline]
    pub const fn is_ready(&self) -> bool {
        matches!(self.phase, Phase::Ready)
    }

    /// The mechanism that both greetings name, also when the connection is over; `None` before the
    /// peer's is there, and where none of this side's fits.
    pub const fn mechanism(&self) -> Option<Mechanism> {
        self.mechanism
    }

    /// Returns the peer at the other end, once the handshake is done.
    pub fn peer(&self) -> Option<&PeerInfo> {
        self.peer.as_deref()
    }

    /// Returns the bytes staged or sealed and not yet taken out of [`transmit`](Self::transmit), the answers
    /// owed to PINGs included.
    #[inline]
    pub fn pending_bytes(&self) -> usize {
        self.output.pending() + self.owed_pongs_size()
    }

    /// Returns how far the output has come, in bytes.
    pub fn output_progress(&self) -> OutputProgress {
        let taken = self.output.taken_in_all();
        OutputProgress {
            staged: taken + self.output.pending() as u64,
            taken,
            confirmed: self.liveness.confirmed(),
        }
    }

    /// Returns the bytes to write: everything staged, framed and sealed.
    ///
    /// Bytes that are not advanced over stay for the next call. A frame of
    /// [`FRAME_IN_PIECES`](crate::limits::FRAME_IN_PIECES) bytes and more comes over several calls,
    /// so call again until nothing [remains](bytes::Buf::has_remaining).
    ///
    /// Should a message not be sealed ([`Error::NotSealed`]), nothing of it is in the bytes and the connection is
    /// over: [`handle_timeout`](Self::handle_timeout) is due at once and gives the error.
    pub fn transmit(&mut self) -> Transmit<'_> {
        self.stage_owed_pongs();
        if let Err(NotSealed) = self.output.seal() {
            self.fail(Error::NotSealed);
        }
        Transmit::new(&mut self.output)
    }

    /// Returns the time at which [`handle_timeout`](Self::handle_timeout) is due, in the caller's epoch.
    pub fn next_timeout(&self) -> Option<Duration> {
        match self.phase {
            Phase::Over(Error::NotSealed) => Some(Duration::ZERO),
            _ => self.liveness.next_timeout(),
        }
    }

    /// Acts on everything that is due at `now`: deadlines, and PING.
    ///
    /// # Errors
    ///
    /// [`Error::HandshakeTimeout`], [`Error::HeartbeatTimeout`], or the error that ended the
    /// connection before, [`Error::NotSealed`] among them.
    pub fn handle_timeout(&mut self, now: Duration) -> Result<(), Error> {
        if let Phase::Over(error) = &self.phase {
            return Err(error.clone());
        }
        self.act_on_time(now).map_err(|error| self.fail(error))
    }

    /// Sets whether the caller reads from the transport. While it does not, because its queue is full, the
    /// peer is not to blame for silence and no heartbeat deadline runs.
    pub fn set_reading(&mut self, reading: bool, now: Duration) {
        self.liveness.set_reading(reading, now);
    }

    /// Leaves heartbeats to the transport, for peers whose version of ZMTP has none:
    /// [`take_transport_ping`](Self::take_transport_ping) then says when one is due. To be called
    /// before the handshake is done.
    pub fn heartbeat_by_transport(&mut self) {
        self.liveness.leave_to_transport();
    }

    /// Returns whether the transport is to ask for a sign of life; to be called after
    /// [`handle_timeout`](Self::handle_timeout).
    pub fn take_transport_ping(&mut self) -> bool {
        self.liveness.take_transport_ping()
    }

    /// Returns how long the peer took to answer the latest PING, from when that was queued; once for each answer. `None`
    /// where heartbeats are the transport's.
    pub fn take_round_trip(&mut self) -> Option<Duration> {
        self.liveness.take_round_trip()
    }

    /// The transport has heard of the peer, be it bytes of ZMTP or not.
    pub fn heard(&mut self, now: Duration) {
        self.liveness.heard(now);
    }

    /// The transport ended: says what that means at this point.
    ///
    /// An earlier error of the connection is given again.
    pub fn end_of_stream(&mut self) -> Error {
        let kind = match &self.phase {
            Phase::Over(error) => return error.clone(),
            Phase::Ready if self.assembly.is_empty() && self.receiver.left() == 0 => {
                CloseKind::Clean
            }
            Phase::Ready => CloseKind::MidMessage,
            phase => CloseKind::DuringHandshake(phase.step()),
        };
        self.fail(Error::Closed(kind))
    }

    /// Ends the connection, and tells the peer why where a step of the handshake has not done that.
    fn fail(&mut self, error: Error) -> Error {
        if let Some(reason) = error.to_peer() {
            self.stage_error(reason);
        }
        self.liveness.stop();
        self.assembly = Assembly::default();
        self.phase = Phase::Over(error.clone());
        error
    }
}

impl Phase {
    /// What the handshake waits for.
    fn step(&self) -> Step {
        match self {
            Self::Greeting(_) => Step::Greeting,
            Self::Handshake(handshake) => handshake.step(),
            Self::Ready | Self::Over(_) => Step::Ready,
        }
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let phase: &dyn fmt::Debug = match &self.phase {
            Phase::Ready => &"ready",
            Phase::Over(error) => error,
            phase => &phase.step(),
        };
        f.debug_struct("Connection")
            .field("socket_type", &self.config.socket_type)
            .field("phase", phase)
            .field("peer", &self.peer)
            .field("pending_bytes", &self.pending_bytes())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Frame;
    use crate::mechanism::blake3;
    use crate::mechanism::blake3::traffic::Sealer;
    use crate::provider::DefaultProvider;
    use crate::socket_type::SocketType;

    const NOW: Duration = Duration::from_secs(1);

    #[test]
    fn a_message_that_cannot_be_sealed_ends_the_connection_with_its_error() {
        let config = Arc::new(Config::new(SocketType::Push));
        let entropy = Entropy::new([0; Entropy::SIZE]);
        let mut connection = Connection::new(config, Arc::new(DefaultProvider), entropy, NOW);
        let sealer = Sealer::new(DefaultProvider.cipher(&[1; 32]), [2; 24]).skipped_to(u64::MAX);
        connection
            .output
            .protect(blake3::Sealer::PerMessage(sealer).into());
        connection.phase = Phase::Ready;
        let greeting = connection.pending_bytes();

        connection.output.stage_slice(0, b"plain text");
        for chunk in connection.transmit().chunks() {
            assert!(!chunk.windows(10).any(|part| part == b"plain text"));
        }
        assert_eq!(connection.pending_bytes(), greeting);
        assert_eq!(connection.next_timeout(), Some(Duration::ZERO));
        assert_eq!(connection.handle_timeout(NOW), Err(Error::NotSealed));
        let refused = connection.send(Frame::from(b"more".to_vec()).into());
        assert!(matches!(refused, Err(SendError::NotReady(_))));
    }
}
