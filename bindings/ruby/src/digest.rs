//! BLAKE3 of a string.

use magnus::value::ReprValue as _;
use magnus::{Error, Object as _, RModule, RString, Ruby, function};
use sealwire::{DefaultProvider, Provider as _};

use crate::{bytes, gvl};

/// A string of more bytes than this is hashed while other threads of Ruby run, in a copy.
const LARGE: usize = 256 * 1024;

pub(crate) fn define(sealwire: RModule) -> Result<(), Error> {
    sealwire.define_singleton_method("blake3", function!(blake3, 1))
}

/// 32 bytes.
fn blake3(ruby: &Ruby, input: RString) -> RString {
    let hash = if input.len() > LARGE {
        let copy = bytes::with(input, <[u8]>::to_vec);
        gvl::lent(ruby, || DefaultProvider.hash(&[&copy]))
    } else {
        bytes::with(input, |input| DefaultProvider.hash(&[input]))
    };
    let digest = ruby.str_from_slice(&hash);
    digest.freeze();
    digest
}
