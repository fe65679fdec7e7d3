//! AArch64: the vectors of NEON.

#![allow(
    unsafe_code,
    reason = "CPU intrinsics; each value proves that the CPU has them"
)]

use crate::Neon;
use crate::vector::{Isa, vector};
use core::arch::aarch64::{
    uint32x4_t, vaddq_u32, vbslq_u32, vdupq_n_u32, veorq_u32, vextq_u32, vld1q_u8, vld1q_u32,
    vorrq_u32, vreinterpretq_u8_u32, vreinterpretq_u16_u32, vreinterpretq_u32_u8,
    vreinterpretq_u32_u16, vreinterpretq_u32_u64, vreinterpretq_u64_u32, vrev32q_u16, vshlq_n_u32,
    vshrq_n_u32, vst1q_u8, vtrn1q_u32, vtrn1q_u64, vtrn2q_u32, vtrn2q_u64,
};

vector! {
    /// Four words.
    V128(uint32x4_t) of Neon, 4 lanes:
    load load, store store, splat splat, splat_quad quad,
    add vaddq_u32, xor veorq_u32, select select, rotate rotate,
    rotate_quads rotate_quads, transpose_quads transpose, quads quads
}

impl Isa for Neon {
    type Narrow = V128;
    type Middle = V128;
    type Wide = V128;
}

/// # Safety
/// Sixteen bytes can be read from `bytes`.
#[inline]
#[target_feature(enable = "neon")]
unsafe fn load(bytes: *const u8) -> uint32x4_t {
    // SAFETY: the caller's promise.
    vreinterpretq_u32_u8(unsafe { vld1q_u8(bytes) })
}

/// # Safety
/// Sixteen bytes can be written to `bytes`.
#[inline]
#[target_feature(enable = "neon")]
unsafe fn store(bytes: *mut u8, v: uint32x4_t) {
    // SAFETY: the caller's promise.
    unsafe { vst1q_u8(bytes, vreinterpretq_u8_u32(v)) }
}

#[inline]
#[target_feature(enable = "neon")]
fn splat(word: i32) -> uint32x4_t {
    vdupq_n_u32(word.cast_unsigned())
}

#[inline]
#[target_feature(enable = "neon")]
fn quad(words: [u32; 4]) -> uint32x4_t {
    // SAFETY: there are four words.
    unsafe { vld1q_u32(words.as_ptr()) }
}

#[inline]
#[target_feature(enable = "neon")]
fn select(yes: uint32x4_t, mask: uint32x4_t, no: uint32x4_t) -> uint32x4_t {
    vbslq_u32(mask, yes, no)
}

#[inline]
#[target_feature(enable = "neon")]
fn rotate<const RIGHT: i32, const LEFT: i32>(v: uint32x4_t) -> uint32x4_t {
    if RIGHT == 16 {
        vreinterpretq_u32_u16(vrev32q_u16(vreinterpretq_u16_u32(v)))
    } else {
        vorrq_u32(vshrq_n_u32::<RIGHT>(v), vshlq_n_u32::<LEFT>(v))
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn rotate_quads<const BY: i32>(v: uint32x4_t) -> uint32x4_t {
    vextq_u32::<BY>(v, v)
}

/// The rows of one block are the block.
const fn quads(rows: [uint32x4_t; 4]) -> [uint32x4_t; 4] {
    rows
}

#[inline]
#[target_feature(enable = "neon")]
fn transpose([a, b, c, d]: [uint32x4_t; 4]) -> [uint32x4_t; 4] {
    let [ab_even, ab_odd] = [vtrn1q_u32(a, b), vtrn2q_u32(a, b)];
    let [cd_even, cd_odd] = [vtrn1q_u32(c, d), vtrn2q_u32(c, d)];
    let [ab_even, cd_even] = [
        vreinterpretq_u64_u32(ab_even),
        vreinterpretq_u64_u32(cd_even),
    ];
    let [ab_odd, cd_odd] = [vreinterpretq_u64_u32(ab_odd), vreinterpretq_u64_u32(cd_odd)];
    [
        vreinterpretq_u32_u64(vtrn1q_u64(ab_even, cd_even)),
        vreinterpretq_u32_u64(vtrn1q_u64(ab_odd, cd_odd)),
        vreinterpretq_u32_u64(vtrn2q_u64(ab_even, cd_even)),
        vreinterpretq_u32_u64(vtrn2q_u64(ab_odd, cd_odd)),
    ]
}
