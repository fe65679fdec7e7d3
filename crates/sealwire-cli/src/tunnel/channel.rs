//! The stream of blocks in each direction, in one buffer each, as bytes in and bytes out.
//!
//! Source: `docs/spec/newplex-tunnel.md`. What a direction carries is an `aestream`; where it breaks
//! off, a last block says why.

use std::fmt;
use std::io;
use std::ops::Range;

use sealwire_newplex::schemes::aestream::{HEADER_SIZE, MAX_BLOCK_SIZE, OVERHEAD, Opener, Sealer};
use sealwire_newplex::{Protocol, TAG_SIZE, Tag};
use zeroize::Zeroize as _;

/// Bytes of the largest sealed block.
const MAX_SEALED_SIZE: usize = MAX_BLOCK_SIZE + OVERHEAD;

/// Why a direction breaks off, as the peer is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    Refused,
    Busy,
    Unreachable,
    Broken,
    Stopped,
}

impl Reason {
    const ALL: [Reason; 5] = [
        Reason::Refused,
        Reason::Busy,
        Reason::Unreachable,
        Reason::Broken,
        Reason::Stopped,
    ];

    /// The label that the last block is sealed under.
    pub(super) const fn label(self) -> &'static str {
        match self {
            Reason::Refused => "refused",
            Reason::Busy => "busy",
            Reason::Unreachable => "unreachable",
            Reason::Broken => "broken",
            Reason::Stopped => "stopped",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::Refused => "the server does not allow our key",
            Reason::Busy => "the server has as many connections as it takes",
            Reason::Unreachable => "the other side cannot reach the service behind it",
            Reason::Broken => "the connection behind the other side broke",
            Reason::Stopped => "the other side was stopped",
        })
    }
}

/// The block that says why nothing follows: it carries nothing, as an end does, under another label.
fn last_block(mut protocol: Protocol, reason: Reason) -> [u8; OVERHEAD] {
    let mut block = [0; OVERHEAD];
    let (header, tag) = block.split_at_mut(HEADER_SIZE);
    protocol.mask("header", header);
    tag.copy_from_slice(&protocol.seal_detached(reason.label(), &mut []));
    block
}

/// The reason that a block without text gives, with an opener that is just behind its header.
fn reason_of(opener: Opener, tag: &Tag) -> Option<Reason> {
    let protocol = opener.into_protocol();
    Reason::ALL.into_iter().find(|reason| {
        let mut protocol = protocol.clone();
        protocol.open_detached(reason.label(), &mut [], tag).is_ok()
    })
}

/// Seals what goes out: at most one block at a time, and behind it the last one.
#[derive(Debug)]
pub(super) struct Outgoing {
    /// Gone once the stream has ended.
    sealer: Option<Sealer>,
    /// Has room for the largest block, from when something goes out.
    buffer: Vec<u8>,
    /// Sealed, and to be sent.
    unsent: Range<usize>,
    /// What ends the stream.
    last: Option<[u8; OVERHEAD]>,
}

impl Outgoing {
    /// `before` goes out in front of the first block.
    pub(super) fn new(protocol: Protocol, before: &[u8]) -> Self {
        Outgoing {
            sealer: Some(Sealer::new(protocol)),
            buffer: before.to_vec(),
            unsent: 0..before.len(),
            last: None,
        }
    }

    /// What is to be sent next.
    pub(super) fn unsent(&self) -> &[u8] {
        &self.buffer[self.unsent.clone()]
    }

    /// So many bytes of it were sent.
    pub(super) fn advance(&mut self, count: usize) {
        self.unsent.start += count;
        if self.unsent.is_empty()
            && let Some(last) = self.last.take()
        {
            self.put(&last);
        }
    }

    /// Whether a block can be made: the one before it was sent, and it was not the last.
    pub(super) fn is_ready(&self) -> bool {
        self.sealer.is_some() && self.unsent.is_empty()
    }

    /// Whether the last block has been made.
    pub(super) const fn is_closed(&self) -> bool {
        self.sealer.is_none()
    }

    /// Seals what `read` gives, in the buffer that it reads into. To be called when
    /// [ready](Self::is_ready). Without bytes the stream ends.
    pub(super) fn fill(
        &mut self,
        read: impl FnOnce(&mut [u8]) -> io::Result<usize>,
    ) -> io::Result<usize> {
        if self.buffer.len() < MAX_SEALED_SIZE {
            self.buffer.resize(MAX_SEALED_SIZE, 0);
        }
        let count = read(&mut self.buffer[HEADER_SIZE..][..MAX_BLOCK_SIZE])?;
        if count == 0 {
            if let Some(sealer) = self.sealer.take() {
                self.put(&sealer.end().0);
            }
        } else if let Some(sealer) = &mut self.sealer {
            self.unsent = 0..OVERHEAD + count;
            sealer.seal(&mut self.buffer[..OVERHEAD + count]);
        }
        Ok(count)
    }

