//! NaCl's `box` and `secretbox`. A message carries its nonce in front, which is random unless the caller gives one.
//!
//! ```text
//! | nonce, 24 | tag, 16 | ciphertext |
//! ```

use magnus::scan_args::{get_kwargs, scan_args};
use magnus::typed_data::Obj;
use magnus::{
    Error, Module as _, Object as _, RClass, RHash, RModule, RString, Ruby, Value, function, method,
};
use sealwire_nacl::{KEY_SIZE, NONCE_SIZE, OpenError, SecretBox as Inner, TAG_SIZE};
use zeroize::Zeroizing;

use crate::keys::{KeyPair, frozen, public_key};
use crate::{bytes, classes, errors};

/// Between the owners of two key pairs: `crypto_box`. The key that they share is computed once.
#[magnus::wrap(class = "Sealwire::Box", free_immediately, size, frozen_shareable)]
pub(crate) struct PublicKeyBox(Inner);

/// Under one key: `crypto_secretbox`.
#[magnus::wrap(
    class = "Sealwire::SecretBox",
    free_immediately,
    size,
    frozen_shareable
)]
pub(crate) struct SecretBox(Inner);

pub(crate) fn define(ruby: &Ruby, sealwire: RModule) -> Result<(), Error> {
    let public = sized(classes::define::<PublicKeyBox>(ruby, sealwire, "Box")?)?;
    public.define_singleton_method("new", function!(PublicKeyBox::new, 2))?;
    public.define_method("shared_key", method!(PublicKeyBox::shared_key, 0))?;
    public.define_method("encrypt", method!(PublicKeyBox::encrypt, -1))?;
    public.define_method("decrypt", method!(PublicKeyBox::decrypt, -1))?;

    let secret = sized(classes::define::<SecretBox>(ruby, sealwire, "SecretBox")?)?;
    secret.define_singleton_method("new", function!(SecretBox::new, 1))?;
    secret.define_singleton_method("generate_key", function!(crate::random::<KEY_SIZE>, 0))?;
    secret.define_method("encrypt", method!(SecretBox::encrypt, -1))?;
    secret.define_method("decrypt", method!(SecretBox::decrypt, -1))
}

/// What both classes have.
fn sized(class: RClass) -> Result<RClass, Error> {
    class.const_set("KEY_SIZE", KEY_SIZE)?;
    class.const_set("NONCE_SIZE", NONCE_SIZE)?;
    class.const_set("TAG_SIZE", TAG_SIZE)?;
    class.define_singleton_method("generate_nonce", function!(crate::random::<NONCE_SIZE>, 0))?;
    Ok(class)
}

impl PublicKeyBox {
    fn new(ruby: &Ruby, keys: &KeyPair, public: Value) -> Result<Obj<Self>, Error> {
        let public = public_key(ruby, public)?;
        let shared = sealwire_nacl::x25519(keys.0.secret().as_bytes(), public.as_bytes())
            .and_then(|agreed| Inner::from_agreement(&agreed))
            .map_err(|error| errors::weak_key(ruby, error.to_string()))?;
        Ok(frozen(ruby, PublicKeyBox(shared)))
    }

    fn shared_key(ruby: &Ruby, this: &Self) -> RString {
        ruby.str_from_slice(this.0.as_bytes())
    }

    fn encrypt(ruby: &Ruby, this: &Self, args: &[Value]) -> Result<RString, Error> {
        seal(ruby, &this.0, args)
    }

    fn decrypt(ruby: &Ruby, this: &Self, args: &[Value]) -> Result<RString, Error> {
        open(ruby, &this.0, args)
    }
}

impl SecretBox {
    fn new(ruby: &Ruby, key: RString) -> Result<Obj<Self>, Error> {
        let key = bytes::array(ruby, key, "the key").map(Zeroizing::new)?;
        Ok(frozen(ruby, SecretBox(Inner::new(&key))))
    }

    fn encrypt(ruby: &Ruby, this: &Self, args: &[Value]) -> Result<RString, Error> {
        seal(ruby, &this.0, args)
    }

    fn decrypt(ruby: &Ruby, this: &Self, args: &[Value]) -> Result<RString, Error> {
        open(ruby, &this.0, args)
    }
}

/// A text, and perhaps `nonce:`.
fn arguments(ruby: &Ruby, args: &[Value]) -> Result<(RString, Option<[u8; NONCE_SIZE]>), Error> {
    let scanned = scan_args::<(RString,), (), (), (), RHash, ()>(args)?;
    let keywords =
        get_kwargs::<_, (), (Option<Option<RString>>,), ()>(scanned.keywords, &[], &["nonce"])?;
    let nonce = keywords.optional.0.flatten();
    let nonce = nonce.map(|nonce| bytes::array(ruby, nonce, "the nonce"));
    Ok((scanned.required.0, nonce.transpose()?))
}

fn seal(ruby: &Ruby, key: &Inner, args: &[Value]) -> Result<RString, Error> {
    let (plaintext, nonce) = arguments(ruby, args)?;
    let nonce = match nonce {
        Some(nonce) => nonce,
        None => bytes::array(ruby, crate::random::<NONCE_SIZE>(ruby)?, "the nonce")?,
    };
    let (size, front) = (plaintext.len(), NONCE_SIZE + TAG_SIZE);
    let (sealed, ()) = bytes::changed(ruby, plaintext, size + front, None, |_, sealed| {
        sealed.copy_within(..size, front);
        let (front, text) = sealed.split_at_mut(front);
        front[..NONCE_SIZE].copy_from_slice(&nonce);
        front[NONCE_SIZE..].copy_from_slice(&key.seal_in_place_detached(&nonce, text));
    });
    Ok(sealed)
}

fn open(ruby: &Ruby, key: &Inner, args: &[Value]) -> Result<RString, Error> {
    let (sealed, nonce) = arguments(ruby, args)?;
    let opened = bytes::with(sealed, |sealed| match nonce {
        Some(nonce) => key.open(&nonce, sealed),
        None => {
            let (nonce, rest) = sealed.split_first_chunk().ok_or(OpenError)?;
            key.open(nonce, rest)
        }
    });
    let opened = opened.map_err(|error| errors::not_authentic(ruby, error.to_string()))?;
    Ok(ruby.str_from_slice(&Zeroizing::new(opened)))
}
