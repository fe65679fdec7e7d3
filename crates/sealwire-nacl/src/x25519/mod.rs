//! X25519 (RFC 7748): the agreement alone, before `box` derives a key from it.

mod multiplier;

use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::error::WeakKey;
use crate::sizes::KEY_SIZE;

/// Multiplies a point of Curve25519 by a scalar (`crypto_scalarmult`): 32 bytes each, which X25519 clamps
/// and reduces itself.
///
/// The result is not uniform, and several points give the same one: hash it together with both public
/// keys before it is a key. [`KeyPair::shared_with`](crate::KeyPair::shared_with) is for `box`.
///
/// # Errors
///
/// [`WeakKey`] when the result is zero, for which NaCl has no error and libsodium has one. It is looked at in
/// constant time.
pub fn x25519(
    scalar: &[u8; KEY_SIZE],
    point: &[u8; KEY_SIZE],
) -> Result<Zeroizing<[u8; KEY_SIZE]>, WeakKey> {
    let agreed = multiplier::product(scalar, point);
    check_agreed(&agreed)?;
    Ok(agreed)
}

/// Multiplies the base point by a scalar (`crypto_scalarmult_base`): the public key of a secret one, 32 bytes
/// each.
#[must_use]
pub fn x25519_base(scalar: &[u8; KEY_SIZE]) -> [u8; KEY_SIZE] {
    multiplier::product_with_base(scalar)
}

/// Refuses zeros, which only points of low order give.
pub(crate) fn check_agreed(agreed: &[u8; KEY_SIZE]) -> Result<(), WeakKey> {
    let weak = agreed.ct_eq(&[0; KEY_SIZE]).unwrap_u8();
    // The peer is told whether its key is weak, so this is public.
    #[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
    let weak = sealwire_constant_time::declassified(weak);
    if weak == 1 { Err(WeakKey) } else { Ok(()) }
}
