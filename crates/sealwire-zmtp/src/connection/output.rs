//! The bytes to write: staged frames, sealed in batches where they lie.
//!
//! ```text
//! segments  [ packed: h body tag | h body tag | .. ] [ large: h, body, tag ] [ packed: .. ]
//!                ^ taken            ^ sealed up to here
//! ```
//!
//! Small frames are packed one after the other, a large one keeps its own buffer, so that it is not
//! copied. A packed segment needs no list of its frames: the headers in it are the list. A very large
//! one is sealed in pieces, only as far ahead as it is taken: each piece is a segment before the rest.

mod segment;
mod transmit;

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use arrayvec::ArrayVec;
use bytes::Bytes;

use self::segment::{InPieces, Large, Packed, Piece, Segment};
pub use self::transmit::Transmit;
use crate::limits::{FRAME_IN_PIECES, LARGE_FRAME, OUTPUT_SEGMENT, PIECES_AHEAD};
use crate::mechanism::Sealer;
use crate::mechanism::curve::traffic::unsealed_prefix;
use crate::message::Frame;
use crate::wire::frame::Header;

/// Emptied buffers that are kept: a connection in full flow has that many segments at a time.
const SPARES: usize = 6;

/// Capacity of the largest emptied buffer that is kept. A buffer doubles, last for a small frame that
/// begins just before the segment is full; its header and tag are shorter than another such frame.
const LARGEST_SPARE: usize = 2 * (OUTPUT_SEGMENT + 2 * LARGE_FRAME);

/// The outgoing direction of a connection.
pub(super) struct Output {
    segments: VecDeque<Segment>,
    /// Segments at the front that need no look when sealing.
    sealed_segments: usize,
    /// Bytes of the first segment that were taken.
    taken: usize,
    pending: usize,
    /// Bytes taken since the connection began.
    taken_in_all: u64,
    /// Segments that are sealed in pieces.
    in_pieces: usize,
    /// Buffers of segments that were taken, to be used again.
    spares: ArrayVec<Vec<u8>, SPARES>,
    sealer: Sealer,
    /// Number of the next frame to be staged; those staged and not sealed are counted.
    next_index: u64,
}

impl Default for Output {
    fn default() -> Self {
        Self {
            segments: VecDeque::new(),
            sealed_segments: 0,
            taken: 0,
            pending: 0,
            taken_in_all: 0,
            in_pieces: 0,
            spares: ArrayVec::new(),
            sealer: Sealer::Plain,
            next_index: 0,
        }
    }
}

impl Output {
    /// Bytes not yet taken.
    #[inline]
    pub(super) fn pending(&self) -> usize {
        self.pending
    }

    /// Bytes taken since the connection began.
    pub(super) fn taken_in_all(&self) -> u64 {
        self.taken_in_all
    }

    /// Bytes that may be taken now.
    fn ready(&self) -> usize {
        if self.in_pieces == 0 {
            return self.pending;
        }
        self.ready_segments().map(Segment::len).sum::<usize>() - self.taken
    }

    /// Segments that go out before the rest of a frame that is sealed in pieces.
    fn ready_segments(&self) -> impl Iterator<Item = &Segment> {
        let segments = self.segments.iter();
        segments.take_while(|segment| !segment.is_in_pieces())
    }

    /// Bytes that a frame grows by when it is sealed.
    #[inline]
    pub(super) fn overhead(&self) -> usize {
        self.sealer.overhead()
    }

    /// Whether `frames` more can be staged. Number 2^64 - 1 and on are refused.
    #[inline]
    pub(super) fn has_nonces_for(&self, frames: usize) -> bool {
        self.sealer.overhead() == 0 || frames as u64 <= u64::MAX - self.next_index
    }

    /// From here on frames are sealed. Frames staged before go out as they are.
    pub(super) fn protect(&mut self, sealer: Sealer) {
        self.seal();
        if let Some(Segment::Packed(packed)) = self.segments.back_mut() {
            packed.finish();
        }
        self.next_index = sealer.next_index();
        self.sealer = sealer;
    }

    /// Stages bytes that are neither framed nor sealed.
    pub(super) fn stage_raw(&mut self, bytes: &[u8]) {
        self.packed().push_raw(bytes);
        self.pending += bytes.len();
    }

