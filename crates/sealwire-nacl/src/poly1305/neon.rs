//! Poly1305 of long texts with NEON: four blocks side by side, whose products are of 64 bits in two pairs of lanes.
//!
//! ```text
//! step     lane i: h[i] = h[i] * r^4 + block[i]               four blocks, 64 bytes
//! end      h = h[0] * r^4 + h[1] * r^3 + h[2] * r^2 + h[3] * r
//! ```
//!
//! `umlal` multiplies numbers of 32 bits, so limbs are of 26 bits, five of them.

#![allow(
    unsafe_code,
    reason = "CPU intrinsics; a value proves that the CPU has them"
)]

use core::arch::aarch64::{
    uint32x4_t, uint32x4x4_t, uint64x2_t, vaddq_u32, vaddq_u64, vandq_u32, vandq_u64, vdupq_n_u32,
    vdupq_n_u64, vget_low_u32, vld1q_u32, vld4q_u32, vmlal_high_u32, vmlal_u32, vorrq_u32,
    vreinterpretq_u32_u64, vshlq_n_u32, vshlq_n_u64, vshrq_n_u32, vshrq_n_u64, vst1q_u32,
    vuzp1q_u32,
};

use sealwire_simd::Neon;
use zeroize::Zeroize;

use super::scalar::{Factor, Limbs, MASK_44};

/// Bytes that a step takes.
const STEP: usize = 64;
/// From this many bytes on it takes fewer instructions than the scalar code.
const LONG: usize = 512;

const LANES: usize = 4;
const MASK_26: u32 = (1 << 26) - 1;

/// A limb in each lane.
type Limb = [u32; LANES];

/// The accumulators of four lanes. Wiped on drop.
pub(crate) struct Lanes {
    /// Why calling the vector code is sound.
    _proof: Neon,
    h: [Limb; 5],
    /// r^4 in every lane.
    step: [Limb; 5],
    /// What each lane is multiplied by at the end: r^4 to r^1.
    end: [Limb; 5],
}

impl Lanes {
    /// Whether they are quicker for a text of this length, on a CPU that has NEON.
    pub(super) fn are_quicker(length: usize) -> bool {
        length >= LONG && Neon::detect().is_some()
    }

    /// `None` where the CPU has no NEON.
    pub(super) fn detect(r: Limbs) -> Option<Self> {
        let proof = Neon::detect()?;
        let factor = Factor::new(r);
        let mut powers = [r; LANES];
        for known in 1..LANES {
            powers[known] = factor.times(powers[known - 1]);
        }
        let mut limbs = powers.map(limbs_of_26);
        let this = Self {
            _proof: proof,
            h: [[0; LANES]; 5],
            step: limbs[LANES - 1].map(|limb| [limb; LANES]),
            end: core::array::from_fn(|limb| {
                core::array::from_fn(|lane| limbs[LANES - 1 - lane][limb])
            }),
        };
        powers.zeroize();
        limbs.zeroize();
        Some(this)
    }

    /// Takes whole steps, and gives back what follows them.
    pub(super) fn update<'a>(&mut self, text: &'a [u8]) -> &'a [u8] {
        let (steps, rest) = text.as_chunks();
        // SAFETY: `_proof` exists only where the CPU was seen to have NEON.
        unsafe { absorb(&mut self.h, &self.step, steps) }
        rest
    }

    /// The sum of all lanes, each times its power of r.
    pub(super) fn sum(&self) -> Limbs {
        let mut products = self.h;
        // SAFETY: as above.
        unsafe { multiply_lanes(&mut products, &self.end) }
        let sum = products.map(|lanes| lanes.into_iter().map(u64::from).sum());
        products.zeroize();
        limbs_of_44(sum)
    }
}

impl Drop for Lanes {
    fn drop(&mut self) {
        self.h.zeroize();
        self.step.zeroize();
        self.end.zeroize();
    }
}

/// Five limbs of 26 bits, of which the last may have a little more.
fn limbs_of_26([h0, h1, h2]: Limbs) -> [u32; 5] {
    let h2 = h2 + (h1 >> 44);
    let h1 = h1 & MASK_44;
    let low = [
        h0,
        (h0 >> 26) | (h1 << 18),
        h1 >> 8,
        (h1 >> 34) | (h2 << 10),
    ];
    let [l0, l1, l2, l3] = low.map(|bits| bits as u32 & MASK_26);
    [l0, l1, l2, l3, (h2 >> 16) as u32]
}

/// The same number in limbs of 44 bits, from limbs below 2^29.
fn limbs_of_44([l0, l1, l2, l3, l4]: [u64; 5]) -> Limbs {
    let low = u128::from(l0 + (l1 << 26)) + (u128::from(l2) << 52);
    let middle = (low >> 44) as u64 + (l3 << 34);
    [
        low as u64 & MASK_44,
        middle & MASK_44,
        (middle >> 44) + (l4 << 16),
    ]
}

