//! A stream of sealed blocks that all have the same size.
//!
//! ```text
//! for each whole block:  seal("block")
//! for what is left:      0x80 and zeros up to the size of a block, then seal("final")
//! ```
//!
//! The protocol that a stream begins with must hold a key, and something that never repeats under
//! that key. Both sides have to know the size of the blocks.
//!
//! ```
//! use sealwire_newplex::Protocol;
//! use sealwire_newplex::schemes::oae2::{Reader, Writer};
//! use std::io::{Read as _, Write as _};
//! use std::num::NonZeroUsize;
//!
//! let block_size = NonZeroUsize::new(4096).unwrap();
//! let mut protocol = Protocol::new("com.example.backup");
//! protocol.mix("key", b"a key of high entropy");
//! protocol.mix("nonce", b"unique to this stream");
//!
//! let mut writer = Writer::new(protocol.clone(), Vec::new(), block_size);
//! writer.write_all(b"hello")?;
//! let (_, sealed) = writer.finish()?;
//!
//! let mut text = String::new();
//! Reader::new(protocol, sealed.as_slice(), block_size).read_to_string(&mut text)?;
//! assert_eq!(text, "hello");
//! # Ok::<(), std::io::Error>(())
//! ```

use super::block::{Progress, read_block};
use crate::{InvalidCiphertext, Protocol, TAG_SIZE};
use core::num::NonZeroUsize;
use std::io::{self, Read, Write};
use std::vec::Vec;
use zeroize::Zeroizing;

/// Seals what is written; [`finish`](Self::finish) ends the stream, and only then can it be opened.
///
/// Holds one block. How the data is cut into writes has no effect.
#[derive(Debug)]
pub struct Writer<W> {
    protocol: Protocol,
    inner: W,
    block_size: usize,
    /// What does not fill a block yet, with room for the tag.
    block: Zeroizing<Vec<u8>>,
    failed: bool,
}

impl<W: Write> Writer<W> {
    /// Goes on from `protocol`, and writes blocks of `block_size` bytes of plaintext to `inner`.
    pub fn new(protocol: Protocol, inner: W, block_size: NonZeroUsize) -> Self {
        let block_size = block_size.get();
        Self {
            protocol,
            inner,
            block_size,
            // All at once: growing would leave plaintext behind.
            block: Zeroizing::new(Vec::with_capacity(block_size.saturating_add(TAG_SIZE))),
            failed: false,
        }
    }

    /// Ends the stream and gives protocol and writer back.
    ///
    /// # Errors
    ///
    /// Those of the writer; the stream is then not complete.
    pub fn finish(mut self) -> io::Result<(Protocol, W)> {
        self.block.push(0x80);
        self.block.resize(self.block_size, 0);
        self.write_block("final")?;
        self.inner.flush()?;
        Ok((self.protocol, self.inner))
    }

    fn write_block(&mut self, label: &str) -> io::Result<()> {
        if self.failed {
            return Err(failed());
        }
        self.protocol.seal_in_place(label, &mut self.block);
        let written = self.inner.write_all(&self.block);
        self.block.clear();
        self.failed = written.is_err();
        written
    }
}

fn failed() -> io::Error {
    io::Error::other("an earlier write to this stream failed; it cannot go on")
}

impl<W: Write> Write for Writer<W> {
    /// Takes what fits into the block, which is written as soon as it is full.
    ///
    /// # Errors
    ///
    /// Those of the writer, and then always: how much of the block it took is not known.
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        if self.failed {
            return Err(failed());
        }
        let length = data.len().min(self.block_size - self.block.len());
        self.block.extend_from_slice(&data[..length]);
        if self.block.len() == self.block_size {
            self.write_block("block")?;
        }
        Ok(length)
    }

    /// Flushes the writer; what does not fill a block stays here.
    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Opens what a [`Writer`] sealed. A block is handed out once it is known to be authentic, and that
/// is when the whole block after it has arrived: only the end of the input tells the last one.
///
/// Holds two blocks.
#[derive(Debug)]
pub struct Reader<R> {
    protocol: Protocol,
    inner: R,
    block_size: usize,
    /// The block being handed out.
    block: Zeroizing<Vec<u8>>,
    /// Bytes of the block that were handed out.
    taken: usize,
    /// The block after it, still sealed; empty before the first.
    ahead: Zeroizing<Vec<u8>>,
    progress: Progress,
}

impl<R: Read> Reader<R> {
    /// Goes on from `protocol`, and reads blocks of `block_size` bytes of plaintext from `inner`,
    /// which has to block until there are bytes.
    pub fn new(protocol: Protocol, inner: R, block_size: NonZeroUsize) -> Self {
        Self {
            protocol,
            inner,
            block_size: block_size.get(),
            block: Zeroizing::new(Vec::new()),
            taken: 0,
            ahead: Zeroizing::new(Vec::new()),
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

    /// Reads the block after the next one, then opens the next one.
    fn next_block(&mut self) -> io::Result<()> {
        let sealed_size = self.block_size.saturating_add(TAG_SIZE);
        self.taken = 0;
        if self.ahead.is_empty() {
            read_block(&mut self.inner, sealed_size, &mut self.ahead)?;
        }
        core::mem::swap(&mut self.block, &mut self.ahead);
        let mut first = [0];
        let is_last = loop {
            match self.inner.read(&mut first) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read? == 0,
            }
        };
        if is_last {
            self.protocol.open_in_place("final", &mut self.block)?;
            let length = unpadded(&self.block).ok_or(InvalidCiphertext)?;
            self.block.truncate(length);
            self.progress = Progress::Ended;
        } else {
            let mut rest = first.as_slice().chain(&mut self.inner);
            read_block(&mut rest, sealed_size, &mut self.ahead)?;
            self.protocol.open_in_place("block", &mut self.block)?;
        }
        Ok(())
    }
}

/// Length of a block without its padding: zeros, and 0x80 before them.
fn unpadded(block: &[u8]) -> Option<usize> {
    let mark = block.iter().rposition(|byte| *byte != 0)?;
    (block[mark] == 0x80).then_some(mark)
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
        // The last block may carry nothing.
        while self.taken == self.block.len() {
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
