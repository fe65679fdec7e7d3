//! Batches of messages, written once over the keystream of any back end.
//!
//! ```text
//! seal   keystream of block 0 of each message, and of the texts; tags
//! open   keystream of block 0 of each message; verdicts; keystream of the texts that verified
//! alone  a short message: all of its keystream, then tag or verdict
//! ```
//!
//! Blocks of many short messages are computed side by side, as well as those of a long one. A long
//! text that is sealed is authenticated piece by piece, while it is in the cache.

use arrayvec::ArrayVec;
use sealwire_simd::vector::MAX_LANES;

use crate::job::{OpenJob, SealJob};
use crate::poly1305::{self, tags_equal};
use crate::salsa20::block::{BLOCK_SIZE, MAC_KEY_SIZE, Position, Positions, wipe, xor};
use crate::salsa20::engine;
use crate::sizes::TAG_SIZE;

/// Jobs whose first blocks are kept at the same time.
const WINDOW: usize = 32;

/// Bytes of a long text that are encrypted and then authenticated at a time: a fraction of a
/// first-level cache, in whole runs of lanes.
const PIECE: usize = 8 * 1024;

/// Bytes of text that the first block has keystream for.
const HEAD: usize = BLOCK_SIZE - MAC_KEY_SIZE;

/// The first blocks of a window's keystreams.
type FirstBlocks = ArrayVec<[u8; BLOCK_SIZE], WINDOW>;

/// Longest text whose keystream is computed at once, where it is alone.
const SHORT: usize = engine::FIRST_BLOCKS * BLOCK_SIZE - MAC_KEY_SIZE;

