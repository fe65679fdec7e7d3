//! SSE4.1: four lanes.

use super::{block_words, byte_rotation, quads_of_4, same, transpose_4, vector, wipe_with};
use crate::simd::blake3::ROW_SCHEDULE;
use crate::simd::kernels::kernels;
use crate::simd::vector::{Blocks, Isa};
use core::arch::x86_64::{
    __m128i, _mm_add_epi32, _mm_and_si128, _mm_andnot_si128, _mm_loadu_si128, _mm_or_si128,
    _mm_set_epi32, _mm_set1_epi32, _mm_setzero_si128, _mm_shuffle_epi8, _mm_shuffle_epi32,
    _mm_slli_epi32, _mm_srli_epi32, _mm_storeu_si128, _mm_xor_si128,
};

/// Proof that the CPU has SSE4.1.
#[derive(Clone, Copy)]
pub(crate) struct Sse41(());

impl Sse41 {
    /// The proof, if there is one.
    #[inline(always)]
    pub(crate) fn detect() -> Option<Self> {
        #[cfg(feature = "std")]
        let found = std::is_x86_feature_detected!("sse4.1");
        #[cfg(not(feature = "std"))]
        let found = cfg!(target_feature = "sse4.1");
        found.then_some(Self(()))
    }
}

kernels!(Sse41, "sse4.1", lanes V128);

vector! {
    V128(__m128i) of Sse41, 4 lanes:
    load _mm_loadu_si128, store _mm_storeu_si128, splat _mm_set1_epi32, splat_quad same,
    add _mm_add_epi32, xor _mm_xor_si128, select select, rotate rotate,
    shuffle _mm_shuffle_epi32, transpose_quads transpose_4, quads quads_of_4
}

impl Isa for Sse41 {
    type Narrow = V128;
    type Middle = V128;
    type Wide = V128;
    type Message = [i32; 16];

    #[inline(always)]
    fn load_message(self, block: &[u8; 64]) -> Self::Message {
        block_words(block)
    }

    #[inline(always)]
    fn pick<const ROUND: usize, const PART: usize>(self, message: &Self::Message) -> V128 {
        let [w0, w1, w2, w3] = const { ROW_SCHEDULE[ROUND][PART] };
        // SAFETY: `self` is the proof that the CPU has the instruction.
        V128(unsafe { _mm_set_epi32(message[w3], message[w2], message[w1], message[w0]) })
    }

    #[inline(always)]
    fn wipe<const N: usize>(self, blocks: &mut Blocks<N>) {
        // SAFETY: `self` is the proof that the CPU has the instruction.
        wipe_with(unsafe { _mm_setzero_si128() }, blocks);
    }
}

#[inline(always)]
unsafe fn select(yes: __m128i, mask: __m128i, no: __m128i) -> __m128i {
    // SAFETY: called with vectors of this module only.
    unsafe { _mm_or_si128(_mm_and_si128(mask, yes), _mm_andnot_si128(mask, no)) }
}

#[inline(always)]
unsafe fn rotate<const RIGHT: i32, const LEFT: i32>(v: __m128i) -> __m128i {
    // SAFETY: called with vectors of this module only.
    unsafe {
        match RIGHT {
            8 | 16 | 24 => _mm_shuffle_epi8(v, byte_rotation::<RIGHT>()),
            _ => _mm_or_si128(_mm_srli_epi32::<RIGHT>(v), _mm_slli_epi32::<LEFT>(v)),
        }
    }
}
