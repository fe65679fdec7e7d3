//! Whole files, from a reader to a writer.

use std::io::{self, BufRead, BufReader, Read, Write};

use sealwire_aead::{Key, TAG_SIZE};
use zeroize::Zeroizing;

use crate::{CHUNK_SIZE, Error, HEADER_SIZE, Opener, SEALED_CHUNK_SIZE, Sealer, TooLong};

/// Seals `input` into `output` under a fresh nonce.
///
/// Holds one chunk of 64 KiB, and 8 KiB of the input. Does not flush the output.
///
/// # Errors
///
/// [`Error::Read`], [`Error::Write`], [`Error::Random`] and [`Error::TooLong`]. The output is then not a
/// whole file, and does not open.
pub fn seal(key: &Key, input: impl Read, output: &mut (impl Write + ?Sized)) -> Result<(), Error> {
    let mut sealer = Sealer::new(key)?;
    output.write_all(sealer.header()).map_err(Error::Write)?;
    let mut pieces = Pieces::new(input, CHUNK_SIZE);
    loop {
        let last = pieces.advance().map_err(Error::Read)?;
        let mut write = |chunk: &[u8], tag: Result<[u8; TAG_SIZE], TooLong>| {
            let tag = tag?;
            let written = output
                .write_all(chunk)
                .and_then(|()| output.write_all(&tag));
            written.map_err(Error::Write)
        };
        let chunk = &mut *pieces.piece;
        match chunk.first_chunk_mut() {
            Some(full) if !last => {
                let tag = sealer.seal(full);
                write(chunk, tag)?;
            }
            _ => {
                let tag = sealer.seal_last(chunk);
                return write(chunk, tag);
            }
        }
    }
}

/// Opens what [`seal`] made. Only verified plaintext reaches `output`; all of it did if there is no error.
///
/// Holds one chunk of 64 KiB, and 8 KiB of the input. Does not flush the output.
///
/// # Errors
///
/// [`Error::Invalid`], [`Error::Read`] and [`Error::Write`]. The output is then an authentic beginning of the
/// plaintext, in whole chunks, and no more than that.
pub fn open(
    key: &Key,
    mut input: impl Read,
    output: &mut (impl Write + ?Sized),
) -> Result<(), Error> {
    let mut header = Vec::with_capacity(HEADER_SIZE);
    let mut beginning = input.by_ref().take(HEADER_SIZE as u64);
    beginning.read_to_end(&mut header).map_err(Error::Read)?;
    let mut opener = Opener::new(key, &header)?;
    let mut pieces = Pieces::new(input, SEALED_CHUNK_SIZE);
    loop {
        let last = pieces.advance().map_err(Error::Read)?;
        match pieces.piece.first_chunk_mut() {
            Some(full) if !last => {
                let chunk = opener.open(full)?;
                output.write_all(chunk).map_err(Error::Write)?;
            }
            _ => {
                let chunk = opener.open_last(&mut pieces.piece)?;
                return output.write_all(chunk).map_err(Error::Write);
            }
        }
    }
}

/// An input in pieces of one size; the last one may be shorter, and is empty only if all is.
struct Pieces<R> {
    input: BufReader<R>,
    size: usize,
    piece: Zeroizing<Vec<u8>>,
}

impl<R: Read> Pieces<R> {
    fn new(input: R, size: usize) -> Self {
        Pieces {
            input: BufReader::new(input),
            size,
            // Never outgrown, so that no copy is left behind.
            piece: Zeroizing::new(Vec::with_capacity(size)),
        }
    }

    /// Reads the next piece and says whether it is the last. Waits for one byte behind it, not for
    /// more.
    fn advance(&mut self) -> io::Result<bool> {
        self.piece.clear();
        let mut limited = (&mut self.input).take(self.size as u64);
        limited.read_to_end(&mut self.piece)?;
        if self.piece.len() < self.size {
            // The input has ended, also where it could go on, as a terminal or a file that grows.
            return Ok(true);
        }
        loop {
            match self.input.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                ahead => return Ok(ahead?.is_empty()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sealed(plaintext: &[u8]) -> (Key, Vec<u8>) {
        let key = Key::from_bytes([7; 32]);
        let mut sealed = Vec::new();
        seal(&key, plaintext, &mut sealed).expect("memory");
        (key, sealed)
    }

    #[test]
    fn buffers_do_not_grow() {
        let data = vec![1; 3 * CHUNK_SIZE + 5];
        for size in [CHUNK_SIZE, SEALED_CHUNK_SIZE] {
            let mut pieces = Pieces::new(&data[..], size);
            let capacity = pieces.piece.capacity();
            let mut total = 0;
            while !pieces.advance().expect("memory") {
                assert_eq!(pieces.piece.len(), size);
                total += size;
            }
            assert_eq!(total + pieces.piece.len(), data.len());
            assert_eq!(pieces.piece.capacity(), capacity);
        }
    }

    #[test]
    fn every_bit_and_every_length_counts() {
        let (key, sealed) = sealed(b"a few words");
        for bit in 0..sealed.len() * 8 {
            let mut damaged = sealed.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let mut out = Vec::new();
            assert!(open(&key, &damaged[..], &mut out).is_err(), "bit {bit}");
            assert!(out.is_empty());
        }
        for length in 0..sealed.len() {
            let mut out = Vec::new();
            assert!(open(&key, &sealed[..length], &mut out).is_err(), "{length}");
            assert!(out.is_empty());
        }
    }

    /// Goes on behind its end, as a file that grows while it is read.
    struct Growing(Vec<&'static [u8]>);

    impl Read for Growing {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let Some(bytes) = self.0.pop() else {
                return Ok(0);
            };
            buffer[..bytes.len()].copy_from_slice(bytes);
            Ok(bytes.len())
        }
    }

    #[test]
    fn the_end_of_an_input_that_grows_is_the_first_one() {
        let key = Key::from_bytes([7; 32]);
        let (mut sealed, mut opened) = (Vec::new(), Vec::new());
        seal(&key, Growing(vec![b"later", b"", b"first"]), &mut sealed).expect("memory");
        open(&key, &sealed[..], &mut opened).expect("authentic");
        assert_eq!(opened, b"first");
    }

    #[test]
    fn a_key_seals_many_files() {
        let (_, first) = sealed(b"same");
        let (_, second) = sealed(b"same");
        assert_ne!(first[8..], second[8..]);
    }
}
