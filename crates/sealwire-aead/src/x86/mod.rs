//! x86-64: SSE4.1, AVX2 and AVX-512.
//!
//! Only registers and instructions are named here; the algorithms are in [`simd`](crate::simd).

#![allow(
    unsafe_code,
    reason = "CPU intrinsics; each value proves that the CPU has them"
)]

pub(crate) mod avx2;
pub(crate) mod avx512;
pub(crate) mod sse41;

use crate::simd::vector::{Blocks, MAX_LANES};
use core::arch::x86_64::{
    __m128i, __m256i, _mm_set_epi8, _mm_unpackhi_epi32, _mm_unpackhi_epi64, _mm_unpacklo_epi32,
    _mm_unpacklo_epi64, _mm256_permute2x128_si256, _mm256_unpackhi_epi32, _mm256_unpackhi_epi64,
    _mm256_unpacklo_epi32, _mm256_unpacklo_epi64,
};
use core::sync::atomic::{Ordering, compiler_fence};

/// Implements [`Vector`](crate::simd::vector::Vector) for a new type `$name` around `$raw`.
macro_rules! vector {
    (
        $name:ident($raw:ty) of $isa:ty, $lanes:literal lanes:
        load $load:ident, store $store:ident, splat $splat:ident, splat_quad $splat_quad:ident,
        add $add:ident, xor $xor:ident, select $select:ident, rotate $rotate:ident,
        shuffle $shuffle:ident, transpose_quads $transpose:ident, quads $quads:ident
    ) => {
        #[derive(Clone, Copy)]
        pub(crate) struct $name($raw);

        // SAFETY of every block below: a value of the instruction set's type, or of this type,
        // which is made from one, exists only where the CPU has the instructions. Pointers come
        // from slices whose length was checked to be that of the vector, and need no alignment.
        impl $crate::simd::vector::Vector for $name {
            type Isa = $isa;
            const LANES: usize = $lanes;

            #[inline(always)]
            fn splat(_: $isa, word: u32) -> Self {
                // SAFETY: see above.
                Self(unsafe { $splat(word.cast_signed()) })
            }

            #[inline(always)]
            fn splat_quad(_: $isa, [w0, w1, w2, w3]: [u32; 4]) -> Self {
                let [w0, w1, w2, w3] = [w0, w1, w2, w3].map(u32::cast_signed);
                // SAFETY: see above.
                Self(unsafe { $splat_quad(_mm_set_epi32(w3, w2, w1, w0)) })
            }

            #[inline(always)]
            fn load(_: $isa, words: &[u32]) -> Self {
                let words = &words[..$lanes];
                // SAFETY: see above.
                Self(unsafe { $load(words.as_ptr().cast()) })
            }

            #[inline(always)]
            fn load_bytes(_: $isa, bytes: &[u8]) -> Self {
                let bytes = &bytes[..4 * $lanes];
                // SAFETY: see above.
                Self(unsafe { $load(bytes.as_ptr().cast()) })
            }

            #[inline(always)]
            fn store(self, words: &mut [u32]) {
                let words = &mut words[..$lanes];
                // SAFETY: see above.
                unsafe { $store(words.as_mut_ptr().cast(), self.0) }
            }

            #[inline(always)]
            fn store_bytes(self, bytes: &mut [u8]) {
                let bytes = &mut bytes[..4 * $lanes];
                // SAFETY: see above.
                unsafe { $store(bytes.as_mut_ptr().cast(), self.0) }
            }

            #[inline(always)]
            fn add(self, other: Self) -> Self {
                // SAFETY: see above.
                Self(unsafe { $add(self.0, other.0) })
            }

            #[inline(always)]
            fn xor(self, other: Self) -> Self {
                // SAFETY: see above.
                Self(unsafe { $xor(self.0, other.0) })
            }

            #[inline(always)]
            fn select(self, mask: Self, other: Self) -> Self {
                // SAFETY: see above.
                Self(unsafe { $select(self.0, mask.0, other.0) })
            }

            #[inline(always)]
            fn rotate_right<const RIGHT: i32, const LEFT: i32>(self) -> Self {
                // SAFETY: see above.
                Self(unsafe { $rotate::<RIGHT, LEFT>(self.0) })
            }

            #[inline(always)]
            fn rotate_quads<const BY: i32>(self) -> Self {
                // SAFETY: see above.
                Self(unsafe {
                    match BY {
                        1 => $shuffle::<0b00_11_10_01>(self.0),
                        2 => $shuffle::<0b01_00_11_10>(self.0),
                        _ => $shuffle::<0b10_01_00_11>(self.0),
                    }
                })
            }

            #[inline(always)]
            fn rows_to_blocks(rows: [Self; 4]) -> [Self; 4] {
                // SAFETY: see above.
                unsafe { $quads(rows.map(|row| row.0)).map(Self) }
            }

            #[inline(always)]
            fn transpose_quads(vectors: [Self; 4]) -> [Self; 4] {
                // SAFETY: see above.
                unsafe { $transpose(vectors.map(|vector| vector.0)).map(Self) }
            }
        }
    };
}

