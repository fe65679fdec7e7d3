//! Streams around readers and writers.

use super::{MaskStream, MixStream, Protocol, UnmaskStream};
use std::io::{self, Read, Write};
use zeroize::Zeroizing;

/// Bytes that a [`MaskWriter`] masks at a time.
const BUFFER: usize = 8 << 10;

/// Mixes what is written through it; see [`Protocol::mix_writer`].
#[derive(Debug)]
pub struct MixWriter<'p, W> {
    stream: MixStream<'p>,
    inner: W,
}

impl<W> MixWriter<'_, W> {
    /// What the protocol would be if the input ended here.
    #[must_use]
    pub fn branch(&self) -> Protocol {
        self.stream.branch()
    }

    /// Ends the input and gives the writer back.
    pub fn finish(self) -> W {
        self.inner
    }
}

impl<W: Write> Write for MixWriter<'_, W> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(data)?;
        self.stream.update(&data[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Mixes what is read through it; see [`Protocol::mix_reader`].
#[derive(Debug)]
pub struct MixReader<'p, R> {
    stream: MixStream<'p>,
    inner: R,
}

impl<R> MixReader<'_, R> {
    /// Ends the input and gives the reader back.
    pub fn finish(self) -> R {
        self.inner
    }
}

impl<R: Read> Read for MixReader<'_, R> {
    fn read(&mut self, data: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(data)?;
        self.stream.update(&data[..read]);
        Ok(read)
    }
}

/// Masks what is written through it; see [`Protocol::mask_writer`].
#[derive(Debug)]
pub struct MaskWriter<'p, W> {
    stream: MaskStream<'p>,
    inner: W,
    failed: bool,
}

impl<W> MaskWriter<'_, W> {
    /// Ends the text and gives the writer back.
    pub fn finish(self) -> W {
        self.inner
    }
}

impl<W: Write> Write for MaskWriter<'_, W> {
    /// Writes all of a piece of up to 8 KiB.
    ///
    /// # Errors
    ///
    /// Those of the writer, and then always: how much of the ciphertext it took is not known.
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        if self.failed {
            return Err(io::Error::other("an earlier write to this stream failed"));
        }
        let mut buffer = Zeroizing::new([0; BUFFER]);
        let length = data.len().min(BUFFER);
        let piece = &mut buffer[..length];
        piece.copy_from_slice(&data[..length]);
        self.stream.apply(piece);
        let written = self.inner.write_all(piece);
        self.failed = written.is_err();
        written.map(|()| length)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Unmasks what is read through it; see [`Protocol::unmask_reader`].
#[derive(Debug)]
pub struct UnmaskReader<'p, R> {
    stream: UnmaskStream<'p>,
    inner: R,
}

impl<R> UnmaskReader<'_, R> {
    /// Ends the text and gives the reader back.
    pub fn finish(self) -> R {
        self.inner
    }
}

impl<R: Read> Read for UnmaskReader<'_, R> {
    fn read(&mut self, data: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(data)?;
        self.stream.apply(&mut data[..read]);
        Ok(read)
    }
}

/// Any piece is taken whole.
impl Write for MixStream<'_> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.update(data);
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Protocol {
    /// Mixes everything that is written through it to `inner`.
    pub fn mix_writer<W: Write>(&mut self, label: impl AsRef<[u8]>, inner: W) -> MixWriter<'_, W> {
        MixWriter {
            stream: self.mix_stream(label),
            inner,
        }
    }

    /// Mixes everything that is read through it from `inner`.
    pub fn mix_reader<R: Read>(&mut self, label: impl AsRef<[u8]>, inner: R) -> MixReader<'_, R> {
        MixReader {
            stream: self.mix_stream(label),
            inner,
        }
    }

    /// Masks everything that is written through it to `inner`.
    ///
    /// ```
    /// use sealwire_newplex::Protocol;
    /// use std::io::{Read as _, Write as _};
    ///
    /// let mut sender = Protocol::new("com.example.pipe");
    /// sender.mix("key", b"a key of high entropy");
    /// let mut receiver = sender.clone();
    ///
    /// let mut writer = sender.mask_writer("text", Vec::new());
    /// writer.write_all(b"hello")?;
    /// let masked = writer.finish();
    ///
    /// let mut text = String::new();
    /// let mut reader = receiver.unmask_reader("text", masked.as_slice());
    /// reader.read_to_string(&mut text)?;
    /// assert_eq!(text, "hello");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn mask_writer<W: Write>(
        &mut self,
        label: impl AsRef<[u8]>,
        inner: W,
    ) -> MaskWriter<'_, W> {
        MaskWriter {
            stream: self.mask_stream(label),
            inner,
            failed: false,
        }
    }

    /// Unmasks everything that is read through it from `inner`.
    pub fn unmask_reader<R: Read>(
        &mut self,
        label: impl AsRef<[u8]>,
        inner: R,
    ) -> UnmaskReader<'_, R> {
        UnmaskReader {
            stream: self.unmask_stream(label),
            inner,
        }
    }
}
