//! The direction to the peer: at most one sealed block at a time, and behind it the last one.

use std::fmt;
use std::ops::Range;

use sealwire_newplex::Protocol;
use sealwire_newplex::schemes::aestream::{HEADER_SIZE, MAX_BLOCK_SIZE, OVERHEAD, Sealer};
use zeroize::Zeroize as _;

use crate::{MAX_SEALED_SIZE, Reason};

/// Seals what goes to the peer, in the buffer that it is read into.
///
/// One block at a time: fill [`room`](Self::room), [`seal`](Self::seal), send what is
/// [`unsent`](Self::unsent), and so on until [`end`](Self::end) or [`break_off`](Self::break_off).
pub struct Outgoing {
    /// Gone once the direction has ended.
    sealer: Option<Sealer>,
    /// Has room for the largest block, from when something goes out.
    buffer: Vec<u8>,
    /// Sealed, and to be sent.
    unsent: Range<usize>,
    /// What ends the direction, behind what is unsent.
    last: Option<[u8; OVERHEAD]>,
}

impl Outgoing {
    /// `before` goes out in front of the first block.
    pub(crate) fn new(protocol: Protocol, before: &[u8]) -> Self {
        Outgoing {
            sealer: Some(Sealer::new(protocol)),
            buffer: before.to_vec(),
            unsent: 0..before.len(),
            last: None,
        }
    }

    /// The bytes to send next; empty when all was sent.
    #[must_use]
    pub fn unsent(&self) -> &[u8] {
        &self.buffer[self.unsent.clone()]
    }

    /// The first `count` bytes of [`unsent`](Self::unsent) were sent.
    ///
    /// # Panics
    ///
    /// If there are fewer.
    pub fn sent(&mut self, count: usize) {
        assert!(count <= self.unsent.len(), "more than was to be sent");
        self.unsent.start += count;
        if self.unsent.is_empty()
            && let Some(last) = self.last.take()
        {
            self.put(&last);
        }
    }

    /// Whether a block can be made: all before it was sent, and none of it was the last.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.sealer.is_some() && self.unsent.is_empty()
    }

    /// Whether the last block has been made.
    #[must_use]
    pub const fn is_closed(&self) -> bool {
        self.sealer.is_none()
    }

    /// Where the plaintext of the next block goes: [`MAX_BLOCK_SIZE`] bytes, or none unless it is
    /// [ready](Self::is_ready).
    pub fn room(&mut self) -> &mut [u8] {
        if !self.is_ready() {
            return &mut [];
        }
        if self.buffer.len() < MAX_SEALED_SIZE {
            self.buffer.resize(MAX_SEALED_SIZE, 0);
        }
        &mut self.buffer[HEADER_SIZE..][..MAX_BLOCK_SIZE]
    }

    /// Seals the first `count` bytes of [`room`](Self::room) as a block, which is then
    /// [`unsent`](Self::unsent).
    ///
    /// # Panics
    ///
    /// If there was not as much room, or for no bytes at all.
    pub fn seal(&mut self, count: usize) {
        let size = OVERHEAD + count;
        let fits = count > 0 && count <= MAX_BLOCK_SIZE && size <= self.buffer.len();
        let Some(sealer) = self
            .sealer
            .as_mut()
            .filter(|_| fits && self.unsent.is_empty())
        else {
            panic!("a block of {count} bytes, for which there was no room");
        };
        self.unsent = 0..size;
        sealer.seal(&mut self.buffer[..size]);
    }

    /// Ends the direction: everything was sent, as it was meant. Does nothing once it has ended.
    pub fn end(&mut self) {
        if let Some(sealer) = self.sealer.take() {
            let (last, _) = sealer.end();
            self.put_last(last);
        }
    }

    /// Ends the direction with a reason, and not as it was meant. Does nothing once it has ended.
    pub fn break_off(&mut self, reason: Reason) {
        if let Some(sealer) = self.sealer.take() {
            let last = reason.block(sealer.into_protocol());
            self.put_last(last);
        }
    }

    fn put_last(&mut self, last: [u8; OVERHEAD]) {
        if self.unsent.is_empty() {
            self.put(&last);
        } else {
            self.last = Some(last);
        }
    }

    fn put(&mut self, block: &[u8; OVERHEAD]) {
        if self.buffer.len() < OVERHEAD {
            self.buffer.resize(OVERHEAD, 0);
        }
        self.buffer[..OVERHEAD].copy_from_slice(block);
        self.unsent = 0..OVERHEAD;
    }
}

/// The room may hold plaintext that was never sealed.
impl Drop for Outgoing {
    fn drop(&mut self) {
        self.buffer.zeroize();
    }
}

impl fmt::Debug for Outgoing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outgoing")
            .field("unsent", &self.unsent.len())
            .field("is_closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}
