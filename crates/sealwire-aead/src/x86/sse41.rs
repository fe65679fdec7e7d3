//! SSE4.1: four lanes.

use crate::simd::back_end::kernels;
use crate::simd::blake3::ROW_SCHEDULE;
use crate::simd::isa::{Isa, block_words};
use core::arch::x86_64::_mm_set_epi32;
use sealwire_simd::x86::sse41::V128;
use sealwire_simd::{Sse41, instructions};

kernels!(Sse41, lanes V128);

impl Isa for Sse41 {
    type Message = [u32; 16];

    instructions! {
        fn load_message(self, block: &[u8; 64]) -> Self::Message {
            block_words(block)
        }

        fn pick<const ROUND: usize, const PART: usize>(self, message: &Self::Message) -> V128 {
            let words = const { ROW_SCHEDULE[ROUND][PART] };
            let [w0, w1, w2, w3] = words.map(|word| message[word].cast_signed());
            V128::from_raw(self, _mm_set_epi32(w3, w2, w1, w0))
        }
    }
}
