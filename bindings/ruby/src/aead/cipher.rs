//! `Cipher`: one key, a nonce of the caller's choice for each message.

use magnus::value::ReprValue as _;
use magnus::{
    Error, Module as _, Object as _, RArray, RModule, RString, Ruby, Value, function, method,
    typed_data::Obj,
};
use sealwire_aead::{Cipher as Inner, KEY_SIZE, NONCE_SIZE, TAG_SIZE};
use zeroize::Zeroizing;

use super::{arguments, decryption_error};
use crate::bytes;
use crate::classes;
use crate::keys::frozen;

#[magnus::wrap(
    class = "Sealwire::AEAD::Cipher",
    free_immediately,
    size,
    frozen_shareable
)]
pub(crate) struct Cipher(pub(super) Inner);

pub(super) fn define(ruby: &Ruby, aead: RModule) -> Result<(), Error> {
    let class = classes::define::<Cipher>(ruby, aead, "Cipher")?;
    class.define_singleton_method("new", function!(new, 1))?;
    class.define_method("encrypt", method!(encrypt, -1))?;
    class.define_method("decrypt", method!(decrypt, -1))?;
    class.define_method("encrypt_detached", method!(encrypt_detached, -1))?;
    class.define_method("decrypt_detached", method!(decrypt_detached, -1))?;
    class.define_method("encrypt_batch", method!(super::batch::encrypt, 1))?;
    class.define_method("decrypt_batch", method!(super::batch::decrypt, 1))
}

/// A key from a string, which is frozen: one that changes later would not be the key any more.
pub(super) fn key(ruby: &Ruby, key: RString) -> Result<Zeroizing<[u8; KEY_SIZE]>, Error> {
    let bytes = bytes::array(ruby, key, "the key").map(Zeroizing::new)?;
    key.freeze();
    Ok(bytes)
}

pub(super) fn nonce(ruby: &Ruby, nonce: RString) -> Result<[u8; NONCE_SIZE], Error> {
    bytes::array(ruby, nonce, "the nonce")
}

fn new(ruby: &Ruby, given: RString) -> Result<Obj<Cipher>, Error> {
    Ok(frozen(ruby, Cipher(Inner::new(&*key(ruby, given)?))))
}

fn encrypt(ruby: &Ruby, this: &Cipher, args: &[Value]) -> Result<RString, Error> {
    let ([given, plaintext], aad) = arguments(args)?;
    let nonce = nonce(ruby, given)?;
    Ok(sealed(ruby, plaintext, aad, |aad, buffer| {
        this.0.encrypt_in_place_detached(&nonce, aad, buffer)
    }))
}

/// The plaintext sealed in place by `seal`, with the tag that it returns behind it.
pub(super) fn sealed(
    ruby: &Ruby,
    plaintext: RString,
    aad: Option<RString>,
    seal: impl FnOnce(&[u8], &mut [u8]) -> [u8; TAG_SIZE],
) -> RString {
    let size = plaintext.len() + TAG_SIZE;
    let seal = |aad: &[u8], buffer: &mut [u8]| {
        if let Some((text, tag)) = buffer.split_last_chunk_mut::<TAG_SIZE>() {
            *tag = seal(aad, text);
        }
    };
    bytes::changed(ruby, plaintext, size, aad, seal).0
}

fn decrypt(ruby: &Ruby, this: &Cipher, args: &[Value]) -> Result<RString, Error> {
    let ([given, ciphertext], aad) = arguments(args)?;
    let nonce = nonce(ruby, given)?;
    let open = |aad: &[u8], buffer: &mut [u8], tag: &[u8; TAG_SIZE]| {
        let opened = this.0.decrypt_in_place_detached(&nonce, aad, buffer, tag);
        opened.is_ok()
    };
    bytes::opened(ruby, ciphertext, aad, open).ok_or_else(|| decryption_error(ruby))
}

fn encrypt_detached(ruby: &Ruby, this: &Cipher, args: &[Value]) -> Result<RArray, Error> {
    let ([given, plaintext], aad) = arguments(args)?;
    let nonce = nonce(ruby, given)?;
    let seal =
        |aad: &[u8], buffer: &mut [u8]| this.0.encrypt_in_place_detached(&nonce, aad, buffer);
    let (text, tag) = bytes::changed(ruby, plaintext, plaintext.len(), aad, seal);
    Ok(ruby.ary_new_from_values(&[text, ruby.str_from_slice(&tag)]))
}

fn decrypt_detached(ruby: &Ruby, this: &Cipher, args: &[Value]) -> Result<RString, Error> {
    let ([given, ciphertext, tag], aad) = arguments(args)?;
    let nonce = nonce(ruby, given)?;
    let tag = bytes::array(ruby, tag, "the tag")?;
    let open = |aad: &[u8], buffer: &mut [u8]| {
        let opened = this.0.decrypt_in_place_detached(&nonce, aad, buffer, &tag);
        opened.is_ok()
    };
    bytes::opened_detached(ruby, ciphertext, ciphertext.len(), aad, open)
        .ok_or_else(|| decryption_error(ruby))
}
