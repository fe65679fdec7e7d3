//! AVX-512: sixteen lanes, rotations and masks.

use super::{quads_of_4, quads_of_8, same, transpose_4, transpose_8, vector, wipe_with};
use crate::portable::blake3::{CHUNK_SIZE, Chain};
use crate::simd::blake3::{Node, ROW_SCHEDULE};
use crate::simd::kernels::kernels;
use crate::simd::quads::{PickQuads, hash_four_chunks};
use crate::simd::vector::{Blocks, Isa, QUADS};
use core::arch::x86_64::{
    __m128i, __m256i, __m512i, _bzhi_u64, _mm_add_epi32, _mm_and_si128, _mm_andnot_si128,
    _mm_loadu_si128, _mm_or_si128, _mm_ror_epi32, _mm_set_epi32, _mm_set1_epi32, _mm_shuffle_epi32,
    _mm_storeu_si128, _mm_xor_si128, _mm256_add_epi32, _mm256_and_si256, _mm256_andnot_si256,
    _mm256_broadcastsi128_si256, _mm256_loadu_si256, _mm256_or_si256, _mm256_ror_epi32,
    _mm256_set1_epi32, _mm256_shuffle_epi32, _mm256_storeu_si256, _mm256_xor_si256,
    _mm512_add_epi32, _mm512_and_si512, _mm512_andnot_si512, _mm512_broadcast_i32x4,
    _mm512_castsi128_si512, _mm512_castsi512_si128, _mm512_loadu_si512, _mm512_mask_blend_epi32,
    _mm512_mask_storeu_epi8, _mm512_maskz_loadu_epi8, _mm512_or_si512, _mm512_permutex2var_epi32,
    _mm512_permutexvar_epi32, _mm512_ror_epi32, _mm512_set1_epi32, _mm512_setzero_si512,
    _mm512_shuffle_epi32, _mm512_shuffle_i32x4, _mm512_storeu_si512, _mm512_unpackhi_epi32,
    _mm512_unpackhi_epi64, _mm512_unpacklo_epi32, _mm512_unpacklo_epi64, _mm512_xor_si512,
};

/// Proof that the CPU has AVX-512 F, VL and BW, and BMI2.
#[derive(Clone, Copy)]
pub(crate) struct Avx512(());

impl Avx512 {
    /// The proof, if there is one.
    #[inline(always)]
    pub(crate) fn detect() -> Option<Self> {
        #[cfg(feature = "std")]
        let found = std::is_x86_feature_detected!("avx512f")
            && std::is_x86_feature_detected!("avx512vl")
            && std::is_x86_feature_detected!("avx512bw")
            && std::is_x86_feature_detected!("bmi2");
        #[cfg(not(feature = "std"))]
        let found = cfg!(all(
            target_feature = "avx512f",
            target_feature = "avx512vl",
            target_feature = "avx512bw",
            target_feature = "bmi2"
        ));
        found.then_some(Self(()))
    }
}

kernels!(Avx512, "avx512f,avx512vl,avx512bw,avx2,bmi2");

vector! {
    V128(__m128i) of Avx512, 4 lanes:
    load _mm_loadu_si128, store _mm_storeu_si128, splat _mm_set1_epi32, splat_quad same,
    add _mm_add_epi32, xor _mm_xor_si128, select select_4, rotate rotate_4,
    shuffle _mm_shuffle_epi32, transpose transpose_4, quads quads_of_4
}

vector! {
    V256(__m256i) of Avx512, 8 lanes:
    load _mm256_loadu_si256, store _mm256_storeu_si256, splat _mm256_set1_epi32,
    splat_quad _mm256_broadcastsi128_si256,
    add _mm256_add_epi32, xor _mm256_xor_si256, select select_8, rotate rotate_8,
    shuffle _mm256_shuffle_epi32, transpose transpose_8, quads quads_of_8
}

vector! {
    V512(__m512i) of Avx512, 16 lanes:
    load _mm512_loadu_si512, store _mm512_storeu_si512, splat _mm512_set1_epi32,
    splat_quad _mm512_broadcast_i32x4,
    add _mm512_add_epi32, xor _mm512_xor_si512, select select_16, rotate rotate_16,
    shuffle _mm512_shuffle_epi32, transpose transpose_16, quads quads_of_16
}

impl Isa for Avx512 {
    type Narrow = V128;
    type Middle = V256;
    type Wide = V512;
    type Message = V512;

    #[inline(always)]
    fn load_message(self, block: &[u8; 64]) -> V512 {
        crate::simd::vector::Vector::load_bytes(self, block)
    }

    #[inline(always)]
    fn pick<const ROUND: usize, const PART: usize>(self, message: &V512) -> V128 {
        let [w0, w1, w2, w3] = const { ROW_SCHEDULE[ROUND][PART] };
        // SAFETY: `self` is the proof that the CPU has the instructions.
        V128(unsafe {
            let places = _mm_set_epi32(w3 as i32, w2 as i32, w1 as i32, w0 as i32);
            let picked = _mm512_permutexvar_epi32(_mm512_castsi128_si512(places), message.0);
            _mm512_castsi512_si128(picked)
        })
    }

    #[inline(always)]
    fn hash_four_chunks(
        self,
        key: &Chain,
        chunks: &[&[u8; CHUNK_SIZE]; QUADS],
        first: u64,
        nodes: &mut [Node; QUADS],
    ) -> bool {
        hash_four_chunks(self, key, chunks, first, nodes);
        true
    }

    #[inline(always)]
    fn wipe<const N: usize>(self, blocks: &mut Blocks<N>) {
        // SAFETY: `self` is the proof that the CPU has the instruction.
        wipe_with(unsafe { _mm512_setzero_si512() }, blocks);
    }

