//! From the greeting to the first message: what a connection does around its mechanism.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use bytes::{Buf, BytesMut};

use super::output::Output;
use super::trace::Trace;
use super::{Config, Connection, Event, PeerInfo, Phase, Warning};
use crate::error::{Error, HandshakeError, Incompatible, Refusal, Step, WireError};
use crate::limits::MAX_HANDSHAKE_FRAME;
use crate::mechanism::{
    Entropy, Established, Handshake, HandshakeFrame, MechanismConfig, Progress, Weakness,
};
use crate::wire::command::error;
use crate::wire::frame::Header;
use crate::wire::greeting::{self, Greeting};

/// Both sides send their greeting at once; this one was staged, the peer's is awaited.
pub(super) struct GreetingExchange {
    ours: [u8; greeting::SIZE],
    entropy: Entropy,
}

impl GreetingExchange {
    /// Stages the greeting.
    pub(super) fn new(
        config: &Config,
        entropy: Entropy,
        output: &mut Output,
        trace: &mut Trace,
    ) -> Self {
        let settings = config.mechanism.settings();
        let padding = settings.greeting_padding(&entropy);
        let name = settings.mechanism().name();
        let ours = Greeting::new(name, settings.as_server(), padding).encode();
        output.stage_raw(&ours);
        trace.sent("GREETING", ours.len());
        Self { ours, entropy }
    }
}

/// The commands of the mechanism are on their way.
pub(super) struct HandshakeInProgress {
    mechanism: Handshake,
    /// The peer's minor version.
    zmtp_minor: u8,
    user_id: Option<String>,
    /// Of the peer's greeting.
    padding: [u8; 8],
}

impl HandshakeInProgress {
    pub(super) fn step(&self) -> Step {
        self.mechanism.step()
    }

    /// The frame of ERROR. A reason is at most 255 bytes.
    pub(super) fn error_frame(&self, config: &Config, reason: &str) -> Vec<u8> {
        let other = config.mechanism.settings();
        let other = other.other_error_frame(self.padding, reason);
        other.unwrap_or_else(|| error::frame(reason))
    }
}

/// Refuses a peer with which no handshake can begin.
fn check(ours: &MechanismConfig, theirs: &Greeting) -> Result<(), Incompatible> {
    let settings = ours.settings();
    if !theirs.is_mechanism(settings.mechanism().name()) {
        return Err(Incompatible::MechanismMismatch {
            ours: settings.mechanism(),
            theirs: theirs.mechanism_text(),
        });
    }
    match (settings.accepts_side(theirs.as_server), theirs.as_server) {
        (true, _) => Ok(()),
        (false, true) => Err(Incompatible::BothServers),
        (false, false) => Err(Incompatible::BothClients),
    }
}

impl Connection {
    /// Takes the peer's greeting out of `input`. Gives whether it was complete.
    pub(super) fn receive_greeting(
        &mut self,
        input: &mut BytesMut,
        now: Duration,
    ) -> Result<bool, Error> {
        let Phase::Greeting(exchange) = &self.phase else {
            unreachable!("called in the phase of greetings only");
        };
        let Some(greeting) = Greeting::parse(input)? else {
            return Ok(false);
        };
        let theirs = input.first_chunk().expect("a whole greeting was parsed");
        self.trace.greeting_received(theirs.len());
        check(&self.config.mechanism, &greeting)?;
        let local = self.config.local(&*self.provider);
        let (mechanism, first) =
            Handshake::start(&local, &exchange.entropy, &exchange.ours, theirs)?;
        input.advance(greeting::SIZE);
        self.phase = Phase::Handshake(HandshakeInProgress {
            mechanism,
            zmtp_minor: greeting.minor,
            user_id: None,
            padding: greeting.padding,
        });
        if let Some(progress) = first {
            self.progress(progress, now);
        }
        Ok(true)
    }

