//! AVX2: eight lanes.

use super::{
    byte_rotation, quad, quads_of_4, quads_of_8, rotate_4, rotate_quads_4, rotate_quads_8,
    transpose_4, transpose_8, two_quads,
};
use crate::Avx2;
use crate::vector::{Isa, vector};
use core::arch::x86_64::{
    __m128i, __m256i, _mm_add_epi32, _mm_blendv_epi8, _mm_loadu_si128, _mm_set1_epi32,
    _mm_storeu_si128, _mm_xor_si128, _mm256_add_epi32, _mm256_blendv_epi8,
    _mm256_broadcastsi128_si256, _mm256_loadu_si256, _mm256_or_si256, _mm256_set1_epi32,
    _mm256_shuffle_epi8, _mm256_slli_epi32, _mm256_srli_epi32, _mm256_storeu_si256,
    _mm256_xor_si256,
};

vector! {
    /// Four words.
    V128(__m128i) of Avx2, 4 lanes:
    load _mm_loadu_si128, store _mm_storeu_si128, splat _mm_set1_epi32, splat_quad quad,
    add _mm_add_epi32, xor _mm_xor_si128, select blend_4, rotate rotate_4,
    rotate_quads rotate_quads_4, transpose_quads transpose_4, quads quads_of_4
}

vector! {
    /// Eight words.
    V256(__m256i) of Avx2, 8 lanes:
    load _mm256_loadu_si256, store _mm256_storeu_si256, splat _mm256_set1_epi32,
    splat_quad two_quads, add _mm256_add_epi32, xor _mm256_xor_si256, select blend_8,
    rotate rotate_8, rotate_quads rotate_quads_8, transpose_quads transpose_8, quads quads_of_8
}

impl Isa for Avx2 {
    type Narrow = V128;
    type Middle = V256;
    type Wide = V256;
}

#[inline]
#[target_feature(enable = "sse4.1")]
fn blend_4(yes: __m128i, mask: __m128i, no: __m128i) -> __m128i {
    _mm_blendv_epi8(no, yes, mask)
}

#[inline]
#[target_feature(enable = "avx2")]
fn blend_8(yes: __m256i, mask: __m256i, no: __m256i) -> __m256i {
    _mm256_blendv_epi8(no, yes, mask)
}

#[inline]
#[target_feature(enable = "avx2")]
fn rotate_8<const RIGHT: i32, const LEFT: i32>(v: __m256i) -> __m256i {
    match RIGHT {
        8 | 16 | 24 => {
            _mm256_shuffle_epi8(v, _mm256_broadcastsi128_si256(byte_rotation::<RIGHT>()))
        }
        _ => _mm256_or_si256(_mm256_srli_epi32::<RIGHT>(v), _mm256_slli_epi32::<LEFT>(v)),
    }
}
