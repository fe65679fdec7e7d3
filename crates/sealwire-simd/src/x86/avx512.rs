//! AVX-512: sixteen lanes, and rotations.

use super::{
    byte_rotation, quad, quads_of_4, quads_of_8, rotate_quads_4, rotate_quads_8, select_4,
    transpose_4, transpose_8, two_quads,
};
use crate::Avx512;
use crate::vector::{Isa, vector};
use core::arch::x86_64::{
    __m128i, __m256i, __m512i, _mm_add_epi32, _mm_loadu_si128, _mm_ror_epi32, _mm_set1_epi32,
    _mm_storeu_si128, _mm_xor_si128, _mm256_add_epi32, _mm256_and_si256, _mm256_andnot_si256,
    _mm256_loadu_si256, _mm256_or_si256, _mm256_ror_epi32, _mm256_set1_epi32, _mm256_storeu_si256,
    _mm256_xor_si256, _mm512_add_epi32, _mm512_and_si512, _mm512_andnot_si512,
    _mm512_broadcast_i32x4, _mm512_loadu_si512, _mm512_or_si512, _mm512_ror_epi32,
    _mm512_set1_epi32, _mm512_shuffle_epi8, _mm512_shuffle_epi32, _mm512_shuffle_i32x4,
    _mm512_storeu_si512, _mm512_unpackhi_epi32, _mm512_unpackhi_epi64, _mm512_unpacklo_epi32,
    _mm512_unpacklo_epi64, _mm512_xor_si512,
};

vector! {
    /// Four words.
    V128(__m128i) of Avx512, 4 lanes:
    load _mm_loadu_si128, store _mm_storeu_si128, splat _mm_set1_epi32, splat_quad quad,
    add _mm_add_epi32, xor _mm_xor_si128, select select_4, rotate rotate_4,
    rotate_quads rotate_quads_4, transpose_quads transpose_4, quads quads_of_4
}

vector! {
    /// Eight words.
    V256(__m256i) of Avx512, 8 lanes:
    load _mm256_loadu_si256, store _mm256_storeu_si256, splat _mm256_set1_epi32,
    splat_quad two_quads, add _mm256_add_epi32, xor _mm256_xor_si256, select select_8,
    rotate rotate_8, rotate_quads rotate_quads_8, transpose_quads transpose_8, quads quads_of_8
}

vector! {
    /// Sixteen words.
    V512(__m512i) of Avx512, 16 lanes:
    load _mm512_loadu_si512, store _mm512_storeu_si512, splat _mm512_set1_epi32,
    splat_quad four_quads, add _mm512_add_epi32, xor _mm512_xor_si512, select select_16,
    rotate rotate_16, rotate_quads rotate_quads_16, transpose_quads transpose_16,
    quads quads_of_16
}

impl Isa for Avx512 {
    type Narrow = V128;
    type Middle = V256;
    type Wide = V512;
}

#[inline]
#[target_feature(enable = "avx512f")]
fn four_quads(words: [u32; 4]) -> __m512i {
    _mm512_broadcast_i32x4(quad(words))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn rotate_quads_16<const BY: i32>(v: __m512i) -> __m512i {
    match BY {
        1 => _mm512_shuffle_epi32::<0b00_11_10_01>(v),
        2 => _mm512_shuffle_epi32::<0b01_00_11_10>(v),
        _ => _mm512_shuffle_epi32::<0b10_01_00_11>(v),
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn select_8(yes: __m256i, mask: __m256i, no: __m256i) -> __m256i {
    _mm256_or_si256(_mm256_and_si256(mask, yes), _mm256_andnot_si256(mask, no))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn select_16(yes: __m512i, mask: __m512i, no: __m512i) -> __m512i {
    _mm512_or_si512(_mm512_and_si512(mask, yes), _mm512_andnot_si512(mask, no))
}

#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn rotate_4<const RIGHT: i32, const LEFT: i32>(v: __m128i) -> __m128i {
    _mm_ror_epi32::<RIGHT>(v)
}

#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn rotate_8<const RIGHT: i32, const LEFT: i32>(v: __m256i) -> __m256i {
    _mm256_ror_epi32::<RIGHT>(v)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn rotate_16<const RIGHT: i32, const LEFT: i32>(v: __m512i) -> __m512i {
    match RIGHT {
        // Only one of two ports rotates; the other shuffles.
        8 | 16 | 24 => _mm512_shuffle_epi8(v, _mm512_broadcast_i32x4(byte_rotation::<RIGHT>())),
        _ => _mm512_ror_epi32::<RIGHT>(v),
    }
}

/// Transposes four vectors of four words in each of four quads.
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose_16([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let (ab_low, ab_high) = (_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
    let (cd_low, cd_high) = (_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
    [
        _mm512_unpacklo_epi64(ab_low, cd_low),
        _mm512_unpackhi_epi64(ab_low, cd_low),
        _mm512_unpacklo_epi64(ab_high, cd_high),
        _mm512_unpackhi_epi64(ab_high, cd_high),
    ]
}

/// Turns four rows of four quads by their diagonal of quads.
#[inline]
#[target_feature(enable = "avx512f")]
fn quads_of_16([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let ab_even = _mm512_shuffle_i32x4::<0b10_00_10_00>(a, b);
    let ab_odd = _mm512_shuffle_i32x4::<0b11_01_11_01>(a, b);
    let cd_even = _mm512_shuffle_i32x4::<0b10_00_10_00>(c, d);
    let cd_odd = _mm512_shuffle_i32x4::<0b11_01_11_01>(c, d);
    [
        _mm512_shuffle_i32x4::<0b10_00_10_00>(ab_even, cd_even),
        _mm512_shuffle_i32x4::<0b10_00_10_00>(ab_odd, cd_odd),
        _mm512_shuffle_i32x4::<0b11_01_11_01>(ab_even, cd_even),
        _mm512_shuffle_i32x4::<0b11_01_11_01>(ab_odd, cd_odd),
    ]
}
