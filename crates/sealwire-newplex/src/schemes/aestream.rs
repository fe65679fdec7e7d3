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

use super::block::{Progress, read_block};
use crate::{InvalidCiphertext, Protocol, TAG_SIZE};
use std::io::{self, Read, Write};
use std::vec::Vec;
use zeroize::Zeroizing;

/// Bytes that a block can carry.
pub const MAX_BLOCK_SIZE: usize = u16::MAX as usize;
/// Bytes of a header.
const HEADER_SIZE: usize = 2;

/// Seals what is written; [`finish`](Self::finish) ends the stream, and only then can it be opened.
///
/// Every write becomes a block, or several if it is longer than [`MAX_BLOCK_SIZE`]: wrap the writer
/// into a [`BufWriter`](io::BufWriter) where writes are short.
#[derive(Debug)]
pub struct Writer<W> {
    protocol: Protocol,
    inner: W,
    buffer: Vec<u8>,
    failed: bool,
}

impl<W: Write> Writer<W> {
    /// Goes on from `protocol`, and writes to `inner`.
    pub const fn new(protocol: Protocol, inner: W) -> Self {
        Self {
            protocol,
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
    pub fn finish(mut self) -> io::Result<(Protocol, W)> {
        self.write_block(&[])?;
        self.inner.flush()?;
        Ok((self.protocol, self.inner))
    }

    fn write_block(&mut self, data: &[u8]) -> io::Result<()> {
        if self.failed {
            return Err(io::Error::other(
                "an earlier write to this stream failed; it cannot go on",
            ));
        }
        // What the buffer held before is ciphertext, so that it may grow.
        self.buffer.clear();
        self.buffer.reserve(HEADER_SIZE + data.len() + TAG_SIZE);
        // Writes are split into pieces that the header can count.
        self.buffer.extend((data.len() as u16).to_be_bytes());
        self.protocol.mask("header", &mut self.buffer);
        self.buffer.extend_from_slice(data);
        let text = &mut self.buffer[HEADER_SIZE..];
        let tag = self.protocol.seal_detached("block", text);
        self.buffer.extend(tag);
        self.protocol.ratchet("block");
        let written = self.inner.write_all(&self.buffer);
        self.failed = written.is_err();
        written
    }
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
    protocol: Protocol,
    inner: R,
    block: Zeroizing<Vec<u8>>,
    /// Bytes of the block that were handed out.
    taken: usize,
    progress: Progress,
}

impl<R: Read> Reader<R> {
    /// Goes on from `protocol`, and reads from `inner`, which has to block until there are bytes.
    pub fn new(protocol: Protocol, inner: R) -> Self {
        Self {
            protocol,
            inner,
            block: Zeroizing::new(Vec::new()),
            taken: 0,
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
            Progress::Ended => Ok((self.protocol, self.inner)),
            Progress::Reading => Err(io::Error::other(
                "the end of the stream has not been reached: read until there is nothing left",
            )),
            Progress::Forged | Progress::Failed => Err(self.progress.error()),
        }
    }

    /// Reads and opens the next block.
    fn next_block(&mut self) -> io::Result<()> {
        let Self { inner, block, .. } = self;
        self.taken = 0;
        let mut header = [0; HEADER_SIZE];
        inner.read_exact(&mut header).map_err(truncated)?;
        self.protocol.unmask("header", &mut header);
        let length = usize::from(u16::from_be_bytes(header));
        read_block(inner, length + TAG_SIZE, block)?;
        self.protocol.open_in_place("block", block)?;
        self.protocol.ratchet("block");
        if block.is_empty() {
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
        if self.taken == self.block.len() {
            match self.progress {
                Progress::Reading => {}
                Progress::Ended => return Ok(0),
                Progress::Forged | Progress::Failed => return Err(self.progress.error()),
            }
            if let Err(error) = self.next_block() {
                self.block.clear();
                self.progress = Progress::after(&error);
                return Err(error);
            }
        }
        let rest = &self.block[self.taken..];
        let length = rest.len().min(output.len());
        output[..length].copy_from_slice(&rest[..length]);
        self.taken += length;
        Ok(length)
    }
}

#[cfg(test)]
mod tests;
