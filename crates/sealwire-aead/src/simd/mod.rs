//! ChaCha20 and BLAKE3 over vectors of 32-bit words, written once for every instruction set.
//!
//! The algorithms here know only the traits in [`vector`]; an instruction set implements these for
//! its registers, and one macro, [`kernels`](kernels::kernels), compiles all algorithms for it.
//! Vectors are used in two ways:
//!
//! ```text
//! lanes: vector i holds word i of several blocks      rows: a vector holds four words of one block
//!        w0  | A0 B0 C0 D0 ...                              a | A0 A1 A2 A3
//!        w1  | A1 B1 C1 D1 ...                              b | A4 A5 A6 A7
//!        many blocks at once, full throughput               one block, least latency
//! ```

pub(crate) mod batch;
pub(crate) mod blake3;
pub(crate) mod chacha20;
pub(crate) mod framing;
pub(crate) mod kernels;
pub(crate) mod plan;
#[cfg(target_arch = "x86_64")]
pub(crate) mod quads;
pub(crate) mod source;
pub(crate) mod tree;
pub(crate) mod vector;
