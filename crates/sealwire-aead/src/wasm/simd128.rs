//! `simd128`: four lanes.

use crate::simd::back_end::kernels;
use crate::simd::blake3::ROW_SCHEDULE;
use crate::simd::isa::{Isa, block_words};
use core::arch::wasm32::u32x4;
use sealwire_simd::wasm::V128;
use sealwire_simd::{Simd128, instructions};

kernels!(Simd128, lanes V128);

impl Isa for Simd128 {
    type Message = [u32; 16];

    instructions! {
        fn load_message(self, block: &[u8; 64]) -> Self::Message {
            block_words(block)
        }

        fn pick<const ROUND: usize, const PART: usize>(self, message: &Self::Message) -> V128 {
            let [w0, w1, w2, w3] = const { ROW_SCHEDULE[ROUND][PART] };
            V128::from_raw(self, u32x4(message[w0], message[w1], message[w2], message[w3]))
        }
    }
}