    /// Stages frames as they are.
    pub(super) fn stage_framed(&mut self, frames: Bytes) {
        if frames.len() < LARGE_FRAME {
            return self.stage_raw(&frames);
        }
        self.pending += frames.len();
        let ready = Segment::Large(Large::ready(frames));
        self.segments.push_back(ready);
    }

    /// Stages one frame with a copy of `payload`.
    #[inline]
    pub(super) fn stage_slice(&mut self, flags: u8, payload: &[u8]) {
        let overhead = self.sealer.overhead();
        let header = if let Sealer::Wrapped(_) = self.sealer {
            let header = Header::new(0, payload.len() + overhead);
            let prefix = unsealed_prefix(flags);
            self.packed().push_wrapped_frame(header, &prefix, payload);
            header
        } else {
            let header = Header::new(flags, payload.len() + overhead);
            self.packed().push_frame(header, payload, overhead);
            header
        };
        self.staged(header, payload.len() + overhead);
    }

    /// Stages one frame; a large payload is not copied, unless it must be sealed at once and is
    /// shared.
    #[inline]
    pub(super) fn stage_frame(&mut self, flags: u8, frame: Frame) {
        if frame.len() < LARGE_FRAME {
            self.stage_slice(flags, &frame);
        } else {
            let overhead = self.sealer.overhead();
            let body = frame.len() + overhead;
            if frame.len() >= FRAME_IN_PIECES && self.sealer.seals_in_pieces() {
                let header = Header::new(flags, body);
                self.staged(header, body);
                let rest = InPieces::new(header, frame.into_bytes());
                self.segments.push_back(Segment::InPieces(rest));
                self.in_pieces += 1;
                return;
            }
            let large = if let Sealer::Wrapped(_) = self.sealer {
                let header = Header::new(0, body);
                self.staged(header, body);
                Large::wrapped(header, &unsealed_prefix(flags), &frame)
            } else {
                let header = Header::new(flags, body);
                self.staged(header, body);
                Large::new(header, frame.into_bytes(), overhead > 0)
            };
            self.segments.push_back(Segment::Large(large));
        }
    }

    /// Seals everything staged, in order, up to a frame in pieces that has enough ready.
    pub(super) fn seal(&mut self) {
        if self.sealer.overhead() == 0 {
            // The last one may still grow.
            self.sealed_segments = self.segments.len().saturating_sub(1);
            return;
        }
        let mut index = self.sealed_segments;
        while let Some(segment) = self.segments.get_mut(index) {
            self.sealed_segments = index;
            match segment {
                Segment::Packed(packed) => packed.seal(&mut self.sealer),
                Segment::Large(large) => large.seal(&mut self.sealer),
                Segment::InPieces(_) => {
                    if self.ready() >= PIECES_AHEAD {
                        return;
                    }
                    self.seal_piece(index);
                }
            }
            index += 1;
        }
    }

    /// Puts the next piece of a frame before its rest.
    fn seal_piece(&mut self, index: usize) {
        let Some(Segment::InPieces(rest)) = self.segments.get_mut(index) else {
            return;
        };
        let buffer = self.spares.pop().unwrap_or_default();
        self.segments[index] = match rest.next(buffer, &mut self.sealer) {
            Piece::More(piece) => return self.segments.insert(index, Segment::Packed(piece)),
            Piece::Last(piece) => Segment::Packed(piece),
            Piece::Whole(mut frame) => {
                frame.seal(&mut self.sealer);
                Segment::Large(frame)
            }
        };
        self.in_pieces -= 1;
    }

    #[inline]
    fn staged(&mut self, header: Header, body: usize) {
        self.pending += header.size() + body;
        self.next_index = self.next_index.wrapping_add(1);
    }

    /// The packed segment that takes the next small frame.
    #[inline]
    fn packed(&mut self) -> &mut Packed {
        let room = matches!(self.segments.back(), Some(Segment::Packed(packed)) if packed.len() < OUTPUT_SEGMENT);
        if !room {
            let buffer = self.spares.pop().unwrap_or_default();
            self.segments
                .push_back(Segment::Packed(Packed::new(buffer)));
        }
        match self.segments.back_mut() {
            Some(Segment::Packed(packed)) => packed,
            // A segment that grows in a field of its own would be one more place to look at for everything
            // that takes, counts or seals what is staged, for each message.
            _ => unreachable!("put there just above"),
        }
    }

