//! Digests, in the manner of Ruby's own.

use std::sync::{Mutex, MutexGuard, PoisonError};

use digest::Update as _;
use magnus::typed_data::Obj;
use magnus::{Error, Module as _, Object as _, RModule, RString, Ruby, function, method};
use sealwire_newplex::schemes::digest::{Digest as Unkeyed, KeyedDigest as Keyed};

use super::{label, secret};
use crate::keys::frozen;
use crate::{bytes, classes, errors};

#[magnus::wrap(
    class = "Sealwire::Newplex::Digest",
    free_immediately,
    size,
    frozen_shareable
)]
pub(crate) struct Digest(Mutex<Unkeyed>);

#[magnus::wrap(
    class = "Sealwire::Newplex::KeyedDigest",
    free_immediately,
    size,
    frozen_shareable
)]
pub(crate) struct KeyedDigest(Mutex<Keyed>);

pub(super) fn define(ruby: &Ruby, newplex: RModule) -> Result<(), Error> {
    let digest = classes::define::<Digest>(ruby, newplex, "Digest")?;
    digest.define_singleton_method("new", function!(Digest::new, 1))?;
    digest.define_method("update", method!(Digest::update, 1))?;
    digest.define_method("<<", method!(Digest::update, 1))?;
    digest.define_method("digest", method!(Digest::digest, 0))?;
    digest.define_method("hexdigest", method!(Digest::hexdigest, 0))?;

    let keyed = classes::define::<KeyedDigest>(ruby, newplex, "KeyedDigest")?;
    keyed.define_singleton_method("new", function!(KeyedDigest::new, 2))?;
    keyed.define_method("update", method!(KeyedDigest::update, 1))?;
    keyed.define_method("<<", method!(KeyedDigest::update, 1))?;
    keyed.define_method("digest", method!(KeyedDigest::digest, 0))?;
    keyed.define_method("hexdigest", method!(KeyedDigest::hexdigest, 0))?;
    keyed.define_method("verify", method!(KeyedDigest::verify, 1))
}

/// Ruby is not called while this is held, so no thread can be stopped with it.
fn locked<T>(digest: &Mutex<T>) -> MutexGuard<'_, T> {
    digest.lock().unwrap_or_else(PoisonError::into_inner)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Digest {
    fn new(ruby: &Ruby, domain: RString) -> Obj<Self> {
        frozen(ruby, Digest(Mutex::new(Unkeyed::new(label(domain)))))
    }

    fn update(this: Obj<Self>, data: RString) -> Obj<Self> {
        bytes::with(data, |data| locked(&this.0).update(data));
        this
    }

    fn digest(ruby: &Ruby, this: &Self) -> RString {
        let value = locked(&this.0).value();
        ruby.str_from_slice(&value)
    }

    fn hexdigest(&self) -> String {
        hex(&locked(&self.0).value())
    }
}

impl KeyedDigest {
    fn new(ruby: &Ruby, domain: RString, key: RString) -> Obj<Self> {
        let digest = Keyed::new(label(domain), &secret(key));
        frozen(ruby, KeyedDigest(Mutex::new(digest)))
    }

    fn update(this: Obj<Self>, data: RString) -> Obj<Self> {
        bytes::with(data, |data| locked(&this.0).update(data));
        this
    }

    fn digest(ruby: &Ruby, this: &Self) -> RString {
        let value = locked(&this.0).value();
        ruby.str_from_slice(&value)
    }

    fn hexdigest(&self) -> String {
        hex(&locked(&self.0).value())
    }

    /// True, or an exception: nobody can forget to look at it.
    fn verify(ruby: &Ruby, this: &Self, tag: RString) -> Result<bool, Error> {
        let is_right = bytes::with(tag, |tag| match tag.try_into() {
            Ok(tag) => locked(&this.0).verify(tag),
            Err(_) => false,
        });
        if is_right {
            Ok(true)
        } else {
            let problem = "not the tag of this message under this key and domain";
            Err(errors::not_verified(ruby, problem))
        }
    }
}
