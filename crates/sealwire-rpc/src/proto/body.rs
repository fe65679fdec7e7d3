//! What an application gets of a message.

use bytes::Bytes;
use sealwire::Frame;

use super::Violation;
use super::metadata::{self, Metadata};
use super::wire::{HEADER, Header};

/// The body of a message, without its header; shares the memory it was received in.
#[derive(Clone)]
pub struct Body {
    frame: Frame,
    /// Where it begins, behind the header and the metadata.
    start: u16,
}

impl Body {
    /// All behind the header, without metadata.
    pub(super) fn of(frame: Frame) -> Self {
        Body {
            frame,
            start: HEADER as u16,
        }
    }

    /// All behind this header, and the metadata if it says that there is some.
    pub(super) fn parse(frame: Frame, header: Header) -> Result<Self, Violation> {
        let mut body = Body::of(frame);
        if header.has_metadata {
            body.start += metadata::check(&body)? as u16;
        }
        Ok(body)
    }

    /// Bytes behind the header, with those of the metadata: what it costs of budgets.
    pub(super) fn size(&self) -> usize {
        self.frame.len() - HEADER
    }

    /// The metadata in front of it.
    pub(crate) fn metadata(&self) -> Metadata<'_> {
        let metadata = HEADER + metadata::SIZE..usize::from(self.start);
        Metadata::of_checked(self.frame.get(metadata).unwrap_or_default())
    }

    /// The bytes, shared where they are many and copied where they are few.
    pub fn into_bytes(self) -> Bytes {
        self.frame.into_bytes().slice(usize::from(self.start)..)
    }
}

impl std::ops::Deref for Body {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.frame[usize::from(self.start)..]
    }
}

impl AsRef<[u8]> for Body {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl PartialEq for Body {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Body {}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Body({} bytes)", self.len())
    }
}