    /// Takes one command of the handshake out of `input`. Gives whether there was a whole one.
    pub(super) fn receive_handshake_frame(
        &mut self,
        input: &mut BytesMut,
        now: Duration,
    ) -> Result<bool, Error> {
        let Phase::Handshake(handshake) = &mut self.phase else {
            unreachable!("called in the phase of the handshake only");
        };
        let expected = handshake.step();
        if expected == Step::Authorization && !input.is_empty() {
            return Err(HandshakeError::UnexpectedData.into());
        }
        let Some(header) = Header::parse(input)? else {
            return Ok(false);
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
        let Some(wire) = input.get(..size) else {
            return Ok(false);
        };
        let settings = self.config.mechanism.settings();
        if let Some(data) = settings.other_error(&wire[header.size()..]) {
            self.trace.received(error::NAME, size);
            let reason = error::parse(data)?;
            return Err(Error::PeerRefused {
                reason,
                verified: false,
            });
        }
        let frame = HandshakeFrame::new(wire, header.size())?;
        self.trace.received(frame.name, size);
        if frame.name == error::NAME {
            let reason = error::parse(frame.data)?;
            return Err(Error::PeerRefused {
                reason,
                verified: false,
            });
        }
        let local = self.config.local(&*self.provider);
        let progress = handshake.mechanism.receive(&local, &frame)?;
        input.advance(size);
        self.progress(progress, now);
        Ok(true)
    }

    /// Goes on with the authenticator's answer.
    pub(super) fn conclude_authorization(
        &mut self,
        decision: Result<Option<String>, Refusal>,
        now: Duration,
    ) -> Result<(), Error> {
        let Phase::Handshake(handshake) = &mut self.phase else {
            return Ok(());
        };
        if !handshake.mechanism.awaits_decision() {
            return Ok(());
        }
        handshake.user_id = decision.map_err(Error::Refused)?;
        let local = self.config.local(&*self.provider);
        if let Some(progress) = handshake.mechanism.authorized(&local) {
            self.progress(progress, now);
        }
        Ok(())
    }

    fn progress(&mut self, progress: Progress, now: Duration) {
        match progress {
            Progress::Reply { command, frame } => self.reply(command, &frame),
            Progress::Wait => {}
            Progress::Ask(claim) => self.events.push(Event::Authorize(claim)),
            Progress::Done { reply, established } => {
                if let Some((command, frame)) = reply {
                    self.reply(command, &frame);
                }
                self.establish(established, now);
            }
        }
    }

    fn reply(&mut self, command: &'static str, frame: &[u8]) {
        self.output.stage_raw(frame);
        self.trace.sent(command, frame.len());
    }

    fn establish(&mut self, established: Established, now: Duration) {
        let Phase::Handshake(handshake) = core::mem::replace(&mut self.phase, Phase::Ready) else {
            unreachable!("a handshake ends once");
        };
        let Established {
            metadata,
            public_key,
            sealer,
            opener,
        } = established;
        let peer = Arc::new(PeerInfo {
            socket_type: metadata
                .socket_type()
                .expect("the mechanism checked the metadata"),
            routing_id: metadata
                .routing_id()
                .expect("the mechanism checked the metadata"),
            metadata,
            public_key,
            user_id: handshake.user_id,
            mechanism: self.config.mechanism.kind(),
            zmtp_minor: handshake.zmtp_minor,
        });
        self.output.protect(sealer);
        self.receiver.protect(opener);
        self.liveness
            .established(&self.config, peer.zmtp_minor, now);
        self.events.push(Event::Ready(Arc::clone(&peer)));
        self.peer = Some(peer);
        if let Some(weakness) = self.config.mechanism.settings().weakness() {
            let warning = match weakness {
                Weakness::UnauthenticatedOrder => Warning::UnauthenticatedOrder,
                Weakness::GapsAccepted => Warning::GapsAccepted,
            };
            self.events.push(Event::Warning(warning));
        }
    }
}
