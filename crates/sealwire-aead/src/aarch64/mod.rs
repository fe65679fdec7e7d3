//! AArch64: NEON.

#![allow(
    unsafe_code,
    reason = "CPU intrinsics; each value proves that the CPU has them"
)]

pub(crate) mod neon;
