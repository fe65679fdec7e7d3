//! Newplex for Ruby: `Sealwire::Newplex`.

mod cipher;
mod digest;
mod protocol;
mod signature;
mod stream;

use magnus::{Error, Module as _, Object as _, RModule, RString, Ruby, function};
use sealwire_newplex::TAG_SIZE;
use zeroize::Zeroizing;

use crate::{bytes, errors};

const KEY_SIZE: usize = 32;
const NONCE_SIZE: usize = 16;

pub(crate) fn define(ruby: &Ruby, sealwire: RModule) -> Result<(), Error> {
    let newplex = sealwire.define_module("Newplex")?;
    newplex.const_set("KEY_SIZE", KEY_SIZE)?;
    newplex.const_set("NONCE_SIZE", NONCE_SIZE)?;
    newplex.const_set("TAG_SIZE", TAG_SIZE)?;
    newplex.define_singleton_method("generate_key", function!(crate::random::<KEY_SIZE>, 0))?;
    newplex.define_singleton_method("generate_nonce", function!(crate::random::<NONCE_SIZE>, 0))?;
    protocol::define(ruby, newplex)?;
    digest::define(ruby, newplex)?;
    cipher::define(ruby, newplex)?;
    stream::define(ruby, newplex)?;
    signature::define(ruby, newplex)
}

/// A label or domain, which are bytes.
fn label(string: RString) -> Vec<u8> {
    bytes::with(string, <[u8]>::to_vec)
}

/// A secret of any size, wiped after its use. That of the caller is Ruby's.
fn secret(string: RString) -> Zeroizing<Vec<u8>> {
    Zeroizing::new(bytes::with(string, <[u8]>::to_vec))
}

fn not_authentic(ruby: &Ruby) -> Error {
    errors::not_authentic(ruby, sealwire_newplex::InvalidCiphertext.to_string())
}
