//! Poly1305 of long texts with AVX-512 IFMA: sixteen blocks side by side, eight in each of two
//! vectors.
//!
//! ```text
//! step     lane i: h[i] = h[i] * r^16 + block[i]              sixteen blocks, 256 bytes
//! end      h = h[0] * r^16 + h[1] * r^15 + .. + h[15] * r
//! ```
//!
//! Limbs are of 44, 44 and 42 bits, as in the scalar code. `vpmadd52` adds the lower or the upper 52
//! bits of a product of 52-bit numbers; what is at 2^52 is shifted by 8 to stand at 2^44.

#![allow(
    unsafe_code,
    reason = "CPU intrinsics; a value proves that the CPU has them"
)]

use core::arch::x86_64::{
    __m512i, _mm512_add_epi64, _mm512_and_si512, _mm512_loadu_si512, _mm512_madd52hi_epu64,
    _mm512_madd52lo_epu64, _mm512_or_si512, _mm512_set1_epi64, _mm512_setzero_si512,
    _mm512_slli_epi64, _mm512_srli_epi64, _mm512_storeu_si512, _mm512_unpackhi_epi64,
    _mm512_unpacklo_epi64,
};

use sealwire_simd::Ifma;
use zeroize::Zeroize;

use super::scalar::{Factor, Limbs, MASK_42, MASK_44};

/// Bytes that a step takes.
const STEP: usize = 256;
/// From this many bytes on it is quicker than the scalar code.
const LONG: usize = 768;

const LANES: usize = 8;
/// Which block of its 128 bytes a lane holds.
const ORDER: [usize; LANES] = [0, 4, 1, 5, 2, 6, 3, 7];

/// A limb in each lane.
type Limb = [u64; LANES];

/// The accumulators of sixteen lanes. Wiped on drop.
pub(crate) struct Lanes {
    /// Why calling the vector code is sound.
    _proof: Ifma,
    h: [[Limb; 3]; 2],
    /// r^16 in every lane.
    step: [Limb; 3],
    /// What each lane is multiplied by at the end: r^16 to r^1.
    end: [[Limb; 3]; 2],
}

impl Lanes {
    /// Whether they are quicker for a text of this length, on a CPU that has IFMA.
    pub(super) fn are_quicker(length: usize) -> bool {
        length >= LONG && Ifma::detect().is_some()
    }

    /// `None` where the CPU has no IFMA.
    pub(super) fn detect(r: Limbs) -> Option<Self> {
        let proof = Ifma::detect()?;
        let mut powers = [r; 2 * LANES];
        for known in [1, 2, 4, 8] {
            let factor = Factor::new(powers[known - 1]);
            let (low, high) = powers.split_at_mut(known);
            for (product, power) in high.iter_mut().zip(low) {
                *product = factor.times(*power);
            }
        }
        let end = [2 * LANES, LANES].map(|first| {
            core::array::from_fn(|limb| ORDER.map(|block| powers[first - block - 1][limb]))
        });
        let this = Self {
            _proof: proof,
            h: [[[0; LANES]; 3]; 2],
            step: powers[2 * LANES - 1].map(|limb| [limb; LANES]),
            end,
        };
        powers.zeroize();
        Some(this)
    }

    /// Takes whole steps, and gives back what follows them.
    pub(super) fn update<'a>(&mut self, text: &'a [u8]) -> &'a [u8] {
        let (steps, rest) = text.as_chunks();
        // SAFETY: `_proof` exists only where the CPU was seen to have the features.
        unsafe { absorb(&mut self.h, &self.step, steps) }
        rest
    }

    /// The sum of all lanes, each times its power of r.
    pub(super) fn sum(&self) -> Limbs {
        let mut products = self.h;
        for (product, powers) in products.iter_mut().zip(&self.end) {
            // SAFETY: as above.
            unsafe { multiply_lanes(product, powers) }
        }
        let sum = core::array::from_fn(|limb| {
            let both = products[0][limb].iter().chain(&products[1][limb]);
            both.sum()
        });
        products.zeroize();
        sum
    }
}

