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
    CurveClient, CurveServer, DataPhase, Entropy, Established, FrameOrder, Handshake,
    HandshakeFrame, MechanismConfig, Progress, plain,
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
    /// Stages the greeting. That of a BLAKE3 server is different each time, so that the same HELLO
    /// never gives the same WELCOME key and nonce.
    pub(super) fn new(
        config: &Config,
        entropy: Entropy,
        output: &mut Output,
        trace: &mut Trace,
    ) -> Self {
        let mechanism = &config.mechanism;
        let padding = if matches!(mechanism, MechanismConfig::Blake3Server(_)) {
            entropy.padding()
        } else {
            [0; 8]
        };
        let ours = Greeting::new(mechanism.kind().name(), mechanism.as_server(), padding).encode();
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
    /// The peer is a client of PLAIN that knows no ERROR but libzmq's.
    misspells_error: bool,
}

impl HandshakeInProgress {
    pub(super) fn step(&self) -> Step {
        self.mechanism.step()
    }

    /// The frame of ERROR. A reason is at most 255 bytes.
    pub(super) fn error_frame(&self, reason: &str) -> Vec<u8> {
        if self.misspells_error {
            plain::misspelt_error_frame(reason)
        } else {
            error::frame(reason)
        }
    }
}

impl MechanismConfig {
    fn data_phase(&self) -> Option<DataPhase> {
        match self {
            Self::Null
            | Self::NullAuthorized
            | Self::CurveClient(_)
            | Self::CurveServer(_)
            | Self::PlainClient(_)
            | Self::PlainServer => None,
            Self::Blake3Client(client) => Some(client.data_phase),
            Self::Blake3Server(server) => Some(server.data_phase),
        }
    }

    /// What is weak about the frames after the handshake.
    fn warning(&self) -> Option<Warning> {
        match self {
            Self::CurveClient(CurveClient { frame_order, .. })
            | Self::CurveServer(CurveServer { frame_order, .. }) => (*frame_order
                == FrameOrder::GapsUnauthenticatedOrder)
                .then_some(Warning::GapsAccepted),
            _ => (self.data_phase() == Some(DataPhase::ContinuousKeystreamUnauthenticatedOrder))
                .then_some(Warning::UnauthenticatedOrder),
        }
    }

    /// Refuses a peer with which no handshake can begin.
    fn check(&self, theirs: &Greeting) -> Result<(), Incompatible> {
        if !theirs.is_mechanism(self.kind().name()) {
            let theirs = theirs.mechanism_text();
            return Err(Incompatible::MechanismMismatch {
                ours: self.kind(),
                theirs,
            });
        }
        match (self, theirs.as_server) {
            (Self::Blake3Client(_), false) => Err(Incompatible::BothClients),
            (Self::Blake3Server(_) | Self::CurveServer(_) | Self::PlainServer, true) => {
                Err(Incompatible::BothServers)
            }
            // libzmq leaves the bit at 0 with these, so a client learns nothing from it.
            _ => Ok(()),
        }
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
        self.config.mechanism.check(&greeting)?;
        let local = self.config.local(&*self.provider);
        let (mechanism, first) =
            Handshake::start(&local, &exchange.entropy, &exchange.ours, theirs)?;
        input.advance(greeting::SIZE);
        self.phase = Phase::Handshake(HandshakeInProgress {
            mechanism,
            zmtp_minor: greeting.minor,
            user_id: None,
            // libzmq puts a length there that is never 0, others leave zeros.
            misspells_error: matches!(self.config.mechanism, MechanismConfig::PlainServer)
                && greeting.padding != [0; 8],
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
        if let MechanismConfig::PlainClient(_) = self.config.mechanism
            && let Some(data) = plain::misspelt_error(&wire[header.size()..])
        {
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
            Progress::Authenticate(credentials) => {
                self.events.push(Event::Authenticate(credentials));
            }
            Progress::AuthenticatePassword(shown) => {
                self.events.push(Event::AuthenticatePassword(shown));
            }
            Progress::AuthenticateAddress => {
                self.events.push(Event::AuthenticateAddress);
            }
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
        if let Some(warning) = self.config.mechanism.warning() {
            self.events.push(Event::Warning(warning));
        }
    }
}
