//! A build without other ciphers: see the feature `aead-peers`.

use crate::contender::Contender;

pub(super) const COMPARISONS: &[(&str, &str)] = &[];

pub(super) fn all(_size: usize) -> [Contender; 0] {
    []
}
