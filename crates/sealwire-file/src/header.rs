//! What a sealed file begins with, and what every tag covers beside its chunk.

use sealwire_aead::NONCE_SIZE;

use crate::InvalidFile;

/// Size of a header in bytes.
pub const HEADER_SIZE: usize = MAGIC.len() + 1 + NONCE_SIZE;

const MAGIC: [u8; 7] = *b"\xd5SEALED";
const VERSION: u8 = 1;

/// A header of version 1.
#[derive(Clone, Debug)]
pub(crate) struct Header([u8; HEADER_SIZE]);

impl Header {
    pub(crate) fn new(nonce: &[u8; NONCE_SIZE]) -> Self {
        let mut header = [0; HEADER_SIZE];
        let (magic, rest) = header.split_at_mut(MAGIC.len());
        magic.copy_from_slice(&MAGIC);
        rest[0] = VERSION;
        rest[1..].copy_from_slice(nonce);
        Header(header)
    }

    /// Reads what a file begins with: fewer bytes than [`HEADER_SIZE`] are all that it has.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, InvalidFile> {
        if bytes.is_empty() || !MAGIC.iter().zip(bytes).all(|(magic, byte)| magic == byte) {
            return Err(InvalidFile::NotSealed);
        }
        match bytes.get(MAGIC.len()) {
            Some(&VERSION) | None => {}
            Some(&other) => return Err(InvalidFile::Version(other)),
        }
        let header = bytes.first_chunk().ok_or(InvalidFile::HeaderCutShort)?;
        Ok(Header(*header))
    }

    pub(crate) const fn as_bytes(&self) -> &[u8; HEADER_SIZE] {
        &self.0
    }

    pub(crate) fn nonce(&self) -> [u8; NONCE_SIZE] {
        std::array::from_fn(|i| self.0[HEADER_SIZE - NONCE_SIZE + i])
    }

    /// The header, and whether this is the end of the file.
    pub(crate) fn associated_data(&self, last: bool) -> [u8; HEADER_SIZE + 1] {
        let mut data = [u8::from(last); HEADER_SIZE + 1];
        data[..HEADER_SIZE].copy_from_slice(&self.0);
        data
    }
}
