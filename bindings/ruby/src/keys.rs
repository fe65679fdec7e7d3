//! Keys: public, secret, and the pair of both.

use std::path::PathBuf;
use std::str::FromStr;

use magnus::typed_data::Obj;
use magnus::value::ReprValue as _;
use magnus::{
    Error, Module as _, Object as _, RArray, RModule, RString, Ruby, TryConvert as _, Value,
    function, method,
};
use sealwire::{DefaultProvider, Generate as _, Provider as _};
use sealwire::{KeyPair as Pair, PublicKey as Public, SecretKey as Secret};
use zeroize::Zeroizing;

use crate::{bytes, classes, errors};

#[magnus::wrap(
    class = "Sealwire::PublicKey",
    free_immediately,
    size,
    frozen_shareable
)]
pub(crate) struct PublicKey(pub(crate) Public);

/// Has no `inspect` that shows it, and none of `Marshal.dump`, `dup` and `clone`.
#[magnus::wrap(
    class = "Sealwire::SecretKey",
    free_immediately,
    size,
    frozen_shareable
)]
pub(crate) struct SecretKey(Secret);

#[magnus::wrap(class = "Sealwire::KeyPair", free_immediately, size, frozen_shareable)]
pub(crate) struct KeyPair(pub(crate) Pair);

pub(crate) fn define(ruby: &Ruby, sealwire: RModule) -> Result<(), Error> {
    let public = classes::define::<PublicKey>(ruby, sealwire, "PublicKey")?;
    public.define_singleton_method("new", function!(PublicKey::new, 1))?;
    public.define_singleton_method("read", function!(PublicKey::read, 1))?;
    public.define_method("to_s", method!(PublicKey::to_z85, 0))?;
    public.define_method("to_z85", method!(PublicKey::to_z85, 0))?;
    public.define_method("to_hex", method!(PublicKey::to_hex, 0))?;
    public.define_method("to_bytes", method!(PublicKey::to_bytes, 0))?;
    public.define_method("inspect", method!(PublicKey::inspect, 0))?;
    public.define_method("==", method!(PublicKey::equals, 1))?;
    public.define_method("eql?", method!(PublicKey::equals, 1))?;
    public.define_method("hash", method!(PublicKey::hash, 0))?;

    let secret = classes::define::<SecretKey>(ruby, sealwire, "SecretKey")?;
    secret.define_singleton_method("new", function!(SecretKey::new, 1))?;
    secret.define_singleton_method("generate", function!(SecretKey::generate, 0))?;
    secret.define_method("to_z85", method!(SecretKey::to_z85, 0))?;
    secret.define_method("to_hex", method!(SecretKey::to_hex, 0))?;
    secret.define_method("to_bytes", method!(SecretKey::to_bytes, 0))?;

    let pair = classes::define::<KeyPair>(ruby, sealwire, "KeyPair")?;
    pair.define_singleton_method("new", function!(KeyPair::new, 1))?;
    pair.define_singleton_method("generate", function!(KeyPair::generate, 0))?;
    pair.define_method("diffie_hellman", method!(KeyPair::diffie_hellman, 1))?;
    pair.define_singleton_method("read", function!(KeyPair::read, 1))?;
    pair.define_method("write", method!(KeyPair::write, 1))?;
    pair.define_method("write_czmq", method!(KeyPair::write_czmq, 1))?;
    pair.define_method("public_key", method!(KeyPair::public_key, 0))?;
    pair.define_method("secret_key", method!(KeyPair::secret_key, 0))?;
    pair.define_method("inspect", method!(KeyPair::inspect, 0))
}

/// Wraps what Ractors may share, which frozen objects are.
pub(crate) fn frozen<T: magnus::TypedData>(ruby: &Ruby, data: T) -> Obj<T> {
    let object = ruby.obj_wrap(data);
    object.freeze();
    object
}

/// 32 bytes as they are, or their text: 40 characters of Z85 or 64 of hexadecimal.
fn parse<K: FromStr<Err: ToString>>(
    ruby: &Ruby,
    given: RString,
    from_bytes: impl FnOnce([u8; 32]) -> Result<K, String>,
) -> Result<K, Error> {
    let key = bytes::with(given, |given| match <[u8; 32]>::try_from(given) {
        Ok(raw) => from_bytes(*Zeroizing::new(raw)),
        Err(_) => match std::str::from_utf8(given) {
            Ok(text) => text.parse().map_err(|error: K::Err| error.to_string()),
            Err(_) => Err("a key is 32 bytes, 40 characters in Z85 or 64 in hexadecimal".into()),
        },
    });
    key.map_err(|problem| errors::argument(ruby, problem))
}

fn path(ruby: &Ruby, value: Value) -> Result<PathBuf, Error> {
    // As every file function of Ruby takes it: a string, or what has `to_path`.
    let file: Value = ruby.class_object().funcall("const_get", ("File",))?;
    file.funcall("path", (value,))
}

impl PublicKey {
    fn new(ruby: &Ruby, value: Value) -> Result<Obj<Self>, Error> {
        Ok(frozen(ruby, PublicKey(public_key(ruby, value)?)))
    }

