//! One frame's payload, small ones in place, large ones shared.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::ops::Deref;

use bytes::Bytes;

/// Most bytes that `Debug` shows.
const DEBUG_BYTES: usize = 64;

/// The payload of one frame.
///
/// Up to [`Frame::INLINE`] bytes sit in the value itself; more are a shared [`Bytes`], so that a
/// clone of a large frame copies nothing. A frame takes 72 bytes of memory either way.
#[derive(Clone)]
pub struct Frame(Payload);

#[derive(Clone)]
enum Payload {
    Inline(Inline),
    Shared(Bytes),
}

/// The bytes come first, at the alignment of the whole: a frame is moved in pieces that lie within those it was written
/// in. A processor waits where they do not, for longer than the move takes.
#[derive(Clone)]
#[repr(C)]
struct Inline {
    /// Behind those that count there may be any.
    bytes: [u8; Frame::INLINE],
    len: u8,
    /// Has values to spare, by which the enums around it tell their variants.
    spare: bool,
}

impl Inline {
    const EMPTY: Self = Inline {
        bytes: [0; Frame::INLINE],
        len: 0,
        spare: false,
    };

    #[inline]
    fn as_slice(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// Takes a copy of `payload` unless it is too long.
    #[inline]
    fn refill(&mut self, payload: &[u8]) -> Option<()> {
        let bytes = self.bytes.get_mut(..payload.len())?;
        bytes.copy_from_slice(payload);
        self.len = payload.len() as u8;
        Some(())
    }
}

impl Frame {
    /// Most bytes that are held without an allocation.
    pub const INLINE: usize = 70;

    /// An empty frame.
    pub const fn new() -> Self {
        Self(Payload::Inline(Inline::EMPTY))
    }

    /// Copies `payload`; allocates only above [`Frame::INLINE`] bytes.
    #[inline]
    pub fn copy_from_slice(payload: &[u8]) -> Self {
        match Self::inline(payload) {
            Some(frame) => frame,
            None => Self(Payload::Shared(Bytes::copy_from_slice(payload))),
        }
    }

    /// Copies the first `len` bytes, which takes no time that depends on `len` where `bytes` has [`Frame::INLINE`] of them.
    ///
    /// # Panics
    ///
    /// If `bytes` has fewer than `len`.
    #[inline]
    pub(crate) fn of_first(bytes: &[u8], len: usize) -> Self {
        match bytes.first_chunk() {
            Some(&bytes) if len <= Self::INLINE => Self(Payload::Inline(Inline {
                bytes,
                len: len as u8,
                spare: false,
            })),
            _ => Self::copy_from_slice(&bytes[..len]),
        }
    }

    /// Takes a copy of `payload` in place of its own.
    #[inline]
    pub(super) fn refill(&mut self, payload: &[u8]) {
        let refilled = match &mut self.0 {
            Payload::Inline(inline) => inline.refill(payload),
            Payload::Shared(_) => None,
        };
        if refilled.is_none() {
            *self = Self::copy_from_slice(payload);
        }
    }

    /// Returns the payload size in bytes.
    #[inline]
    pub fn len(&self) -> usize {
        match &self.0 {
            Payload::Inline(inline) => usize::from(inline.len),
            Payload::Shared(bytes) => bytes.len(),
        }
    }

    /// Returns whether the payload has no byte.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The payload.
    #[inline]
    pub fn as_slice(&self) -> &[u8] {
        match &self.0 {
            Payload::Inline(inline) => inline.as_slice(),
            Payload::Shared(bytes) => bytes,
        }
    }

    /// The payload as [`Bytes`]; allocates when it was held in place.
    pub fn into_bytes(self) -> Bytes {
        match self.0 {
            Payload::Inline(inline) => Bytes::copy_from_slice(inline.as_slice()),
            Payload::Shared(bytes) => bytes,
        }
    }

    /// A copy of the payload.
    pub fn to_vec(&self) -> Vec<u8> {
        self.as_slice().to_vec()
    }

    #[inline]
    fn inline(payload: &[u8]) -> Option<Self> {
        let mut inline = Inline::EMPTY;
        inline.refill(payload)?;
        Some(Self(Payload::Inline(inline)))
    }
}

impl Default for Frame {
    fn default() -> Self {
        Self::new()
    }
}

impl Deref for Frame {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        self.as_slice()
    }
}

impl AsRef<[u8]> for Frame {
    fn as_ref(&self) -> &[u8] {
        self.as_slice()
    }
}

