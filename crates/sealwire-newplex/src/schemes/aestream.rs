//! A stream of sealed blocks of any length, with a mark at its end.
//!
//! ```text
//! for each block:  mask("header", length in two bytes, big-endian)  seal("block")  ratchet("block")
//! ```
//!
//! A block is 18 bytes longer than what it carries: a masked header, which the tag of the block
//! authenticates, and the tag. An empty block ends the stream; what follows it is not read.
//!
//! The protocol that a stream begins with must hold a key, and something that never repeats under
//! that key.
//!
//! ```
//! use sealwire_newplex::Protocol;
//! use sealwire_newplex::schemes::aestream::{Reader, Writer};
//! use std::io::{Read as _, Write as _};
//!
//! let mut protocol = Protocol::new("com.example.backup");
//! protocol.mix("key", b"a key of high entropy");
//! protocol.mix("nonce", b"unique to this stream");
//!
//! let mut writer = Writer::new(protocol.clone(), Vec::new());
//! writer.write_all(b"hello")?;
//! let (_, sealed) = writer.finish()?;
//!
//! let mut text = String::new();
//! Reader::new(protocol, sealed.as_slice()).read_to_string(&mut text)?;
//! assert_eq!(text, "hello");
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! [`Writer`] and [`Reader`] move the bytes too. Where something else does, such as an event loop,
//! [`Sealer`] and [`Opener`] seal and open single blocks in place.

mod in_place;

use super::block::{Progress, read_block};
use crate::{InvalidCiphertext, Protocol, TAG_SIZE};
use core::ops::Range;
pub use in_place::{Opener, Sealer};
use std::io::{self, Read, Write};
use std::vec::Vec;
use zeroize::Zeroizing;

/// Bytes that a block can carry.
pub const MAX_BLOCK_SIZE: usize = u16::MAX as usize;
/// Size of a masked header in bytes, with which a block begins.
pub const HEADER_SIZE: usize = 2;
/// Bytes that a block is longer than what it carries.
pub const OVERHEAD: usize = HEADER_SIZE + TAG_SIZE;

/// Seals what is written; [`finish`](Self::finish) ends the stream, and only then can it be opened.
///
/// Every write becomes a block, or several if it is longer than [`MAX_BLOCK_SIZE`]: wrap the writer
/// into a [`BufWriter`](io::BufWriter) where writes are short.
#[derive(Debug)]
pub struct Writer<W> {
    sealer: Sealer,
    inner: W,
    buffer: Vec<u8>,
    failed: bool,
}

impl<W: Write> Writer<W> {
    /// Goes on from `protocol`, and writes to `inner`.
    pub const fn new(protocol: Protocol, inner: W) -> Self {
        Self {
            sealer: Sealer::new(protocol),
            inner,
            buffer: Vec::new(),
            failed: false,
        }
    }

    /// Ends the stream and gives protocol and writer back.
    ///
    /// # Errors
    ///
    /// Those of the writer; the stream is then not complete.
    pub fn finish(self) -> io::Result<(Protocol, W)> {
        let mut inner = self.inner;
        if self.failed {
            return Err(failed());
        }
        let (end, protocol) = self.sealer.end();
        inner.write_all(&end)?;
        inner.flush()?;
        Ok((protocol, inner))
    }

    fn write_block(&mut self, data: &[u8]) -> io::Result<()> {
        if self.failed {
            return Err(failed());
        }
        // What the buffer held before is ciphertext, so that it may grow.
        self.buffer.clear();
        self.buffer.reserve(OVERHEAD + data.len());
        self.buffer.extend([0; HEADER_SIZE]);
        self.buffer.extend_from_slice(data);
        self.buffer.extend([0; TAG_SIZE]);
        self.sealer.seal(&mut self.buffer);
        let written = self.inner.write_all(&self.buffer);
        self.failed = written.is_err();
        written
    }
}

fn failed() -> io::Error {
    io::Error::other("an earlier write to this stream failed; it cannot go on")
}

impl<W: Write> Write for Writer<W> {
    /// Writes one block; no bytes write nothing.
    ///
    /// # Errors
    ///
    /// Those of the writer, and then always: how much of the block it took is not known.
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let length = data.len().min(MAX_BLOCK_SIZE);
        if length > 0 {
            self.write_block(&data[..length])?;
        }
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Opens what a [`Writer`] sealed. A block is handed out only once it is known to be authentic.
///
/// Holds one block of up to 64 KiB; memory for it is taken as its bytes arrive.
#[derive(Debug)]
pub struct Reader<R> {
    opener: Opener,
    inner: R,
    block: Zeroizing<Vec<u8>>,
    /// The bytes of the block that were not handed out yet.
    left: Range<usize>,
    progress: Progress,
}

impl<R: Read> Reader<R> {
    /// Goes on from `protocol`, and reads from `inner`, which has to block until there are bytes.
    pub fn new(protocol: Protocol, inner: R) -> Self {
        Self {
            opener: Opener::new(protocol),
            inner,
            block: Zeroizing::new(Vec::new()),
            left: 0..0,
            progress: Progress::Reading,
        }
    }

    /// Gives protocol and reader back once everything has been read.
    ///
    /// # Errors
    ///
    /// If the end of the stream has not been reached.
    pub fn finish(self) -> io::Result<(Protocol, R)> {
        match self.progress {
            Progress::Ended => Ok((self.opener.into_protocol(), self.inner)),
            Progress::Reading => Err(io::Error::other(
                "the end of the stream has not been reached: read until there is nothing left",
            )),
            Progress::Forged | Progress::Failed => Err(self.progress.error()),
        }
    }

    /// Reads and opens the next block.
    fn next_block(&mut self) -> io::Result<()> {
        let Self { inner, block, .. } = self;
        let mut header = [0; HEADER_SIZE];
        inner.read_exact(&mut header).map_err(truncated)?;
        let size = self.opener.block_size(header);
        read_block(&mut header.as_slice().chain(inner), size, block)?;
        let length = self.opener.open(block)?.len();
        self.left = HEADER_SIZE..HEADER_SIZE + length;
        if length == 0 {
            self.progress = Progress::Ended;
        }
        Ok(())
    }
}

/// A stream that ends early is a forged one.
fn truncated(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => InvalidCiphertext.into(),
        _ => error,
    }
}

impl<R: Read> Read for Reader<R> {
    /// # Errors
    ///
    /// [`InvalidCiphertext`] inside an error of the kind [`InvalidData`](io::ErrorKind::InvalidData)
    /// if the stream was changed or cut off, and those of the reader; then every further read fails
    /// too.
    fn read(&mut self, output: &mut [u8]) -> io::Result<usize> {
        if output.is_empty() {
            return Ok(0);
        }
        if self.left.is_empty() {
            match self.progress {
                Progress::Reading => {}
                Progress::Ended => return Ok(0),
                Progress::Forged | Progress::Failed => return Err(self.progress.error()),
            }
            if let Err(error) = self.next_block() {
                self.block.clear();
                self.left = 0..0;
                self.progress = Progress::after(&error);
                return Err(error);
            }
        }
        let rest = &self.block[self.left.clone()];
        let length = rest.len().min(output.len());
        output[..length].copy_from_slice(&rest[..length]);
        self.left.start += length;
        Ok(length)
    }
}

#[cfg(test)]
mod tests;
