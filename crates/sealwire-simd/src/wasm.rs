//! WebAssembly: the vectors of `simd128`. A module says as a whole which instructions it has, so there is
//! nothing to ask at run time: they are here where the program is compiled for them.

#![allow(
    unsafe_code,
    reason = "loads and stores; each value proves that the program has the instructions"
)]

use crate::Simd128;
use crate::vector::{Isa, vector};
use core::arch::wasm32::{
    i32x4_shuffle, i32x4_splat, i64x2_shuffle, u8x16_shuffle, u32x4, u32x4_add, u32x4_shl,
    u32x4_shr, v128, v128_bitselect, v128_load, v128_or, v128_store, v128_xor,
};

vector! {
    /// Four words.
    V128(v128) of Simd128, 4 lanes:
    load v128_load, store v128_store, splat i32x4_splat, splat_quad quad,
    add u32x4_add, xor v128_xor, select select, rotate rotate,
    rotate_quads rotate_quads, transpose_quads transpose, quads quads
}

impl Isa for Simd128 {
    type Narrow = V128;
    type Middle = V128;
    type Wide = V128;
}

const fn quad([a, b, c, d]: [u32; 4]) -> v128 {
    u32x4(a, b, c, d)
}

#[inline]
fn select(yes: v128, mask: v128, no: v128) -> v128 {
    v128_bitselect(yes, no, mask)
}

/// Whole bytes are moved, which is one instruction.
#[inline]
fn rotate<const RIGHT: i32, const LEFT: i32>(v: v128) -> v128 {
    match RIGHT {
        16 => u8x16_shuffle::<2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13>(v, v),
        8 => u8x16_shuffle::<1, 2, 3, 0, 5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12>(v, v),
        24 => u8x16_shuffle::<3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14>(v, v),
        _ => v128_or(
            u32x4_shr(v, RIGHT.cast_unsigned()),
            u32x4_shl(v, LEFT.cast_unsigned()),
        ),
    }
}

#[inline]
fn rotate_quads<const BY: i32>(v: v128) -> v128 {
    match BY {
        1 => i32x4_shuffle::<1, 2, 3, 0>(v, v),
        2 => i32x4_shuffle::<2, 3, 0, 1>(v, v),
        _ => i32x4_shuffle::<3, 0, 1, 2>(v, v),
    }
}

/// The rows of one block are the block.
const fn quads(rows: [v128; 4]) -> [v128; 4] {
    rows
}

#[inline]
fn transpose([a, b, c, d]: [v128; 4]) -> [v128; 4] {
    let [ab_low, ab_high] = [
        i32x4_shuffle::<0, 4, 1, 5>(a, b),
        i32x4_shuffle::<2, 6, 3, 7>(a, b),
    ];
    let [cd_low, cd_high] = [
        i32x4_shuffle::<0, 4, 1, 5>(c, d),
        i32x4_shuffle::<2, 6, 3, 7>(c, d),
    ];
    [
        i64x2_shuffle::<0, 2>(ab_low, cd_low),
        i64x2_shuffle::<1, 3>(ab_low, cd_low),
        i64x2_shuffle::<0, 2>(ab_high, cd_high),
        i64x2_shuffle::<1, 3>(ab_high, cd_high),
    ]
}
