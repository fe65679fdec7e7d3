//! The protocol.

use std::sync::{Mutex, MutexGuard, PoisonError};

use magnus::typed_data::Obj;
use magnus::{
    Error, Module as _, Object as _, RArray, RModule, RString, Ruby, TryConvert as _, Value,
    function, method,
};
use sealwire_newplex::{Protocol as Inner, STATE_SIZE, TAG_SIZE};
use zeroize::Zeroizing;

use super::{label, not_authentic, secret};
use crate::keys::frozen;
use crate::{bytes, classes, errors};

/// `None` once a stream took the state over.
#[magnus::wrap(
    class = "Sealwire::Newplex::Protocol",
    free_immediately,
    size,
    frozen_shareable
)]
pub(crate) struct Protocol(Mutex<Option<Inner>>);

pub(super) fn define(ruby: &Ruby, newplex: RModule) -> Result<(), Error> {
    let class = classes::define::<Protocol>(ruby, newplex, "Protocol")?;
    class.const_set("STATE_SIZE", STATE_SIZE)?;
    class.define_singleton_method("new", function!(new, 1))?;
    class.define_singleton_method("from_bytes", function!(from_bytes, 1))?;
    class.define_method("to_bytes", method!(to_bytes, 0))?;
    class.define_method("clone", method!(clone, 0))?;
    class.define_method("mix", method!(mix, 2))?;
    class.define_method("derive", method!(derive, 2))?;
    class.define_method("mask", method!(mask, 2))?;
    class.define_method("unmask", method!(unmask, 2))?;
    class.define_method("seal", method!(seal, 2))?;
    class.define_method("open", method!(open, 2))?;
    class.define_method("ratchet", method!(ratchet, 1))?;
    class.define_method("fork", method!(fork, -1))
}

impl Protocol {
    pub(super) fn wrapped(ruby: &Ruby, inner: Inner) -> Obj<Self> {
        frozen(ruby, Protocol(Mutex::new(Some(inner))))
    }

    /// Ruby is not called while this is held, so no thread can be stopped with it.
    fn state(&self) -> MutexGuard<'_, Option<Inner>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(&self, ruby: &Ruby, run: impl FnOnce(&mut Inner) -> T) -> Result<T, Error> {
        let outcome = self.state().as_mut().map(run);
        outcome.ok_or_else(|| handed_over(ruby))
    }

    /// The state, for a stream that goes on from it.
    pub(super) fn hand_over(&self, ruby: &Ruby) -> Result<Inner, Error> {
        let taken = self.state().take();
        taken.ok_or_else(|| handed_over(ruby))
    }

    /// A new string of `size` bytes: those of `source`, then zeros, changed in place by `work`.
    fn changed(
        &self,
        ruby: &Ruby,
        source: RString,
        size: usize,
        work: impl FnOnce(&mut Inner, &mut [u8]),
    ) -> Result<RString, Error> {
        let (string, done) = bytes::changed(ruby, source, size, None, |_, buffer| {
            self.state().as_mut().map(|state| work(state, buffer))
        });
        done.map(|()| string).ok_or_else(|| handed_over(ruby))
    }
}

fn handed_over(ruby: &Ruby) -> Error {
    let problem = "the protocol was handed over to a stream: go on with the one that its end gives";
    errors::state(ruby, problem.into())
}

fn new(ruby: &Ruby, domain: RString) -> Obj<Protocol> {
    Protocol::wrapped(ruby, Inner::new(label(domain)))
}

fn from_bytes(ruby: &Ruby, state: RString) -> Result<Obj<Protocol>, Error> {
    let protocol = Inner::from_bytes(&secret(state));
    let protocol = protocol.map_err(|error| errors::argument(ruby, error.to_string()))?;
    Ok(Protocol::wrapped(ruby, protocol))
}

fn to_bytes(ruby: &Ruby, this: &Protocol) -> Result<RString, Error> {
    let state = this.with(ruby, |state| state.to_bytes())?;
    Ok(ruby.str_from_slice(&state[..]))
}

fn clone(ruby: &Ruby, this: &Protocol) -> Result<Obj<Protocol>, Error> {
    let copy = this.with(ruby, |state| state.clone())?;
    Ok(Protocol::wrapped(ruby, copy))
}

fn mix(
    ruby: &Ruby,
    this: Obj<Protocol>,
    name: RString,
    data: RString,
) -> Result<Obj<Protocol>, Error> {
    let name = label(name);
    this.with(ruby, |state| {
        bytes::with(data, |data| state.mix(&name, data))
    })?;
    Ok(this)
}

fn derive(ruby: &Ruby, this: &Protocol, name: RString, size: usize) -> Result<RString, Error> {
    let name = label(name);
    let mut derived = Zeroizing::new(vec![0; size]);
    this.with(ruby, |state| state.derive(&name, &mut derived))?;
    Ok(ruby.str_from_slice(&derived))
}

fn mask(ruby: &Ruby, this: &Protocol, name: RString, text: RString) -> Result<RString, Error> {
    let name = label(name);
    this.changed(ruby, text, text.len(), |state, text| {
        state.mask(&name, text)
    })
}

fn unmask(ruby: &Ruby, this: &Protocol, name: RString, text: RString) -> Result<RString, Error> {
    let name = label(name);
    this.changed(ruby, text, text.len(), |state, text| {
        state.unmask(&name, text)
    })
}

fn seal(ruby: &Ruby, this: &Protocol, name: RString, plaintext: RString) -> Result<RString, Error> {
    let name = label(name);
    let size = plaintext.len();
    this.changed(ruby, plaintext, size + TAG_SIZE, |state, sealed| {
        let (text, tag) = sealed.split_at_mut(size);
        tag.copy_from_slice(&state.seal_detached(&name, text));
    })
}

fn open(ruby: &Ruby, this: &Protocol, name: RString, sealed: RString) -> Result<RString, Error> {
    let name = label(name);
    let opened = this.with(ruby, |state| {
        bytes::with(sealed, |sealed| state.open(&name, sealed))
    })?;
    let text = Zeroizing::new(opened.map_err(|_| not_authentic(ruby))?);
    Ok(ruby.str_from_slice(&text))
}

fn ratchet(ruby: &Ruby, this: Obj<Protocol>, name: RString) -> Result<Obj<Protocol>, Error> {
    let name = label(name);
    this.with(ruby, |state| state.ratchet(&name))?;
    Ok(this)
}

/// A label, then the values.
fn fork(ruby: &Ruby, this: &Protocol, args: &[Value]) -> Result<RArray, Error> {
    let Some((name, values)) = args.split_first() else {
        return Err(errors::argument(
            ruby,
            "wrong number of arguments (given 0, expected 1+)",
        ));
    };
    let name = label(RString::try_convert(*name)?);
    let values = (values.iter())
        .map(|value| Ok(secret(RString::try_convert(*value)?)))
        .collect::<Result<Vec<_>, Error>>()?;
    let values: Vec<&[u8]> = values.iter().map(|value| &value[..]).collect();
    let branches = this.with(ruby, |state| state.fork_each(&name, &values))?;
    let branches = branches.map_err(|error| errors::argument(ruby, error.to_string()))?;
    let array = ruby.ary_new_capa(branches.len());
    for branch in branches {
        array.push(Protocol::wrapped(ruby, branch))?;
    }
    Ok(array)
}
