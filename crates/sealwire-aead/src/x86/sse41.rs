//! SSE4.1: four lanes.

use crate::simd::back_end::kernels;
use crate::simd::blake3::ROW_SCHEDULE;
use crate::simd::isa::Isa;
use core::arch::x86_64::_mm_set_epi32;
use sealwire_simd::vector::MAX_LANES;
use sealwire_simd::x86::sse41::V128;
use sealwire_simd::{Sse41, instructions};

kernels!(Sse41, lanes V128);

impl Isa for Sse41 {
    type Message = [i32; 16];

    instructions! {
        fn load_message(self, block: &[u8; 64]) -> Self::Message {
            block_words(block)
        }

        fn pick<const ROUND: usize, const PART: usize>(self, message: &Self::Message) -> V128 {
            let [w0, w1, w2, w3] = const { ROW_SCHEDULE[ROUND][PART] };
            let words = _mm_set_epi32(message[w3], message[w2], message[w1], message[w0]);
            V128::from_raw(self, words)
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
