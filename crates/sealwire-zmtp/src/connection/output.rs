//! The bytes to write: staged frames, sealed in place in batches.
//!
//! ```text
//! segments  [ packed: h body tag | h body tag | .. ] [ large: h, body, tag ] [ packed: .. ]
//!                ^ taken            ^ sealed up to here
//! ```
//!
//! Small frames are packed one after the other. A large one keeps its own buffer, so that it is not
//! copied. A packed segment needs no list of its frames: the headers in it are the list. A very large
//! frame is sealed in pieces, only a little ahead of what was taken: each piece is a segment before
//! the rest.

mod segment;
#[cfg(test)]
mod tests;
mod transmit;

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use arrayvec::ArrayVec;
use bytes::Bytes;

use self::segment::{InPieces, Large, Packed, Piece, Segment};
pub use self::transmit::Transmit;
use crate::limits::{FRAME_IN_PIECES, LARGE_FRAME, OUTPUT_SEGMENT, PIECES_AHEAD};
use crate::mechanism::{NotSealed, Sealer, Shape};
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
    /// Of the frames that it seals.
    shape: Shape,
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
            sealer: Sealer::PLAIN,
            shape: Shape::PLAIN,
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
        self.shape.overhead()
    }

    /// Whether `frames` more can be staged. Number 2^64 - 1 and on are refused.
    #[inline]
    pub(super) fn has_nonces_for(&self, frames: usize) -> bool {
        self.shape.is_plain() || frames as u64 <= u64::MAX - self.next_index
    }

    /// From here on frames are sealed. Frames staged before go out as they are.
    pub(super) fn protect(&mut self, sealer: Sealer) {
        self.pass_plain();
        if let Some(Segment::Packed(packed)) = self.segments.back_mut() {
            packed.finish();
        }
        self.next_index = sealer.next_index();
        self.shape = sealer.shape();
        self.sealer = sealer;
    }

    /// Stages bytes that are neither framed nor sealed.
    pub(super) fn stage_raw(&mut self, bytes: &[u8]) {
        self.pack(|packed| packed.push_raw(bytes));
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
        let shape = self.shape;
        let body = payload.len() + shape.overhead();
        let header = Header::new(shape.header_flags(flags), body);
        self.pack(|packed| packed.push_frame(header, flags, payload, shape));
        self.staged(header, body);
    }

    /// Stages one frame; a large payload is not copied, unless it must be sealed at once and is
    /// shared.
    #[inline]
    pub(super) fn stage_frame(&mut self, flags: u8, frame: Frame) {
        if frame.len() < LARGE_FRAME {
            self.stage_slice(flags, &frame);
        } else {
            let shape = self.shape;
            let body = frame.len() + shape.overhead();
            let header = Header::new(shape.header_flags(flags), body);
            self.staged(header, body);
            let in_pieces = frame.len() >= FRAME_IN_PIECES && self.sealer.seals_in_pieces();
            let payload = frame.into_bytes();
            self.segments.push_back(if in_pieces {
                self.in_pieces += 1;
                Segment::InPieces(InPieces::new(header, payload, shape))
            } else {
                Segment::Large(Large::new(header, flags, payload, shape))
            });
        }
    }

    /// Seals everything staged, in order, up to a frame in pieces that has enough ready.
    ///
    /// # Errors
    ///
    /// [`NotSealed`] for a frame that cannot be sealed. It is dropped, and those behind it; what stands before it
    /// is ready.
    pub(super) fn seal(&mut self) -> Result<(), NotSealed> {
        if self.shape.is_plain() {
            self.pass_plain();
            return Ok(());
        }
        self.seal_segments()
            .inspect_err(|NotSealed| self.discard_unsealed())
    }

    /// Frames go out as they are. The last segment may still grow.
    #[inline]
    fn pass_plain(&mut self) {
        self.sealed_segments = self.segments.len().saturating_sub(1);
    }

    fn seal_segments(&mut self) -> Result<(), NotSealed> {
        let mut index = self.sealed_segments;
        while let Some(segment) = self.segments.get_mut(index) {
            self.sealed_segments = index;
            match segment {
                Segment::Packed(packed) => packed.seal(&mut self.sealer, self.shape)?,
                Segment::Large(large) => large.seal(&mut self.sealer)?,
                Segment::InPieces(_) => {
                    if self.ready() >= PIECES_AHEAD {
                        return Ok(());
                    }
                    self.seal_piece(index)?;
                }
            }
            index += 1;
        }
        Ok(())
    }

    /// Drops what is not sealed, as it must not go out.
    fn discard_unsealed(&mut self) {
        let mut kept = self.sealed_segments;
        if let Some(Segment::Packed(packed)) = self.segments.get_mut(kept) {
            packed.discard_unsealed();
            kept += 1;
        }
        self.segments.truncate(kept);
        // Each of them stood behind what was sealed.
        self.in_pieces = 0;
        self.pending = self.segments.iter().map(Segment::len).sum::<usize>() - self.taken;
    }

    /// Puts the next piece of a frame before its rest.
    fn seal_piece(&mut self, index: usize) -> Result<(), NotSealed> {
        let Some(Segment::InPieces(rest)) = self.segments.get_mut(index) else {
            return Ok(());
        };
        let buffer = self.spares.pop().unwrap_or_default();
        self.segments[index] = match rest.next(buffer, &mut self.sealer) {
            Piece::More(piece) => {
                self.segments.insert(index, Segment::Packed(piece));
                return Ok(());
            }
            Piece::Last(piece) => Segment::Packed(piece),
            Piece::Whole(mut frame) => {
                frame.seal(&mut self.sealer)?;
                Segment::Large(frame)
            }
        };
        self.in_pieces -= 1;
        Ok(())
    }

    #[inline]
    fn staged(&mut self, header: Header, body: usize) {
        self.pending += header.size() + body;
        self.next_index = self.next_index.wrapping_add(1);
    }

    /// Adds to the packed segment that takes the next small frame.
    #[inline]
    fn pack(&mut self, add: impl FnOnce(&mut Packed)) {
        match self.segments.back_mut() {
            Some(Segment::Packed(packed)) if packed.len() < OUTPUT_SEGMENT => add(packed),
            _ => {
                let buffer = self.spares.pop().unwrap_or_default();
                let mut packed = Packed::new(buffer);
                add(&mut packed);
                self.segments.push_back(Segment::Packed(packed));
            }
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
