//! What a tag is computed over: `aad || le64(len aad) || ciphertext || le64(len ciphertext)`,
//! readable at any offset without ever being put together in memory.

use crate::node::CHUNK_SIZE;

/// The virtual concatenation of a message's associated data, ciphertext and their lengths, or a part
/// of it.
#[derive(Clone, Copy)]
pub(crate) struct MacInput<'a> {
    aad: &'a [u8],
    aad_len: [u8; 8],
    ciphertext: &'a [u8],
    ciphertext_len: [u8; 8],
    /// Where it is a part: number of the chunk that it begins with.
    part_from: Option<u64>,
}

impl<'a> MacInput<'a> {
    pub(crate) fn new(aad: &'a [u8], ciphertext: &'a [u8]) -> Self {
        Self {
            aad,
            aad_len: (aad.len() as u64).to_le_bytes(),
            ciphertext,
            ciphertext_len: (ciphertext.len() as u64).to_le_bytes(),
            part_from: None,
        }
    }

    /// The part from chunk `first_chunk` on: `front`, which is 8 bytes or more, then `ciphertext`,
    /// then the length of the whole ciphertext.
    pub(crate) fn part(
        first_chunk: u64,
        front: &'a [u8],
        ciphertext: &'a [u8],
        whole_len: u64,
    ) -> Self {
        let (aad, aad_len) = front.split_last_chunk().expect("eight bytes or more");
        Self {
            aad,
            aad_len: *aad_len,
            ciphertext,
            ciphertext_len: whole_len.to_le_bytes(),
            part_from: Some(first_chunk),
        }
    }

    /// Number of the chunk at `offset`.
    #[inline]
    pub(crate) fn chunk_number(&self, offset: usize) -> u64 {
        self.part_from.unwrap_or(0) + (offset / CHUNK_SIZE) as u64
    }

    /// Length in bytes; at least 16, for the two lengths.
    pub(crate) const fn len(&self) -> usize {
        self.aad.len() + 8 + self.ciphertext.len() + 8
    }

    /// Copies the bytes from `offset` on into `out`.
    ///
    /// Bytes of `out` past the end of the input are left as they are.
    pub(crate) fn read(&self, offset: usize, out: &mut [u8]) {
        let mut skip = offset;
        let mut filled = 0;
        for part in [
            self.aad,
            &self.aad_len,
            self.ciphertext,
            &self.ciphertext_len,
        ] {
            if skip >= part.len() {
                skip -= part.len();
                continue;
            }
            let count = (part.len() - skip).min(out.len() - filled);
            out[filled..filled + count].copy_from_slice(&part[skip..skip + count]);
            filled += count;
            skip = 0;
        }
    }
}

/// For back ends that read a message where it lies.
#[cfg(all(
    any(
        target_arch = "x86_64",
        all(target_arch = "aarch64", target_endian = "little"),
        all(target_arch = "wasm32", target_feature = "simd128")
    ),
    not(sealwire_portable)
))]
impl<'a> MacInput<'a> {
    /// Whether the lengths in it are those of what it holds.
    #[inline]
    pub(crate) const fn is_whole(&self) -> bool {
        self.part_from.is_none()
    }

    /// The associated data.
    pub(crate) const fn aad(&self) -> &'a [u8] {
        self.aad
    }

    /// The ciphertext.
    pub(crate) const fn ciphertext(&self) -> &'a [u8] {
        self.ciphertext
    }

    /// The `N` bytes from `offset` on if they lie together in the associated data or the
    /// ciphertext.
    #[inline]
    pub(crate) fn contiguous<const N: usize>(&self, offset: usize) -> Option<&'a [u8; N]> {
        match offset.checked_sub(self.aad.len() + 8) {
            Some(offset) => self.ciphertext.get(offset..)?.first_chunk(),
            None => self.aad.get(offset..)?.first_chunk(),
        }
    }
}
