//! The bytes to write, as a [`Buf`].

use core::fmt;

use bytes::Buf;

use super::{Output, Segment};

/// Everything that is ready to be written, in chunks.
///
/// Bytes that are advanced over are gone; the rest stays in the connection for the next time. Of a frame that
/// is sealed in pieces (see [`FRAME_IN_PIECES`](crate::limits::FRAME_IN_PIECES)) it holds what is
/// sealed; more is there once that was advanced over and
/// [`transmit`](crate::Connection::transmit) is called again.
pub struct Transmit<'a>(&'a mut Output);

impl<'a> Transmit<'a> {
    pub(in crate::connection) fn new(output: &'a mut Output) -> Self {
        Self(output)
    }

    /// Returns all chunks in order, none empty, for a vectored write.
    pub fn chunks(&self) -> impl Iterator<Item = &[u8]> {
        let mut taken = self.0.taken;
        let parts = self.0.ready_segments().flat_map(Segment::parts);
        parts.filter_map(move |part| {
            let skipped = taken.min(part.len());
            taken -= skipped;
            Some(&part[skipped..]).filter(|chunk| !chunk.is_empty())
        })
    }
}

impl Buf for Transmit<'_> {
    fn remaining(&self) -> usize {
        self.0.ready()
    }

    fn chunk(&self) -> &[u8] {
        self.chunks().next().unwrap_or_default()
    }

    #[cfg(feature = "std")]
    fn chunks_vectored<'b>(&'b self, slices: &mut [std::io::IoSlice<'b>]) -> usize {
        let mut filled = 0;
        for (slice, chunk) in slices.iter_mut().zip(self.chunks()) {
            *slice = std::io::IoSlice::new(chunk);
            filled += 1;
        }
        filled
    }

    /// # Panics
    ///
    /// When `count` is more than [`remaining`](Buf::remaining).
    fn advance(&mut self, count: usize) {
        self.0.advance(count);
    }
}

impl fmt::Debug for Transmit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transmit")
            .field("remaining", &self.remaining())
            .finish()
    }
}
