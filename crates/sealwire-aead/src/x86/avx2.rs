//! AVX2: eight lanes.

use crate::simd::back_end::kernels;
use crate::simd::blake3::ROW_SCHEDULE;
use crate::simd::isa::Isa;
use core::arch::x86_64::{_mm256_blendv_epi8, _mm256_castsi256_si128, _mm256_permutevar8x32_epi32};
use sealwire_simd::vector::Vector;
use sealwire_simd::x86::avx2::{V128, V256};
use sealwire_simd::{Avx2, instructions};

kernels!(Avx2, lanes V256);

impl Isa for Avx2 {
    type Message = [V256; 2];

    instructions! {
        fn load_message(self, block: &[u8; 64]) -> Self::Message {
            [
                V256::load_bytes(self, block),
                V256::load_bytes(self, &block[32..]),
            ]
        }

        fn pick<const ROUND: usize, const PART: usize>(self, message: &Self::Message) -> V128 {
            let places = const { &half_places(ROW_SCHEDULE[ROUND][PART]) };
            let last = const { &in_last_half(ROW_SCHEDULE[ROUND][PART]) };
            let (places, last) = (V256::load(self, places), V256::load(self, last));
            let [first_half, last_half] = *message;
            let first_half = _mm256_permutevar8x32_epi32(first_half.raw(), places.raw());
            let last_half = _mm256_permutevar8x32_epi32(last_half.raw(), places.raw());
            let words = _mm256_blendv_epi8(first_half, last_half, last.raw());
            V128::from_raw(self, _mm256_castsi256_si128(words))
        }
    }
}

/// The place of each of four words in its half of a block; the other four do not matter.
const fn half_places([w0, w1, w2, w3]: [usize; 4]) -> [u32; 8] {
    [
        w0 as u32 % 8,
        w1 as u32 % 8,
        w2 as u32 % 8,
        w3 as u32 % 8,
        0,
        0,
        0,
        0,
    ]
}

/// A mask of the words that are in the second half of a block.
const fn in_last_half([w0, w1, w2, w3]: [usize; 4]) -> [u32; 8] {
    const fn mask(word: usize) -> u32 {
        if word < 8 { 0 } else { u32::MAX }
    }
    [mask(w0), mask(w1), mask(w2), mask(w3), 0, 0, 0, 0]
}