    /// Takes `count` bytes off the front.
    fn advance(&mut self, mut count: usize) {
        assert!(
            count <= self.ready(),
            "advanced beyond what there is to transmit"
        );
        self.pending -= count;
        self.taken_in_all += count as u64;
        while let Some(front) = self.segments.front() {
            let left = front.len() - self.taken;
            if count < left {
                self.taken += count;
                return;
            }
            count -= left;
            self.taken = 0;
            self.sealed_segments = self.sealed_segments.saturating_sub(1);
            if let Some(Segment::Packed(packed)) = self.segments.pop_front() {
                self.recycle(packed.into_buffer());
            }
        }
    }

    /// Frees all emptied buffers but one.
    pub(super) fn give_back(&mut self) {
        self.spares.truncate(1);
    }

    /// Keeps an emptied buffer, unless a burst made it unusually large.
    fn recycle(&mut self, mut buffer: Vec<u8>) {
        if buffer.capacity() <= LARGEST_SPARE && !self.spares.is_full() {
            buffer.clear();
            self.spares.push(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;
    use crate::mechanism::blake3::{self, traffic};
    use crate::provider::{DefaultProvider, Provider};

    fn sealed_at(next: u64) -> Output {
        let sealer = traffic::Sealer::new(DefaultProvider.cipher(&[1; 32]), [2; 24]);
        let mut output = Output::default();
        let sealer = blake3::Sealer::PerMessage(sealer.skipped_to(next));
        output.protect(Sealer::Tagged(sealer));
        output
    }

    #[test]
    fn nonces_are_counted_when_staging() {
        let mut output = sealed_at(u64::MAX - 3);
        assert!(output.has_nonces_for(3) && !output.has_nonces_for(4));
        output.stage_slice(0, b"one");
        output.stage_frame(0, Frame::from(vec![2; LARGE_FRAME]));
        assert!(output.has_nonces_for(1) && !output.has_nonces_for(2));
        output.seal();
        output.stage_slice(0, b"three");
        output.seal();
        assert!(!output.has_nonces_for(1));
    }

    #[test]
    fn what_is_taken_leaves_few_buffers_of_bounded_size() {
        let mut output = sealed_at(0);
        for _ in 0..3 {
            for _ in 0..10_000 {
                output.stage_slice(0, &[3; 100]);
            }
            output.seal();
            assert!(output.segments.len() > 10);
            output.advance(output.pending());
            assert!(output.segments.is_empty());
            assert!((1..=SPARES).contains(&output.spares.len()));
            for spare in &output.spares {
                assert!((1..=LARGEST_SPARE).contains(&spare.capacity()));
            }
        }
    }

    #[test]
    fn a_buffer_is_kept_whatever_the_frames_that_it_grew_for() {
        for size in 1..LARGE_FRAME {
            let mut output = Output::default();
            output.stage_raw(&vec![0; size]);
            while output.pending() < OUTPUT_SEGMENT {
                output.stage_raw(&[0; LARGE_FRAME - 1]);
            }
            output.advance(output.pending());
            assert_eq!(output.spares.len(), 1, "{size} bytes first");
        }
    }

    #[test]
    fn what_is_sealed_once_is_not_sealed_again() {
        let mut output = sealed_at(0);
        output.stage_slice(0, b"first");
        output.stage_frame(0, Frame::from(vec![2; LARGE_FRAME]));
        output.stage_slice(0, b"second");
        output.seal();
        let before: Vec<u8> = bytes(&output);
        output.seal();
        assert_eq!(bytes(&output), before);
        output.stage_slice(0, b"third");
        output.seal();
        assert_eq!(bytes(&output)[..before.len()], before);
    }

    fn bytes(output: &Output) -> Vec<u8> {
        output
            .segments
            .iter()
            .flat_map(Segment::parts)
            .flatten()
            .copied()
            .collect()
    }
}
