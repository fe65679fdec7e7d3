//! What a back end does.

use crate::counter_box::{OpenJob, SealJob};

/// The operations that exist once for each instruction set.
pub(crate) trait BackEnd: Copy {
    /// Seals every job under its nonce.
    fn seal_batch(self, subkey: &[u32; 8], jobs: &mut [SealJob<'_>]);

    /// Writes every job's verdict and decrypts those that verified.
    fn open_batch(self, subkey: &[u32; 8], jobs: &mut [OpenJob<'_>]);
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    //! Every back end that this CPU has, against the portable one.

    use alloc::vec;
    use alloc::vec::Vec;
    use std::eprintln;

    use super::*;
    use crate::portable::Portable;
    use crate::x86::{avx2::Avx2, avx512::Avx512, sse2::Sse2};

    fn bytes(length: usize, seed: usize) -> Vec<u8> {
        (0..length)
            .map(|i| (((i + seed) * (2 * i + 7 * seed + 3)) >> 3) as u8)
            .collect()
    }

    fn nonce(seed: usize) -> [u8; 8] {
        (seed as u64)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .to_be_bytes()
    }

    fn seal(back_end: impl BackEnd, key: &[u32; 8], texts: &mut [Vec<u8>]) -> Vec<[u8; 16]> {
        let mut tags = vec![[0; 16]; texts.len()];
        let pairs = texts.iter_mut().zip(&mut tags).enumerate();
        let mut jobs: Vec<_> = pairs
            .map(|(i, (buffer, tag))| SealJob {
                nonce: nonce(i),
                buffer,
                tag,
            })
            .collect();
        back_end.seal_batch(key, &mut jobs);
        tags
    }

    fn open(
        back_end: impl BackEnd,
        key: &[u32; 8],
        texts: &mut [Vec<u8>],
        tags: &[[u8; 16]],
    ) -> Vec<bool> {
        let pairs = texts.iter_mut().zip(tags).enumerate();
        let mut jobs: Vec<_> = pairs
            .map(|(i, (buffer, tag))| OpenJob::new(nonce(i), buffer, tag))
            .collect();
        back_end.open_batch(key, &mut jobs);
        jobs.iter().map(|job| job.verified).collect()
    }

    fn agrees_with_portable(name: &str, back_end: Option<impl BackEnd>) {
        let Some(back_end) = back_end else {
            eprintln!("{name}: skipped, the instructions are not here");
            return;
        };
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
            let mut tags = seal(back_end, &key, &mut ours);
            assert_eq!(tags, seal(Portable, &key, &mut theirs), "case {case}");
            assert!(ours == theirs, "case {case}");

            let forged = case % (tags.len() + 1);
            if let Some(tag) = tags.get_mut(forged) {
                tag[case % 16] ^= 1 << (case % 8);
            }
            let verdicts = open(back_end, &key, &mut ours, &tags);
            for (i, verified) in verdicts.into_iter().enumerate() {
                assert_eq!(verified, i != forged, "case {case}, message {i}");
                let expected = if verified { &plain[i] } else { &theirs[i] };
                assert!(ours[i] == *expected, "case {case}, message {i}");
            }
        }
    }

    #[test]
    fn portable_agrees_with_itself() {
        agrees_with_portable("portable", Some(Portable));
    }

    #[test]
    fn sse2_agrees_with_portable() {
        agrees_with_portable("sse2", Sse2::detect());
    }

    #[test]
    fn avx2_agrees_with_portable() {
        agrees_with_portable("avx2", Avx2::detect());
    }

    #[test]
    fn avx512_agrees_with_portable() {
        agrees_with_portable("avx512", Avx512::detect());
    }
}
