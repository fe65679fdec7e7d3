//! AArch64: the AES instructions of ARMv8, one state in eight 128-bit registers.

#![allow(
    unsafe_code,
    reason = "CPU intrinsics; each value proves that the CPU has them"
)]

use crate::duplex::kernels::kernels;
use crate::permutation::rounds::{self, AesRounds};
use crate::permutation::{LANE, LANES, RATE_LANES, Registers};
use core::arch::aarch64::{
    uint8x16_t, vaeseq_u8, vaesmcq_u8, vbicq_u8, vdupq_n_u8, veorq_u8, vextq_u8, vld1q_u8, vst1q_u8,
};

/// Proof that the CPU has the AES instructions.
#[derive(Clone, Copy)]
pub(crate) struct Armv8(());

#[cfg(not(feature = "std"))]
cpufeatures::new!(features, "aes");

impl Armv8 {
    /// The proof, if there is one.
    #[inline]
    pub(crate) fn detect() -> Option<Self> {
        #[cfg(feature = "std")]
        let found = std::arch::is_aarch64_feature_detected!("aes");
        #[cfg(not(feature = "std"))]
        let found = features::get();
        found.then_some(Self(()))
    }
}

kernels!(Armv8, "aes,neon");

// SAFETY of every block below: `self` is the proof that the CPU has the instructions. Pointers come
// from references to sixteen bytes and need no alignment.
impl Registers for Armv8 {
    type Lane = uint8x16_t;

    #[inline(always)]
    fn load(self, bytes: &[u8; LANE]) -> uint8x16_t {
        // SAFETY: see above.
        unsafe { vld1q_u8(bytes.as_ptr()) }
    }

    #[inline(always)]
    fn store(self, lane: uint8x16_t, bytes: &mut [u8; LANE]) {
        // SAFETY: see above.
        unsafe { vst1q_u8(bytes.as_mut_ptr(), lane) }
    }

    #[inline(always)]
    fn load_last_14(self, bytes: &[u8; LANE]) -> uint8x16_t {
        // SAFETY: see above.
        unsafe { vextq_u8::<2>(vld1q_u8(bytes.as_ptr()), vdupq_n_u8(0)) }
    }

    #[inline(always)]
    fn store_first_14(self, before: uint8x16_t, lane: uint8x16_t, bytes: &mut [u8; LANE]) {
        // SAFETY: see above.
        unsafe { vst1q_u8(bytes.as_mut_ptr(), vextq_u8::<14>(before, lane)) }
    }

    #[inline(always)]
    fn xor(self, a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
        // SAFETY: see above.
        unsafe { veorq_u8(a, b) }
    }

    #[inline(always)]
    fn clear(self, lane: uint8x16_t, mask: uint8x16_t) -> uint8x16_t {
        // SAFETY: see above.
        unsafe { vbicq_u8(lane, mask) }
    }

    #[inline(always)]
    fn permute(self, lanes: [uint8x16_t; LANES]) -> [uint8x16_t; LANES] {
        rounds::permute(self, lanes)
    }

    #[inline(always)]
    fn permute_and_add(
        self,
        lanes: [uint8x16_t; LANES],
        input: [uint8x16_t; RATE_LANES],
    ) -> [uint8x16_t; LANES] {
        rounds::permute_and_add(self, lanes, input)
    }
}

impl AesRounds for Armv8 {
    type Lane = uint8x16_t;

    #[inline(always)]
    fn xor(self, a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
        Registers::xor(self, a, b)
    }

    #[allow(
        inline_always_mismatching_target_features,
        reason = "inlined into kernels that have them"
    )]
    #[inline(always)]
    fn f(self, lane: uint8x16_t, constant: &[u8; LANE], onto: uint8x16_t) -> uint8x16_t {
        let constant = self.load(constant);
        // SAFETY: `self` is the proof that the CPU has the instructions.
        unsafe {
            // The key goes in before the substitution here, so the first round has none and the
            // second has the constant.
            let first = vaesmcq_u8(vaeseq_u8(lane, vdupq_n_u8(0)));
            veorq_u8(onto, vaesmcq_u8(vaeseq_u8(first, constant)))
        }
    }
}