impl PartialEq for Frame {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl Eq for Frame {}

impl PartialEq<[u8]> for Frame {
    fn eq(&self, other: &[u8]) -> bool {
        self.as_slice() == other
    }
}

impl PartialEq<&[u8]> for Frame {
    fn eq(&self, other: &&[u8]) -> bool {
        self.as_slice() == *other
    }
}

impl<const N: usize> PartialEq<[u8; N]> for Frame {
    fn eq(&self, other: &[u8; N]) -> bool {
        self.as_slice() == other
    }
}

impl<const N: usize> PartialEq<&[u8; N]> for Frame {
    fn eq(&self, other: &&[u8; N]) -> bool {
        self.as_slice() == *other
    }
}

impl PartialEq<str> for Frame {
    fn eq(&self, other: &str) -> bool {
        self.as_slice() == other.as_bytes()
    }
}

impl PartialEq<&str> for Frame {
    fn eq(&self, other: &&str) -> bool {
        self.as_slice() == other.as_bytes()
    }
}

impl Hash for Frame {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_slice().hash(state);
    }
}

/// Printable text in quotes with the rest escaped, at most 64 bytes, and the size of what is longer.
impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = &self[..self.len().min(DEBUG_BYTES)];
        write!(f, "\"{}\"", shown.escape_ascii())?;
        if shown.len() < self.len() {
            write!(f, "... ({} bytes)", self.len())?;
        }
        Ok(())
    }
}

impl From<&[u8]> for Frame {
    fn from(payload: &[u8]) -> Self {
        Self::copy_from_slice(payload)
    }
}

impl<const N: usize> From<&[u8; N]> for Frame {
    fn from(payload: &[u8; N]) -> Self {
        Self::copy_from_slice(payload)
    }
}

impl From<&str> for Frame {
    fn from(payload: &str) -> Self {
        Self::copy_from_slice(payload.as_bytes())
    }
}

impl From<Bytes> for Frame {
    fn from(payload: Bytes) -> Self {
        Self::inline(&payload).unwrap_or(Self(Payload::Shared(payload)))
    }
}

impl From<Vec<u8>> for Frame {
    fn from(payload: Vec<u8>) -> Self {
        Self::inline(&payload).unwrap_or_else(|| Self(Payload::Shared(payload.into())))
    }
}

impl From<String> for Frame {
    fn from(payload: String) -> Self {
        payload.into_bytes().into()
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::vec;

    use super::*;
    use crate::message::Frames;

    #[test]
    fn a_frame_takes_72_bytes() {
        assert_eq!(size_of::<Frame>(), 72);
        assert_eq!(size_of::<Option<Frame>>(), 72);
        assert_eq!(size_of::<Frames>(), 72);
    }

    #[test]
    fn every_source_gives_the_same_payload_on_both_sides_of_the_boundary() {
        for len in [
            0,
            1,
            Frame::INLINE - 1,
            Frame::INLINE,
            Frame::INLINE + 1,
            5000,
        ] {
            let payload: Vec<u8> = (0..len).map(|i| i as u8).collect();
            let copied = Frame::copy_from_slice(&payload);
            assert_eq!(copied, payload[..]);
            assert_eq!(copied.len(), len);
            assert_eq!(Frame::from(payload.clone()), copied);
            assert_eq!(Frame::from(Bytes::from(payload.clone())), copied);
            assert_eq!(copied.clone().into_bytes(), payload);
            assert_eq!(copied.to_vec(), payload);
            let more = [&payload[..], &[0xEE; Frame::INLINE]].concat();
            assert_eq!(Frame::of_first(&more, len), copied);
            assert_eq!(Frame::of_first(&payload, len), copied);
            for before in [&[][..], &[1; 70], &[2; 71]] {
                let mut frame = Frame::from(before);
                frame.refill(&payload);
                assert_eq!(frame, copied);
            }
        }
    }

    #[test]
    fn a_large_clone_shares() {
        let frame = Frame::from(vec![7; 1000]);
        assert_eq!(frame.clone().as_slice().as_ptr(), frame.as_slice().as_ptr());
    }

    #[test]
    fn debug_is_bounded() {
        assert_eq!(format!("{:?}", Frame::from("a\x00b")), r#""a\x00b""#);
        let text = format!("{:?}", Frame::from(vec![0xff; 1 << 20]));
        assert!(text.len() < 300);
        assert!(text.ends_with("(1048576 bytes)"));
    }
}
