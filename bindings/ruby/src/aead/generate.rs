//! Keys and nonces: random ones, and keys derived with BLAKE3.

use magnus::scan_args::{get_kwargs, scan_args};
use magnus::{Error, RArray, RHash, RModule, RString, Ruby, Value, function, prelude::*};
use sealwire_aead::{KEY_SIZE, RandomError};
use zeroize::Zeroizing;

use crate::{bytes, errors};

/// Longest key that is derived. BLAKE3 would give more, and nobody has a use for it.
const LONGEST_KEY: usize = 65_535;

pub(super) fn define(aead: RModule) -> Result<(), Error> {
    aead.define_singleton_method("generate_key", function!(generate_key, 0))?;
    aead.define_singleton_method("generate_nonce", function!(generate_nonce, 0))?;
    aead.define_singleton_method(
        "generate_key_and_nonce",
        function!(generate_key_and_nonce, 0),
    )?;
    aead.define_singleton_method("derive_key", function!(derive_key, -1))
}

/// Frozen, as a key that changes is another key. Its encoding is BINARY.
fn frozen(ruby: &Ruby, bytes: &[u8]) -> RString {
    let string = ruby.str_from_slice(bytes);
    string.freeze();
    string
}

fn random_error(ruby: &Ruby, error: RandomError) -> Error {
    errors::new(ruby, ruby.exception_runtime_error(), error.to_string())
}

fn generate_key(ruby: &Ruby) -> Result<RString, Error> {
    let key = sealwire_aead::generate_key().map_err(|error| random_error(ruby, error))?;
    Ok(frozen(ruby, key.as_bytes()))
}

fn generate_nonce(ruby: &Ruby) -> Result<RString, Error> {
    let nonce = sealwire_aead::generate_nonce().map_err(|error| random_error(ruby, error))?;
    Ok(frozen(ruby, &nonce))
}

fn generate_key_and_nonce(ruby: &Ruby) -> Result<RArray, Error> {
    Ok(ruby.ary_new_from_values(&[generate_key(ruby)?, generate_nonce(ruby)?]))
}

fn derive_key(ruby: &Ruby, args: &[Value]) -> Result<RString, Error> {
    let scanned = scan_args::<(RString, RString), (), (), (), RHash, ()>(args)?;
    let (context, material) = scanned.required;
    let keywords = get_kwargs::<_, (), (Option<usize>,), ()>(scanned.keywords, &[], &["length"])?;
    let length = keywords.optional.0.unwrap_or(KEY_SIZE);
    if !(1..=LONGEST_KEY).contains(&length) {
        let problem = format!("length must be 1 to {LONGEST_KEY}, this is {length}");
        return Err(errors::new(ruby, ruby.exception_arg_error(), problem));
    }
    let mut key = Zeroizing::new(vec![0; length]);
    let derived = bytes::with(context, |context| {
        let context = std::str::from_utf8(context)?;
        bytes::with(material, |material| {
            sealwire_aead::derive_key_into(context, material, &mut key);
        });
        Ok::<_, std::str::Utf8Error>(())
    });
    if derived.is_err() {
        let problem = "the context is not valid UTF-8";
        return Err(errors::new(ruby, ruby.exception_arg_error(), problem));
    }
    Ok(frozen(ruby, &key))
}
