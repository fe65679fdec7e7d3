//! Salsa20's keystream.
//!
//! ```text
//! block      what a block is
//! back_end   what is compiled for each instruction set
//! portable   one block after the other, and HSalsa20
//! rows       a few blocks, in vectors of their rows
//! lanes      many blocks side by side, in vectors of their words; chooses between these two
//! engine     chooses between these
//! ```

mod back_end;
pub(crate) mod block;
pub(crate) mod engine;
#[cfg(all(
    any(
        target_arch = "x86_64",
        all(target_arch = "aarch64", target_endian = "little"),
        all(target_arch = "wasm32", target_feature = "simd128")
    ),
    not(sealwire_portable)
))]
mod lanes;
pub(crate) mod portable;
#[cfg(all(
    any(
        target_arch = "x86_64",
        all(target_arch = "aarch64", target_endian = "little"),
        all(target_arch = "wasm32", target_feature = "simd128")
    ),
    not(sealwire_portable)
))]
mod rows;
