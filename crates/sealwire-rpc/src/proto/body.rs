//! What an application gets of a message.

use bytes::Bytes;
use sealwire::Frame;

use super::wire::HEADER;

/// The body of a message, without its header; shares the memory it was received in.
#[derive(Clone)]
pub struct Body {
    frame: Frame,
    start: u8,
}

impl Body {
    pub(super) fn of(frame: Frame) -> Self {
        Body {
            frame,
            start: HEADER as u8,
        }
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
