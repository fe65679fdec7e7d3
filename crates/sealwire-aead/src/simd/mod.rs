//! ChaCha20 and BLAKE3 over vectors of 32-bit words, written once for every instruction set.
//!
//! The algorithms here know only the traits in [`sealwire_simd::vector`] and [`isa`]; one macro,
//! [`kernels`](back_end::kernels), compiles all of them for an instruction set.
//!
//! ```text
//! back_end                   implements the trait of all back ends
//! plan ─▶ tree ─▶ tree_input need no instructions
//! batch   leaves   quads     are compiled for an instruction set
//! blake3  chacha20  framing  are what these are made of
//! kernels ─▶ isa ─▶ lanes    traits: what is compiled, what an instruction set provides
//! shape                      values
//! ```

pub(crate) mod back_end;
pub(crate) mod batch;
pub(crate) mod blake3;
pub(crate) mod chacha20;
pub(crate) mod framing;
pub(crate) mod isa;
pub(crate) mod kernels;
pub(crate) mod lanes;
pub(crate) mod leaves;
pub(crate) mod plan;
#[cfg(target_arch = "x86_64")]
pub(crate) mod quads;
pub(crate) mod shape;
pub(crate) mod tree;
pub(crate) mod tree_input;
