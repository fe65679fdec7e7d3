//! Contexts: I/O threads with `inproc` names of their own.

use std::sync::Arc;

use magnus::typed_data::Obj;
use magnus::{Class as _, Error, Module as _, Object as _, RModule, Ruby, function, method};

use crate::errors;
use crate::keys::frozen;
use crate::process::Process;

#[magnus::wrap(class = "Sealwire::Context", free_immediately, size, frozen_shareable)]
pub(crate) struct Context(Arc<Owned>);

/// A context of this process. A child of a fork leaves it alone: the thread is not there.
pub(crate) struct Owned {
    /// Taken when this is dropped, and not before.
    inner: Option<sealwire::Context>,
    process: Process,
}

impl Owned {
    /// # Errors
    ///
    /// `Sealwire::ForkedError` in a child of the process that made it.
    pub(crate) fn get(&self, ruby: &Ruby) -> Result<&sealwire::Context, Error> {
        self.process.check(ruby)?;
        Ok(self.inner.as_ref().expect("taken by drop alone"))
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        if !self.process.is_current() {
            std::mem::forget(self.inner.take());
        }
    }
}

pub(crate) fn define(ruby: &Ruby, sealwire: RModule) -> Result<(), Error> {
    let class = sealwire.define_class("Context", ruby.class_object())?;
    class.undef_default_alloc_func();
    class.define_singleton_method("new", function!(Context::new, 0))?;
    class.define_method("inspect", method!(Context::inspect, 0))
}

impl Context {
    fn new(ruby: &Ruby) -> Result<Obj<Self>, Error> {
        let inner = sealwire::Context::new().map_err(|error| errors::raised(ruby, &error))?;
        let owned = Owned {
            inner: Some(inner),
            process: Process::current(),
        };
        Ok(frozen(ruby, Context(Arc::new(owned))))
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
