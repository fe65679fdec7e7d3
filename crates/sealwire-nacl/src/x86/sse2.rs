//! SSE2: four lanes.

use core::arch::x86_64::{
    __m128i, _mm_add_epi32, _mm_loadu_si128, _mm_or_si128, _mm_set1_epi32, _mm_setzero_si128,
    _mm_slli_epi32, _mm_srli_epi32, _mm_storeu_si128, _mm_xor_si128,
};

use super::{kernels, transpose_4, vector, wipe_with};
use crate::simd::vector::{Blocks, Isa};

/// Proof that the CPU has SSE2.
#[derive(Clone, Copy)]
pub(crate) struct Sse2(());

impl Sse2 {
    /// The proof, if there is one: only programs compiled without floating point have none.
    #[inline(always)]
    pub(crate) const fn detect() -> Option<Self> {
        if cfg!(target_feature = "sse2") {
            Some(Self(()))
        } else {
            None
        }
    }
}

kernels!(Sse2, "sse2");

vector! {
    V128(__m128i) of Sse2, 4 lanes:
    load _mm_loadu_si128, store _mm_storeu_si128, splat _mm_set1_epi32,
    add _mm_add_epi32, xor _mm_xor_si128, rotate rotate, transpose transpose_4
}

impl Isa for Sse2 {
    type Narrow = V128;
    type Middle = V128;
    type Wide = V128;

    #[inline(always)]
    fn wipe<const N: usize>(self, blocks: &mut Blocks<N>) {
        // SAFETY: `self` is the proof that the CPU has the instruction.
        wipe_with(unsafe { _mm_setzero_si128() }, blocks);
    }
}

#[inline(always)]
unsafe fn rotate<const LEFT: i32, const RIGHT: i32>(v: __m128i) -> __m128i {
    // SAFETY: called with vectors of this module only.
    unsafe { _mm_or_si128(_mm_slli_epi32::<LEFT>(v), _mm_srli_epi32::<RIGHT>(v)) }
}
