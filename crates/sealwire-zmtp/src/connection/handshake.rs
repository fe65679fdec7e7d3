//! From the greeting to the first message: what a connection does around its mechanism.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use bytes::{Buf, BytesMut};

use super::output::Output;
use super::trace::Trace;
use super::{Config, Connection, Event, PeerInfo, Phase, Warning};
use crate::error::{CloseKind, Error, HandshakeError, Incompatible, Refusal, Step, WireError};
use crate::limits::MAX_HANDSHAKE_FRAME;
use crate::mechanism::{
    Entropy, Established, Greetings, HandshakeFrame, MechanismConfig, MechanismSettings, Progress,
    Protection, Waiting, Weakness,
};
use crate::mechanism_type::Mechanism;
use crate::wire::command::error;
use crate::wire::command::missed;
use crate::wire::frame::Header;
use crate::wire::greeting::{self, Greeting};

/// The part that is sent of a greeting whose mechanism depends on the peer's: signature and major version, on
/// which libzmq waits before it says its own mechanism (RFC 37, "version negotiation").
const PARTIAL_GREETING: usize = 11;

/// The signature, which is all that libzmq sends before the peer's has come.
const SIGNATURE: usize = 10;

/// A greeting was staged, the peer's is awaited.
pub(super) struct GreetingExchange {
    /// How much of ours was staged.
    staged: usize,
    /// As libzmq sends it: the signature first, the rest once the peer's signature has come.
    in_parts: bool,
    entropy: Entropy,
}

impl GreetingExchange {
    /// Stages the greeting, as far as it is known.
    pub(super) fn new(
        config: &Config,
        entropy: Entropy,
        in_parts: bool,
        output: &mut Output,
        trace: &mut Trace,
    ) -> Self {
        let mechanism = &config.mechanism;
        // BLAKE3 is none of libzmq's, and needs no round trip more.
        let in_parts = in_parts
            && !mechanism.leaves_a_choice()
            && mechanism.mechanisms().all(|it| it != Mechanism::Blake3);
        let ours = greeting(mechanism, &**mechanism.first(), &entropy, in_parts);
        let staged = if in_parts {
            SIGNATURE
        } else if mechanism.leaves_a_choice() {
            PARTIAL_GREETING
        } else {
            trace.sent("GREETING", ours.len());
            ours.len()
        };
        output.stage_raw(&ours[..staged]);
        Self {
            staged,
            in_parts,
            entropy,
        }
    }

    /// The whole greeting for a peer that gets these settings.
    fn ours(
        &self,
        mechanism: &MechanismConfig,
        settings: &dyn MechanismSettings<Protection>,
    ) -> [u8; greeting::SIZE] {
        greeting(mechanism, settings, &self.entropy, self.in_parts)
    }
}

/// The greeting of the side with these settings. All of one endpoint begin with the same bytes.
fn greeting(
    mechanism: &MechanismConfig,
    settings: &dyn MechanismSettings<Protection>,
    entropy: &Entropy,
    as_libzmq: bool,
) -> [u8; greeting::SIZE] {
    // ZMTP 1.0 reads a length and flags there, so libzmq's padding is one that fits.
    let padding = match as_libzmq {
        true => [0, 0, 0, 0, 0, 0, 0, 1],
        false => mechanism.greeting_padding(entropy),
    };
    Greeting::new(settings.mechanism().name(), settings.as_server(), padding).encode()
}

/// What both greetings say together.
pub(super) struct Agreed {
    settings: Arc<dyn MechanismSettings<Protection>>,
    /// The peer's minor version.
    zmtp_minor: u8,
    /// Of the peer's greeting.
    padding: [u8; 8],
}

impl Agreed {
    /// The frame of ERROR. A reason is at most 255 bytes.
    fn error_frame(&self, reason: &str) -> Vec<u8> {
        let other = self.settings.other_error_frame(self.padding, reason);
        other.unwrap_or_else(|| error::frame(reason))
    }
}

/// The commands of the mechanism are on their way.
pub(super) struct HandshakeInProgress {
    agreed: Agreed,
    user_id: Option<String>,
    waiting: Waiting<Protection>,
}

impl HandshakeInProgress {
    pub(super) fn step(&self) -> Step {
        self.waiting.step()
    }

    pub(super) fn error_frame(&self, reason: &str) -> Vec<u8> {
        self.agreed.error_frame(reason)
    }
}

/// Refuses a peer with which no handshake can begin.
fn check(
    settings: &dyn MechanismSettings<Protection>,
    theirs: &Greeting,
) -> Result<(), Incompatible> {
    match (settings.accepts_side(theirs.as_server), theirs.as_server) {
        (true, _) => Ok(()),
        (false, true) => Err(Incompatible::BothServers),
        (false, false) => Err(Incompatible::BothClients),
    }
}

