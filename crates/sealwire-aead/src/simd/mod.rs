//! ChaCha20 and BLAKE3 over vectors of 32-bit words, written once for every instruction set.
//!
//! The algorithms here know only the traits in [`sealwire_simd::vector`] and [`isa`]; one macro,
//! [`kernels`](kernels::kernels), compiles all of them for an instruction set.

pub(crate) mod batch;
pub(crate) mod blake3;
pub(crate) mod chacha20;
pub(crate) mod framing;
pub(crate) mod isa;
pub(crate) mod kernels;
pub(crate) mod leaves;
pub(crate) mod plan;
#[cfg(target_arch = "x86_64")]
pub(crate) mod quads;
pub(crate) mod source;
pub(crate) mod tree;
