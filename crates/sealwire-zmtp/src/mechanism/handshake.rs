//! The seam between a connection and its mechanism, during the handshake.

use alloc::vec::Vec;

use super::protection::{Opener, Sealer};
use super::{Claim, Entropy, MechanismConfig, blake3, curve, null, plain};
use crate::error::{Error, Incompatible, Step};
use crate::keys::PublicKey;
use crate::provider::Provider;
use crate::wire::command;
use crate::wire::metadata::{LocalMetadata, Metadata};

/// What the local side brings to every step.
pub(crate) struct Local<'a> {
    pub(crate) mechanism: &'a MechanismConfig,
    pub(crate) metadata: LocalMetadata<'a>,
    pub(crate) provider: &'a dyn Provider,
}

impl Local<'_> {
    /// A command frame that holds nothing but the local metadata.
    pub(crate) fn metadata_frame(&self, name: &str) -> Vec<u8> {
        let mut frame = command::begin(name.as_bytes(), self.metadata.size());
        self.metadata.encode(&mut frame);
        frame
    }

    /// Refuses metadata of a peer that the local socket cannot talk to, or that nobody may send.
    pub(crate) fn check_metadata(&self, metadata: &Metadata) -> Result<(), Error> {
        let ours = self.metadata.socket_type;
        let theirs = metadata.socket_type()?;
        if !ours.accepts(theirs) {
            return Err(Incompatible::SocketTypes { ours, theirs }.into());
        }
        metadata.routing_id()?;
        Ok(())
    }
}

/// A command frame that arrived during the handshake.
pub(crate) struct HandshakeFrame<'a> {
    /// Every byte of it, for transcripts.
    pub(crate) wire: &'a [u8],
    pub(crate) name: &'a [u8],
    pub(crate) data: &'a [u8],
}

impl<'a> HandshakeFrame<'a> {
    /// Reads a frame whose header takes `header_size` bytes of `wire`.
    pub(crate) fn new(wire: &'a [u8], header_size: usize) -> Result<Self, Error> {
        let (name, data) = command::split(&wire[header_size..])?;
        Ok(Self { wire, name, data })
    }
}

/// What a step of the handshake leads to.
pub(crate) enum Progress {
    /// Send this frame and wait for the peer.
    Reply {
        command: &'static str,
        frame: Vec<u8>,
    },
    /// Ask whether the peer is let in.
    Ask(Claim),
    /// Wait: for the authenticator, as nothing is to be sent.
    Wait,
    /// The handshake is done, after this frame if there is one.
    Done {
        reply: Option<(&'static str, Vec<u8>)>,
        established: Established,
    },
}

/// What a handshake leaves behind.
pub(crate) struct Established {
    pub(crate) metadata: Metadata,
    pub(crate) public_key: Option<PublicKey>,
    pub(crate) sealer: Sealer,
    pub(crate) opener: Opener,
}

/// One side of one handshake.
pub(crate) enum Handshake {
    Null(null::Handshake),
    Blake3Client(blake3::Client),
    Blake3Server(blake3::Server),
    CurveClient(curve::Client),
    CurveServer(curve::Server),
    PlainClient(plain::Client),
    PlainServer(plain::Server),
}

impl Handshake {
    /// Begins once both greetings, `ours` and `theirs`, are known, and sends the first command
    /// where it is this side's turn.
    pub(crate) fn start(
        local: &Local<'_>,
        entropy: &Entropy,
        ours: &[u8; 64],
        theirs: &[u8; 64],
    ) -> Result<(Self, Option<Progress>), Error> {
        Ok(match local.mechanism {
            MechanismConfig::Null => {
                let (handshake, ready) = null::Handshake::start(local);
                (Self::Null(handshake), Some(ready))
            }
            MechanismConfig::NullAuthorized => {
                let (handshake, question) = null::Handshake::start_asking();
                (Self::Null(handshake), Some(question))
            }
            MechanismConfig::Blake3Client(settings) => {
                let (client, hello) =
                    blake3::Client::start(local, settings, entropy, ours, theirs)?;
                (Self::Blake3Client(client), Some(hello))
            }
            MechanismConfig::Blake3Server(_) => {
                let server = blake3::Server::start(local, entropy, theirs, ours);
                (Self::Blake3Server(server), None)
            }
            MechanismConfig::CurveClient(settings) => {
                let (client, hello) = curve::Client::start(local, settings, entropy)?;
                (Self::CurveClient(client), Some(hello))
            }
            MechanismConfig::CurveServer(_) => {
                (Self::CurveServer(curve::Server::start(entropy)), None)
            }
            MechanismConfig::PlainClient(settings) => {
                let (client, hello) = plain::Client::start(settings);
                (Self::PlainClient(client), Some(hello))
            }
            MechanismConfig::PlainServer => (Self::PlainServer(plain::Server::start()), None),
        })
    }

    /// What is waited for.
    pub(crate) fn step(&self) -> Step {
        match self {
            Self::Null(handshake) => handshake.step(),
            Self::Blake3Client(client) => client.step(),
            Self::Blake3Server(server) => server.step(),
            Self::CurveClient(client) => client.step(),
            Self::CurveServer(server) => server.step(),
            Self::PlainClient(client) => client.step(),
            Self::PlainServer(server) => server.step(),
        }
    }

    /// Whether the authenticator was asked and has not answered.
    pub(crate) fn awaits_decision(&self) -> bool {
        match self {
            Self::Null(handshake) => handshake.awaits_decision(),
            _ => self.step() == Step::Authorization,
        }
    }

    /// Takes one command frame of the peer.
    pub(crate) fn receive(
        &mut self,
        local: &Local<'_>,
        frame: &HandshakeFrame<'_>,
    ) -> Result<Progress, Error> {
        match (self, local.mechanism) {
            (Self::Null(handshake), _) => handshake.receive(local, frame),
            (Self::Blake3Client(client), MechanismConfig::Blake3Client(settings)) => {
                client.receive(local, settings, frame)
            }
            (Self::Blake3Server(server), MechanismConfig::Blake3Server(settings)) => {
                server.receive(local, settings, frame)
            }
            (Self::CurveClient(client), MechanismConfig::CurveClient(settings)) => {
                client.receive(local, settings, frame)
            }
            (Self::CurveServer(server), MechanismConfig::CurveServer(settings)) => {
                server.receive(local, settings, frame)
            }
            (Self::PlainClient(client), _) => client.receive(local, frame),
            (Self::PlainServer(server), _) => server.receive(local, frame),
            _ => unreachable!("a connection's configuration does not change"),
        }
    }

    /// Goes on after the authenticator agreed; `None` where nothing was asked.
    pub(crate) fn authorized(&mut self, local: &Local<'_>) -> Option<Progress> {
        match (self, local.mechanism) {
            (Self::Blake3Server(server), MechanismConfig::Blake3Server(settings)) => {
                server.authorized(local, settings)
            }
            (Self::Null(handshake), _) => handshake.authorized(local),
            (Self::CurveServer(server), MechanismConfig::CurveServer(settings)) => {
                server.authorized(local, settings)
            }
            (Self::PlainServer(server), _) => server.authorized(),
            _ => None,
        }
    }
}
