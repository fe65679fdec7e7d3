//! x86-64: SSE4.1, AVX2 and AVX-512.
//!
//! Only registers and instructions are named here; the algorithms are in [`simd`](crate::simd).

#![allow(
    unsafe_code,
    reason = "CPU intrinsics; each value proves that the CPU has them"
)]

pub(crate) mod avx2;
pub(crate) mod avx512;
pub(crate) mod sse41;
