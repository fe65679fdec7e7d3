//! A message: the frames that are sent, queued and delivered together or not at all.

use alloc::string::String;
use alloc::vec::{self, Vec};
use core::fmt;
use core::iter::FusedIterator;

use bytes::{Bytes, BytesMut};

use super::Frame;
use crate::wire::frame::{Header, MORE};

/// One or more frames that arrive together or not at all.
///
/// A message of one frame holds no list, so it takes no allocation when that frame is small. Taking
/// frames off the front, as routing envelopes do, takes constant time.
#[derive(Clone)]
pub struct Frames(Parts);

#[derive(Clone)]
enum Parts {
    Single(Frame),
    /// Frames before `start` were taken off the front and are empty.
    List {
        frames: Vec<Frame>,
        start: usize,
    },
}

impl Parts {
    fn pair(first: Frame, second: Frame) -> Self {
        let mut frames = Vec::with_capacity(4);
        frames.extend([first, second]);
        Parts::List { frames, start: 0 }
    }
}

impl Frames {
    /// A message without any frame yet. It can be sent only once it has one.
    pub const fn new() -> Self {
        Self(Parts::List {
            frames: Vec::new(),
            start: 0,
        })
    }

    /// A message of one frame.
    #[inline]
    pub fn single(frame: impl Into<Frame>) -> Self {
        Self(Parts::Single(frame.into()))
    }

    /// The frames in order.
    #[inline]
    pub fn frames(&self) -> &[Frame] {
        match &self.0 {
            Parts::Single(frame) => core::slice::from_ref(frame),
            Parts::List { frames, start } => &frames[*start..],
        }
    }

    /// The frame at `index`, counted from 0.
    pub fn get(&self, index: usize) -> Option<&Frame> {
        self.frames().get(index)
    }

    /// Makes it a message of one frame, with a copy of `payload`. Cheapest where it is one, and the frame is small.
    #[inline]
    pub fn refill(&mut self, payload: &[u8]) {
        match &mut self.0 {
            Parts::Single(frame) => frame.refill(payload),
            Parts::List { .. } => *self = Self::single(payload),
        }
    }

    /// The first frame, for who takes its payload.
    #[inline]
    pub fn first_mut(&mut self) -> Option<&mut Frame> {
        match &mut self.0 {
            Parts::Single(frame) => Some(frame),
            Parts::List { frames, start } => frames.get_mut(*start),
        }
    }

    /// Takes the message apart.
    pub fn into_frames(self) -> IntoFrames {
        IntoFrames(match self.0 {
            Parts::Single(frame) => Remaining::Single(Some(frame)),
            Parts::List { frames, start } => {
                let mut frames = frames.into_iter();
                if start > 0 {
                    frames.nth(start - 1);
                }
                Remaining::List(frames)
            }
        })
    }

    /// Adds a frame at the end.
    pub fn push_back(&mut self, frame: Frame) {
        match &mut self.0 {
            Parts::Single(first) => self.0 = Parts::pair(core::mem::take(first), frame),
            Parts::List { frames, start } if frames.len() > *start => frames.push(frame),
            Parts::List { .. } => self.0 = Parts::Single(frame),
        }
    }

    /// Adds a frame at the front.
    pub fn push_front(&mut self, frame: Frame) {
        match &mut self.0 {
            Parts::Single(last) => self.0 = Parts::pair(frame, core::mem::take(last)),
            Parts::List { frames, start } if frames.len() > *start => {
                if *start > 0 {
                    *start -= 1;
                    frames[*start] = frame;
                } else {
                    frames.insert(0, frame);
                }
            }
            Parts::List { .. } => self.0 = Parts::Single(frame),
        }
    }

    /// Takes the first frame off.
    pub fn pop_front(&mut self) -> Option<Frame> {
        match &mut self.0 {
            Parts::Single(frame) => {
                let frame = core::mem::take(frame);
                *self = Self::new();
                Some(frame)
            }
            Parts::List { frames, start } => {
                let frame = core::mem::take(frames.get_mut(*start)?);
                *start += 1;
                Some(frame)
            }
        }
    }

    /// Returns the number of frames.
    #[inline]
    pub fn len(&self) -> usize {
        self.frames().len()
    }

    /// Returns whether there is no frame. An empty frame is a frame.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.frames().is_empty()
    }

    /// Appends the message as NULL and PLAIN send it: each frame behind its header. For messages that
    /// go to many; see [`Connection::send_framed`](crate::Connection::send_framed).
    pub fn frame_into(&self, bytes: &mut BytesMut) {
        let last = self.len().saturating_sub(1);
        for (index, frame) in self.frames().iter().enumerate() {
            let flags = if index < last { MORE } else { 0 };
            bytes.extend_from_slice(&Header::new(flags, frame.len()).encode());
            bytes.extend_from_slice(frame);
        }
    }

    /// Returns the number of bytes that [`frame_into`](Self::frame_into) appends.
    pub fn framed_size(&self) -> usize {
        let frames = self.frames().iter();
        frames
            .map(|frame| Header::new(0, frame.len()).size() + frame.len())
            .sum()
    }

    /// Returns the payload bytes of all frames together.
    #[inline]
    pub fn size(&self) -> usize {
        match &self.0 {
            Parts::Single(frame) => frame.len(),
            Parts::List { frames, start } => frames[*start..].iter().map(Frame::len).sum(),
        }
    }
}

