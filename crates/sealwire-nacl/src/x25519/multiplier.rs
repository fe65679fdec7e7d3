//! Chooses the crate that multiplies, and is the only place that knows there is a choice.
//!
//! `graviola`, whose routines are the formally verified ones of s2n-bignum, takes less than half the time of
//! `x25519-dalek`. It needs instructions that a processor may lack and asserts that they are there, so they are
//! looked for first.

use x25519_dalek::X25519_BASEPOINT_BYTES;
use zeroize::Zeroizing;

use crate::sizes::KEY_SIZE;

/// The product of a scalar and a point, which may be zero.
pub(super) fn product(
    scalar: &[u8; KEY_SIZE],
    point: &[u8; KEY_SIZE],
) -> Zeroizing<[u8; KEY_SIZE]> {
    #[cfg(all(feature = "graviola", target_arch = "x86_64", not(sealwire_portable)))]
    if let Some(isa) = sealwire_simd::Adx::detect() {
        return assembly::product(isa, scalar, point);
    }
    Zeroizing::new(x25519_dalek::x25519(*scalar, *point))
}

/// The product of a scalar and the base point.
pub(super) fn product_with_base(scalar: &[u8; KEY_SIZE]) -> [u8; KEY_SIZE] {
    #[cfg(all(feature = "graviola", target_arch = "x86_64", not(sealwire_portable)))]
    if let Some(isa) = sealwire_simd::Adx::detect() {
        return assembly::product_with_base(isa, scalar);
    }
    x25519_dalek::x25519(*scalar, X25519_BASEPOINT_BYTES)
}

#[cfg(all(feature = "graviola", target_arch = "x86_64", not(sealwire_portable)))]
mod assembly {
    use graviola::key_agreement::x25519::{PublicKey, StaticPrivateKey};
    use sealwire_simd::Adx;
    use zeroize::Zeroizing;

    use crate::sizes::KEY_SIZE;

    pub(super) fn product(
        _: Adx,
        scalar: &[u8; KEY_SIZE],
        point: &[u8; KEY_SIZE],
    ) -> Zeroizing<[u8; KEY_SIZE]> {
        let product =
            StaticPrivateKey::from_array(scalar).diffie_hellman(&PublicKey::from_array(point));
        // It refuses zero, and nothing else.
        Zeroizing::new(product.map_or([0; KEY_SIZE], |product| product.0))
    }

    pub(super) fn product_with_base(_: Adx, scalar: &[u8; KEY_SIZE]) -> [u8; KEY_SIZE] {
        StaticPrivateKey::from_array(scalar).public_key().as_bytes()
    }
}