    /// Ends the stream with a reason, unless it has ended.
    pub(super) fn break_off(&mut self, reason: Reason) {
        if let Some(sealer) = self.sealer.take() {
            let last = last_block(sealer.into_protocol(), reason);
            if self.unsent.is_empty() {
                self.put(&last);
            } else {
                self.last = Some(last);
            }
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

/// What comes next of what came in.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Arrived {
    /// Text, to be taken from [`Incoming::text`].
    Text,
    /// Not all of the next block; more has to be read.
    Partly,
    /// The end, as the peer meant it.
    End,
    /// The end, and not as it was meant.
    BrokenOff(Reason),
    /// Something that the peer did not send, or not here.
    Forged,
}

/// Opens what comes in, block by block.
#[derive(Debug)]
pub(super) struct Incoming {
    opener: Opener,
    /// Has room for the largest block, from when something came in.
    buffer: Vec<u8>,
    /// What came in and was not opened yet.
    sealed: Range<usize>,
    /// What was opened and not yet taken.
    text: Range<usize>,
}

impl Incoming {
    pub(super) fn new(protocol: Protocol) -> Self {
        Incoming {
            opener: Opener::new(protocol),
            buffer: Vec::new(),
            sealed: 0..0,
            text: 0..0,
        }
    }

    /// Plaintext that is authentic.
    pub(super) fn text(&self) -> &[u8] {
        &self.buffer[self.text.clone()]
    }

    /// So many bytes of it were taken.
    pub(super) fn advance(&mut self, count: usize) {
        self.text.start += count;
    }

    /// Reads more. To be called when a block has arrived [partly](Arrived::Partly).
    pub(super) fn fill(
        &mut self,
        read: impl FnOnce(&mut [u8]) -> io::Result<usize>,
    ) -> io::Result<usize> {
        if self.buffer.is_empty() {
            self.buffer.resize(MAX_SEALED_SIZE, 0);
        }
        self.buffer.copy_within(self.sealed.clone(), 0);
        self.sealed = 0..self.sealed.len();
        let count = read(&mut self.buffer[self.sealed.end..])?;
        self.sealed.end += count;
        Ok(count)
    }

    /// Opens the next block, once the text before it was taken.
    pub(super) fn open(&mut self) -> Arrived {
        let sealed = &mut self.buffer[self.sealed.clone()];
        let Some(header) = sealed.first_chunk() else {
            return Arrived::Partly;
        };
        let size = self.opener.block_size(*header);
        let Some(block) = sealed.get_mut(..size) else {
            return Arrived::Partly;
        };
        let last = (size == OVERHEAD).then(|| self.opener.clone());
        let Ok(text) = self.opener.open(block) else {
            let tag = block.last_chunk::<TAG_SIZE>();
            return match last.zip(tag).and_then(|(last, tag)| reason_of(last, tag)) {
                Some(reason) => Arrived::BrokenOff(reason),
                None => Arrived::Forged,
            };
        };
        let start = self.sealed.start + HEADER_SIZE;
        self.text = start..start + text.len();
        self.sealed.start += size;
        if self.text.is_empty() {
            Arrived::End
        } else {
            Arrived::Text
        }
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        self.buffer.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> (Outgoing, Incoming) {
        let mut protocol = Protocol::new("test");
        protocol.mix("key", b"key");
        (
            Outgoing::new(protocol.clone(), b""),
            Incoming::new(protocol),
        )
    }

    fn give(bytes: &[u8]) -> impl FnOnce(&mut [u8]) -> io::Result<usize> {
        |room: &mut [u8]| {
            let count = bytes.len().min(room.len());
            room[..count].copy_from_slice(&bytes[..count]);
            Ok(count)
        }
    }

    /// Moves everything that is unsent, a few bytes at a time, and gives what arrived last.
    fn pass(from: &mut Outgoing, to: &mut Incoming, texts: &mut Vec<u8>) -> Arrived {
        loop {
            match to.open() {
                Arrived::Text => {
                    texts.extend(to.text());
                    let count = to.text().len();
                    to.advance(count);
                }
                Arrived::Partly if !from.unsent().is_empty() => {
                    let piece = from.unsent().len().min(1_000);
                    let count = to.fill(give(&from.unsent()[..piece])).expect("memory");
                    from.advance(count);
                }
                other => return other,
            }
        }
    }

    #[test]
    fn blocks_of_any_size_arrive_and_then_the_end() {
        let (mut outgoing, mut incoming) = pair();
        let mut texts = Vec::new();
        for size in [1, 2, 17, 4_000, MAX_BLOCK_SIZE - 1, MAX_BLOCK_SIZE] {
            let text = vec![size as u8; size];
            outgoing.fill(give(&text)).expect("memory");
            let arrived = pass(&mut outgoing, &mut incoming, &mut texts);
            assert_eq!(arrived, Arrived::Partly);
            assert!(outgoing.is_ready() && texts.ends_with(&text));
        }
        assert_eq!(outgoing.fill(give(b"")).expect("memory"), 0);
        assert!(outgoing.is_closed());
        assert_eq!(pass(&mut outgoing, &mut incoming, &mut texts), Arrived::End);
        outgoing.break_off(Reason::Broken);
        assert!(outgoing.unsent().is_empty(), "an end is an end");
    }

    #[test]
    fn every_reason_arrives_behind_what_was_not_sent_yet() {
        for reason in Reason::ALL {
            let (mut outgoing, mut incoming) = pair();
            let mut texts = Vec::new();
            outgoing.fill(give(b"text")).expect("memory");
            outgoing.break_off(reason);
            let arrived = pass(&mut outgoing, &mut incoming, &mut texts);
            assert_eq!(
                (arrived, &*texts),
                (Arrived::BrokenOff(reason), &b"text"[..])
            );
        }
    }

    #[test]
    fn no_bit_of_a_reason_or_an_end_can_be_changed() {
        for reason in [None, Some(Reason::Refused)] {
            for bit in 0..OVERHEAD * 8 {
                let (mut outgoing, mut incoming) = pair();
                match reason {
                    Some(reason) => outgoing.break_off(reason),
                    None => assert_eq!(outgoing.fill(give(b"")).expect("memory"), 0),
                }
                outgoing.buffer[bit / 8] ^= 1 << (bit % 8);
                let arrived = pass(&mut outgoing, &mut incoming, &mut Vec::new());
                // A changed header announces a block that never comes.
                let expected = if bit < 16 {
                    Arrived::Partly
                } else {
                    Arrived::Forged
                };
                assert_eq!(arrived, expected, "{bit}");
            }
        }
    }
}
