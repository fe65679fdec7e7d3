//! NEON: four lanes.

use crate::simd::back_end::kernels;
use crate::simd::blake3::ROW_SCHEDULE;
use crate::simd::isa::Isa;
use core::arch::aarch64::{uint8x16x4_t, vld1q_u8, vld1q_u8_x4, vqtbl4q_u8, vreinterpretq_u32_u8};
use sealwire_simd::arm::V128;
use sealwire_simd::{Neon, instructions};

kernels!(Neon, lanes V128);

impl Isa for Neon {
    type Message = uint8x16x4_t;

    instructions! {
        fn load_message(self, block: &[u8; 64]) -> uint8x16x4_t {
            vld1q_u8_x4(block.as_ptr())
        }

        fn pick<const ROUND: usize, const PART: usize>(self, message: &uint8x16x4_t) -> V128 {
            let places = const { &byte_places(ROW_SCHEDULE[ROUND][PART]) };
            let bytes = vqtbl4q_u8(*message, vld1q_u8(places.as_ptr()));
            V128::from_raw(self, vreinterpretq_u32_u8(bytes))
        }
    }
}

/// Places of the bytes of four words in a block.
const fn byte_places(words: [usize; 4]) -> [u8; 16] {
    let mut places = [0; 16];
    let mut index = 0;
    while index < 16 {
        places[index] = (words[index / 4] * 4 + index % 4) as u8;
        index += 1;
    }
    places
}
