//! The local side's part of a handshake, and the metadata of peers that it can talk to.

use alloc::vec::Vec;

use bytes::Bytes;

use crate::error::{Error, Incompatible};
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
