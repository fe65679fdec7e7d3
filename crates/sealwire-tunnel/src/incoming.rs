//! The direction from the peer, block by block.

use std::fmt;
use std::ops::Range;

use sealwire_newplex::schemes::aestream::{HEADER_SIZE, OVERHEAD, Opener};
use sealwire_newplex::{Protocol, TAG_SIZE};
use zeroize::Zeroize as _;

use crate::{MAX_SEALED_SIZE, Reason};

/// The next thing in the bytes that came in, once it is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opened {
    /// Plaintext, to be taken from [`Incoming::text`].
    Text,
    /// Not all of the next block: more has to be received. A byte stream that ends here was cut off.
    NeedsMore,
    /// The end, as the peer meant it: there was no more.
    End,
    /// The end, and not as it was meant.
    BrokenOff(Reason),
}

/// A block that the peer did not send, or not here: changed, repeated, reordered or left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not authentic: something in between changed, repeated or left out bytes")]
pub struct NotAuthentic;

/// Opens what comes from the peer. Plaintext is handed out once the tag of its whole block is right.
pub struct Incoming {
    opener: Opener,
    /// Has room for the largest block, from when something came in.
    buffer: Vec<u8>,
    /// What came in and was not opened yet.
    sealed: Range<usize>,
    /// The bytes that were opened and not yet taken.
    text: Range<usize>,
    /// What ended the direction: nothing follows.
    over: Option<Result<Opened, NotAuthentic>>,
}

impl Incoming {
    pub(crate) fn new(protocol: Protocol) -> Self {
        Incoming {
            opener: Opener::new(protocol),
            buffer: Vec::new(),
            sealed: 0..0,
            text: 0..0,
            over: None,
        }
    }

    /// Plaintext that is authentic, and was not [taken](Self::take) yet.
    #[must_use]
    pub fn text(&self) -> &[u8] {
        &self.buffer[self.text.clone()]
    }

    /// The first `count` bytes of [`text`](Self::text) were taken.
    ///
    /// # Panics
    ///
    /// If there are fewer.
    pub fn take(&mut self, count: usize) {
        assert!(count <= self.text.len(), "more than there is");
        self.text.start += count;
    }

    /// Where bytes of the peer go. Not empty after [`Opened::NeedsMore`]; empty where a whole block waits in a
    /// full buffer, and once the direction has ended.
    pub fn room(&mut self) -> &mut [u8] {
        if self.over.is_some() {
            return &mut [];
        }
        if self.buffer.is_empty() {
            self.buffer.resize(MAX_SEALED_SIZE, 0);
        }
        if self.text.is_empty() && self.sealed.start > 0 {
            self.buffer.copy_within(self.sealed.clone(), 0);
            self.sealed = 0..self.sealed.len();
            self.text = 0..0;
        }
        &mut self.buffer[self.sealed.end..]
    }

    /// The peer's bytes are the first `count` of [`room`](Self::room).
    ///
    /// # Panics
    ///
    /// If there was less room.
    pub fn received(&mut self, count: usize) {
        let room = self.buffer.len() - self.sealed.end;
        assert!(count <= room, "more than there was room for");
        self.sealed.end += count;
    }

    /// Opens the next block, once the text before it was taken.
    ///
    /// # Errors
    ///
    /// [`NotAuthentic`] if it is not what the peer sent next, and then always. The bytes that were received
    /// are of no use, and neither is the connection.
    pub fn open(&mut self) -> Result<Opened, NotAuthentic> {
        if !self.text.is_empty() {
            return Ok(Opened::Text);
        }
        if let Some(over) = self.over {
            return over;
        }
        let opened = self.open_next();
        if !matches!(opened, Ok(Opened::Text | Opened::NeedsMore)) {
            self.over = Some(opened);
        }
        opened
    }

    fn open_next(&mut self) -> Result<Opened, NotAuthentic> {
        let sealed = &mut self.buffer[self.sealed.clone()];
        let Some(header) = sealed.first_chunk() else {
            return Ok(Opened::NeedsMore);
        };
        let size = self.opener.block_size(*header);
        let Some(block) = sealed.get_mut(..size) else {
            return Ok(Opened::NeedsMore);
        };
        let last = (size == OVERHEAD).then(|| self.opener.clone());
        let Ok(text) = self.opener.open(block) else {
            let tag = block.last_chunk::<TAG_SIZE>();
            let reason = last
                .zip(tag)
                .and_then(|(last, tag)| Reason::of_block(last, tag));
            return reason.map(Opened::BrokenOff).ok_or(NotAuthentic);
        };
        let start = self.sealed.start + HEADER_SIZE;
        self.text = start..start + text.len();
        self.sealed.start += size;
        Ok(if self.text.is_empty() {
            Opened::End
        } else {
            Opened::Text
        })
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        self.buffer.zeroize();
    }
}

impl fmt::Debug for Incoming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Incoming")
            .field("sealed", &self.sealed.len())
            .field("text", &self.text.len())
            .field("over", &self.over)
            .finish_non_exhaustive()
    }
}
