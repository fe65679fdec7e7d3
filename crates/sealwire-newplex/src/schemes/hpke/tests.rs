//! The published vectors.

use super::*;
use crate::schemes::shared_tests::to_keys::to_key_tests;

to_key_tests!(
    "hpke",
    seal(sender, random, text) {
        let random = random.try_into().expect("64 bytes");
        sender.seal_with(Randomness::from_bytes(random).expect("not zero"), text)
    },
    TAG_SIZE
);
