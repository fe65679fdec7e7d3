//! Contexts: I/O threads with `inproc` names of their own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use magnus::scan_args::{get_kwargs, scan_args};
use magnus::typed_data::Obj;
use magnus::{
    Class as _, Error, Module as _, Object as _, RHash, RModule, Ruby, Value, function, method,
};
use sealwire::embed;

use crate::keys::frozen;
use crate::process::{self, OfProcess};
use crate::{classes, errors, gvl};

#[magnus::wrap(class = "Sealwire::Context", free_immediately, size, frozen_shareable)]
pub(crate) struct Context {
    inner: Arc<Owned>,
    /// It takes no sockets any more.
    joined: AtomicBool,
}

/// A context of this process.
pub(crate) type Owned = OfProcess<sealwire::Context>;

pub(crate) fn define(ruby: &Ruby, sealwire: RModule) -> Result<(), Error> {
    let class = classes::define::<Context>(ruby, sealwire, "Context")?;
    class.undef_default_alloc_func();
    class.define_singleton_method("new", function!(Context::new, -1))?;
    class.define_method("join", method!(Context::join, 0))?;
    class.define_method("inspect", method!(Context::inspect, 0))
}

impl Context {
    fn new(ruby: &Ruby, args: &[Value]) -> Result<Obj<Self>, Error> {
        let scanned = scan_args::<(), (), (), (), RHash, ()>(args)?;
        let keywords = get_kwargs::<_, (), (Option<usize>, Option<Option<String>>), ()>(
            scanned.keywords,
            &[],
            &["io_threads", "thread_name"],
        )?;
        let (io_threads, thread_name) = keywords.optional;
        let mut builder = sealwire::Context::builder().io_threads(io_threads.unwrap_or(1));
        if let Some(name) = thread_name.flatten() {
            builder = builder.thread_name(name);
        }
        let inner = builder.build();
        let inner = inner.map_err(|error| errors::raised(ruby, &error))?;
        Ok(frozen(
            ruby,
            Context {
                inner: Arc::new(Owned::new(inner)),
                joined: AtomicBool::new(false),
            },
        ))
    }

    /// The context, once it is known to be of this process and to go on.
    pub(crate) fn checked(&self, ruby: &Ruby) -> Result<Arc<Owned>, Error> {
        self.inner.get(ruby)?;
        if self.joined.load(Ordering::SeqCst) {
            return Err(errors::state(ruby, "the context was joined".into()));
        }
        Ok(self.inner.clone())
    }

    /// The context that was given, or that of the process.
    pub(crate) fn or_shared(
        ruby: &Ruby,
        given: Option<Obj<Self>>,
    ) -> Result<sealwire::Context, Error> {
        match given {
            Some(context) => Ok(context.checked(ruby)?.get(ruby)?.clone()),
            None => process::context().map_err(|error| errors::raised(ruby, &error)),
        }
    }

    /// Closes its sockets, and waits until its threads have ended.
    fn join(ruby: &Ruby, this: &Self) -> Result<(), Error> {
        let context = this.inner.get(ruby)?.clone();
        this.joined.store(true, Ordering::SeqCst);
        process::close_those_of(ruby, &context)?;
        gvl::lent(ruby, || embed::end(&context));
        Ok(())
    }

    fn inspect(&self) -> &'static str {
        "#<Sealwire::Context>"
    }
}
