//! NEON: four lanes.

use crate::simd::blake3::ROW_SCHEDULE;
use crate::simd::kernels::kernels;
use crate::simd::vector::{Blocks, Isa, Vector};
use core::arch::aarch64::{
    uint8x16_t, uint8x16x4_t, uint32x4_t, vaddq_u32, vbslq_u32, vdupq_n_u32, veorq_u32, vextq_u32,
    vld1q_u8, vld1q_u8_x4, vld1q_u32, vorrq_u32, vqtbl4q_u8, vreinterpretq_u8_u32,
    vreinterpretq_u16_u32, vreinterpretq_u32_u8, vreinterpretq_u32_u16, vreinterpretq_u32_u64,
    vreinterpretq_u64_u32, vrev32q_u16, vshlq_n_u32, vshrq_n_u32, vst1q_u8, vst1q_u32, vtrn1q_u32,
    vtrn1q_u64, vtrn2q_u32, vtrn2q_u64,
};
use core::sync::atomic::{Ordering, compiler_fence};

/// Proof that the CPU has NEON, which is part of AArch64.
#[derive(Clone, Copy)]
pub(crate) struct Neon(());

impl Neon {
    /// The proof, if there is one.
    #[inline(always)]
    pub(crate) fn detect() -> Option<Self> {
        #[cfg(feature = "std")]
        let found = std::arch::is_aarch64_feature_detected!("neon");
        #[cfg(not(feature = "std"))]
        let found = cfg!(target_feature = "neon");
        found.then_some(Self(()))
    }
}

kernels!(Neon, "neon", lanes V128);

/// Four words.
#[derive(Clone, Copy)]
pub(crate) struct V128(uint32x4_t);

impl Isa for Neon {
    type Narrow = V128;
    type Middle = V128;
    type Wide = V128;
    type Message = uint8x16x4_t;

    #[inline(always)]
    fn load_message(self, block: &[u8; 64]) -> uint8x16x4_t {
        // SAFETY: `self` is the proof that the CPU has the instruction; a block has 64 bytes.
        unsafe { vld1q_u8_x4(block.as_ptr()) }
    }

    #[inline(always)]
    fn pick<const ROUND: usize, const PART: usize>(self, message: &uint8x16x4_t) -> V128 {
        let places = const { &byte_places(ROW_SCHEDULE[ROUND][PART]) };
        // SAFETY: `self` is the proof that the CPU has the instructions; `places` has 16 bytes.
        V128(unsafe { vreinterpretq_u32_u8(vqtbl4q_u8(*message, vld1q_u8(places.as_ptr()))) })
    }

    #[inline(always)]
    fn wipe<const N: usize>(self, blocks: &mut Blocks<N>) {
        // SAFETY: `self` is the proof that the CPU has the instruction.
        let zero: uint8x16_t = unsafe { vreinterpretq_u8_u32(vdupq_n_u32(0)) };
        for quad in blocks.0.as_flattened_mut().as_chunks_mut::<16>().0 {
            let quad = core::ptr::from_mut(quad).cast::<uint8x16_t>();
            // SAFETY: the blocks are aligned for every vector, and so is each 16th byte of them.
            unsafe { quad.write_volatile(zero) }
        }
        compiler_fence(Ordering::SeqCst);
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

// SAFETY of every block below: a value of type `Neon`, or `V128`, which is made from one, exists only
// where the CPU has the instructions. Pointers come from slices whose length was checked to be that
// of the vector, and need no alignment.
impl Vector for V128 {
    type Isa = Neon;
    const LANES: usize = 4;

    #[inline(always)]
    fn splat(_: Neon, word: u32) -> Self {
        // SAFETY: see above.
        Self(unsafe { vdupq_n_u32(word) })
    }

    #[inline(always)]
    fn splat_quad(isa: Neon, words: [u32; 4]) -> Self {
        Self::load(isa, &words)
    }

    #[inline(always)]
    fn load(_: Neon, words: &[u32]) -> Self {
        let words = &words[..4];
        // SAFETY: see above.
        Self(unsafe { vld1q_u32(words.as_ptr()) })
    }

    #[inline(always)]
    fn load_bytes(_: Neon, bytes: &[u8]) -> Self {
        let bytes = &bytes[..16];
        // SAFETY: see above.
        Self(unsafe { vreinterpretq_u32_u8(vld1q_u8(bytes.as_ptr())) })
    }

    #[inline(always)]
    fn store(self, words: &mut [u32]) {
        let words = &mut words[..4];
        // SAFETY: see above.
        unsafe { vst1q_u32(words.as_mut_ptr(), self.0) }
    }

    #[inline(always)]
    fn store_bytes(self, bytes: &mut [u8]) {
        let bytes = &mut bytes[..16];
        // SAFETY: see above.
        unsafe { vst1q_u8(bytes.as_mut_ptr(), vreinterpretq_u8_u32(self.0)) }
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { vaddq_u32(self.0, other.0) })
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { veorq_u32(self.0, other.0) })
    }

    #[inline(always)]
    fn select(self, mask: Self, other: Self) -> Self {
        // SAFETY: see above.
        Self(unsafe { vbslq_u32(mask.0, self.0, other.0) })
    }

    #[inline(always)]
    fn rotate_right<const RIGHT: i32, const LEFT: i32>(self) -> Self {
        // SAFETY: see above.
        Self(unsafe {
            if RIGHT == 16 {
                vreinterpretq_u32_u16(vrev32q_u16(vreinterpretq_u16_u32(self.0)))
            } else {
                vorrq_u32(vshrq_n_u32::<RIGHT>(self.0), vshlq_n_u32::<LEFT>(self.0))
            }
        })
    }

    #[inline(always)]
    fn rotate_quads<const BY: i32>(self) -> Self {
        // SAFETY: see above.
        Self(unsafe { vextq_u32::<BY>(self.0, self.0) })
    }

    #[inline(always)]
    fn rows_to_blocks(rows: [Self; 4]) -> [Self; 4] {
        rows
    }

    #[inline(always)]
    fn transpose_quads(vectors: [Self; 4]) -> [Self; 4] {
        let [a, b, c, d] = vectors.map(|vector| vector.0);
        // SAFETY: see above.
        unsafe {
            let [ab_even, ab_odd] = [vtrn1q_u32(a, b), vtrn2q_u32(a, b)];
            let [cd_even, cd_odd] = [vtrn1q_u32(c, d), vtrn2q_u32(c, d)];
            let pairs = [ab_even, cd_even, ab_odd, cd_odd].map(|v| vreinterpretq_u64_u32(v));
            let [ab_even, cd_even, ab_odd, cd_odd] = pairs;
            [
                vtrn1q_u64(ab_even, cd_even),
                vtrn1q_u64(ab_odd, cd_odd),
                vtrn2q_u64(ab_even, cd_even),
                vtrn2q_u64(ab_odd, cd_odd),
            ]
            .map(|v| Self(vreinterpretq_u32_u64(v)))
        }
    }
}
