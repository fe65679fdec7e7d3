//! Bytes for the protocol, and messages assembled from pieces.
//!
//! A long message in pieces is handed over as the buffer in which it was assembled. So it is in
//! memory once, and a fourth more while it grows.

use std::collections::VecDeque;

use super::WebSocketError;
use crate::limits::MAX_WEBSOCKET_PIECES;

/// Messages in pieces of this size and more are handed over without a copy.
const LONG: usize = 4 << 10;
/// The longest header of a ZMTP frame.
const HEADER: usize = 9;
/// An empty buffer of up to this size is kept for what comes next.
const KEPT: usize = 64 << 10;

/// Bytes for the protocol, in order.
#[derive(Default)]
pub(crate) struct ProtocolBytes {
    segments: VecDeque<Segment>,
}

/// Empty only where it is the only one.
#[derive(Default)]
struct Segment {
    bytes: Vec<u8>,
    /// Fewer than there are, unless it is empty.
    read: usize,
    /// Nothing may be added.
    whole: bool,
}

impl ProtocolBytes {
    pub(crate) fn is_empty(&self) -> bool {
        let front = self.segments.front();
        front.is_none_or(|segment| segment.bytes.is_empty())
    }

    /// Bytes of memory for what is there.
    pub(crate) fn held(&self) -> usize {
        let used = |segment: &&Segment| !segment.bytes.is_empty();
        let segments = self.segments.iter().filter(used);
        segments.map(|segment| segment.bytes.capacity()).sum()
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        match self.segments.back_mut() {
            Some(segment) if !segment.whole => segment.bytes.extend_from_slice(bytes),
            _ => self.segments.push_back(Segment {
                bytes: bytes.to_vec(),
                ..Segment::default()
            }),
        }
    }

    /// Adds a buffer that may be handed over as it is.
    fn push_whole(&mut self, bytes: Vec<u8>) {
        self.segments.retain(|segment| !segment.bytes.is_empty());
        self.segments.push_back(Segment {
            bytes,
            read: 0,
            whole: true,
        });
    }

    /// Hands bytes over: into the room of `buffer`, or as another buffer in its place where it is
    /// empty. Returns how many.
    pub(crate) fn hand_over(&mut self, buffer: &mut Vec<u8>) -> usize {
        let Some(segment) = self.segments.front_mut() else {
            return 0;
        };
        if segment.whole && segment.read == 0 && buffer.is_empty() {
            *buffer = std::mem::take(&mut segment.bytes);
            self.segments.pop_front();
            return buffer.len();
        }
        let unread = &segment.bytes[segment.read..];
        let length = unread.len().min(buffer.capacity() - buffer.len());
        buffer.extend_from_slice(&unread[..length]);
        segment.read += length;
        if segment.read == segment.bytes.len() {
            self.front_is_read();
        }
        length
    }

    /// Frees the segment in front, or keeps its memory where no other is left.
    fn front_is_read(&mut self) {
        let Some(mut segment) = self.segments.pop_front() else {
            return;
        };
        if self.segments.is_empty() && !segment.whole && segment.bytes.capacity() <= KEPT {
            segment.bytes.clear();
            segment.read = 0;
            self.segments.push_back(segment);
        }
    }
}

/// The pieces of a message that have come.
pub(super) struct Pieces {
    /// Room for the rest of a header, the flags, then the body.
    bytes: Vec<u8>,
    count: usize,
}

impl Pieces {
    pub(super) fn new() -> Self {
        Pieces {
            bytes: vec![0; HEADER - 1],
            count: 0,
        }
    }

    /// Bytes of memory.
    pub(super) fn held(&self) -> usize {
        self.bytes.capacity()
    }

    /// Begins one more piece.
    pub(super) fn begin(&mut self) -> Result<(), WebSocketError> {
        self.count += 1;
        if self.count > MAX_WEBSOCKET_PIECES {
            return Err(WebSocketError::TooManyPieces);
        }
        Ok(())
    }

    /// Whether `more` bytes fit; of flags and body together there may be `limit`.
    pub(super) fn has_room(&self, more: usize, limit: usize) -> bool {
        let here = self.bytes.len() - (HEADER - 1);
        more <= limit.saturating_sub(here)
    }

    /// Adds bytes of a piece, as many as there may be at most.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        if self.bytes.capacity() - self.bytes.len() < bytes.len() {
            let more = bytes.len().max(self.bytes.len() / 4);
            self.bytes.reserve_exact(more);
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// Flags and size of the body; `None` where there is nothing.
    pub(super) fn flags_and_size(&self) -> Option<(u8, usize)> {
        let (flags, body) = self.bytes[HEADER - 1..].split_first()?;
        Some((*flags, body.len()))
    }

