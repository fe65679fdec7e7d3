//! Nonces of a size that is part of the type.

use aead::array::Array;
pub use aead::array::ArraySize;

/// A nonce of `N` bytes, `N` being a number of the crate `typenum` from 16 on: `U16`, `U24`.
pub type Nonce<N> = Array<u8, N>;

/// Least size of a nonce in bytes.
pub const MIN_NONCE_SIZE: usize = 16;

/// Refuses nonces that are too short, when the program is compiled.
pub(crate) struct LongEnough<N>(core::marker::PhantomData<N>);

impl<N: ArraySize> LongEnough<N> {
    /// To be named wherever a nonce size is chosen.
    pub(crate) const CHECK: () = assert!(
        N::USIZE >= MIN_NONCE_SIZE,
        "nonces of less than 16 bytes are too short to be unique"
    );
}
