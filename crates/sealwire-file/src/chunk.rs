//! A file chunk by chunk, sealed and opened where the bytes lie.

use sealwire_aead::{Key, NONCE_SIZE, RandomError, Stream, StreamOpener, TAG_SIZE, generate_nonce};
use zeroize::Zeroize as _;

use crate::header::{HEADER_SIZE, Header};
use crate::{InvalidFile, TooLong};

/// Plaintext bytes of every chunk but the last, which may have fewer.
pub const CHUNK_SIZE: usize = 64 << 10;

/// Bytes of every sealed chunk but the last, which may have fewer.
pub const SEALED_CHUNK_SIZE: usize = CHUNK_SIZE + TAG_SIZE;

/// Seals a file: its [header](Self::header), then each chunk followed by the tag that comes with it.
///
/// ```
/// use sealwire_file::{CHUNK_SIZE, HEADER_SIZE, Opener, Sealer, TAG_SIZE, generate_key};
///
/// let key = generate_key()?;
/// let mut first = [7; CHUNK_SIZE];
/// let mut last = *b"the end";
///
/// let mut sealer = Sealer::new(&key)?;
/// let mut file = sealer.header().to_vec();
/// let tag = sealer.seal(&mut first)?;
/// file.extend(first.into_iter().chain(tag));
/// let tag = sealer.seal_last(&mut last)?;
/// file.extend(last.into_iter().chain(tag));
///
/// let (header, rest) = file.split_at_mut(HEADER_SIZE);
/// let (first, last) = rest.split_first_chunk_mut().expect("a full chunk");
/// let mut opener = Opener::new(&key, header)?;
/// assert_eq!(*opener.open(first)?, [7; CHUNK_SIZE]);
/// assert_eq!(opener.open_last(last)?, b"the end");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Sealer {
    header: Header,
    stream: Stream,
}

impl Sealer {
    /// Begins a file under a random nonce.
    ///
    /// # Errors
    ///
    /// [`RandomError`] when the operating system has no randomness.
    pub fn new(key: &Key) -> Result<Self, RandomError> {
        Ok(Self::with_nonce(key, &generate_nonce()?))
    }

    /// Begins a file under `nonce`, which must be random and used once: two files under one key and nonce give
    /// away what differs between them. For test vectors, and where the operating system has no randomness.
    #[must_use]
    pub fn with_nonce(key: &Key, nonce: &[u8; NONCE_SIZE]) -> Self {
        Sealer {
            header: Header::new(nonce),
            stream: Stream::new(key, nonce),
        }
    }

    /// What the file begins with.
    #[must_use]
    pub const fn header(&self) -> &[u8; HEADER_SIZE] {
        self.header.as_bytes()
    }

    /// Seals a chunk that others follow, in place, and returns the tag behind it.
    ///
    /// # Errors
    ///
    /// [`TooLong`] after 2^64 - 1 chunks; the chunk is then unchanged.
    pub fn seal(&mut self, chunk: &mut [u8; CHUNK_SIZE]) -> Result<[u8; TAG_SIZE], TooLong> {
        self.seal_as(false, chunk)
    }

    /// Seals the last chunk, in place, and returns the tag with which the file ends.
    ///
    /// # Errors
    ///
    /// [`TooLong`] after 2^64 - 1 chunks; the chunk is then unchanged.
    ///
    /// # Panics
    ///
    /// Unless the chunk has 1 to [`CHUNK_SIZE`] bytes. It may be empty if it is the only one.
    pub fn seal_last(self, chunk: &mut [u8]) -> Result<[u8; TAG_SIZE], TooLong> {
        let is_only = self.stream.position() == 0;
        assert!(
            chunk.len() <= CHUNK_SIZE && (is_only || !chunk.is_empty()),
            "the last chunk has 1 to {CHUNK_SIZE} bytes, and none only where it is the first"
        );
        self.seal_as(true, chunk)
    }

