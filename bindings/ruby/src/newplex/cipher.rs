//! The AEAD.

use magnus::typed_data::Obj;
use magnus::{Error, Module as _, Object as _, RModule, RString, Ruby, Value, function, method};
use sealwire_newplex::TAG_SIZE;
use sealwire_newplex::schemes::aead::Aead;
use zeroize::Zeroizing;

use super::{NONCE_SIZE, label, not_authentic, secret};
use crate::aead::arguments;
use crate::bytes;
use crate::classes;
use crate::keys::frozen;

#[magnus::wrap(
    class = "Sealwire::Newplex::Cipher",
    free_immediately,
    size,
    frozen_shareable
)]
pub(crate) struct Cipher(Aead);

pub(super) fn define(ruby: &Ruby, newplex: RModule) -> Result<(), Error> {
    let class = classes::define::<Cipher>(ruby, newplex, "Cipher")?;
    class.define_singleton_method("new", function!(new, 2))?;
    class.define_method("encrypt", method!(encrypt, -1))?;
    class.define_method("decrypt", method!(decrypt, -1))
}

fn new(ruby: &Ruby, domain: RString, key: RString) -> Obj<Cipher> {
    frozen(ruby, Cipher(Aead::new(label(domain), &secret(key))))
}

fn encrypt(ruby: &Ruby, this: &Cipher, args: &[Value]) -> Result<RString, Error> {
    let ([nonce, plaintext], aad) = arguments(args)?;
    let nonce = bytes::array::<NONCE_SIZE>(ruby, nonce, "the nonce")?.into();
    let size = plaintext.len();
    let seal = |aad: &[u8], sealed: &mut [u8]| {
        let (text, tag) = sealed.split_at_mut(size);
        tag.copy_from_slice(&this.0.seal_detached(&nonce, aad, text));
    };
    Ok(bytes::changed(ruby, plaintext, size + TAG_SIZE, aad, seal).0)
}

fn decrypt(ruby: &Ruby, this: &Cipher, args: &[Value]) -> Result<RString, Error> {
    let ([nonce, sealed], aad) = arguments(args)?;
    let nonce = bytes::array::<NONCE_SIZE>(ruby, nonce, "the nonce")?.into();
    let aad = aad.map_or_else(Vec::new, label);
    let opened = bytes::with(sealed, |sealed| this.0.open(&nonce, &aad, sealed));
    let text = Zeroizing::new(opened.map_err(|_| not_authentic(ruby))?);
    Ok(ruby.str_from_slice(&text))
}
