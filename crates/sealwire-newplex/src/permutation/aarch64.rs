//! AArch64: the AES instructions of ARMv8, one state in eight 128-bit registers.

#![allow(
    unsafe_code,
    reason = "CPU intrinsics; each value proves that the CPU has them"
)]

use super::rounds::AesRounds;
use super::{LANE, Registers, WHOLE_LANE};
use core::arch::aarch64::{
    uint8x16_t, vaeseq_u8, vaesmcq_u8, vbicq_u8, vdupq_n_u8, veorq_u8, vextq_u8, vld1q_u8, vst1q_u8,
};
use sealwire_simd::{Armv8Aes, instructions};

impl Registers<1> for Armv8Aes {
    type Lane = uint8x16_t;

    instructions! {
        fn load(self, from: &[impl AsRef<[u8]>; 1], at: usize) -> uint8x16_t {
            let lane: &[u8; LANE] = from[0].as_ref()[at..].first_chunk().expect(WHOLE_LANE);
            vld1q_u8(lane.as_ptr())
        }

        fn store(self, lane: uint8x16_t, to: &mut [impl AsMut<[u8]>; 1], at: usize) {
            let to: &mut [u8; LANE] = to[0].as_mut()[at..].first_chunk_mut().expect(WHOLE_LANE);
            vst1q_u8(to.as_mut_ptr(), lane)
        }

        fn xor(self, a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
            veorq_u8(a, b)
        }

        fn clear(self, lane: uint8x16_t, mask: uint8x16_t) -> uint8x16_t {
            vbicq_u8(lane, mask)
        }

        fn last_14(self, lane: uint8x16_t) -> uint8x16_t {
            vextq_u8::<2>(lane, vdupq_n_u8(0))
        }

        fn first_14(self, lane: uint8x16_t) -> uint8x16_t {
            vextq_u8::<14>(vdupq_n_u8(0), lane)
        }
    }
}

impl AesRounds<1> for Armv8Aes {
    instructions! {
        fn f(self, lane: uint8x16_t, constant: &[u8; LANE], onto: uint8x16_t) -> uint8x16_t {
            // The key goes in before the substitution here, so the first round has none and the
            // second has the constant.
            let first = vaesmcq_u8(vaeseq_u8(lane, vdupq_n_u8(0)));
            let constant = vld1q_u8(constant.as_ptr());
            veorq_u8(onto, vaesmcq_u8(vaeseq_u8(first, constant)))
        }
    }
}
