//! x86-64: AES-NI, and VAES for several states at a time.

#![allow(
    unsafe_code,
    reason = "CPU intrinsics; each value proves that the CPU has them"
)]

pub(crate) mod aesni;
pub(crate) mod vaes;