/// Seals every job under its nonce.
pub(crate) fn seal_batch(subkey: &[u32; 8], jobs: &mut [SealJob<'_>]) {
    if let [job] = jobs
        && job.buffer.len() <= SHORT
    {
        seal_short(subkey, job);
        return;
    }
    let run = engine::lanes() * BLOCK_SIZE;
    for window in jobs.chunks_mut(WINDOW) {
        // In its place: to return what is collected would move it.
        let mut first = FirstBlocks::new();
        first.extend(window.iter().map(|_| [0; BLOCK_SIZE]));
        let mut queue = Queue::new(subkey, run);
        for (job, block) in window.iter_mut().zip(&mut first) {
            let nonce = u64::from_le_bytes(job.nonce);
            queue.push(Position { nonce, counter: 0 }, block);
            if poly1305::is_long(job.buffer.len()) {
                queue.xor_rest(nonce, job.buffer);
            } else if job.buffer.len() > HEAD {
                queue.xor_behind_head(nonce, job.buffer);
            }
        }
        queue.finish();
        for (job, block) in window.iter_mut().zip(&first) {
            xor_head(job.buffer, block);
            *job.tag = if poly1305::is_long(job.buffer.len()) {
                let nonce = u64::from_le_bytes(job.nonce);
                seal_runs(subkey, nonce, mac_key(block), job.buffer, run)
            } else {
                poly1305::tag(mac_key(block), job.buffer)
            };
        }
        wipe(first.as_flattened_mut());
    }
}

/// Seals a text of at most [`SHORT`] bytes.
fn seal_short(subkey: &[u32; 8], job: &mut SealJob<'_>) {
    with_keystream(subkey, job.nonce, job.buffer, |mac_key, keystream, text| {
        xor(text, keystream);
        *job.tag = poly1305::tag(mac_key, text);
    });
}

/// Writes the verdict of a text of at most [`SHORT`] bytes, and decrypts it if it verified.
fn open_short(subkey: &[u32; 8], job: &mut OpenJob<'_>) {
    with_keystream(subkey, job.nonce, job.buffer, |mac_key, keystream, text| {
        job.verified = tags_equal(&poly1305::tag(mac_key, text), job.tag);
        if job.verified {
            xor(text, keystream);
        }
    });
}

/// Hands over the key of the tag and the keystream of a text of at most [`SHORT`] bytes.
#[inline]
fn with_keystream(
    subkey: &[u32; 8],
    nonce: [u8; 8],
    text: &mut [u8],
    work: impl FnOnce(&[u8; MAC_KEY_SIZE], &[u8], &mut [u8]),
) {
    let mut blocks = [[0; BLOCK_SIZE]; engine::FIRST_BLOCKS];
    let needed = (MAC_KEY_SIZE + text.len()).div_ceil(BLOCK_SIZE);
    engine::first_blocks(subkey, u64::from_le_bytes(nonce), &mut blocks[..needed]);
    let (mac_key, keystream) = blocks
        .as_flattened()
        .split_first_chunk()
        .expect("a block holds a key");
    work(mac_key, keystream, text);
    wipe(blocks.as_flattened_mut());
}

/// Encrypts the whole runs of a long text and gives the tag. Its head and its rest are encrypted.
fn seal_runs(
    subkey: &[u32; 8],
    nonce: u64,
    mac_key: &[u8; MAC_KEY_SIZE],
    text: &mut [u8],
    run: usize,
) -> [u8; TAG_SIZE] {
    let mut mac = poly1305::Running::new(mac_key);
    let end = end_of_runs(text.len(), run);
    let (mut encrypted, mut authenticated) = (HEAD, 0);
    while encrypted < end {
        let start = position(nonce, encrypted);
        let piece = encrypted..end.min(encrypted + PIECE);
        encrypted = piece.end;
        engine::xor_runs(subkey, start, &mut text[piece]);
        let whole = encrypted - encrypted % poly1305::PIECE_UNIT;
        mac.update(&text[authenticated..whole]);
        authenticated = whole;
    }
    mac.finish(&text[authenticated..])
}

/// Writes every job's verdict and decrypts those that verified.
pub(crate) fn open_batch(subkey: &[u32; 8], jobs: &mut [OpenJob<'_>]) {
    if let [job] = jobs
        && job.buffer.len() <= SHORT
    {
        open_short(subkey, job);
        return;
    }
    let run = engine::lanes() * BLOCK_SIZE;
    for window in jobs.chunks_mut(WINDOW) {
        let mut first = FirstBlocks::new();
        first.extend(window.iter().map(|_| [0; BLOCK_SIZE]));
        let mut queue = Queue::new(subkey, run);
        for (job, block) in window.iter().zip(&mut first) {
            let nonce = u64::from_le_bytes(job.nonce);
            queue.push(Position { nonce, counter: 0 }, block);
        }
        queue.finish();
        let mut queue = Queue::new(subkey, run);
        for (job, block) in window.iter_mut().zip(&first) {
            let expected = poly1305::tag(mac_key(block), job.buffer);
            job.verified = tags_equal(&expected, job.tag);
            if job.verified {
                xor_head(job.buffer, block);
                if job.buffer.len() > HEAD {
                    queue.xor_behind_head(u64::from_le_bytes(job.nonce), job.buffer);
                }
            }
        }
        queue.finish();
        wipe(first.as_flattened_mut());
    }
}

/// The one-time key of a message's tag.
fn mac_key(first: &[u8; BLOCK_SIZE]) -> &[u8; MAC_KEY_SIZE] {
    first.first_chunk().expect("a block holds a key")
}

/// XORs what the first block has for the text into it.
fn xor_head(text: &mut [u8], first: &[u8; BLOCK_SIZE]) {
    let length = text.len().min(HEAD);
    xor(&mut text[..length], &first[MAC_KEY_SIZE..]);
}

/// Where the whole runs end that a text of this length has behind its head, of `run` bytes each, a
/// power of two.
const fn end_of_runs(length: usize, run: usize) -> usize {
    HEAD + (length.saturating_sub(HEAD) & !(run - 1))
}

/// Which block has the keystream for the text from `at` on, which is behind the head.
const fn position(nonce: u64, at: usize) -> Position {
    let counter = 1 + ((at - HEAD) / BLOCK_SIZE) as u64;
    Position { nonce, counter }
}

/// Blocks that are to be computed together, and the texts that they are XORed into.
struct Queue<'a> {
    subkey: &'a [u32; 8],
    /// Bytes of the blocks that are computed side by side.
    run: usize,
    positions: Positions,
    texts: ArrayVec<&'a mut [u8], MAX_LANES>,
}

impl<'a> Queue<'a> {
    #[inline]
    fn new(subkey: &'a [u32; 8], run: usize) -> Self {
        Self {
            subkey,
            run,
            positions: Positions::new(),
            texts: ArrayVec::new(),
        }
    }

    /// XORs a block into `text`, which is no longer, by the time of [`finish`](Self::finish).
    #[inline]
    fn push(&mut self, position: Position, text: &'a mut [u8]) {
        self.positions.set(self.texts.len(), position);
        self.texts.push(text);
        if self.texts.len() * BLOCK_SIZE == self.run {
            self.flush();
        }
    }

    /// XORs all that follows the whole runs of a message into it.
    #[inline]
    fn xor_rest(&mut self, nonce: u64, message: &'a mut [u8]) {
        let start = end_of_runs(message.len(), self.run);
        let rest = message.get_mut(start..).unwrap_or_default();
        for (index, text) in rest.chunks_mut(BLOCK_SIZE).enumerate() {
            self.push(position(nonce, start + index * BLOCK_SIZE), text);
        }
    }

    /// XORs all that follows the head of a message into it.
    #[inline]
    fn xor_behind_head(&mut self, nonce: u64, message: &'a mut [u8]) {
        let end = end_of_runs(message.len(), self.run);
        if end > HEAD {
            engine::xor_runs(self.subkey, position(nonce, HEAD), &mut message[HEAD..end]);
        }
        self.xor_rest(nonce, message);
    }

    #[inline]
    fn flush(&mut self) {
        if !self.texts.is_empty() {
            engine::xor_blocks(self.subkey, &self.positions, &mut self.texts);
            self.texts.clear();
        }
    }

    /// Computes what is left.
    #[inline]
    fn finish(mut self) {
        self.flush();
    }
}

#[cfg(test)]
mod tests {
    //! Every back end that this CPU has, against one message after the other.

    use alloc::vec;
    use alloc::vec::Vec;

    use ::poly1305::Poly1305;
    use ::poly1305::universal_hash::KeyInit;

    use sealwire_simd::measuring::{Level, on_every};

    use super::*;
    use crate::salsa20::portable::block;

    const LEVELS: [Level; 7] = [
        Level::Portable,
        Level::Simd128,
        Level::Neon,
        Level::Sse2,
        Level::Avx2,
        Level::Avx512,
        Level::Ifma,
    ];

    fn bytes(length: usize, seed: usize) -> Vec<u8> {
        (0..length)
            .map(|i| (((i + seed) as u64 * (2 * i + 7 * seed + 3) as u64) >> 3) as u8)
            .collect()
    }

    fn nonce(seed: usize) -> [u8; 8] {
        (seed as u64)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .to_be_bytes()
    }

    /// What sealing is defined as: the keystream from its start, and a tag of the ciphertext.
    fn reference(key: &[u32; 8], nonce: [u8; 8], text: &mut [u8]) -> [u8; TAG_SIZE] {
        let nonce = u64::from_le_bytes(nonce);
        let blocks = (0..).flat_map(|counter| block(key, Position { nonce, counter }.words()));
        let mut keystream = blocks.take(MAC_KEY_SIZE + text.len());
        let mac_key: Vec<u8> = keystream.by_ref().take(MAC_KEY_SIZE).collect();
        for (byte, key_byte) in text.iter_mut().zip(keystream) {
            *byte ^= key_byte;
        }
        let mac = Poly1305::new_from_slice(&mac_key).expect("32 bytes");
        mac.compute_unpadded(text).into()
    }

    fn seal(key: &[u32; 8], texts: &mut [Vec<u8>]) -> Vec<[u8; 16]> {
        let mut tags = vec![[0; 16]; texts.len()];
        let pairs = texts.iter_mut().zip(&mut tags).enumerate();
        let mut jobs: Vec<_> = pairs
            .map(|(i, (buffer, tag))| SealJob {
                nonce: nonce(i),
                buffer,
                tag,
            })
            .collect();
        seal_batch(key, &mut jobs);
        tags
    }

    fn open(key: &[u32; 8], texts: &mut [Vec<u8>], tags: &[[u8; 16]]) -> Vec<bool> {
        let pairs = texts.iter_mut().zip(tags).enumerate();
        let mut jobs: Vec<_> = pairs
            .map(|(i, (buffer, tag))| OpenJob::new(nonce(i), buffer, tag))
            .collect();
        open_batch(key, &mut jobs);
        jobs.iter().map(|job| job.verified).collect()
    }

    fn agrees_with_the_reference() {
        let key = core::array::from_fn(|i| (i as u32 + 3).wrapping_mul(0x0123_4567));
        // Each length alone, then batches of mixed lengths.
        let alone = (0..1_400)
            .chain((1_400..9_000).step_by(509))
            .chain([8_224, 8_225, 16_400, 70_000])
            .map(|n| vec![n]);
        let mixed = (0..80).map(|round| {
            let limit = [40, 300, 2_500, 9_000][round % 4];
            (0..round * 7 % 150)
                .map(|i| (i * 379 + round * 61) % limit)
                .collect()
        });
        for (case, lengths) in alone.chain(mixed).enumerate() {
            let plain: Vec<_> = lengths.iter().map(|n| bytes(*n, case)).collect();
            let (mut ours, mut theirs) = (plain.clone(), plain.clone());
            let mut tags = seal(&key, &mut ours);
            let texts = theirs.iter_mut().enumerate();
            let expected: Vec<_> = texts
                .map(|(i, text)| reference(&key, nonce(i), text))
                .collect();
            assert_eq!(tags, expected, "case {case}");
            assert!(ours == theirs, "case {case}");

            let forged = case % (tags.len() + 1);
            if let Some(tag) = tags.get_mut(forged) {
                tag[case % 16] ^= 1 << (case % 8);
            }
            let verdicts = open(&key, &mut ours, &tags);
            for (i, verified) in verdicts.into_iter().enumerate() {
                assert_eq!(verified, i != forged, "case {case}, message {i}");
                let expected = if verified { &plain[i] } else { &theirs[i] };
                assert!(ours[i] == *expected, "case {case}, message {i}");
            }
        }
    }

    #[test]
    fn every_back_end_agrees_with_the_reference() {
        on_every(&LEVELS, |_| agrees_with_the_reference());
    }
}
