//! Contexts: I/O threads with `inproc` names of their own.

use std::sync::Arc;

use magnus::typed_data::Obj;
use magnus::{Class as _, Error, Module as _, Object as _, RModule, Ruby, function, method};

use crate::classes;
use crate::errors;
use crate::keys::frozen;
use crate::process::OfProcess;

#[magnus::wrap(class = "Sealwire::Context", free_immediately, size, frozen_shareable)]
pub(crate) struct Context(Arc<Owned>);

/// A context of this process.
pub(crate) type Owned = OfProcess<sealwire::Context>;

pub(crate) fn define(ruby: &Ruby, sealwire: RModule) -> Result<(), Error> {
    let class = classes::define::<Context>(ruby, sealwire, "Context")?;
    class.undef_default_alloc_func();
    class.define_singleton_method("new", function!(Context::new, 0))?;
    class.define_method("inspect", method!(Context::inspect, 0))
}

impl Context {
    fn new(ruby: &Ruby) -> Result<Obj<Self>, Error> {
        let inner = sealwire::Context::new().map_err(|error| errors::raised(ruby, &error))?;
        Ok(frozen(ruby, Context(Arc::new(Owned::new(inner)))))
    }

    /// The context, once it is known to be of this process.
    pub(crate) fn checked(&self, ruby: &Ruby) -> Result<Arc<Owned>, Error> {
        self.0.get(ruby)?;
        Ok(self.0.clone())
    }

    fn inspect(&self) -> &'static str {
        "#<Sealwire::Context>"
    }
}