#[target_feature(enable = "neon")]
fn absorb(h: &mut [Limb; 5], power: &[Limb; 5], steps: &[[u8; STEP]]) {
    let power = Vectors::new(load(power));
    let mut sum = load(h);
    for step in steps {
        sum = power.times(sum);
        for (sum, block) in sum.iter_mut().zip(limbs(step)) {
            *sum = vaddq_u32(*sum, block);
        }
    }
    store(sum, h);
}

#[target_feature(enable = "neon")]
fn multiply_lanes(h: &mut [Limb; 5], powers: &[Limb; 5]) {
    store(Vectors::new(load(powers)).times(load(h)), h);
}

/// A number in each lane to multiply by.
struct Vectors {
    r: [uint32x4_t; 5],
    /// The upper four limbs times 5: what goes beyond 2^130 comes back times 5.
    s: [uint32x4_t; 4],
}

impl Vectors {
    #[inline]
    #[target_feature(enable = "neon")]
    fn new(r: [uint32x4_t; 5]) -> Self {
        let times_5 = |v| vaddq_u32(v, vshlq_n_u32::<2>(v));
        Self {
            s: [times_5(r[1]), times_5(r[2]), times_5(r[3]), times_5(r[4])],
            r,
        }
    }

    /// `h * self` in each lane, for limbs of `h` below 2^28. Those of the product are below 2^27.
    #[inline]
    #[target_feature(enable = "neon")]
    fn times(&self, h: [uint32x4_t; 5]) -> [uint32x4_t; 5] {
        let ([r0, r1, r2, r3, r4], [s1, s2, s3, s4]) = (self.r, self.s);
        // For each limb of `h`, what it contributes to the five sums.
        let factors = [
            [r0, r1, r2, r3, r4],
            [s4, r0, r1, r2, r3],
            [s3, s4, r0, r1, r2],
            [s2, s3, s4, r0, r1],
            [s1, s2, s3, s4, r0],
        ];
        let mut low = [vdupq_n_u64(0); 5];
        let mut high = low;
        for (limb, factors) in h.into_iter().zip(factors) {
            for (index, factor) in factors.into_iter().enumerate() {
                low[index] = vmlal_u32(low[index], vget_low_u32(limb), vget_low_u32(factor));
                high[index] = vmlal_high_u32(high[index], limb, factor);
            }
        }
        let (low, high) = (carry(low), carry(high));
        let mut limbs = h;
        for (index, limb) in limbs.iter_mut().enumerate() {
            *limb = vuzp1q_u32(
                vreinterpretq_u32_u64(low[index]),
                vreinterpretq_u32_u64(high[index]),
            );
        }
        limbs
    }
}

/// Brings sums of products below 2^59 back into limbs of 26 bits and a little more.
#[inline]
#[target_feature(enable = "neon")]
fn carry(mut d: [uint64x2_t; 5]) -> [uint64x2_t; 5] {
    let mask = vdupq_n_u64(MASK_26.into());
    // Two chains beside each other, from the first limb and from the fourth.
    for from in [3, 0, 4, 1, 2, 0, 3] {
        let above = vshrq_n_u64::<26>(d[from]);
        d[from] = vandq_u64(d[from], mask);
        let (to, above) = match from {
            // Beyond 2^130.
            4 => (0, vaddq_u64(above, vshlq_n_u64::<2>(above))),
            _ => (from + 1, above),
        };
        d[to] = vaddq_u64(d[to], above);
    }
    d
}

/// The limbs of four blocks and of the bit above each.
#[inline]
#[target_feature(enable = "neon")]
fn limbs(blocks: &[u8; STEP]) -> [uint32x4_t; 5] {
    // SAFETY: there are 64 bytes, and alignment is not needed.
    let uint32x4x4_t(w0, w1, w2, w3) = unsafe { vld4q_u32(blocks.as_ptr().cast()) };
    let mask = vdupq_n_u32(MASK_26);
    let across = |low, high| vandq_u32(vorrq_u32(low, high), mask);
    [
        vandq_u32(w0, mask),
        across(vshrq_n_u32::<26>(w0), vshlq_n_u32::<6>(w1)),
        across(vshrq_n_u32::<20>(w1), vshlq_n_u32::<12>(w2)),
        across(vshrq_n_u32::<14>(w2), vshlq_n_u32::<18>(w3)),
        vorrq_u32(vshrq_n_u32::<8>(w3), vdupq_n_u32(1 << 24)),
    ]
}

#[inline]
#[target_feature(enable = "neon")]
fn load(lanes: &[Limb; 5]) -> [uint32x4_t; 5] {
    // SAFETY: each is 16 bytes.
    lanes
        .each_ref()
        .map(|lanes| unsafe { vld1q_u32(lanes.as_ptr()) })
}

#[inline]
#[target_feature(enable = "neon")]
fn store(vectors: [uint32x4_t; 5], lanes: &mut [Limb; 5]) {
    for (vector, lanes) in vectors.into_iter().zip(lanes) {
        // SAFETY: as above.
        unsafe { vst1q_u32(lanes.as_mut_ptr(), vector) }
    }
}