/// Splits the next command of the handshake off: its size, and its header's. `None` while it is
/// incomplete.
fn next_command(input: &[u8], expected: Step) -> Result<Option<(usize, usize)>, Error> {
    let Some(header) = Header::parse(input)? else {
        return Ok(None);
    };
    if !header.command() {
        return Err(HandshakeError::UnexpectedCommand { expected }.into());
    }
    if header.body_len > MAX_HANDSHAKE_FRAME as u64 {
        let limit = MAX_HANDSHAKE_FRAME as u64;
        return Err(WireError::FrameTooLarge {
            claimed: header.body_len,
            limit,
        }
        .into());
    }
    let size = header.size() + header.body_len as usize;
    Ok((size <= input.len()).then_some((size, header.size())))
}

/// An ERROR with this data ends the connection.
fn refused(data: &[u8]) -> Error {
    match error::parse(data) {
        Ok(reason) => Error::PeerRefused {
            reason,
            verified: false,
        },
        Err(malformed) => malformed.into(),
    }
}

impl Connection {
    /// Goes on with what the peer sent before messages flow. Gives whether there may be more of it.
    ///
    /// A step consumes the state before it. Should it not come to an end, because it fails or a
    /// provider panics, the connection is over.
    pub(super) fn advance_handshake(
        &mut self,
        input: &mut BytesMut,
        now: Duration,
    ) -> Result<bool, Error> {
        match self.take_phase() {
            Phase::Greeting(exchange) => self.receive_greeting(exchange, input, now),
            Phase::Handshake(handshake) => self.receive_command(handshake, input, now),
            // Nothing to go on with. A phase is moved out of a connection as a whole, so all are seen here.
            phase @ (Phase::Ready | Phase::Over(_)) => {
                self.phase = phase;
                Ok(false)
            }
        }
    }

    /// The phase, to be followed by another one. Until there is one the connection is over.
    fn take_phase(&mut self) -> Phase {
        let during = CloseKind::DuringHandshake(self.phase.step());
        core::mem::replace(&mut self.phase, Phase::Over(Error::Closed(during)))
    }

    /// Takes the peer's greeting out of `input`.
    fn receive_greeting(
        &mut self,
        mut exchange: GreetingExchange,
        input: &mut BytesMut,
        now: Duration,
    ) -> Result<bool, Error> {
        let parsed = Greeting::parse(input)?;
        if exchange.in_parts && exchange.staged == SIGNATURE && input.len() >= SIGNATURE {
            let mechanism = &self.config.mechanism;
            let ours = exchange.ours(mechanism, &**mechanism.first());
            self.output.stage_raw(&ours[SIGNATURE..]);
            self.trace.sent("GREETING", ours.len());
            exchange.staged = ours.len();
        }
        let (Some(theirs), Some(bytes)) = (parsed, input.first_chunk()) else {
            self.phase = Phase::Greeting(exchange);
            return Ok(false);
        };
        self.trace.greeting_received(bytes.len());
        let config = &self.config.mechanism;
        let chosen = config.for_peer(&theirs);
        let settings = chosen.unwrap_or(config.first());
        let ours = exchange.ours(config, &**settings);
        // A peer that names a mechanism hears one, also a wrong one, so that both sides see what is wrong.
        let unsent = &ours[exchange.staged..];
        if !unsent.is_empty() {
            self.output.stage_raw(unsent);
            self.trace.sent("GREETING", ours.len());
        }
        if chosen.is_none() {
            return Err(Incompatible::MechanismMismatch {
                ours: config.mechanisms().collect(),
                theirs: theirs.mechanism_text(),
            }
            .into());
        }
        check(&**settings, &theirs)?;
        self.mechanism = Some(settings.mechanism());
        let greetings = Greetings {
            ours: &ours,
            theirs: bytes,
        };
        let local = self.config.local(&*self.provider);
        let progress = Arc::clone(settings).start(&local, &exchange.entropy, &greetings)?;
        let agreed = Agreed {
            settings: Arc::clone(settings),
            zmtp_minor: theirs.minor,
            padding: theirs.padding,
        };
        input.advance(greeting::SIZE);
        self.follow(agreed, None, progress, now);
        Ok(true)
    }