    #[inline(always)]
    fn xor_short(self, data: &mut [u8], keystream: &[u8; 64]) {
        let length = data.len().min(64) as u32;
        // SAFETY: `self` is the proof that the CPU has the instructions; the mask keeps them inside
        // `data`.
        unsafe {
            let mask = _bzhi_u64(u64::MAX, length);
            let text = _mm512_maskz_loadu_epi8(mask, data.as_ptr().cast());
            let key_bytes = _mm512_loadu_si512(keystream.as_ptr().cast());
            let mixed = _mm512_xor_si512(text, key_bytes);
            _mm512_mask_storeu_epi8(data.as_mut_ptr().cast(), mask, mixed);
        }
    }

    #[inline(always)]
    fn copy_short(self, from: &[u8], to: &mut [u8]) {
        let length = from.len().min(64);
        if length == 0 {
            return;
        }
        // SAFETY: `self` is the proof that the CPU has the instructions; the mask keeps them inside
        // `from`, and inside `to` where it has no room for a whole vector.
        unsafe {
            let mask = _bzhi_u64(u64::MAX, length as u32);
            let bytes = _mm512_maskz_loadu_epi8(mask, from.as_ptr().cast());
            match to.first_chunk_mut::<64>() {
                // Later loads get a whole vector's store from the store buffer, a masked one's not.
                Some(to) => _mm512_storeu_si512(to.as_mut_ptr().cast(), bytes),
                None => {
                    let to = &mut to[..length];
                    _mm512_mask_storeu_epi8(to.as_mut_ptr().cast(), mask, bytes);
                }
            }
        }
    }
}

/// For each quad: the place of each word in a pair of vectors, the first two of a message or the
/// last two. Words of the other pair come out wrong and are masked.
const fn quad_places([w0, w1, w2, w3]: [usize; 4]) -> [u32; 16] {
    let words = [w0, w1, w2, w3];
    let mut places = [0; 16];
    let mut index = 0;
    while index < 16 {
        let (quad, word) = (index / 4, words[index % 4]);
        let (vector, column) = (word / 4 % 2, word % 4);
        places[index] = (vector * 16 + quad * 4 + column) as u32;
        index += 1;
    }
    places
}

/// A bit for each word that is in the last two vectors of a message.
const fn in_last_pair([w0, w1, w2, w3]: [usize; 4]) -> u16 {
    let quad = (w0 / 8) | (w1 / 8) << 1 | (w2 / 8) << 2 | (w3 / 8) << 3;
    (quad * 0x1111) as u16
}

impl PickQuads for Avx512 {
    #[inline(always)]
    fn pick_quads<const ROUND: usize, const PART: usize>(self, message: &[V512; 4]) -> V512 {
        let places = const { &quad_places(ROW_SCHEDULE[ROUND][PART]) };
        let last = const { in_last_pair(ROW_SCHEDULE[ROUND][PART]) };
        let [m0, m1, m2, m3] = message.map(|vector| vector.0);
        // SAFETY: `self` is the proof that the CPU has the instructions; `places` is as long as a
        // vector.
        V512(unsafe {
            let places = _mm512_loadu_si512(places.as_ptr().cast());
            let first_pair = _mm512_permutex2var_epi32(m0, places, m1);
            let last_pair = _mm512_permutex2var_epi32(m2, places, m3);
            _mm512_mask_blend_epi32(last, first_pair, last_pair)
        })
    }
}

// Three operations that the compiler makes one of (`vpternlogd`). Asked for by its intrinsic,
// MemorySanitizer does not know it.
#[inline(always)]
unsafe fn select_4(yes: __m128i, mask: __m128i, no: __m128i) -> __m128i {
    // SAFETY: called with vectors of this module only.
    unsafe { _mm_or_si128(_mm_and_si128(mask, yes), _mm_andnot_si128(mask, no)) }
}

#[inline(always)]
unsafe fn select_8(yes: __m256i, mask: __m256i, no: __m256i) -> __m256i {
    // SAFETY: called with vectors of this module only.
    unsafe { _mm256_or_si256(_mm256_and_si256(mask, yes), _mm256_andnot_si256(mask, no)) }
}

#[inline(always)]
unsafe fn select_16(yes: __m512i, mask: __m512i, no: __m512i) -> __m512i {
    // SAFETY: called with vectors of this module only.
    unsafe { _mm512_or_si512(_mm512_and_si512(mask, yes), _mm512_andnot_si512(mask, no)) }
}

#[inline(always)]
unsafe fn rotate_4<const RIGHT: i32, const LEFT: i32>(v: __m128i) -> __m128i {
    // SAFETY: called with vectors of this module only.
    unsafe { _mm_ror_epi32::<RIGHT>(v) }
}

#[inline(always)]
unsafe fn rotate_8<const RIGHT: i32, const LEFT: i32>(v: __m256i) -> __m256i {
    // SAFETY: called with vectors of this module only.
    unsafe { _mm256_ror_epi32::<RIGHT>(v) }
}

#[inline(always)]
unsafe fn rotate_16<const RIGHT: i32, const LEFT: i32>(v: __m512i) -> __m512i {
    // SAFETY: called with vectors of this module only.
    unsafe { _mm512_ror_epi32::<RIGHT>(v) }
}

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
            [v[i], v[i + 4], v[i + 8], v[i + 12]] =
                quads_of_16([v[i], v[i + 4], v[i + 8], v[i + 12]]);
        }
    }
}

/// Turns four rows of four quads by their diagonal of quads.
#[inline(always)]
unsafe fn quads_of_16([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    // SAFETY: called with vectors of this module only.
    unsafe {
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
}
