//! A context: one I/O thread and the names of `inproc`.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use sealwire_fork::PerProcess;

use crate::core::ContextCore;
use crate::engine::{self, Mailbox};
use crate::error::Error;
use crate::inproc;

/// What sockets share: the thread that does their I/O, and the names of `inproc` endpoints.
///
/// Most programs never name one: sockets use [`Context::global`] by default. A context of one's
/// own separates the `inproc` names and the I/O of one part of a program from another's. Its
/// thread ends when the context and all its sockets are gone.
#[derive(Clone)]
pub struct Context {
    inner: Arc<Inner>,
}

struct Inner {
    core: Arc<ContextCore>,
    mailbox: Arc<Mailbox>,
    inproc: Arc<inproc::Registry>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        if self.core.is_here() {
            self.inproc.end();
        }
    }
}

impl Context {
    /// Starts a context with its thread.
    ///
    /// # Errors
    ///
    /// [`Error::System`] when the system has no thread or no file descriptor left.
    pub fn new() -> Result<Self, Error> {
        let inproc = Arc::<inproc::Registry>::default();
        let mailbox = engine::start(inproc.clone())?;
        Ok(Self::served_by(mailbox, inproc))
    }

    /// The context of the thread behind this mailbox.
    pub(crate) fn served_by(mailbox: Arc<Mailbox>, inproc: Arc<inproc::Registry>) -> Self {
        Context {
            inner: Arc::new(Inner {
                core: ContextCore::new(mailbox.clone()),
                mailbox,
                inproc,
            }),
        }
    }

    /// Returns the context of all sockets that were given no other. A child of a fork gets one of its own.
    ///
    /// # Errors
    ///
    /// [`Error::System`] at the first call, if the system has no thread or no file descriptor left.
    pub fn global() -> Result<Self, Error> {
        static GLOBAL: PerProcess<Context> = PerProcess::new();
        // Two threads may race here; the loser's context ends as it is dropped.
        let usable = |context: &Context| !context.mailbox().is_closed();
        GLOBAL.get_or_try_make(usable, Context::new).cloned()
    }

    /// The time since the context began, by the clock that its thread goes by. Crates above read no
    /// other, so that they can be simulated.
    #[doc(hidden)]
    pub fn now(&self) -> Duration {
        self.mailbox().now()
    }

    /// Whether both are handles of one context.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }

    /// # Errors
    ///
    /// [`Error::Forked`] in a child of the process that made it.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.inner.core.is_here() {
            Ok(())
        } else {
            Err(Error::Forked)
        }
    }

    pub(crate) fn core(&self) -> &Arc<ContextCore> {
        &self.inner.core
    }

    pub(crate) fn mailbox(&self) -> &Arc<Mailbox> {
        &self.inner.mailbox
    }

    pub(crate) fn inproc(&self) -> &Arc<inproc::Registry> {
        &self.inner.inproc
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Context")
    }
}
