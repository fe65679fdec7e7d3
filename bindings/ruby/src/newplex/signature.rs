//! Signatures.

use magnus::scan_args::{get_kwargs, scan_args};
use magnus::typed_data::Obj;
use magnus::{
    Error, Module as _, Object as _, RHash, RModule, RString, Ruby, Value, function, method,
};
use sealwire_newplex::schemes::keys::{PublicKey, SecretKey};
use sealwire_newplex::schemes::sig::{Signature, SigningKey as Signing, VerifyingKey as Verifying};

use super::{label, secret};
use crate::keys::frozen;
use crate::{bytes, classes, errors};

#[magnus::wrap(
    class = "Sealwire::Newplex::SigningKey",
    free_immediately,
    size,
    frozen_shareable
)]
pub(crate) struct SigningKey {
    key: Signing,
    secret: SecretKey,
}

#[magnus::wrap(
    class = "Sealwire::Newplex::VerifyingKey",
    free_immediately,
    size,
    frozen_shareable
)]
pub(crate) struct VerifyingKey(Verifying);

pub(super) fn define(ruby: &Ruby, newplex: RModule) -> Result<(), Error> {
    let signing = classes::define::<SigningKey>(ruby, newplex, "SigningKey")?;
    signing.define_singleton_method("new", function!(SigningKey::new, 2))?;
    signing.define_singleton_method("generate", function!(SigningKey::generate, 1))?;
    signing.define_method("public_key", method!(SigningKey::public_key, 0))?;
    signing.define_method("secret_key", method!(SigningKey::secret_key, 0))?;
    signing.define_method("sign", method!(SigningKey::sign, -1))?;

    let verifying = classes::define::<VerifyingKey>(ruby, newplex, "VerifyingKey")?;
    verifying.define_singleton_method("new", function!(VerifyingKey::new, 2))?;
    verifying.define_method("public_key", method!(VerifyingKey::public_key, 0))?;
    verifying.define_method("verify", method!(VerifyingKey::verify, 2))
}

impl SigningKey {
    fn wrapped(ruby: &Ruby, domain: RString, secret: SecretKey) -> Obj<Self> {
        let key = Signing::new(label(domain), secret.clone());
        frozen(ruby, SigningKey { key, secret })
    }

    fn new(ruby: &Ruby, domain: RString, secret_key: RString) -> Result<Obj<Self>, Error> {
        let key = SecretKey::from_bytes(&secret(secret_key));
        let key = key.map_err(|error| errors::argument(ruby, error.to_string()))?;
        Ok(Self::wrapped(ruby, domain, key))
    }

    fn generate(ruby: &Ruby, domain: RString) -> Result<Obj<Self>, Error> {
        let key = SecretKey::generate().map_err(|error| {
            errors::new(ruby, ruby.exception_runtime_error(), error.to_string())
        })?;
        Ok(Self::wrapped(ruby, domain, key))
    }

    fn public_key(ruby: &Ruby, this: &Self) -> RString {
        ruby.str_from_slice(this.secret.public_key().as_bytes())
    }

    fn secret_key(ruby: &Ruby, this: &Self) -> RString {
        ruby.str_from_slice(&this.secret.to_bytes()[..])
    }

    fn sign(ruby: &Ruby, this: &Self, args: &[Value]) -> Result<RString, Error> {
        let scanned = scan_args::<(RString,), (), (), (), RHash, ()>(args)?;
        let (message,) = scanned.required;
        let keywords =
            get_kwargs::<_, (), (Option<RString>,), ()>(scanned.keywords, &[], &["random"])?;
        let random = keywords.optional.0.map(secret).unwrap_or_default();
        let signature = bytes::with(message, |message| this.key.sign_hedged(message, &random));
        Ok(ruby.str_from_slice(&signature.to_bytes()))
    }
}

impl VerifyingKey {
    fn new(ruby: &Ruby, domain: RString, public_key: RString) -> Result<Obj<Self>, Error> {
        let key = bytes::with(public_key, PublicKey::from_bytes);
        let key = key.map_err(|error| errors::argument(ruby, error.to_string()))?;
        Ok(frozen(
            ruby,
            VerifyingKey(Verifying::new(label(domain), key)),
        ))
    }

    fn public_key(ruby: &Ruby, this: &Self) -> RString {
        ruby.str_from_slice(this.0.public_key().as_bytes())
    }

    /// True, or an exception: nobody can forget to look at it.
    fn verify(
        ruby: &Ruby,
        this: &Self,
        message: RString,
        signature: RString,
    ) -> Result<bool, Error> {
        let verified =
            bytes::with(signature, |bytes| Signature::try_from(bytes)).and_then(|signature| {
                let mut verification = this.0.begin();
                bytes::with(message, |message| verification.update(message));
                verification.finish(&signature)
            });
        let problem = "not a signature of this message by this key for this domain";
        verified
            .map(|()| true)
            .map_err(|_| errors::not_verified(ruby, problem))
    }
}
