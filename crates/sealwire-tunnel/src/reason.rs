//! Why a direction breaks off, and the block that says so.

use std::fmt;

use sealwire_newplex::schemes::aestream::{HEADER_SIZE, OVERHEAD, Opener};
use sealwire_newplex::{Protocol, Tag};

/// Why a side breaks off, as its peer is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The listener does not allow the connector's key.
    Refused,
    /// The listener has as many connections as it takes.
    Busy,
    /// The listener cannot connect to the service behind it.
    Unreachable,
    /// The connection behind the sender was reset, or was silent for too long.
    Broken,
    /// The sender's program ends.
    Stopped,
}

impl Reason {
    /// All reasons that there are.
    pub const ALL: [Reason; 5] = [
        Reason::Refused,
        Reason::Busy,
        Reason::Unreachable,
        Reason::Broken,
        Reason::Stopped,
    ];

    /// The label that the last block is sealed under.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Reason::Refused => "refused",
            Reason::Busy => "busy",
            Reason::Unreachable => "unreachable",
            Reason::Broken => "broken",
            Reason::Stopped => "stopped",
        }
    }

    /// The block that says why nothing follows: it carries nothing, as an end does, under another label.
    pub(crate) fn block(self, mut protocol: Protocol) -> [u8; OVERHEAD] {
        let mut block = [0; OVERHEAD];
        let (header, tag) = block.split_at_mut(HEADER_SIZE);
        protocol.mask("header", header);
        tag.copy_from_slice(&protocol.seal_detached(self.label(), &mut []));
        block
    }

    /// The reason that a block without text gives, with an opener that is just behind its header.
    pub(crate) fn of_block(opener: Opener, tag: &Tag) -> Option<Reason> {
        let protocol = opener.into_protocol();
        Reason::ALL.into_iter().find(|reason| {
            let mut protocol = protocol.clone();
            protocol.open_detached(reason.label(), &mut [], tag).is_ok()
        })
    }
}

/// For the one who is told.
impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::Refused => "the server does not allow our key",
            Reason::Busy => "the server has as many connections as it takes",
            Reason::Unreachable => "the other side cannot reach the service behind it",
            Reason::Broken => "the connection behind the other side broke",
            Reason::Stopped => "the other side was stopped",
        })
    }
}
