//! AVX2: eight lanes.

use super::{
    byte_rotation, quads_of_4, quads_of_8, same, transpose_4, transpose_8, vector, wipe_with,
};
use crate::simd::blake3::ROW_SCHEDULE;
use crate::simd::kernels::kernels;
use crate::simd::vector::{Blocks, Isa, Vector};
use core::arch::x86_64::{
    __m128i, __m256i, _mm_add_epi32, _mm_blendv_epi8, _mm_loadu_si128, _mm_or_si128, _mm_set_epi32,
    _mm_set1_epi32, _mm_shuffle_epi8, _mm_shuffle_epi32, _mm_slli_epi32, _mm_srli_epi32,
    _mm_storeu_si128, _mm_xor_si128, _mm256_add_epi32, _mm256_blendv_epi8,
    _mm256_broadcastsi128_si256, _mm256_castsi256_si128, _mm256_loadu_si256, _mm256_or_si256,
    _mm256_permutevar8x32_epi32, _mm256_set1_epi32, _mm256_setzero_si256, _mm256_shuffle_epi8,
    _mm256_shuffle_epi32, _mm256_slli_epi32, _mm256_srli_epi32, _mm256_storeu_si256,
    _mm256_xor_si256,
};

/// Proof that the CPU has AVX2.
#[derive(Clone, Copy)]
pub(crate) struct Avx2(());

impl Avx2 {
    /// The proof, if there is one.
    #[inline(always)]
    pub(crate) fn detect() -> Option<Self> {
        #[cfg(feature = "std")]
        let found = std::is_x86_feature_detected!("avx2");
        #[cfg(not(feature = "std"))]
        let found = cfg!(target_feature = "avx2");
        found.then_some(Self(()))
    }
}

kernels!(Avx2, "avx2", lanes V256);

vector! {
    V128(__m128i) of Avx2, 4 lanes:
    load _mm_loadu_si128, store _mm_storeu_si128, splat _mm_set1_epi32, splat_quad same,
    add _mm_add_epi32, xor _mm_xor_si128, select select_4, rotate rotate_4,
    shuffle _mm_shuffle_epi32, transpose_quads transpose_4, quads quads_of_4
}

vector! {
    V256(__m256i) of Avx2, 8 lanes:
    load _mm256_loadu_si256, store _mm256_storeu_si256, splat _mm256_set1_epi32,
    splat_quad _mm256_broadcastsi128_si256,
    add _mm256_add_epi32, xor _mm256_xor_si256, select select_8, rotate rotate_8,
    shuffle _mm256_shuffle_epi32, transpose_quads transpose_8, quads quads_of_8
}

impl Isa for Avx2 {
    type Narrow = V128;
    type Middle = V256;
    type Wide = V256;
    type Message = [V256; 2];

    #[inline(always)]
    fn load_message(self, block: &[u8; 64]) -> Self::Message {
        [
            V256::load_bytes(self, block),
            V256::load_bytes(self, &block[32..]),
        ]
    }

    #[inline(always)]
    fn pick<const ROUND: usize, const PART: usize>(self, message: &Self::Message) -> V128 {
        let places = const { &half_places(ROW_SCHEDULE[ROUND][PART]) };
        let last = const { &in_last_half(ROW_SCHEDULE[ROUND][PART]) };
        let (places, last) = (V256::load(self, places), V256::load(self, last));
        let [first_half, last_half] = *message;
        // SAFETY: `self` is the proof that the CPU has the instructions.
        V128(unsafe {
            let first_half = _mm256_permutevar8x32_epi32(first_half.0, places.0);
            let last_half = _mm256_permutevar8x32_epi32(last_half.0, places.0);
            _mm256_castsi256_si128(_mm256_blendv_epi8(first_half, last_half, last.0))
        })
    }

    #[inline(always)]
    fn wipe<const N: usize>(self, blocks: &mut Blocks<N>) {
        // SAFETY: `self` is the proof that the CPU has the instruction.
        wipe_with(unsafe { _mm256_setzero_si256() }, blocks);
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

#[inline(always)]
unsafe fn select_4(yes: __m128i, mask: __m128i, no: __m128i) -> __m128i {
    // SAFETY: called with vectors of this module only.
    unsafe { _mm_blendv_epi8(no, yes, mask) }
}

#[inline(always)]
unsafe fn select_8(yes: __m256i, mask: __m256i, no: __m256i) -> __m256i {
    // SAFETY: called with vectors of this module only.
    unsafe { _mm256_blendv_epi8(no, yes, mask) }
}

#[inline(always)]
unsafe fn rotate_4<const RIGHT: i32, const LEFT: i32>(v: __m128i) -> __m128i {
    // SAFETY: called with vectors of this module only.
    unsafe {
        match RIGHT {
            8 | 16 | 24 => _mm_shuffle_epi8(v, byte_rotation::<RIGHT>()),
            _ => _mm_or_si128(_mm_srli_epi32::<RIGHT>(v), _mm_slli_epi32::<LEFT>(v)),
        }
    }
}

#[inline(always)]
unsafe fn rotate_8<const RIGHT: i32, const LEFT: i32>(v: __m256i) -> __m256i {
    // SAFETY: called with vectors of this module only.
    unsafe {
        match RIGHT {
            8 | 16 | 24 => {
                _mm256_shuffle_epi8(v, _mm256_broadcastsi128_si256(byte_rotation::<RIGHT>()))
            }
            _ => _mm256_or_si256(_mm256_srli_epi32::<RIGHT>(v), _mm256_slli_epi32::<LEFT>(v)),
        }
    }
}
