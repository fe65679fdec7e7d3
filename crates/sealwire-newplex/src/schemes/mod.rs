//! Schemes: what protocols are put to, each a fixed sequence of operations.
//!
//! The order and the labels of the operations are those of the reference and decide the bytes.
//!
//! | for | schemes |
//! |---|---|
//! | hashing, MACs, passwords | [`digest`], `mhf` |
//! | encryption under a shared key | [`aead`], [`siv`], `aestream`, `oae2` |
//! | signatures | [`sig`], `frost` (by several together) |
//! | encryption to a public key | [`hpke`], [`signcrypt`] |
//! | sessions | [`handshake`], [`pake`], `adratchet` |
//! | functions of a secret key | [`vrf`], [`oprf`] |
//!
//! Those after the second line have [`keys`] over ristretto255 (RFC 9496) and take [`randomness`].

#[cfg(feature = "alloc")]
pub mod adratchet;
pub mod aead;
#[cfg(feature = "std")]
pub mod aestream;
#[cfg(feature = "std")]
mod block;
pub mod digest;
#[cfg(feature = "alloc")]
pub mod frost;
mod group;
pub mod handshake;
pub mod hpke;
pub mod keys;
#[cfg(feature = "alloc")]
pub mod mhf;
pub mod nonce;
#[cfg(feature = "std")]
pub mod oae2;
pub mod oprf;
pub mod pake;
pub mod randomness;
#[cfg(test)]
pub(crate) mod shared_tests;
pub mod sig;
pub mod signcrypt;
pub mod siv;
pub mod vrf;