    /// Hands the body over, behind this header.
    pub(super) fn finish(mut self, header: &[u8], into: &mut ProtocolBytes) {
        if header.len() == HEADER && self.bytes.len() >= LONG {
            self.bytes[..HEADER].copy_from_slice(header);
            into.push_whole(self.bytes);
        } else {
            into.push(header);
            into.push(&self.bytes[HEADER..]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(size: usize, of: usize) -> Pieces {
        let mut pieces = Pieces::new();
        for start in (0..size).step_by(of) {
            pieces.begin().unwrap();
            let piece: Vec<u8> = (start..size.min(start + of)).map(|n| n as u8).collect();
            assert!(pieces.has_room(piece.len(), size));
            pieces.add(&piece);
        }
        pieces
    }

    /// Reads with buffers of 1,000 bytes, as a session does: each is used up before the next.
    fn read(ready: &mut ProtocolBytes) -> Vec<u8> {
        let mut all = Vec::new();
        while !ready.is_empty() {
            let mut buffer = Vec::with_capacity(1_000);
            let length = ready.hand_over(&mut buffer);
            assert_eq!(length, buffer.len());
            assert!(length > 0);
            all.append(&mut buffer);
        }
        all
    }

    #[test]
    fn memory_follows_what_has_come() {
        for of in [1, 100, 1 << 16] {
            let mut pieces = Pieces::new();
            for size in (0..2_000_000).step_by(of).take(60_000) {
                pieces.begin().unwrap();
                pieces.add(&vec![0; of]);
                let all = size + of;
                assert!(pieces.held() <= all + all / 4 + of + 16, "{all} in {of}");
            }
        }
    }

    #[test]
    fn a_long_message_is_handed_over_where_it_lies() {
        let mut ready = ProtocolBytes::default();
        ready.push(b"before");
        let long = pieces(1_000_001, 999);
        assert_eq!(long.flags_and_size(), Some((0, 1_000_000)));
        let memory = long.bytes.as_ptr();
        long.finish(&[2; HEADER], &mut ready);
        ready.push(b"behind");
        assert!(ready.held() < 1_250_000 + 100);
        let mut buffer = Vec::with_capacity(100);
        assert_eq!(ready.hand_over(&mut buffer), 6);
        buffer.clear();
        assert_eq!(ready.hand_over(&mut buffer), 1_000_009);
        assert_eq!(buffer.as_ptr(), memory);
        assert_eq!(buffer[..HEADER], [2; HEADER]);
        assert!(
            (1..1_000_001).eq(buffer[HEADER..].iter().scan(0, |n, byte| {
                *n += 1;
                assert_eq!(*byte, *n as u8);
                Some(*n)
            }))
        );
        assert!(ready.held() < 100);
        assert_eq!(read(&mut ready), b"behind");
    }

    #[test]
    fn bytes_come_in_order_whatever_the_buffers_hold() {
        let mut ready = ProtocolBytes::default();
        let mut expected = Vec::new();
        for (size, of) in [(5, 1), (4_000, 7), (9_000, 900), (2, 2), (70_000, 70_000)] {
            ready.push(b"between");
            pieces(size, of).finish(&[1; HEADER], &mut ready);
            expected.extend(*b"between");
            expected.extend([1; HEADER]);
            expected.extend((1..size).map(|n| n as u8));
        }
        // Not empty: nothing is handed over in its place.
        let mut buffer = vec![9];
        buffer.reserve_exact(20);
        let mut got = Vec::new();
        while ready.hand_over(&mut buffer) > 0 && got.len() < 10_000 {
            got.extend(buffer.drain(1..));
        }
        got.extend(buffer.drain(1..));
        got.extend(read(&mut ready));
        assert!(got == expected);
        assert!(ready.held() <= KEPT);
    }

    #[test]
    fn size_and_number_of_pieces_are_bounded() {
        let mut pieces = Pieces::new();
        assert!(pieces.has_room(10, 10) && !pieces.has_room(11, 10));
        pieces.add(&[0; 10]);
        assert!(pieces.has_room(0, 10) && !pieces.has_room(1, 10));
        let mut pieces = Pieces::new();
        for _ in 0..MAX_WEBSOCKET_PIECES {
            assert_eq!(pieces.begin(), Ok(()));
        }
        assert_eq!(pieces.begin(), Err(WebSocketError::TooManyPieces));
    }
}
