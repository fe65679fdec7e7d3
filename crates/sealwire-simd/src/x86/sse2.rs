//! SSE2: four lanes.

use super::{quad, quads_of_4, rotate_by_bits_4, rotate_quads_4, select_4, transpose_4};
use crate::Sse2;
use crate::vector::{Isa, vector};
use core::arch::x86_64::{
    __m128i, _mm_add_epi32, _mm_loadu_si128, _mm_set1_epi32, _mm_storeu_si128, _mm_xor_si128,
};

vector! {
    /// Four words.
    V128(__m128i) of Sse2, 4 lanes:
    load _mm_loadu_si128, store _mm_storeu_si128, splat _mm_set1_epi32, splat_quad quad,
    add _mm_add_epi32, xor _mm_xor_si128, select select_4, rotate rotate_by_bits_4,
    rotate_quads rotate_quads_4, transpose_quads transpose_4, quads quads_of_4
}

impl Isa for Sse2 {
    type Narrow = V128;
    type Middle = V128;
    type Wide = V128;
}