    /// Takes one command of the handshake out of `input`.
    fn receive_command(
        &mut self,
        handshake: HandshakeInProgress,
        input: &mut BytesMut,
        now: Duration,
    ) -> Result<bool, Error> {
        let expected = handshake.step();
        if let Waiting::Decision(_) = handshake.waiting
            && !input.is_empty()
        {
            return Err(HandshakeError::UnexpectedData.into());
        }
        let Some((size, header_size)) = next_command(input, expected)? else {
            self.phase = Phase::Handshake(handshake);
            return Ok(false);
        };
        let HandshakeInProgress {
            agreed,
            user_id,
            waiting,
        } = handshake;
        let wire = &input[..size];
        if let Some(data) = agreed.settings.other_error(&wire[header_size..]) {
            self.trace.received(error::NAME, size);
            return Err(refused(data));
        }
        let frame = HandshakeFrame::new(wire, header_size)?;
        self.trace.received(frame.name, size);
        if frame.name == error::NAME {
            return Err(refused(frame.data));
        }
        let local = self.config.local(&*self.provider);
        let progress = match waiting {
            Waiting::Command(state) => state.receive(&local, &frame),
            Waiting::Both(state) => state.receive(&local, &frame),
            // As above, where the first byte is enough.
            Waiting::Decision(_) => Err(HandshakeError::UnexpectedData.into()),
        };
        let progress = progress.map_err(|error| self.tell(&agreed, error))?;
        input.advance(size);
        self.follow(agreed, user_id, progress, now);
        Ok(true)
    }

    /// Goes on with the authenticator's answer.
    pub(super) fn conclude_authorization(
        &mut self,
        decision: Result<Option<String>, Refusal>,
        now: Duration,
    ) -> Result<(), Error> {
        let phase = self.take_phase();
        let Phase::Handshake(HandshakeInProgress {
            agreed,
            user_id: earlier,
            waiting,
        }) = phase
        else {
            self.phase = phase;
            return Ok(());
        };
        let local = self.config.local(&*self.provider);
        let (user_id, progress) = match (waiting, decision) {
            (Waiting::Decision(state), Ok(user_id)) => (user_id, state.allowed(&local)),
            (Waiting::Both(state), Ok(user_id)) => (user_id, state.allowed(&local)),
            (Waiting::Decision(_) | Waiting::Both(_), Err(refusal)) => {
                return Err(self.tell(&agreed, Error::Refused(refusal)));
            }
            // Nobody was asked.
            (waiting @ Waiting::Command(_), _) => {
                self.phase = Phase::Handshake(HandshakeInProgress {
                    agreed,
                    user_id: earlier,
                    waiting,
                });
                return Ok(());
            }
        };
        self.follow(agreed, user_id, progress, now);
        Ok(())
    }

    /// Spells an error of a step for this peer.
    fn tell(&mut self, agreed: &Agreed, error: Error) -> Error {
        if let Some(reason) = error.to_peer() {
            self.stage_handshake_error(&agreed.error_frame(reason));
        }
        error
    }

    /// Does what a step leads to.
    fn follow(
        &mut self,
        agreed: Agreed,
        user_id: Option<String>,
        progress: Progress<Protection>,
        now: Duration,
    ) {
        let waiting = match progress {
            Progress::Reply {
                command,
                frame,
                next,
            } => {
                self.reply(command, &frame);
                Waiting::Command(next)
            }
            Progress::Wait(waiting) => waiting,
            Progress::Ask { claim, next } => {
                self.events.push(Event::Authorize(claim));
                next
            }
            Progress::Done { reply, established } => {
                if let Some((command, frame)) = reply {
                    self.reply(command, &frame);
                }
                return self.establish(&agreed, user_id, established, now);
            }
        };
        self.phase = Phase::Handshake(HandshakeInProgress {
            agreed,
            user_id,
            waiting,
        });
    }

    fn reply(&mut self, command: &'static str, frame: &[u8]) {
        self.output.stage_raw(frame);
        self.trace.sent(command, frame.len());
    }

    fn establish(
        &mut self,
        agreed: &Agreed,
        user_id: Option<String>,
        established: Established<Protection>,
        now: Duration,
    ) {
        let Established {
            metadata,
            public_key,
            local_key,
            protection,
        } = established;
        let asks_for_missed = metadata.all.get(missed::PROPERTY) == Some(missed::ASKED);
        let peer = Arc::new(PeerInfo {
            socket_type: metadata.socket_type,
            routing_id: metadata.routing_id,
            metadata: metadata.all,
            public_key,
            local_key,
            user_id,
            asks_for_missed,
            mechanism: agreed.settings.mechanism(),
            zmtp_minor: agreed.zmtp_minor,
        });
        self.output.protect(protection.sealer);
        self.receiver.protect(protection.opener);
        self.liveness
            .established(&self.config, peer.zmtp_minor, now);
        self.events.push(Event::Ready(Arc::clone(&peer)));
        self.peer = Some(peer);
        self.phase = Phase::Ready;
        if let Some(weakness) = agreed.settings.weakness() {
            let warning = match weakness {
                Weakness::UnauthenticatedOrder => Warning::UnauthenticatedOrder,
                Weakness::GapsAccepted => Warning::GapsAccepted,
            };
            self.events.push(Event::Warning(warning));
        }
    }
}
