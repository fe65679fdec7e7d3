//! AVX2: eight lanes.

use core::arch::x86_64::{
    __m128i, __m256i, _mm_add_epi32, _mm_loadu_si128, _mm_or_si128, _mm_set1_epi32, _mm_slli_epi32,
    _mm_srli_epi32, _mm_storeu_si128, _mm_xor_si128, _mm256_add_epi32, _mm256_loadu_si256,
    _mm256_or_si256, _mm256_set1_epi32, _mm256_setzero_si256, _mm256_slli_epi32, _mm256_srli_epi32,
    _mm256_storeu_si256, _mm256_xor_si256,
};

use super::{kernels, transpose_4, transpose_8, vector, wipe_with};
use crate::simd::vector::{Blocks, Isa};

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

kernels!(Avx2, "avx2");

vector! {
    V128(__m128i) of Avx2, 4 lanes:
    load _mm_loadu_si128, store _mm_storeu_si128, splat _mm_set1_epi32,
    add _mm_add_epi32, xor _mm_xor_si128, rotate rotate_4, transpose transpose_4
}

vector! {
    V256(__m256i) of Avx2, 8 lanes:
    load _mm256_loadu_si256, store _mm256_storeu_si256, splat _mm256_set1_epi32,
    add _mm256_add_epi32, xor _mm256_xor_si256, rotate rotate_8, transpose transpose_8
}

impl Isa for Avx2 {
    type Narrow = V128;
    type Middle = V256;
    type Wide = V256;

    #[inline(always)]
    fn wipe<const N: usize>(self, blocks: &mut Blocks<N>) {
        // SAFETY: `self` is the proof that the CPU has the instruction.
        wipe_with(unsafe { _mm256_setzero_si256() }, blocks);
    }
}

#[inline(always)]
unsafe fn rotate_4<const LEFT: i32, const RIGHT: i32>(v: __m128i) -> __m128i {
    // SAFETY: called with vectors of this module only.
    unsafe { _mm_or_si128(_mm_slli_epi32::<LEFT>(v), _mm_srli_epi32::<RIGHT>(v)) }
}

#[inline(always)]
unsafe fn rotate_8<const LEFT: i32, const RIGHT: i32>(v: __m256i) -> __m256i {
    // SAFETY: called with vectors of this module only.
    unsafe { _mm256_or_si256(_mm256_slli_epi32::<LEFT>(v), _mm256_srli_epi32::<RIGHT>(v)) }
}
