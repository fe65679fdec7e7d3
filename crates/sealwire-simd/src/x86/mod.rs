//! x86-64: the vectors of SSE2, SSE4.1, AVX2 and AVX-512.
//!
//! Sets that have the same registers have vectors of their own, for their rotations and selections.

#![allow(
    unsafe_code,
    reason = "CPU intrinsics; each value proves that the CPU has them"
)]

pub mod avx2;
pub mod avx512;
pub mod sse2;
pub mod sse41;

use core::arch::x86_64::{
    __m128i, __m256i, _mm_and_si128, _mm_andnot_si128, _mm_or_si128, _mm_set_epi8, _mm_set_epi32,
    _mm_shuffle_epi8, _mm_shuffle_epi32, _mm_slli_epi32, _mm_srli_epi32, _mm_unpackhi_epi32,
    _mm_unpackhi_epi64, _mm_unpacklo_epi32, _mm_unpacklo_epi64, _mm256_broadcastsi128_si256,
    _mm256_permute2x128_si256, _mm256_shuffle_epi32, _mm256_unpackhi_epi32, _mm256_unpackhi_epi64,
    _mm256_unpacklo_epi32, _mm256_unpacklo_epi64,
};

#[inline]
#[target_feature(enable = "sse2")]
fn quad([w0, w1, w2, w3]: [u32; 4]) -> __m128i {
    let [w0, w1, w2, w3] = [
        w0.cast_signed(),
        w1.cast_signed(),
        w2.cast_signed(),
        w3.cast_signed(),
    ];
    _mm_set_epi32(w3, w2, w1, w0)
}

#[inline]
#[target_feature(enable = "avx2")]
fn two_quads(words: [u32; 4]) -> __m256i {
    _mm256_broadcastsi128_si256(quad(words))
}

#[inline]
#[target_feature(enable = "sse2")]
fn rotate_quads_4<const BY: i32>(v: __m128i) -> __m128i {
    match BY {
        1 => _mm_shuffle_epi32::<0b00_11_10_01>(v),
        2 => _mm_shuffle_epi32::<0b01_00_11_10>(v),
        _ => _mm_shuffle_epi32::<0b10_01_00_11>(v),
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn rotate_quads_8<const BY: i32>(v: __m256i) -> __m256i {
    match BY {
        1 => _mm256_shuffle_epi32::<0b00_11_10_01>(v),
        2 => _mm256_shuffle_epi32::<0b01_00_11_10>(v),
        _ => _mm256_shuffle_epi32::<0b10_01_00_11>(v),
    }
}

/// Three operations that AVX-512 has one for (`vpternlogd`), which the compiler makes of them. Asked
/// for by its intrinsic, MemorySanitizer does not know it.
#[inline]
#[target_feature(enable = "sse2")]
fn select_4(yes: __m128i, mask: __m128i, no: __m128i) -> __m128i {
    _mm_or_si128(_mm_and_si128(mask, yes), _mm_andnot_si128(mask, no))
}

/// With two shifts.
#[inline]
#[target_feature(enable = "sse2")]
fn rotate_by_bits_4<const RIGHT: i32, const LEFT: i32>(v: __m128i) -> __m128i {
    _mm_or_si128(_mm_srli_epi32::<RIGHT>(v), _mm_slli_epi32::<LEFT>(v))
}

/// Whole bytes with one shuffle.
#[inline]
#[target_feature(enable = "ssse3")]
fn rotate_4<const RIGHT: i32, const LEFT: i32>(v: __m128i) -> __m128i {
    match RIGHT {
        8 | 16 | 24 => _mm_shuffle_epi8(v, byte_rotation::<RIGHT>()),
        _ => rotate_by_bits_4::<RIGHT, LEFT>(v),
    }
}

/// Where the bytes of a quad come from when its words turn by a number of whole bytes.
#[inline]
#[target_feature(enable = "sse2")]
fn byte_rotation<const RIGHT: i32>() -> __m128i {
    match RIGHT {
        8 => _mm_set_epi8(12, 15, 14, 13, 8, 11, 10, 9, 4, 7, 6, 5, 0, 3, 2, 1),
        16 => _mm_set_epi8(13, 12, 15, 14, 9, 8, 11, 10, 5, 4, 7, 6, 1, 0, 3, 2),
        _ => _mm_set_epi8(14, 13, 12, 15, 10, 9, 8, 11, 6, 5, 4, 7, 2, 1, 0, 3),
    }
}

/// Transposes four vectors of four words.
#[inline]
#[target_feature(enable = "sse2")]
fn transpose_4([a, b, c, d]: [__m128i; 4]) -> [__m128i; 4] {
    let (ab_low, ab_high) = (_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b));
    let (cd_low, cd_high) = (_mm_unpacklo_epi32(c, d), _mm_unpackhi_epi32(c, d));
    [
        _mm_unpacklo_epi64(ab_low, cd_low),
        _mm_unpackhi_epi64(ab_low, cd_low),
        _mm_unpacklo_epi64(ab_high, cd_high),
        _mm_unpackhi_epi64(ab_high, cd_high),
    ]
}

/// [`transpose_4`] in each of two quads.
#[inline]
#[target_feature(enable = "avx2")]
fn transpose_8([a, b, c, d]: [__m256i; 4]) -> [__m256i; 4] {
    let (ab_low, ab_high) = (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
    let (cd_low, cd_high) = (_mm256_unpacklo_epi32(c, d), _mm256_unpackhi_epi32(c, d));
    [
        _mm256_unpacklo_epi64(ab_low, cd_low),
        _mm256_unpackhi_epi64(ab_low, cd_low),
        _mm256_unpacklo_epi64(ab_high, cd_high),
        _mm256_unpackhi_epi64(ab_high, cd_high),
    ]
}

/// The rows of one block are the block.
const fn quads_of_4(rows: [__m128i; 4]) -> [__m128i; 4] {
    rows
}

/// Turns four rows of two quads by their diagonal of quads.
#[inline]
#[target_feature(enable = "avx2")]
fn quads_of_8([a, b, c, d]: [__m256i; 4]) -> [__m256i; 4] {
    [
        _mm256_permute2x128_si256::<0x20>(a, b),
        _mm256_permute2x128_si256::<0x20>(c, d),
        _mm256_permute2x128_si256::<0x31>(a, b),
        _mm256_permute2x128_si256::<0x31>(c, d),
    ]
}