    fn seal_as(&self, last: bool, chunk: &mut [u8]) -> Result<[u8; TAG_SIZE], TooLong> {
        let associated_data = self.header.associated_data(last);
        match self.stream.seal(&associated_data, chunk) {
            Ok((_, tag)) => Ok(tag),
            Err(_) => Err(TooLong),
        }
    }
}

/// Opens a file: its header, then each chunk with its tag.
///
/// Cut the file behind its header into pieces of [`SEALED_CHUNK_SIZE`]; the last one is what is left, and goes to
/// [`open_last`](Self::open_last) also where it is full. A piece is the last if no byte follows it.
#[derive(Debug)]
pub struct Opener {
    header: Header,
    stream: StreamOpener,
    /// The first fault; nothing opens after it.
    failed: Option<InvalidFile>,
}

impl Opener {
    /// Reads a header: the first [`HEADER_SIZE`] bytes of the file, or all that it has.
    ///
    /// # Errors
    ///
    /// [`InvalidFile`] if it is not the header of a sealed file. Whether it is authentic comes out with the
    /// first chunk.
    pub fn new(key: &Key, header: &[u8]) -> Result<Self, InvalidFile> {
        let header = Header::parse(header)?;
        let stream = StreamOpener::new(key, &header.nonce());
        Ok(Opener {
            header,
            stream,
            failed: None,
        })
    }

