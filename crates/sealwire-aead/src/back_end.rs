//! What a back end does, and what can be said about it without knowing which one it is.

use crate::batch::{OpenJob, SealJob, Verdict};
use crate::keys::MessageKeys;
use crate::mac_input::MacInput;
use crate::portable::blake3::{Chain, Node};
use crate::{KEY_SIZE, NONCE_SIZE, TAG_SIZE};
use subtle::ConstantTimeEq;

/// The operations that exist once for each instruction set.
///
/// The defaults work on one message after the other.
pub(crate) trait BackEnd: Copy {
    /// Which one this is.
    #[cfg(feature = "measuring")]
    fn level(self) -> sealwire_simd::measuring::Level;

    /// Keys of the message with this nonce.
    fn derive_message_keys(self, key: &[u8; KEY_SIZE], nonce: &[u8; NONCE_SIZE]) -> MessageKeys;

    /// XORs the keystream from block `counter` on into `data`.
    fn xor_keystream(self, keys: &MessageKeys, counter: u64, data: &mut [u8]);

    /// Keyed BLAKE3 over `input`.
    fn mac(self, key: &Chain, input: &MacInput<'_>) -> [u8; TAG_SIZE];

    /// BLAKE3's chaining value over `len` bytes of `input` from `start`, a chunk boundary, where
    /// that is a subtree and not the whole tree.
    fn node(self, key: &Chain, input: &MacInput<'_>, start: usize, len: usize) -> Node;

    /// Encrypts `buffer` with the keystream from block `counter` on and returns the tag.
    #[inline]
    fn seal(
        self,
        keys: &MessageKeys,
        counter: u64,
        aad: &[u8],
        buffer: &mut [u8],
    ) -> [u8; TAG_SIZE] {
        self.xor_keystream(keys, counter, buffer);
        self.mac(&keys.authentication, &MacInput::new(aad, buffer))
    }

    /// Encrypts `buffer` under the keys of `nonce` and returns the tag.
    #[inline]
    fn seal_one(
        self,
        key: &[u8; KEY_SIZE],
        nonce: &[u8; NONCE_SIZE],
        aad: &[u8],
        buffer: &mut [u8],
    ) -> [u8; TAG_SIZE] {
        let keys = self.derive_message_keys(key, nonce);
        self.seal(&keys, 0, aad, buffer)
    }

    /// Decrypts `buffer` if `tag` is its tag, and leaves it alone if not.
    #[inline]
    fn open(
        self,
        keys: &MessageKeys,
        counter: u64,
        aad: &[u8],
        buffer: &mut [u8],
        tag: &[u8; TAG_SIZE],
    ) -> bool {
        let expected = self.mac(&keys.authentication, &MacInput::new(aad, buffer));
        let verified = tags_equal(&expected, tag);
        if verified {
            self.xor_keystream(keys, counter, buffer);
        }
        verified
    }

    /// Seals a job under the keys of its nonce.
    #[inline]
    fn seal_job(self, key: &[u8; KEY_SIZE], job: &mut SealJob<'_>) {
        *job.tag = self.seal_one(key, &job.nonce, job.aad, job.buffer);
    }

    /// Opens a job under the keys of its nonce and writes the verdict.
    #[inline]
    fn open_job(self, key: &[u8; KEY_SIZE], job: &mut OpenJob<'_>) {
        let keys = self.derive_message_keys(key, &job.nonce);
        let verified = self.open(&keys, 0, job.aad, job.buffer, job.tag);
        job.verdict = Verdict::of(verified);
    }

    /// Seals every job under the keys of its nonce.
    fn seal_batch(self, key: &[u8; KEY_SIZE], jobs: &mut [SealJob<'_>]) {
        for job in jobs {
            self.seal_job(key, job);
        }
    }

    /// Opens every job under the keys of its nonce and writes the verdicts.
    fn open_batch(self, key: &[u8; KEY_SIZE], jobs: &mut [OpenJob<'_>]) {
        for job in jobs {
            self.open_job(key, job);
        }
    }

    /// Seals all jobs with one keystream from block `counter` on.
    fn seal_run(self, keys: &MessageKeys, counter: u64, jobs: &mut [SealJob<'_>]) {
        let mut counter = counter;
        for job in jobs {
            *job.tag = self.seal(keys, counter, job.aad, job.buffer);
            counter = counter.wrapping_add(keystream_blocks(job.buffer));
        }
    }

    /// Opens jobs with one keystream from block `counter` on, up to the first that is forged, and
    /// writes the verdicts of those. The others have none yet.
    fn open_run(self, keys: &MessageKeys, counter: u64, jobs: &mut [OpenJob<'_>]) {
        let mut counter = counter;
        for job in jobs {
            let verified = self.open(keys, counter, job.aad, job.buffer, job.tag);
            job.verdict = Verdict::of(verified);
            if !verified {
                return;
            }
            counter = counter.wrapping_add(keystream_blocks(job.buffer));
        }
    }
}

/// Whether two tags are the same, in constant time.
///
/// Compares words: `subtle` shields every element that it compares, and 32 bytes of it take as long
/// as a block of BLAKE3.
#[inline(always)]
pub(crate) fn tags_equal(expected: &[u8; TAG_SIZE], tag: &[u8; TAG_SIZE]) -> bool {
    fn words(tag: &[u8; TAG_SIZE]) -> [u64; 4] {
        let bytes = tag.as_chunks::<8>().0;
        core::array::from_fn(|i| u64::from_ne_bytes(bytes[i]))
    }
    let equal = words(expected).as_slice().ct_eq(&words(tag)).unwrap_u8();
    // The verdict is no secret any more.
    #[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
    let equal = crate::constant_time::declassified(equal);
    equal == 1
}

/// Blocks of keystream that a message takes.
pub(crate) const fn keystream_blocks(text: &[u8]) -> u64 {
    text.len().div_ceil(64) as u64
}

#[cfg(test)]
mod tests {
    //! Every back end that this CPU has, against the portable one.

    use super::*;
    use crate::engine;
    use crate::portable::Portable;
    use alloc::vec::Vec;

    fn bytes(length: usize, seed: usize) -> Vec<u8> {
        (0..length)
            .map(|i| (((i + seed) * (2 * i + 7 * seed + 3)) >> 3) as u8)
            .collect()
    }

    fn agrees_with_portable() {
        let key: [u8; 32] = core::array::from_fn(|i| (i * 37 + 11) as u8);
        let aad_lengths = [0, 1, 9, 55, 56, 57, 64, 1_015, 1_016, 1_020, 1_024, 5_000];
        let text_lengths = (0..1_300)
            .chain((1_300..36_000).step_by(509))
            // Around four chunks and a short one.
            .chain((4_020..4_620).step_by(3))
            .chain([300_000]);
        for (case, length) in text_lengths.enumerate() {
            let nonce: [u8; 24] = core::array::from_fn(|i| (i * case) as u8);
            let keys = engine::derive_message_keys(&key, &nonce);
            let expected = Portable.derive_message_keys(&key, &nonce);
            assert_eq!(keys.encryption, expected.encryption);
            assert_eq!(keys.authentication, expected.authentication);
            assert_eq!(keys.nonce, expected.nonce);

            // Counters whose lower half overflows inside the message.
            let counter = (1 << 32) - (case % 40) as u64;
            let (mut ours, mut theirs) = (bytes(length, case), bytes(length, case));
            engine::xor_keystream(&keys, counter, &mut ours);
            Portable.xor_keystream(&keys, counter, &mut theirs);
            assert!(ours == theirs, "keystream, {length} bytes");

            let aad = bytes(aad_lengths[case % aad_lengths.len()], case);
            // Sealing may interleave what was just done in two passes.
            let (mut sealed, mut expected) = (bytes(length, case), bytes(length, case));
            let tag = engine::seal(&keys, counter, &aad, &mut sealed);
            assert_eq!(tag, Portable.seal(&keys, counter, &aad, &mut expected));
            assert!(sealed == expected, "sealing, {length} bytes");

            let input = MacInput::new(&aad, &ours);
            let tag = engine::mac(&keys.authentication, &input);
            assert_eq!(
                tag,
                Portable.mac(&keys.authentication, &input),
                "tag, {length} bytes"
            );

            let front = [&aad[..], &[7; 8]].concat();
            let part = MacInput::part(case as u64, &front, &ours, 1 << 40);
            assert_eq!(
                engine::node(&keys.authentication, &part, 0, part.len()),
                Portable.node(&keys.authentication, &part, 0, part.len()),
                "node of a part, {length} bytes"
            );
        }
    }

    fn batches_agree_with_portable() {
        for round in 0..60 {
            let count = round * 7 % 40;
            let limit = [40, 300, 2_500, 9_000][round % 4];
            let length = |i: usize| (i * 379 + round * 61) % limit;
            let texts = (0..count).map(|i| bytes(length(i), i)).collect();
            let aads: Vec<_> = (0..count).map(|i| bytes((i * 5 + round) % 61, i)).collect();
            batch_agrees_with_portable(texts, &aads, round);
        }
    }

    /// Messages of the same lengths have a way of their own.
    fn batches_alike_agree_with_portable() {
        let lengths = (0..200).chain([255, 256, 257, 500]).chain(930..1_030);
        for (case, length) in lengths.enumerate() {
            let count = [3, 4, 7, 8, 9, 16, 17, 35, 65][case % 9];
            for aad_len in [0, [1, 2, 3, 4, 9, 31, 55, 56][case % 8]] {
                let texts = (0..count).map(|i| bytes(length, i + case)).collect();
                let aads: Vec<_> = (0..count).map(|i| bytes(aad_len, i)).collect();
                batch_agrees_with_portable(texts, &aads, case);
            }
        }
    }

    fn batch_agrees_with_portable(texts: Vec<Vec<u8>>, aads: &[Vec<u8>], case: usize) {
        let key = [0x5c; 32];
        let keys = Portable.derive_message_keys(&key, &[3; 24]);
        // Close to the end of all counters, and of their lower halves.
        let counter = [u64::MAX, u64::from(u32::MAX) - 20][case % 2];
        let count = texts.len();
        let (mut ours, mut theirs) = (texts.clone(), texts);
        for continuous in [false, true] {
            let mut our_tags = alloc::vec![[0; TAG_SIZE]; count];
            let mut their_tags = our_tags.clone();
            let mut our_jobs = seal_jobs(aads, &mut ours, &mut our_tags);
            let mut their_jobs = seal_jobs(aads, &mut theirs, &mut their_tags);
            if continuous {
                engine::seal_run(&keys, counter, &mut our_jobs);
                Portable.seal_run(&keys, counter, &mut their_jobs);
            } else {
                engine::seal_batch(&key, &mut our_jobs);
                Portable.seal_batch(&key, &mut their_jobs);
            }
            assert!(
                ours == theirs && our_tags == their_tags,
                "sealing, case {case}"
            );

            let mut opened = ours.clone();
            let forged = case % (count + 5);
            if let Some(tag) = our_tags.get_mut(forged) {
                tag[case % TAG_SIZE] ^= 0x10;
            }
            let mut jobs = open_jobs(aads, &mut opened, &our_tags);
            let mut expected = ours.clone();
            let mut expected_jobs = open_jobs(aads, &mut expected, &our_tags);
            if continuous {
                engine::open_run(&keys, counter, &mut jobs);
                Portable.open_run(&keys, counter, &mut expected_jobs);
            } else {
                engine::open_batch(&key, &mut jobs);
                Portable.open_batch(&key, &mut expected_jobs);
            }
            let verdicts: Vec<_> = jobs.iter().map(|job| job.verdict).collect();
            let expected_verdicts: Vec<_> = expected_jobs.iter().map(|job| job.verdict).collect();
            assert_eq!(verdicts, expected_verdicts, "opening, case {case}");
            assert!(opened == expected, "opening, case {case}");
        }
    }

    fn seal_jobs<'a>(
        aads: &'a [Vec<u8>],
        buffers: &'a mut [Vec<u8>],
        tags: &'a mut [[u8; TAG_SIZE]],
    ) -> Vec<SealJob<'a>> {
        let mut jobs = Vec::new();
        for (index, ((aad, buffer), tag)) in aads.iter().zip(buffers).zip(tags).enumerate() {
            jobs.push(SealJob {
                nonce: [index as u8; NONCE_SIZE],
                aad,
                buffer,
                tag,
            });
        }
        jobs
    }

    fn open_jobs<'a>(
        aads: &'a [Vec<u8>],
        buffers: &'a mut [Vec<u8>],
        tags: &'a [[u8; TAG_SIZE]],
    ) -> Vec<OpenJob<'a>> {
        let mut jobs = Vec::new();
        for (index, ((aad, buffer), tag)) in aads.iter().zip(buffers).zip(tags).enumerate() {
            jobs.push(OpenJob::new([index as u8; NONCE_SIZE], aad, buffer, tag));
        }
        jobs
    }

    /// What [`engine`] chooses, which a test holds down.
    fn on_every_back_end(test: impl Fn()) {
        use sealwire_simd::measuring::{Level, on_every};
        let levels = [
            Level::Portable,
            Level::Neon,
            Level::Sse41,
            Level::Avx2,
            Level::Avx512,
        ];
        on_every(&levels, |_| test());
    }

    #[test]
    fn messages_are_the_same_on_every_back_end() {
        on_every_back_end(agrees_with_portable);
    }

    #[test]
    fn batches_are_the_same_on_every_back_end() {
        on_every_back_end(batches_agree_with_portable);
    }

    #[test]
    fn batches_of_one_length_are_the_same_on_every_back_end() {
        on_every_back_end(batches_alike_agree_with_portable);
    }
}
