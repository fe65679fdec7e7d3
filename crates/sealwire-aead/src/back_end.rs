//! What a back end does.

use crate::job::Job;
use crate::keys::{Keying, MessageKeys};
use crate::mac_input::MacInput;
use crate::node::{Chain, Node, ROOT};
use crate::{KEY_SIZE, NONCE_SIZE, TAG_SIZE};

/// The operations that exist once for each instruction set.
///
/// The defaults work on one message after the other.
pub(crate) trait BackEnd: Copy {
    /// Keys of the message with this nonce.
    fn derive_message_keys(self, key: &[u8; KEY_SIZE], nonce: &[u8; NONCE_SIZE]) -> MessageKeys;

    /// XORs the keystream from block `counter` on into `data`.
    fn xor_keystream(self, keys: &MessageKeys, counter: u64, data: &mut [u8]);

    /// Keyed BLAKE3's node over `len` bytes of `input` from `start`, a chunk boundary. `root` is the
    /// flag [`ROOT`] for the whole of a message, whose node is its tag, and 0 for a subtree.
    fn node(self, key: &Chain, input: &MacInput<'_>, start: usize, len: usize, root: u32) -> Node;

    /// Encrypts `buffer` and returns the tag.
    fn seal(self, keying: Keying<'_>, aad: &[u8], buffer: &mut [u8]) -> [u8; TAG_SIZE] {
        let derived;
        let (keys, counter) = match keying {
            Keying::Derived { keys, counter } => (keys, counter),
            Keying::Nonce { key, nonce } => {
                derived = self.derive_message_keys(key, nonce);
                (&derived, 0)
            }
        };
        self.xor_keystream(keys, counter, buffer);
        tag(self, keys, aad, buffer)
    }

    /// Does every job under the keys of its nonce.
    fn batch<J: Job>(self, key: &[u8; KEY_SIZE], jobs: &mut [J]) {
        for job in jobs {
            alone(self, key, job);
        }
    }

    /// Does jobs with one keystream from block `counter` on, up to the first that is forged. Those
    /// behind it get no verdict.
    fn run<J: Job>(self, keys: &MessageKeys, counter: u64, jobs: &mut [J]) {
        let mut counter = counter;
        for job in jobs {
            if !one(self, keys, counter, job) {
                return;
            }
            counter = counter.wrapping_add(job.text().len().div_ceil(64) as u64);
        }
    }
}

/// Does a job under the keys of its nonce, and tells whether it is genuine.
#[inline]
pub(crate) fn alone<B: BackEnd, J: Job>(back_end: B, key: &[u8; KEY_SIZE], job: &mut J) -> bool {
    if J::SEALS {
        let (nonce, aad, text) = job.parts();
        let tag = back_end.seal(Keying::Nonce { key, nonce }, aad, text);
        job.settle(&tag)
    } else {
        one(
            back_end,
            &back_end.derive_message_keys(key, job.nonce()),
            0,
            job,
        )
    }
}

/// Does a job with the keystream from block `counter` on, and tells whether it is genuine.
#[inline]
pub(crate) fn one<B: BackEnd, J: Job>(
    back_end: B,
    keys: &MessageKeys,
    counter: u64,
    job: &mut J,
) -> bool {
    if J::SEALS {
        let (_, aad, text) = job.parts();
        let tag = back_end.seal(Keying::Derived { keys, counter }, aad, text);
        return job.settle(&tag);
    }
    let genuine = job.settle(&tag(back_end, keys, job.aad(), job.text()));
    if genuine {
        back_end.xor_keystream(keys, counter, job.parts().2);
    }
    genuine
}

/// The tag of a message from its ciphertext.
#[inline]
pub(crate) fn tag<B: BackEnd>(
    back_end: B,
    keys: &MessageKeys,
    aad: &[u8],
    ciphertext: &[u8],
) -> [u8; TAG_SIZE] {
    let input = MacInput::new(aad, ciphertext);
    back_end.node(&keys.authentication, &input, 0, input.len(), ROOT)
}

#[cfg(test)]
mod tests {
    //! Every back end that this CPU has, against the portable one.

    use super::*;
    use crate::batch::{OpenJob, SealJob};
    use crate::engine;
    use crate::portable::Portable;
    use alloc::vec::Vec;

    fn bytes(length: usize, seed: usize) -> Vec<u8> {
        (0..length)
            .map(|i| (((i + seed) as u64 * (2 * i + 7 * seed + 3) as u64) >> 3) as u8)
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
            let keying = Keying::Derived {
                keys: &keys,
                counter,
            };
            let tag = engine::seal(keying, &aad, &mut sealed);
            assert_eq!(tag, Portable.seal(keying, &aad, &mut expected));
            assert!(sealed == expected, "sealing, {length} bytes");

            let input = MacInput::new(&aad, &ours);
            let authentication = &keys.authentication;
            assert_eq!(
                engine::mac(authentication, &input),
                Portable.node(authentication, &input, 0, input.len(), ROOT),
                "tag, {length} bytes"
            );

            let front = [&aad[..], &[7; 8]].concat();
            let part = MacInput::part(case as u64, &front, &ours, 1 << 40);
            assert_eq!(
                engine::node(authentication, &part, 0, part.len()),
                Portable.node(authentication, &part, 0, part.len(), 0),
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
                engine::run(&keys, counter, &mut our_jobs);
                Portable.run(&keys, counter, &mut their_jobs);
            } else {
                engine::batch(&key, &mut our_jobs);
                Portable.batch(&key, &mut their_jobs);
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
                engine::run(&keys, counter, &mut jobs);
                Portable.run(&keys, counter, &mut expected_jobs);
            } else {
                engine::batch(&key, &mut jobs);
                Portable.batch(&key, &mut expected_jobs);
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
            Level::Simd128,
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
