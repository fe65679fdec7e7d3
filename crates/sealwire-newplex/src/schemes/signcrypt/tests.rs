//! The published vectors.

use super::*;
use crate::schemes::shared_tests::to_keys::to_key_tests;

to_key_tests!(
    "signcrypt",
    seal(sender, random, text) { sender.seal_with(random, text) },
    SIGNATURE_SIZE
);