impl Default for Frames {
    fn default() -> Self {
        Self::new()
    }
}

impl PartialEq for Frames {
    fn eq(&self, other: &Self) -> bool {
        self.frames() == other.frames()
    }
}

impl Eq for Frames {}

impl fmt::Debug for Frames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 16;
        let frames = self.frames();
        let mut list = f.debug_list();
        list.entries(frames.iter().take(SHOWN));
        if frames.len() > SHOWN {
            list.entry(&format_args!("... ({} frames)", frames.len()));
        }
        list.finish()
    }
}

macro_rules! from_one_frame {
    ($($source:ty),*) => {$(
        impl From<$source> for Frames {
            fn from(payload: $source) -> Self {
                Self::single(payload)
            }
        }
    )*};
}

from_one_frame!(&str, &[u8], Vec<u8>, String, Bytes, Frame);

impl<const N: usize> From<&[u8; N]> for Frames {
    fn from(payload: &[u8; N]) -> Self {
        Self::single(payload)
    }
}

impl From<Vec<Frame>> for Frames {
    fn from(frames: Vec<Frame>) -> Self {
        Self(Parts::List { frames, start: 0 })
    }
}

impl FromIterator<Frame> for Frames {
    fn from_iter<I: IntoIterator<Item = Frame>>(frames: I) -> Self {
        let mut message = Self::new();
        frames
            .into_iter()
            .for_each(|frame| message.push_back(frame));
        message
    }
}

impl IntoIterator for Frames {
    type Item = Frame;
    type IntoIter = IntoFrames;

    fn into_iter(self) -> IntoFrames {
        self.into_frames()
    }
}

/// The frames of a message, by value.
#[derive(Clone, Debug)]
pub struct IntoFrames(Remaining);

#[derive(Clone, Debug)]
enum Remaining {
    Single(Option<Frame>),
    List(vec::IntoIter<Frame>),
}

impl Iterator for IntoFrames {
    type Item = Frame;

    fn next(&mut self) -> Option<Frame> {
        match &mut self.0 {
            Remaining::Single(frame) => frame.take(),
            Remaining::List(frames) => frames.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = match &self.0 {
            Remaining::Single(frame) => usize::from(frame.is_some()),
            Remaining::List(frames) => frames.len(),
        };
        (len, Some(len))
    }
}

impl DoubleEndedIterator for IntoFrames {
    fn next_back(&mut self) -> Option<Frame> {
        match &mut self.0 {
            Remaining::Single(frame) => frame.take(),
            Remaining::List(frames) => frames.next_back(),
        }
    }
}

impl ExactSizeIterator for IntoFrames {}
impl FusedIterator for IntoFrames {}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::vec;

    use super::*;

    fn message(parts: &[&str]) -> Frames {
        parts.iter().copied().map(Frame::from).collect()
    }

    #[test]
    fn a_message_is_no_larger_than_a_frame() {
        assert_eq!(size_of::<Frames>(), size_of::<Frame>());
    }

    #[test]
    fn equality_is_by_frames_whatever_the_history() {
        let mut a = message(&["x", "b"]);
        a.pop_front();
        assert_eq!(a, Frames::from("b"));
        assert_eq!(a, Frames::from(vec![Frame::from("b")]));
        assert_ne!(a, message(&["b", ""]));
        assert_eq!(Frames::new(), Frames::from(Vec::<Frame>::new()));
        assert_ne!(Frames::new(), Frames::from(""));
    }

    #[test]
    fn front_and_back() {
        let mut m = Frames::new();
        assert!(m.is_empty());
        assert_eq!(m.pop_front(), None);
        m.push_front("c".into());
        m.push_front("b".into());
        m.push_front("a".into());
        m.push_back("d".into());
        assert_eq!(m, message(&["a", "b", "c", "d"]));
        assert_eq!(m.size(), 4);
        assert_eq!(m.pop_front(), Some("a".into()));
        m.push_front("z".into());
        assert_eq!(m.pop_front(), Some("z".into()));
        assert_eq!(m.clone().into_frames().len(), 3);
        assert_eq!(
            m.clone().into_frames().rev().collect::<Frames>(),
            message(&["d", "c", "b"])
        );
        assert_eq!(m.get(2), Some(&"d".into()));
        assert_eq!(m.get(3), None);
        while m.pop_front().is_some() {}
        assert!(m.is_empty());
        m.push_back("again".into());
        assert_eq!(m, message(&["again"]));
    }

    #[test]
    fn debug_is_bounded() {
        let many: Frames = (0..100_000).map(|_| Frame::from("x")).collect();
        assert!(format!("{many:?}").len() < 200);
    }
}
