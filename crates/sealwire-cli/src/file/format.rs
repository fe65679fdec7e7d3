//! The sealed file: a header, then chunks, each sealed at its position and the last one marked.
//!
//! ```text
//! header (32) = magic (7) || version (1) || nonce (24)
//! chunk  (at most 65,568) = ciphertext (at most 65,536) || tag (32)
//! ```
//!
//! Source: `docs/spec/sealed-file.md`.

use std::io::{self, BufRead, BufReader, Read, Write};

use sealwire_aead::{Key, NONCE_SIZE, RandomError, Stream, StreamOpener, TAG_SIZE, generate_nonce};
use zeroize::Zeroizing;

/// Plaintext bytes in every chunk but the last, which may have fewer.
pub(super) const CHUNK_SIZE: usize = 64 << 10;
const MAGIC: [u8; 7] = *b"\xd5SEALED";
const VERSION: u8 = 1;
const HEADER_SIZE: usize = MAGIC.len() + 1 + NONCE_SIZE;

/// Why sealing or opening stopped.
#[derive(Debug, thiserror::Error)]
pub(super) enum FormatError {
    #[error("cannot be read: {0}")]
    Read(io::Error),
    #[error("cannot be written: {0}")]
    Write(io::Error),
    #[error(transparent)]
    Random(RandomError),
    #[error("not a file that 'sealwire seal' made")]
    NotSealed,
    #[error("cut short: it ends within its header")]
    HeaderCutShort,
    #[error(
        "sealed in version {0} of the format, and this program knows version 1: use a later program"
    )]
    Version(u8),
    #[error("cut short: it ends within its first chunk")]
    NoChunk,
    #[error("not authentic: sealed under another key, damaged, or cut short (first chunk)")]
    FirstChunk,
    #[error("not authentic from chunk {0} on: changed, reordered, or cut short")]
    Chunk(u64),
    #[error("cut short: it ends behind chunk {0}, without its end marker")]
    NoEnd(u64),
    #[error("something was appended behind chunk {0}, which is its end")]
    Appended(u64),
    #[error("too long for one key and nonce")]
    TooLong,
}

/// Seals `input` into `output` under a fresh nonce.
pub(super) fn seal(key: &Key, input: impl Read, output: &mut dyn Write) -> Result<(), FormatError> {
    let nonce = generate_nonce().map_err(FormatError::Random)?;
    let header = header(&nonce);
    output.write_all(&header).map_err(FormatError::Write)?;
    let stream = Stream::new(key, &nonce);
    let mut pieces = Pieces::new(input, CHUNK_SIZE);
    loop {
        let last = pieces.advance().map_err(FormatError::Read)?;
        let (_, tag) = stream
            .seal(&associated_data(&header, last), &mut pieces.piece)
            .map_err(|_| FormatError::TooLong)?;
        output
            .write_all(&pieces.piece)
            .and_then(|()| output.write_all(&tag))
            .map_err(FormatError::Write)?;
        if last {
            return Ok(());
        }
    }
}

/// Opens what [`seal`] made. Only verified plaintext reaches `output`; all of it did if there is no
/// error.
pub(super) fn open(
    key: &Key,
    mut input: impl Read,
    output: &mut dyn Write,
) -> Result<(), FormatError> {
    let header = read_header(&mut input)?;
    let nonce = header.last_chunk().ok_or(FormatError::HeaderCutShort)?;
    let mut stream = StreamOpener::new(key, nonce);
    let mut pieces = Pieces::new(input, CHUNK_SIZE + TAG_SIZE);
    loop {
        let last = pieces.advance().map_err(FormatError::Read)?;
        let position = stream.position();
        let Some((chunk, tag)) = pieces.piece.split_last_chunk_mut::<TAG_SIZE>() else {
            return Err(match position {
                0 => FormatError::NoChunk,
                _ => FormatError::Chunk(position),
            });
        };
        let tag = *tag;
        let mut opens_as = |last| {
            let associated_data = associated_data(&header, last);
            stream.open(&associated_data, chunk, &tag).is_ok()
        };
        if !opens_as(last) {
            // An authentic chunk in the wrong role tells what happened to the file.
            return Err(match (opens_as(!last), last) {
                (true, true) => FormatError::NoEnd(position),
                (true, false) => FormatError::Appended(position),
                (false, _) if position == 0 => FormatError::FirstChunk,
                (false, _) => FormatError::Chunk(position),
            });
        }
        output.write_all(chunk).map_err(FormatError::Write)?;
        if last {
            return Ok(());
        }
    }
}

fn header(nonce: &[u8; NONCE_SIZE]) -> [u8; HEADER_SIZE] {
    let mut header = [0; HEADER_SIZE];
    let (kind, rest) = header.split_at_mut(MAGIC.len());
    kind.copy_from_slice(&MAGIC);
    rest[0] = VERSION;
    rest[1..].copy_from_slice(nonce);
    header
}

fn read_header(input: &mut impl Read) -> Result<[u8; HEADER_SIZE], FormatError> {
    let mut bytes = Vec::with_capacity(HEADER_SIZE);
    input
        .take(HEADER_SIZE as u64)
        .read_to_end(&mut bytes)
        .map_err(FormatError::Read)?;
    if bytes.is_empty() || !MAGIC.iter().zip(&bytes).all(|(magic, byte)| magic == byte) {
        return Err(FormatError::NotSealed);
    }
    match bytes.get(MAGIC.len()) {
        Some(&VERSION) | None => {}
        Some(&other) => return Err(FormatError::Version(other)),
    }
    bytes.try_into().map_err(|_| FormatError::HeaderCutShort)
}

/// What each tag covers beside its chunk: the header, and whether this is the end.
fn associated_data(header: &[u8; HEADER_SIZE], last: bool) -> [u8; HEADER_SIZE + 1] {
    let mut data = [u8::from(last); HEADER_SIZE + 1];
    data[..HEADER_SIZE].copy_from_slice(header);
    data
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
        seal(&key, plaintext, &mut sealed).unwrap();
        (key, sealed)
    }

    #[test]
    fn buffers_do_not_grow() {
        let data = vec![1; 3 * CHUNK_SIZE + 5];
        for size in [CHUNK_SIZE, CHUNK_SIZE + TAG_SIZE] {
            let mut pieces = Pieces::new(&data[..], size);
            let capacity = pieces.piece.capacity();
            let mut total = 0;
            while !pieces.advance().unwrap() {
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

    #[test]
    fn a_key_seals_many_files() {
        let (_, first) = sealed(b"same");
        let (_, second) = sealed(b"same");
        assert_ne!(first[8..], second[8..]);
    }
}
