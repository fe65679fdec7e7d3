//! Metadata: keys and values beside the body of a call or message.

use magnus::r_hash::ForEach;
use magnus::typed_data::Obj;
use magnus::value::ReprValue as _;
use magnus::{
    Class as _, Error, Module as _, Object as _, RArray, RHash, RModule, RString, Ruby, Symbol,
    TryConvert as _, Value, function, method,
};
use sealwire_rpc::Metadata as Inner;

use super::errors;
use crate::classes;
use crate::keys::frozen;
use crate::message::binary;

#[magnus::wrap(
    class = "Sealwire::RPC::Metadata",
    free_immediately,
    size,
    frozen_shareable
)]
pub(crate) struct Metadata(Inner<'static>);

pub(super) fn define(ruby: &Ruby, rpc: RModule) -> Result<(), Error> {
    let class = classes::define::<Metadata>(ruby, rpc, "Metadata")?;
    class.undef_default_alloc_func();
    class.define_singleton_method("make", function!(make, 1))?;
    class.define_method("[]", method!(Metadata::first, 1))?;
    class.define_method("get_all", method!(Metadata::get_all, 1))?;
    class.define_method("size", method!(Metadata::size, 0))?;
    class.define_method("==", method!(Metadata::equal, 1))?;
    class.define_method("inspect", method!(Metadata::inspect, 0))?;
    class.define_private_method("pairs", method!(Metadata::pairs, 0))
}

fn make(ruby: &Ruby, entries: Value) -> Result<Obj<Metadata>, Error> {
    Ok(Metadata::wrap(ruby, given(ruby, entries)?))
}

/// What a program gave: metadata, a hash, or an array of pairs; `nil` for none.
pub(super) fn given(ruby: &Ruby, entries: Value) -> Result<Inner<'static>, Error> {
    let mut metadata = Inner::new();
    if entries.is_nil() {
        return Ok(metadata);
    }
    if let Ok(made) = Obj::<Metadata>::try_convert(entries) {
        return Ok(made.0.clone());
    }
    if let Some(hash) = RHash::from_value(entries) {
        hash.foreach(|key: Value, value: Value| {
            append(ruby, &mut metadata, key, value)?;
            Ok(ForEach::Continue)
        })?;
        return Ok(metadata);
    }
    let pairs = RArray::from_value(entries).ok_or_else(|| no_metadata(ruby))?;
    // By number, as what is converted runs Ruby, which may change the array.
    for index in 0..pairs.len() {
        let pair = RArray::from_value(pairs.entry(index as isize)?);
        let pair = pair.filter(|pair| pair.len() == 2);
        let pair = pair.ok_or_else(|| no_metadata(ruby))?;
        append(ruby, &mut metadata, pair.entry(0)?, pair.entry(1)?)?;
    }
    Ok(metadata)
}

/// A value is a string, or an array of those, for several entries.
fn append(ruby: &Ruby, metadata: &mut Inner<'_>, key: Value, value: Value) -> Result<(), Error> {
    let key = text_of_key(ruby, key)?;
    let mut add = |value: Value| {
        let value = RString::from_value(value).ok_or_else(|| no_metadata(ruby))?;
        let appended = crate::bytes::with(value, |value| metadata.append(&key, value));
        appended.map_err(|error| refused(ruby, &error))
    };
    let Some(values) = RArray::from_value(value) else {
        return add(value);
    };
    for index in 0..values.len() {
        add(values.entry(index as isize)?)?;
    }
    Ok(())
}

/// Of a string or symbol. A text that is not UTF-8 is not a key either.
fn text_of_key(ruby: &Ruby, key: Value) -> Result<String, Error> {
    if let Some(symbol) = Symbol::from_value(key) {
        return Ok(symbol.name()?.into_owned());
    }
    let key = RString::from_value(key).ok_or_else(|| no_metadata(ruby))?;
    let text = |key: &[u8]| String::from_utf8_lossy(key).into_owned();
    Ok(crate::bytes::with(key, text))
}

fn no_metadata(ruby: &Ruby) -> Error {
    let problem = "metadata is a hash from strings or symbols to strings or arrays of strings, or an array of pairs";
    crate::errors::new(ruby, ruby.exception_type_error(), problem)
}

pub(super) fn refused(ruby: &Ruby, error: &sealwire_rpc::MetadataError) -> Error {
    errors::metadata(ruby, error)
}

impl Metadata {
    pub(super) fn wrap(ruby: &Ruby, metadata: Inner<'_>) -> Obj<Self> {
        frozen(ruby, Metadata(metadata.into_owned()))
    }

    fn first(ruby: &Ruby, this: &Self, key: Value) -> Result<Option<RString>, Error> {
        let value = this.0.get(&text_of_key(ruby, key)?);
        Ok(value.map(|value| binary(ruby, value)))
    }

    fn get_all(ruby: &Ruby, this: &Self, key: Value) -> Result<RArray, Error> {
        let key = text_of_key(ruby, key)?;
        let values = this.0.get_all(&key).map(|value| binary(ruby, value));
        Ok(ruby.ary_from_iter(values))
    }

    /// All entries in their order, as arrays of key and value.
    fn pairs(ruby: &Ruby, this: &Self) -> RArray {
        let entries = this.0.iter();
        ruby.ary_from_iter(entries.map(|(key, value)| {
            let name = ruby.str_new(key);
            name.freeze();
            ruby.ary_new_from_values(&[name, binary(ruby, value)])
        }))
    }

    fn size(&self) -> usize {
        self.0.len()
    }

    fn equal(&self, other: Value) -> bool {
        Obj::<Self>::try_convert(other).is_ok_and(|other| other.0 == self.0)
    }

    /// Says how long values are, not what they are: they may be credentials.
    fn inspect(&self) -> String {
        format!("#<Sealwire::RPC::Metadata {:?}>", self.0)
    }
}
