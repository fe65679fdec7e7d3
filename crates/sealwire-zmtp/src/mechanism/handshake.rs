//! The seam between a connection and its mechanism, during the handshake.
//!
//! Each state of a mechanism is a type of its own, and a step consumes it: what a side no longer knows, or
//! must not do twice, cannot be written. A step runs a few times in the life of a connection, so states
//! are trait objects, and a connection is the same for every mechanism.

use alloc::boxed::Box;
use alloc::vec::Vec;

use bytes::Bytes;

use super::Claim;
use super::protection::{Opener, Sealer};
use crate::error::{Error, HandshakeError, Incompatible, Step};
use crate::keys::PublicKey;
use crate::provider::Provider;
use crate::socket_type::SocketType;
use crate::wire::command;
use crate::wire::metadata::{LocalMetadata, Metadata};

/// What the local side brings to every step.
pub(crate) struct Local<'a> {
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

    /// Reads the metadata of a peer. Refuses what nobody may send, and peers that the local socket cannot
    /// talk to.
    pub(crate) fn read_metadata(&self, bytes: &[u8]) -> Result<PeerMetadata, Error> {
        let metadata = Metadata::parse(bytes)?;
        let ours = self.metadata.socket_type;
        let theirs = metadata.socket_type()?;
        if !ours.accepts(theirs) {
            return Err(Incompatible::SocketTypes { ours, theirs }.into());
        }
        Ok(PeerMetadata {
            socket_type: theirs,
            routing_id: metadata.routing_id()?,
            all: metadata,
        })
    }
}

/// Metadata of a peer that the local socket can talk to; made by [`Local::read_metadata`] alone.
pub(crate) struct PeerMetadata {
    pub(crate) socket_type: SocketType,
    /// Empty for none.
    pub(crate) routing_id: Bytes,
    pub(crate) all: Metadata,
}

/// Both greetings, as they were sent.
pub(crate) struct Greetings<'a> {
    pub(crate) ours: &'a [u8; 64],
    pub(crate) theirs: &'a [u8; 64],
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

    /// Refuses another command than `name`, at the step that waits for it.
    pub(crate) fn expect(&self, name: &str, expected: Step) -> Result<(), HandshakeError> {
        if self.name == name.as_bytes() {
            return Ok(());
        }
        Err(HandshakeError::UnexpectedCommand { expected })
    }
}

/// The state of a side that waits for a command of its peer.
pub(crate) trait AwaitCommand: Send + Sync {
    /// Which one.
    fn step(&self) -> Step;

    /// Takes one command frame of the peer.
    fn receive(
        self: Box<Self>,
        local: &Local<'_>,
        frame: &HandshakeFrame<'_>,
    ) -> Result<Progress, Error>;
}

/// The state of a side that waits until somebody has decided about its peer.
pub(crate) trait AwaitDecision: Send + Sync {
    /// Goes on: the peer is let in.
    fn allowed(self: Box<Self>, local: &Local<'_>) -> Progress;
}

/// The state of a side that waits for both, in either order.
pub(crate) trait AwaitBoth: AwaitCommand + AwaitDecision {}

impl<T: AwaitCommand + AwaitDecision> AwaitBoth for T {}

/// What a side waits for, with its state.
pub(crate) enum Waiting {
    Command(Box<dyn AwaitCommand>),
    /// The peer may send nothing until then.
    Decision(Box<dyn AwaitDecision>),
    Both(Box<dyn AwaitBoth>),
}

impl Waiting {
    /// The step that is waited for.
    pub(crate) fn step(&self) -> Step {
        match self {
            Self::Command(state) => state.step(),
            Self::Decision(_) => Step::Authorization,
            Self::Both(state) => state.step(),
        }
    }
}

/// What a step of the handshake leads to.
pub(crate) enum Progress {
    /// Send this frame and wait for the peer.
    Reply {
        command: &'static str,
        frame: Vec<u8>,
        next: Box<dyn AwaitCommand>,
    },
    /// Ask whether the peer is let in.
    Ask { claim: Claim, next: Waiting },
    /// Wait, as nothing is to be sent.
    Wait(Waiting),
    /// The handshake is done, after this frame if there is one.
    Done {
        reply: Option<(&'static str, Vec<u8>)>,
        established: Established,
    },
}

/// What a handshake leaves behind.
pub(crate) struct Established {
    pub(crate) metadata: PeerMetadata,
    pub(crate) public_key: Option<PublicKey>,
    pub(crate) sealer: Sealer,
    pub(crate) opener: Opener,
}
