//! WebAssembly: `simd128`.

#![allow(
    unsafe_code,
    reason = "instructions; each value proves that the program has them"
)]

pub(crate) mod simd128;
