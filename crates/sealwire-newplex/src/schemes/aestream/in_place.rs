//! Single blocks, sealed and opened where they lie.

use super::{HEADER_SIZE, MAX_BLOCK_SIZE, OVERHEAD};
use crate::{InvalidCiphertext, Protocol, TAG_SIZE};

/// Seals one block after the other, in place, without moving or allocating anything.
///
/// ```
/// use sealwire_newplex::Protocol;
/// use sealwire_newplex::schemes::aestream::{HEADER_SIZE, Opener, OVERHEAD, Sealer};
///
/// let mut protocol = Protocol::new("com.example.link");
/// protocol.mix("key", b"of high entropy, and used for one stream");
/// let (mut sealer, mut opener) = (Sealer::new(protocol.clone()), Opener::new(protocol));
///
/// let mut block = [0; OVERHEAD + 5];
/// block[HEADER_SIZE..][..5].copy_from_slice(b"hello");
/// sealer.seal(&mut block);
/// assert_eq!(opener.block_size([block[0], block[1]]), block.len());
/// assert_eq!(opener.open(&mut block)?, b"hello");
///
/// let (mut end, _) = sealer.end();
/// assert_eq!(opener.open(&mut end)?, b"");
/// # Ok::<(), sealwire_newplex::InvalidCiphertext>(())
/// ```
#[derive(Debug)]
pub struct Sealer {
    protocol: Protocol,
}

impl Sealer {
    /// Goes on from `protocol`, which must hold a key and something that never repeats under it.
    #[must_use]
    pub const fn new(protocol: Protocol) -> Self {
        Self { protocol }
    }

    /// Seals a block: [`HEADER_SIZE`] bytes of room, the text, [`TAG_SIZE`] bytes of room.
    ///
    /// # Panics
    ///
    /// Unless the text has 1 to [`MAX_BLOCK_SIZE`] bytes. An empty block is the end of a stream; see
    /// [`end`](Self::end).
    pub fn seal(&mut self, block: &mut [u8]) {
        assert!(
            (OVERHEAD + 1..=OVERHEAD + MAX_BLOCK_SIZE).contains(&block.len()),
            "a block carries 1 to {MAX_BLOCK_SIZE} bytes"
        );
        self.seal_any(block);
    }

    /// The block that ends the stream, and the protocol to go on with.
    #[must_use = "without its end, nobody takes the stream for complete"]
    pub fn end(mut self) -> ([u8; OVERHEAD], Protocol) {
        let mut block = [0; OVERHEAD];
        self.seal_any(&mut block);
        (block, self.protocol)
    }

    /// The protocol, without ending the stream.
    #[must_use]
    pub fn into_protocol(self) -> Protocol {
        self.protocol
    }

    fn seal_any(&mut self, block: &mut [u8]) {
        let (header, rest) = block.split_at_mut(HEADER_SIZE);
        let (text, tag) = rest.split_at_mut(rest.len() - TAG_SIZE);
        header.copy_from_slice(&(text.len() as u16).to_be_bytes());
        self.protocol.mask("header", header);
        tag.copy_from_slice(&self.protocol.seal_detached("block", text));
        self.protocol.ratchet("block");
    }
}

/// How far an [`Opener`] has come.
#[derive(Clone, Copy, Debug)]
enum Position {
    /// Before a header.
    Header,
    /// Behind the header of a block of this size, which is not open yet.
    Block(usize),
    /// Behind the end, or behind a block that was not authentic.
    Closed,
}

/// Opens one block after the other, in place, without moving or allocating anything.
///
/// A clone opens the same blocks from here on; it is there to look at a block in another way.
#[derive(Clone, Debug)]
pub struct Opener {
    protocol: Protocol,
    position: Position,
}

impl Opener {
    /// Goes on from `protocol`, which is in the state that the [`Sealer`] began with.
    #[must_use]
    pub const fn new(protocol: Protocol) -> Self {
        Self {
            protocol,
            position: Position::Header,
        }
    }

    /// Size in bytes, [`OVERHEAD`] included, of the next block, which begins with `header`.
    ///
    /// A forged header is noticed when the block is opened, not here: take no more memory than has
    /// arrived, or can be spared for any block. Asked again before that, it answers the same.
    pub fn block_size(&mut self, mut header: [u8; HEADER_SIZE]) -> usize {
        match self.position {
            Position::Block(size) => size,
            Position::Header => {
                self.protocol.unmask("header", &mut header);
                let size = OVERHEAD + usize::from(u16::from_be_bytes(header));
                self.position = Position::Block(size);
                size
            }
            Position::Closed => OVERHEAD,
        }
    }

    /// Opens a whole block, of which it gives the text. An empty text is the end of the stream.
    ///
    /// # Errors
    ///
    /// [`InvalidCiphertext`] if the block is not what comes next in the stream, if it is not as long
    /// as its header says, and always after the end or an error. The decrypted bytes are then all zeros.
    pub fn open<'b>(&mut self, block: &'b mut [u8]) -> Result<&'b mut [u8], InvalidCiphertext> {
        let header = *block.first_chunk().ok_or(InvalidCiphertext)?;
        let size = self.block_size(header);
        if matches!(self.position, Position::Closed) || block.len() != size {
            self.position = Position::Closed;
            return Err(InvalidCiphertext);
        }
        self.position = Position::Closed;
        let text = self
            .protocol
            .open_in_slice("block", &mut block[HEADER_SIZE..])?;
        self.protocol.ratchet("block");
        if !text.is_empty() {
            self.position = Position::Header;
        }
        Ok(text)
    }

    /// The protocol, in the state that the sealer left it in if the end was reached.
    #[must_use]
    pub fn into_protocol(self) -> Protocol {
        self.protocol
    }
}
