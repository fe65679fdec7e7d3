//! The seam between a connection and its mechanism, during the handshake.
//!
//! Each state of a mechanism is a type of its own, and a step consumes it. So code that uses a value too
//! late, or does a step twice, does not compile. A step runs a few times in the life of a connection, so
//! states are trait objects, and a connection is the same for every mechanism.
//!
//! A handshake ends in `P`, the protection of frames. It is made of a mechanism's own sealer and opener, so
//! neither this module nor a mechanism knows those of the others.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::credentials::Claim;
use super::local::{Local, PeerMetadata};
use crate::error::{Error, HandshakeError, Step};
use crate::keys::PublicKey;
use crate::wire::command;

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
pub(crate) trait AwaitCommand<P>: Send + Sync {
    /// Which one.
    fn step(&self) -> Step;

    /// Takes one command frame of the peer.
    fn receive(
        self: Box<Self>,
        local: &Local<'_>,
        frame: &HandshakeFrame<'_>,
    ) -> Result<Progress<P>, Error>;
}

/// The state of a side that waits until somebody has decided about its peer.
pub(crate) trait AwaitDecision<P>: Send + Sync {
    /// Goes on: the peer is let in.
    fn allowed(self: Box<Self>, local: &Local<'_>) -> Progress<P>;
}

/// The state of a side that waits for both, in either order.
pub(crate) trait AwaitBoth<P>: AwaitCommand<P> + AwaitDecision<P> {}

impl<P, T: AwaitCommand<P> + AwaitDecision<P>> AwaitBoth<P> for T {}

/// What a side waits for, with its state.
pub(crate) enum Waiting<P> {
    Command(Box<dyn AwaitCommand<P>>),
    /// The peer may send nothing until then.
    Decision(Box<dyn AwaitDecision<P>>),
    Both(Box<dyn AwaitBoth<P>>),
}

impl<P> Waiting<P> {
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
pub(crate) enum Progress<P> {
    /// Send this frame and wait for the peer.
    Reply {
        command: &'static str,
        frame: Vec<u8>,
        next: Box<dyn AwaitCommand<P>>,
    },
    /// Ask whether the peer is let in.
    Ask { claim: Claim, next: Waiting<P> },
    /// Wait, as nothing is to be sent.
    Wait(Waiting<P>),
    /// The handshake is done, after this frame if there is one.
    Done {
        reply: Option<(&'static str, Vec<u8>)>,
        established: Established<P>,
    },
}

/// What a handshake leaves behind.
pub(crate) struct Established<P> {
    pub(crate) metadata: PeerMetadata,
    pub(crate) public_key: Option<PublicKey>,
    /// The key of this side that the handshake was done with.
    pub(crate) local_key: Option<PublicKey>,
    pub(crate) protection: P,
}

/// The protection of mechanisms that have none: frames go and come as they are.
pub(crate) struct Unprotected;