impl Drop for Lanes {
    fn drop(&mut self) {
        self.h.zeroize();
        self.step.zeroize();
        self.end.zeroize();
    }
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn absorb(h: &mut [[Limb; 3]; 2], power: &[Limb; 3], steps: &[[u8; STEP]]) {
    let power = Vectors::new(load(power));
    let [mut first, mut second] = [load(&h[0]), load(&h[1])];
    for step in steps {
        let [low, high] = [0, 1].map(|half| {
            let (halves, _) = step.as_chunks::<{ STEP / 2 }>();
            limbs(&halves[half])
        });
        first = power.times_plus(first, low);
        second = power.times_plus(second, high);
    }
    store(first, &mut h[0]);
    store(second, &mut h[1]);
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn multiply_lanes(h: &mut [Limb; 3], powers: &[Limb; 3]) {
    let product = Vectors::new(load(powers)).times_plus(load(h), [_mm512_setzero_si512(); 3]);
    store(product, h);
}

/// A number in each lane to multiply by.
struct Vectors {
    r: [__m512i; 3],
    /// The upper two limbs times 20: what goes beyond 2^130 comes back times 5, and limbs of 44 bits
    /// make 132.
    s: [__m512i; 2],
}

impl Vectors {
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn new(r: [__m512i; 3]) -> Self {
        let times_20 = |v| _mm512_slli_epi64::<2>(times_5(v));
        Self {
            s: [times_20(r[1]), times_20(r[2])],
            r,
        }
    }

    /// `h * self + block` in each lane, for limbs below 2^52.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn times_plus(&self, h: [__m512i; 3], block: [__m512i; 3]) -> [__m512i; 3] {
        let ([r0, r1, r2], [s1, s2]) = (self.r, self.s);
        // For each limb of `h`, what it contributes to the three sums.
        let factors = [[r0, r1, r2], [s2, r0, r1], [s1, s2, r0]];
        let mut low = block;
        let mut high = [_mm512_setzero_si512(); 3];
        for (limb, factors) in h.into_iter().zip(factors) {
            for (index, factor) in factors.into_iter().enumerate() {
                low[index] = _mm512_madd52lo_epu64(low[index], limb, factor);
                high[index] = _mm512_madd52hi_epu64(high[index], limb, factor);
            }
        }
        carry(low, high)
    }
}

/// Brings sums of products, of which `high` stands at 2^52 of its limb, back into limbs.
#[inline]
#[target_feature(enable = "avx512f,avx512ifma")]
fn carry(low: [__m512i; 3], high: [__m512i; 3]) -> [__m512i; 3] {
    let mask_44 = _mm512_set1_epi64(MASK_44.cast_signed());
    let mask_42 = _mm512_set1_epi64(MASK_42.cast_signed());
    let [d0, d1, d2] = low;
    let up =
        |sum, high| _mm512_add_epi64(_mm512_srli_epi64::<44>(sum), _mm512_slli_epi64::<8>(high));

    let d1 = _mm512_add_epi64(d1, up(d0, high[0]));
    let d2 = _mm512_add_epi64(d2, up(d1, high[1]));
    // Beyond 2^130: what is above 42 bits of the last limb, and the upper halves at 2^140.
    let above = _mm512_add_epi64(
        _mm512_srli_epi64::<42>(d2),
        _mm512_slli_epi64::<10>(high[2]),
    );
    let h0 = _mm512_add_epi64(_mm512_and_si512(d0, mask_44), times_5(above));
    let h1 = _mm512_and_si512(d1, mask_44);
    [
        _mm512_and_si512(h0, mask_44),
        _mm512_add_epi64(h1, _mm512_srli_epi64::<44>(h0)),
        _mm512_and_si512(d2, mask_42),
    ]
}

#[inline]
#[target_feature(enable = "avx512f")]
fn times_5(v: __m512i) -> __m512i {
    _mm512_add_epi64(v, _mm512_slli_epi64::<2>(v))
}

/// The limbs of eight blocks and of the bit above each.
#[inline]
#[target_feature(enable = "avx512f")]
fn limbs(blocks: &[u8; STEP / 2]) -> [__m512i; 3] {
    let (a, b) = blocks.split_at(STEP / 4);
    // SAFETY: each is 64 bytes, and alignment is not needed.
    let (a, b) = unsafe {
        (
            _mm512_loadu_si512(a.as_ptr().cast()),
            _mm512_loadu_si512(b.as_ptr().cast()),
        )
    };
    let (low, high) = (_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
    let mask_44 = _mm512_set1_epi64(MASK_44.cast_signed());
    let middle = _mm512_or_si512(_mm512_srli_epi64::<44>(low), _mm512_slli_epi64::<20>(high));
    [
        _mm512_and_si512(low, mask_44),
        _mm512_and_si512(middle, mask_44),
        _mm512_or_si512(_mm512_srli_epi64::<24>(high), _mm512_set1_epi64(1 << 40)),
    ]
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(lanes: &[Limb; 3]) -> [__m512i; 3] {
    // SAFETY: each is 64 bytes, and alignment is not needed.
    lanes
        .each_ref()
        .map(|lanes| unsafe { _mm512_loadu_si512(lanes.as_ptr().cast()) })
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store(vectors: [__m512i; 3], lanes: &mut [Limb; 3]) {
    for (vector, lanes) in vectors.into_iter().zip(lanes) {
        // SAFETY: as above.
        unsafe { _mm512_storeu_si512(lanes.as_mut_ptr().cast(), vector) }
    }
}