use vector;

/// Transposes four vectors of four words.
///
/// # Safety
/// The CPU must have SSE2.
#[inline(always)]
unsafe fn transpose_4([a, b, c, d]: [__m128i; 4]) -> [__m128i; 4] {
    // SAFETY: the caller's promise.
    unsafe {
        let (ab_low, ab_high) = (_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b));
        let (cd_low, cd_high) = (_mm_unpacklo_epi32(c, d), _mm_unpackhi_epi32(c, d));
        [
            _mm_unpacklo_epi64(ab_low, cd_low),
            _mm_unpackhi_epi64(ab_low, cd_low),
            _mm_unpacklo_epi64(ab_high, cd_high),
            _mm_unpackhi_epi64(ab_high, cd_high),
        ]
    }
}

/// [`transpose_4`] in each of two quads.
///
/// # Safety
/// The CPU must have AVX2.
#[inline(always)]
unsafe fn transpose_8([a, b, c, d]: [__m256i; 4]) -> [__m256i; 4] {
    // SAFETY: the caller's promise.
    unsafe {
        let (ab_low, ab_high) = (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
        let (cd_low, cd_high) = (_mm256_unpacklo_epi32(c, d), _mm256_unpackhi_epi32(c, d));
        [
            _mm256_unpacklo_epi64(ab_low, cd_low),
            _mm256_unpackhi_epi64(ab_low, cd_low),
            _mm256_unpacklo_epi64(ab_high, cd_high),
            _mm256_unpackhi_epi64(ab_high, cd_high),
        ]
    }
}

/// What a quad is splatted to in a vector that holds one.
#[inline(always)]
const fn same(quad: __m128i) -> __m128i {
    quad
}

/// The rows of one block are the block.
///
/// # Safety
/// None needed; the wider ones need instructions.
#[inline(always)]
const unsafe fn quads_of_4(rows: [__m128i; 4]) -> [__m128i; 4] {
    rows
}

/// Turns four rows of two quads by their diagonal of quads.
///
/// # Safety
/// The CPU must have AVX2.
#[inline(always)]
unsafe fn quads_of_8([a, b, c, d]: [__m256i; 4]) -> [__m256i; 4] {
    // SAFETY: the caller's promise.
    unsafe {
        [
            _mm256_permute2x128_si256::<0x20>(a, b),
            _mm256_permute2x128_si256::<0x20>(c, d),
            _mm256_permute2x128_si256::<0x31>(a, b),
            _mm256_permute2x128_si256::<0x31>(c, d),
        ]
    }
}

/// Where the bytes of a quad come from when its words turn by a number of whole bytes.
#[inline(always)]
unsafe fn byte_rotation<const RIGHT: i32>() -> __m128i {
    // SAFETY: SSE2 is part of x86-64.
    unsafe {
        match RIGHT {
            8 => _mm_set_epi8(12, 15, 14, 13, 8, 11, 10, 9, 4, 7, 6, 5, 0, 3, 2, 1),
            16 => _mm_set_epi8(13, 12, 15, 14, 9, 8, 11, 10, 5, 4, 7, 6, 1, 0, 3, 2),
            _ => _mm_set_epi8(14, 13, 12, 15, 10, 9, 8, 11, 6, 5, 4, 7, 2, 1, 0, 3),
        }
    }
}

/// Words of a block, to be picked one by one.
fn block_words(block: &[u8; 64]) -> [i32; MAX_LANES] {
    let mut words = [0; MAX_LANES];
    for (word, bytes) in words.iter_mut().zip(block.as_chunks().0) {
        *word = i32::from_le_bytes(*bytes);
    }
    words
}

/// Overwrites `blocks` with vectors of zeros.
#[inline(always)]
fn wipe_with<V: Copy, const N: usize>(zero: V, blocks: &mut Blocks<N>) {
    let vectors = size_of::<Blocks<N>>() / size_of::<V>();
    let start = core::ptr::from_mut(&mut blocks.0).cast::<V>();
    for index in 0..vectors {
        // SAFETY: `index` is inside the blocks, which are aligned for every vector.
        unsafe { start.add(index).write_volatile(zero) }
    }
    compiler_fence(Ordering::SeqCst);
}
