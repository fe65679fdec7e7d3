//! Key pairs that are made again from a seed.

use sealwire_zmtp::{KeyPair, SecretKey};
use zeroize::Zeroizing;

/// The context of the derivation, which is used for nothing else.
const CONTEXT: &str = "sealwire 2026-11-27 key pair from a seed";

/// Returns the key pair that belongs to a seed: the same one each time. The secret key is BLAKE3's `derive_key` of the
/// seed, so it tells nothing of the seed, which can have other uses beside.
///
/// The seed is as secret as the key. Its 32 bytes are to be random, as a password manager or a hardware module makes
/// them; a password is too weak.
///
/// ```
/// let keys = sealwire::keys::key_pair_from_seed(&[7; 32]);
/// assert_eq!(keys.public(), sealwire::keys::key_pair_from_seed(&[7; 32]).public());
/// ```
pub fn key_pair_from_seed(seed: &[u8; 32]) -> KeyPair {
    let secret = Zeroizing::new(blake3::derive_key(CONTEXT, seed));
    KeyPair::from_secret(SecretKey::from_bytes(*secret))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made with the Python packages `blake3` 1.0.11 (`derive_key_context`) and `PyNaCl` 1.6.2 (libsodium).
    #[test]
    fn pairs_are_those_of_blake3_and_libsodium() {
        for (first, step, secret, public) in VECTORS {
            let byte = |index: usize| first.wrapping_add(step.wrapping_mul(index as u8));
            let seed = std::array::from_fn(byte);
            let keys = key_pair_from_seed(&seed);
            assert_eq!(*keys.secret().to_hex(), secret);
            assert_eq!(keys.public().to_hex(), public);
        }
    }

    /// First byte of the seed, what each one is more than the one before, secret and public key.
    const VECTORS: [(u8, u8, &str, &str); 3] = [
        (
            0,
            0,
            "96a36e024b3f5f3902159e7a59e6cf40d1db79ad1e1d36c36588c817dbeb6462",
            "0b11456663846145a4b1d3243fc57edbeadbb217bc3d7685c08386a7df5fd444",
        ),
        (
            0,
            1,
            "3b7a0726c12d9896fd199c85c054475c52958cdeb684875e44f2f11c4c83723d",
            "dd34c2725bbf9aa936895a3b45d4b681a514663a7ce8221382f1fbb2e5861571",
        ),
        (
            255,
            255,
            "d7a25229694691d1ec082e67c79c3bf00264074679df2358ffad09b35815c2af",
            "e45f30c67c306f90984a55050eb60663a3b2305d13e07650e27305c376c9ca25",
        ),
    ];
}
