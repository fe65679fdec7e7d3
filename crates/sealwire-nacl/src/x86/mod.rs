//! x86-64: SSE2, AVX2 and AVX-512.
//!
//! Only registers and instructions are named here; the algorithms are in [`simd`](crate::simd).

#![allow(
    unsafe_code,
    reason = "CPU intrinsics; each value proves that the CPU has them"
)]

pub(crate) mod avx2;
pub(crate) mod avx512;
pub(crate) mod ifma;
pub(crate) mod sse2;

use core::arch::x86_64::{
    __m128i, __m256i, _mm_unpackhi_epi32, _mm_unpackhi_epi64, _mm_unpacklo_epi32,
    _mm_unpacklo_epi64, _mm256_permute2x128_si256, _mm256_unpackhi_epi32, _mm256_unpackhi_epi64,
    _mm256_unpacklo_epi32, _mm256_unpacklo_epi64,
};
use core::sync::atomic::{Ordering, compiler_fence};

use crate::simd::vector::Blocks;

/// Implements [`Vector`](crate::simd::vector::Vector) for a new type `$name` around `$raw`.
macro_rules! vector {
    (
        $name:ident($raw:ty) of $isa:ty, $lanes:literal lanes:
        load $load:ident, store $store:ident, splat $splat:ident,
        add $add:ident, xor $xor:ident, rotate $rotate:ident, transpose $transpose:ident
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
            fn rotate_left<const LEFT: i32, const RIGHT: i32>(self) -> Self {
                // SAFETY: see above.
                Self(unsafe { $rotate::<LEFT, RIGHT>(self.0) })
            }

            #[inline(always)]
            fn transpose(vectors: &mut [Self; 16]) {
                let mut raw = vectors.map(|vector| vector.0);
                let (squares, _) = raw.as_chunks_mut::<$lanes>();
                for square in squares {
                    // SAFETY: see above.
                    unsafe { $transpose(square) }
                }
                *vectors = raw.map(Self);
            }
        }
    };
}

/// Implements [`BackEnd`](crate::back_end::BackEnd) for an instruction set: the generic algorithms,
/// compiled with the CPU features `$features` on.
macro_rules! kernels {
    ($isa:ty, $features:literal) => {
        impl $crate::back_end::BackEnd for $isa {
            #[inline]
            fn seal_batch(self, subkey: &[u32; 8], jobs: &mut [$crate::SealJob<'_>]) {
                #[target_feature(enable = $features)]
                fn enter(isa: $isa, subkey: &[u32; 8], jobs: &mut [$crate::SealJob<'_>]) {
                    $crate::simd::batch::seal_batch(isa, subkey, jobs);
                }
                // SAFETY: the value `self` exists only where the CPU was seen to have the features.
                unsafe { enter(self, subkey, jobs) }
            }

            #[inline]
            fn open_batch(self, subkey: &[u32; 8], jobs: &mut [$crate::OpenJob<'_>]) {
                #[target_feature(enable = $features)]
                fn enter(isa: $isa, subkey: &[u32; 8], jobs: &mut [$crate::OpenJob<'_>]) {
                    $crate::simd::batch::open_batch(isa, subkey, jobs);
                }
                // SAFETY: the value `self` exists only where the CPU was seen to have the features.
                unsafe { enter(self, subkey, jobs) }
            }
        }
    };
}

use {kernels, vector};

/// Transposes four vectors of four words.
///
/// # Safety
/// The CPU must have SSE2.
#[inline(always)]
unsafe fn transpose_4(v: &mut [__m128i; 4]) {
    let [a, b, c, d] = *v;
    // SAFETY: the caller's promise.
    unsafe {
        let (ab_low, ab_high) = (_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b));
        let (cd_low, cd_high) = (_mm_unpacklo_epi32(c, d), _mm_unpackhi_epi32(c, d));
        *v = [
            _mm_unpacklo_epi64(ab_low, cd_low),
            _mm_unpackhi_epi64(ab_low, cd_low),
            _mm_unpacklo_epi64(ab_high, cd_high),
            _mm_unpackhi_epi64(ab_high, cd_high),
        ];
    }
}

/// Transposes eight vectors of eight words.
///
/// # Safety
/// The CPU must have AVX2.
#[inline(always)]
unsafe fn transpose_8(v: &mut [__m256i; 8]) {
    // SAFETY: the caller's promise.
    unsafe {
        // Within quads: words 0 and 1, then 2 and 3, of two rows; then of four rows.
        for pair in v.as_chunks_mut::<2>().0 {
            let [a, b] = *pair;
            *pair = [_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b)];
        }
        for four in v.as_chunks_mut::<4>().0 {
            let [a, b, c, d] = *four;
            *four = [
                _mm256_unpacklo_epi64(a, c),
                _mm256_unpackhi_epi64(a, c),
                _mm256_unpacklo_epi64(b, d),
                _mm256_unpackhi_epi64(b, d),
            ];
        }
        // Quads of both halves change places.
        for i in 0..4 {
            let (top, bottom) = (v[i], v[i + 4]);
            v[i] = _mm256_permute2x128_si256::<0x20>(top, bottom);
            v[i + 4] = _mm256_permute2x128_si256::<0x31>(top, bottom);
        }
    }
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