    fn read(ruby: &Ruby, value: Value) -> Result<Obj<Self>, Error> {
        let key = sealwire::keys::read_public_key(path(ruby, value)?);
        let key = key.map_err(|error| errors::key_file(ruby, &error))?;
        Ok(frozen(ruby, PublicKey(key)))
    }

    fn to_z85(&self) -> String {
        self.0.to_z85()
    }

    fn to_hex(&self) -> String {
        self.0.to_hex()
    }

    fn to_bytes(ruby: &Ruby, this: &Self) -> RString {
        ruby.str_from_slice(this.0.as_bytes())
    }

    fn inspect(&self) -> String {
        format!("#<Sealwire::PublicKey {}>", self.0)
    }

    fn equals(&self, other: Value) -> bool {
        <&PublicKey>::try_convert(other).is_ok_and(|other| self.0 == other.0)
    }

    /// Ruby's own hash of the bytes: it is seeded, so nobody can choose keys that collide.
    fn hash(ruby: &Ruby, this: &Self) -> Result<Value, Error> {
        Self::to_bytes(ruby, this).funcall("hash", ())
    }
}

/// A public key, given as one, as its text or bytes, or as the pair that it belongs to.
pub(crate) fn public_key(ruby: &Ruby, value: Value) -> Result<Public, Error> {
    if let Ok(key) = <&PublicKey>::try_convert(value) {
        return Ok(key.0);
    }
    if let Ok(pair) = <&KeyPair>::try_convert(value) {
        return Ok(pair.0.public());
    }
    let from_bytes = |raw| Public::from_bytes(raw).map_err(|error| error.to_string());
    parse(ruby, RString::try_convert(value)?, from_bytes)
}

impl SecretKey {
    fn new(ruby: &Ruby, given: RString) -> Result<Obj<Self>, Error> {
        let key = parse(ruby, given, |raw| Ok(Secret::from_bytes(raw)))?;
        Ok(frozen(ruby, SecretKey(key)))
    }

    fn generate(ruby: &Ruby) -> Obj<Self> {
        frozen(ruby, SecretKey(Pair::generate().secret().clone()))
    }

    fn to_z85(&self) -> String {
        self.0.to_z85().as_str().into()
    }

    fn to_hex(&self) -> String {
        self.0.to_hex().as_str().into()
    }

    fn to_bytes(ruby: &Ruby, this: &Self) -> RString {
        ruby.str_from_slice(this.0.as_bytes())
    }
}

impl KeyPair {
    fn new(ruby: &Ruby, secret: Value) -> Result<Obj<Self>, Error> {
        let secret = match <&SecretKey>::try_convert(secret) {
            Ok(key) => key.0.clone(),
            Err(_) => parse(ruby, RString::try_convert(secret)?, |raw| {
                Ok(Secret::from_bytes(raw))
            })?,
        };
        Ok(frozen(ruby, KeyPair(Pair::from_secret(secret))))
    }

    fn generate(ruby: &Ruby) -> Obj<Self> {
        frozen(ruby, KeyPair(Pair::generate()))
    }

    fn read(ruby: &Ruby, value: Value) -> Result<Obj<Self>, Error> {
        let pair = sealwire::keys::read_key_pair(path(ruby, value)?);
        let pair = pair.map_err(|error| errors::key_file(ruby, &error))?;
        Ok(frozen(ruby, KeyPair(pair)))
    }

    fn write(ruby: &Ruby, this: &Self, stem: Value) -> Result<RArray, Error> {
        let written = sealwire::keys::write_key_pair(path(ruby, stem)?, &this.0);
        let (public, secret) = written.map_err(|error| errors::key_file(ruby, &error))?;
        Ok(ruby.ary_from_iter([public, secret]))
    }

    fn write_czmq(ruby: &Ruby, this: &Self, stem: Value) -> Result<RArray, Error> {
        let written = sealwire::keys::write_czmq_certificate(path(ruby, stem)?, &this.0);
        let (public, secret) = written.map_err(|error| errors::key_file(ruby, &error))?;
        Ok(ruby.ary_from_iter([public, secret]))
    }

    fn public_key(ruby: &Ruby, this: &Self) -> Obj<PublicKey> {
        frozen(ruby, PublicKey(this.0.public()))
    }

    fn secret_key(ruby: &Ruby, this: &Self) -> Obj<SecretKey> {
        frozen(ruby, SecretKey(this.0.secret().clone()))
    }

    /// X25519 with the public key of another pair: 32 bytes that both sides get.
    fn diffie_hellman(ruby: &Ruby, this: &Self, other: Value) -> Result<RString, Error> {
        let other = public_key(ruby, other)?;
        let shared = DefaultProvider.diffie_hellman(this.0.secret(), &other);
        let shared = shared.map_err(|error| errors::argument(ruby, error.to_string()))?;
        let string = ruby.str_from_slice(shared.as_bytes());
        string.freeze();
        Ok(string)
    }

    fn inspect(&self) -> String {
        format!("#<Sealwire::KeyPair {}>", self.0.public())
    }
}
