//! What sealing and opening have in common, and which comes first: keystream or tag.

use crate::batch::{OpenJob, SealJob, Verdict};
use crate::{NONCE_SIZE, TAG_SIZE};
use subtle::ConstantTimeEq;

/// One message of a batch.
pub(crate) trait Job {
    /// Whether the text gets its keystream before it is hashed. A text that is opened gets it after that, and
    /// only if its tag is right.
    const SEALS: bool;

    fn nonce(&self) -> &[u8; NONCE_SIZE];
    fn aad(&self) -> &[u8];
    fn text(&self) -> &[u8];
    /// Nonce, associated data and text.
    fn parts(&mut self) -> (&[u8; NONCE_SIZE], &[u8], &mut [u8]);

    /// Takes the tag of its ciphertext, and tells whether the message is genuine.
    fn settle(&mut self, tag: &[u8; TAG_SIZE]) -> bool;
    /// As if it had not been settled, because a message before it is forged.
    #[cfg_attr(
        any(
            sealwire_portable,
            not(any(
                target_arch = "x86_64",
                all(target_arch = "aarch64", target_endian = "little"),
                all(target_arch = "wasm32", target_feature = "simd128")
            ))
        ),
        expect(dead_code, reason = "for back ends that settle many messages at once")
    )]
    fn withdraw(&mut self);
}

impl Job for SealJob<'_> {
    const SEALS: bool = true;

    fn nonce(&self) -> &[u8; NONCE_SIZE] {
        &self.nonce
    }
    fn aad(&self) -> &[u8] {
        self.aad
    }
    fn text(&self) -> &[u8] {
        self.buffer
    }
    fn parts(&mut self) -> (&[u8; NONCE_SIZE], &[u8], &mut [u8]) {
        (&self.nonce, self.aad, self.buffer)
    }

    #[inline]
    fn settle(&mut self, tag: &[u8; TAG_SIZE]) -> bool {
        *self.tag = *tag;
        true
    }
    fn withdraw(&mut self) {}
}

impl Job for OpenJob<'_> {
    const SEALS: bool = false;

    fn nonce(&self) -> &[u8; NONCE_SIZE] {
        &self.nonce
    }
    fn aad(&self) -> &[u8] {
        self.aad
    }
    fn text(&self) -> &[u8] {
        self.buffer
    }
    fn parts(&mut self) -> (&[u8; NONCE_SIZE], &[u8], &mut [u8]) {
        (&self.nonce, self.aad, self.buffer)
    }

    #[inline]
    fn settle(&mut self, tag: &[u8; TAG_SIZE]) -> bool {
        let genuine = tags_equal(tag, self.tag);
        self.verdict = Verdict::of(genuine);
        genuine
    }
    fn withdraw(&mut self) {
        self.verdict = Verdict::Unchecked;
    }
}

/// Whether two tags are the same, in constant time.
///
/// Compares words: `subtle` shields every element that it compares, and 32 bytes of it take as long
/// as a block of BLAKE3.
#[inline]
pub(crate) fn tags_equal(expected: &[u8; TAG_SIZE], tag: &[u8; TAG_SIZE]) -> bool {
    fn words(tag: &[u8; TAG_SIZE]) -> [u64; 4] {
        let bytes = tag.as_chunks::<8>().0;
        core::array::from_fn(|i| u64::from_ne_bytes(bytes[i]))
    }
    let equal = words(expected).as_slice().ct_eq(&words(tag)).unwrap_u8();
    // The verdict is not a secret any more.
    #[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
    let equal = crate::constant_time::declassified(equal);
    equal == 1
}
