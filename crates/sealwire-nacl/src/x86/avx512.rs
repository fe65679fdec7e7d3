//! AVX-512: sixteen lanes and rotations.

use core::arch::x86_64::{
    __m128i, __m256i, __m512i, _mm_add_epi32, _mm_loadu_si128, _mm_rol_epi32, _mm_set1_epi32,
    _mm_storeu_si128, _mm_xor_si128, _mm256_add_epi32, _mm256_loadu_si256, _mm256_rol_epi32,
    _mm256_set1_epi32, _mm256_storeu_si256, _mm256_xor_si256, _mm512_add_epi32, _mm512_loadu_si512,
    _mm512_rol_epi32, _mm512_set1_epi32, _mm512_setzero_si512, _mm512_shuffle_i32x4,
    _mm512_storeu_si512, _mm512_unpackhi_epi32, _mm512_unpackhi_epi64, _mm512_unpacklo_epi32,
    _mm512_unpacklo_epi64, _mm512_xor_si512,
};

use super::{kernels, transpose_4, transpose_8, vector, wipe_with};
use crate::simd::vector::{Blocks, Isa};

/// Proof that the CPU has AVX-512 F and VL.
#[derive(Clone, Copy)]
pub(crate) struct Avx512(());

impl Avx512 {
    /// The proof, if there is one.
    #[inline(always)]
    pub(crate) fn detect() -> Option<Self> {
        #[cfg(feature = "std")]
        let found =
            std::is_x86_feature_detected!("avx512f") && std::is_x86_feature_detected!("avx512vl");
        #[cfg(not(feature = "std"))]
        let found = cfg!(all(target_feature = "avx512f", target_feature = "avx512vl"));
        found.then_some(Self(()))
    }
}

kernels!(Avx512, "avx512f,avx512vl,avx2");

vector! {
    V128(__m128i) of Avx512, 4 lanes:
    load _mm_loadu_si128, store _mm_storeu_si128, splat _mm_set1_epi32,
    add _mm_add_epi32, xor _mm_xor_si128, rotate rotate_4, transpose transpose_4
}

vector! {
    V256(__m256i) of Avx512, 8 lanes:
    load _mm256_loadu_si256, store _mm256_storeu_si256, splat _mm256_set1_epi32,
    add _mm256_add_epi32, xor _mm256_xor_si256, rotate rotate_8, transpose transpose_8
}

vector! {
    V512(__m512i) of Avx512, 16 lanes:
    load _mm512_loadu_si512, store _mm512_storeu_si512, splat _mm512_set1_epi32,
    add _mm512_add_epi32, xor _mm512_xor_si512, rotate rotate_16, transpose transpose_16
}

impl Isa for Avx512 {
    type Narrow = V128;
    type Middle = V256;
    type Wide = V512;

    #[inline(always)]
    fn wipe<const N: usize>(self, blocks: &mut Blocks<N>) {
        // SAFETY: `self` is the proof that the CPU has the instruction.
        wipe_with(unsafe { _mm512_setzero_si512() }, blocks);
    }
}

#[inline(always)]
unsafe fn rotate_4<const LEFT: i32, const RIGHT: i32>(v: __m128i) -> __m128i {
    // SAFETY: called with vectors of this module only.
    unsafe { _mm_rol_epi32::<LEFT>(v) }
}

#[inline(always)]
unsafe fn rotate_8<const LEFT: i32, const RIGHT: i32>(v: __m256i) -> __m256i {
    // SAFETY: called with vectors of this module only.
    unsafe { _mm256_rol_epi32::<LEFT>(v) }
}

#[inline(always)]
unsafe fn rotate_16<const LEFT: i32, const RIGHT: i32>(v: __m512i) -> __m512i {
    // SAFETY: called with vectors of this module only.
    unsafe { _mm512_rol_epi32::<LEFT>(v) }
}

/// Transposes sixteen vectors of sixteen words.
#[inline(always)]
unsafe fn transpose_16(v: &mut [__m512i; 16]) {
    // SAFETY: called with vectors of this module only.
    unsafe {
        // Within quads: words of two rows, then of four.
        for pair in v.as_chunks_mut::<2>().0 {
            let [a, b] = *pair;
            *pair = [_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b)];
        }
        for four in v.as_chunks_mut::<4>().0 {
            let [a, b, c, d] = *four;
            *four = [
                _mm512_unpacklo_epi64(a, c),
                _mm512_unpackhi_epi64(a, c),
                _mm512_unpacklo_epi64(b, d),
                _mm512_unpackhi_epi64(b, d),
            ];
        }
        // Quads: a four-by-four transposition of 128-bit elements for each of the four columns.
        for i in 0..4 {
            let [a, b, c, d] = [v[i], v[i + 4], v[i + 8], v[i + 12]];
            let ab_even = _mm512_shuffle_i32x4::<0b10_00_10_00>(a, b);
            let ab_odd = _mm512_shuffle_i32x4::<0b11_01_11_01>(a, b);
            let cd_even = _mm512_shuffle_i32x4::<0b10_00_10_00>(c, d);
            let cd_odd = _mm512_shuffle_i32x4::<0b11_01_11_01>(c, d);
            v[i] = _mm512_shuffle_i32x4::<0b10_00_10_00>(ab_even, cd_even);
            v[i + 4] = _mm512_shuffle_i32x4::<0b10_00_10_00>(ab_odd, cd_odd);
            v[i + 8] = _mm512_shuffle_i32x4::<0b11_01_11_01>(ab_even, cd_even);
            v[i + 12] = _mm512_shuffle_i32x4::<0b11_01_11_01>(ab_odd, cd_odd);
        }
    }
}