    /// Opens a chunk that others follow, in place. Nothing is decrypted before its tag is verified.
    ///
    /// # Errors
    ///
    /// [`InvalidFile`] if it is not what comes next in the file, and then always. The plaintext of an authentic
    /// chunk in the wrong place is overwritten with zeros.
    pub fn open<'c>(
        &mut self,
        chunk: &'c mut [u8; SEALED_CHUNK_SIZE],
    ) -> Result<&'c mut [u8; CHUNK_SIZE], InvalidFile> {
        let position = self.stream.position();
        let plaintext = self.open_as(false, chunk)?;
        // It has this size, as the chunk has its own.
        plaintext
            .first_chunk_mut()
            .ok_or(InvalidFile::Chunk(position))
    }

    /// Opens the last chunk, in place: 32 to [`SEALED_CHUNK_SIZE`] bytes. The file is complete if it opens.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open). Fewer bytes than a tag are a chunk that was cut.
    pub fn open_last(mut self, chunk: &mut [u8]) -> Result<&mut [u8], InvalidFile> {
        self.open_as(true, chunk)
    }

    fn open_as<'c>(
        &mut self,
        last: bool,
        chunk: &'c mut [u8],
    ) -> Result<&'c mut [u8], InvalidFile> {
        if let Some(failed) = self.failed {
            return Err(failed);
        }
        let opened = self.try_open(last, chunk);
        self.failed = opened.as_ref().err().copied();
        opened
    }

    fn try_open<'c>(
        &mut self,
        last: bool,
        chunk: &'c mut [u8],
    ) -> Result<&'c mut [u8], InvalidFile> {
        let position = self.stream.position();
        let invalid = |first| match position {
            0 => first,
            _ => InvalidFile::Chunk(position),
        };
        if chunk.len() > SEALED_CHUNK_SIZE {
            return Err(invalid(InvalidFile::FirstChunk));
        }
        let Some((chunk, tag)) = chunk.split_last_chunk_mut::<TAG_SIZE>() else {
            return Err(invalid(InvalidFile::NoChunk));
        };
        let mut opens_as = |last| {
            let associated_data = self.header.associated_data(last);
            self.stream.open(&associated_data, chunk, tag).is_ok()
        };
        if opens_as(last) {
            return Ok(chunk);
        }
        // An authentic chunk in the wrong role tells what happened to the file.
        if !opens_as(!last) {
            return Err(invalid(InvalidFile::FirstChunk));
        }
        chunk.zeroize();
        Err(if last {
            InvalidFile::NoEnd(position)
        } else {
            InvalidFile::Appended(position)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: Key = Key::from_bytes([7; 32]);

    /// A file of one full chunk and a short one.
    fn file() -> ([u8; HEADER_SIZE], [u8; SEALED_CHUNK_SIZE], Vec<u8>) {
        let mut sealer = Sealer::with_nonce(&KEY, &[9; NONCE_SIZE]);
        let header = *sealer.header();
        let mut full = [1; SEALED_CHUNK_SIZE];
        let (chunk, tag) = full.split_first_chunk_mut().expect("it is longer");
        tag.copy_from_slice(&sealer.seal(chunk).expect("there are positions"));
        let mut last = vec![2; 5];
        let tag = sealer.seal_last(&mut last).expect("there are positions");
        last.extend(tag);
        (header, full, last)
    }

    fn opener(header: &[u8]) -> Opener {
        Opener::new(&KEY, header).expect("a header")
    }

    #[test]
    fn nothing_opens_after_an_error() {
        let (header, full, mut last) = file();
        let mut opener = opener(&header);
        let mut damaged = full;
        damaged[0] ^= 1;
        let untouched = damaged;
        assert_eq!(opener.open(&mut damaged), Err(InvalidFile::FirstChunk));
        assert!(damaged == untouched, "nothing was decrypted");
        assert_eq!(opener.open(&mut full.clone()), Err(InvalidFile::FirstChunk));
        assert_eq!(opener.open_last(&mut last), Err(InvalidFile::FirstChunk));
    }

    #[test]
    fn an_authentic_chunk_in_the_wrong_role_is_not_handed_out() {
        let (header, full, last) = file();
        let mut cut = full;
        let result = opener(&header).open_last(&mut cut).err();
        assert_eq!(result, Some(InvalidFile::NoEnd(0)));
        assert!(
            cut.iter().all(|byte| *byte != 1),
            "the plaintext is all ones"
        );

        // What ends a file and is full, as one that is followed.
        let sealer = Sealer::with_nonce(&KEY, &[9; NONCE_SIZE]);
        let mut only = [1; SEALED_CHUNK_SIZE];
        let (chunk, tag) = only.split_at_mut(CHUNK_SIZE);
        tag.copy_from_slice(&sealer.seal_last(chunk).expect("there are positions"));
        let result = opener(&header).open(&mut only).err();
        assert_eq!(result, Some(InvalidFile::Appended(0)));
        assert_eq!(only[..CHUNK_SIZE], [0; CHUNK_SIZE]);

        let mut opener = opener(&header);
        assert!(opener.open(&mut full.clone()).is_ok());
        assert_eq!(
            opener.open_last(&mut last.clone()).as_deref(),
            Ok(&[2; 5][..])
        );
    }

    #[test]
    fn a_last_chunk_of_any_size_does_not_panic() {
        let (header, _, _) = file();
        for (size, error) in [
            (0, InvalidFile::NoChunk),
            (TAG_SIZE - 1, InvalidFile::NoChunk),
            (TAG_SIZE, InvalidFile::FirstChunk),
            (SEALED_CHUNK_SIZE, InvalidFile::FirstChunk),
            (SEALED_CHUNK_SIZE + 1, InvalidFile::FirstChunk),
        ] {
            let result = opener(&header).open_last(&mut vec![0; size]).err();
            assert_eq!(result, Some(error), "{size}");
        }
    }

    #[test]
    #[should_panic(expected = "the last chunk has 1 to 65536 bytes")]
    fn an_empty_chunk_does_not_end_a_file_that_has_others() {
        let mut sealer = Sealer::with_nonce(&KEY, &[9; NONCE_SIZE]);
        let _ = sealer.seal(&mut [0; CHUNK_SIZE]);
        let _ = sealer.seal_last(&mut []);
    }

    #[test]
    fn nothing_secret_is_shown() {
        let (header, ..) = file();
        let shown = format!(
            "{:?} {:?}",
            Sealer::with_nonce(&KEY, &[9; 24]),
            opener(&header)
        );
        assert!(!shown.contains("7, 7"), "{shown}");
    }
}
