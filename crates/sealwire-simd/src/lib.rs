//! Instruction sets as proofs, vectors of 32-bit words, and the choice of a back end.
//!
//! ```text
//! isa         Sse2, Sse41, .. Neon, Simd128: a value is the proof that this CPU has the instructions
//! vector      Vector: words in a register, for algorithms that are written once
//! blocks      from words in lanes to blocks of 64 bytes, and back
//! x86, arm, wasm   the vectors of each instruction set
//! dispatch    dispatch! chooses a back end; compiled_for! compiles a function for one
//! measuring   holds the choice down, for benchmarks and for tests on every back end
//! prefetch    asks for memory before it is written
//! ```
//!
//! It holds no algorithms, and no secret decides anything in it.
//!
//! With the feature `std` or `cpufeatures` the CPU is asked at run time; without both, and for WebAssembly, the
//! features that the program is compiled for decide. With `--cfg sealwire_portable` no instruction set is found and no vector is
//! compiled.

#![no_std]
#![deny(unsafe_code)]

#[cfg(any(test, feature = "std"))]
extern crate std;

#[cfg(all(
    target_arch = "aarch64",
    target_endian = "little",
    not(sealwire_portable)
))]
pub mod arm;
pub mod blocks;
mod dispatch;
mod instructions;
#[cfg(any(
    target_arch = "x86_64",
    all(target_arch = "aarch64", target_endian = "little"),
    all(target_arch = "wasm32", target_feature = "simd128")
))]
mod isa;
#[cfg(feature = "measuring")]
mod level;
#[cfg(feature = "measuring")]
pub mod measuring;
pub mod prefetch;
#[cfg(all(
    test,
    any(
        target_arch = "x86_64",
        all(target_arch = "aarch64", target_endian = "little"),
        all(target_arch = "wasm32", target_feature = "simd128")
    ),
    not(sealwire_portable)
))]
mod tests;
pub mod vector;
#[cfg(all(
    target_arch = "wasm32",
    target_feature = "simd128",
    not(sealwire_portable)
))]
pub mod wasm;
#[cfg(all(target_arch = "x86_64", not(sealwire_portable)))]
pub mod x86;

#[cfg(any(
    target_arch = "x86_64",
    all(target_arch = "aarch64", target_endian = "little"),
    all(target_arch = "wasm32", target_feature = "simd128")
))]
pub use isa::*;
