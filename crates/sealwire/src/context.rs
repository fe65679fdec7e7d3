//! A context: I/O threads and the names of `inproc`.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use sealwire_fork::PerProcess;

use crate::core::ContextCore;
use crate::engine::{Mailbox, OnStart, Threads};
use crate::error::Error;
use crate::inproc;
use crate::limits::MAX_IO_THREADS;
use crate::metrics::ContextMetrics;
use crate::options::OptionsError;

/// What sockets share: the threads that do their I/O, and the names of `inproc` endpoints.
///
/// Most programs never name one: sockets use [`Context::global`] by default, which has one thread. A context of
/// one's own separates the `inproc` names and the I/O of one part of a program from another's, and can have
/// [more threads](Context::builder). They end when the context and all its sockets are gone;
/// [`join`](Context::join) waits for that.
#[derive(Clone)]
pub struct Context {
    inner: Arc<Inner>,
}

struct Inner {
    core: Arc<ContextCore>,
    threads: Arc<Threads>,
    inproc: Arc<inproc::Registry>,
}

/// Makes a [`Context`] with several I/O threads, or with names and settings of its own for them.
///
/// ```
/// use sealwire::Context;
///
/// let context = Context::builder().io_threads(4).thread_name("feed-io").build()?;
/// # Ok::<(), sealwire::Error>(())
/// ```
#[derive(Clone)]
#[must_use = "a builder does nothing until it is built"]
pub struct ContextBuilder {
    io_threads: usize,
    thread_name: String,
    on_start: Option<OnStart>,
}

impl ContextBuilder {
    /// Sets how many threads do the I/O of the context's sockets: 1 to 64, 1 by default. Each endpoint that is bound or
    /// connected to is served by the one that serves least then, of those that
    /// [`io_affinity`](crate::SocketBuilder::io_affinity) allows. So is each connection that an endpoint accepts, once
    /// its handshake is done. One thread moves millions of small messages a second: more are of use where encryption or
    /// large messages of several peers keep one busy.
    pub fn io_threads(mut self, threads: usize) -> Self {
        self.io_threads = threads;
        self
    }

    /// Sets the name of the threads, of which systems show 15 bytes; with several, the number of the thread follows it.
    /// Default: `sealwire-io`.
    pub fn thread_name(mut self, name: impl Into<String>) -> Self {
        self.thread_name = name.into();
        self
    }

    /// Sets what each I/O thread calls as it begins, with its number from 0: to set its priority, or the processors that it
    /// may run on. A panic of it is logged, and the thread goes on.
    pub fn on_thread_start(mut self, on_start: impl Fn(usize) + Send + Sync + 'static) -> Self {
        self.on_start = Some(Arc::new(on_start));
        self
    }

    /// Starts the context with its threads.
    ///
    /// # Errors
    ///
    /// * [`Error::Options`] with [`OptionsError::IoThreads`] for none, or more than 64.
    /// * [`Error::System`] when the system has no thread or no file descriptor left, or the name has a zero octet.
    pub fn build(self) -> Result<Context, Error> {
        if !(1..=MAX_IO_THREADS).contains(&self.io_threads) {
            return Err(OptionsError::IoThreads(self.io_threads).into());
        }
        if self.thread_name.contains('\0') {
            return Err(Error::System(std::io::ErrorKind::InvalidInput.into()));
        }
        let inproc = Arc::<inproc::Registry>::default();
        let threads = Threads::start(
            self.io_threads,
            &self.thread_name,
            self.on_start.as_ref(),
            &inproc,
        )?;
        Ok(Context::served_by(threads, inproc))
    }
}

impl fmt::Debug for ContextBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContextBuilder")
            .field("io_threads", &self.io_threads)
            .field("thread_name", &self.thread_name)
            .finish_non_exhaustive()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if self.core.is_here() {
            self.inproc.end();
        }
    }
}

impl Context {
    /// Starts a context with one thread.
    ///
    /// # Errors
    ///
    /// [`Error::System`] when the system has no thread or no file descriptor left.
    pub fn new() -> Result<Self, Error> {
        Self::builder().build()
    }

    /// Returns a builder of a context with one thread.
    pub fn builder() -> ContextBuilder {
        ContextBuilder {
            io_threads: 1,
            thread_name: "sealwire-io".into(),
            on_start: None,
        }
    }

    /// The context of these threads.
    pub(crate) fn served_by(threads: Arc<Threads>, inproc: Arc<inproc::Registry>) -> Self {
        Context {
            inner: Arc::new(Inner {
                core: ContextCore::new(threads.clone()),
                threads,
                inproc,
            }),
        }
    }

    /// Gives this handle up, and waits until all threads of the context have ended: until its other handles and its
    /// sockets are gone too. So do not call it while this thread has one of them, or from what runs on a
    /// thread of the context, such as an authenticator: it would wait for ever. In a child of a fork it returns at once.
    pub fn join(self) {
        if self.check().is_ok() {
            let threads = self.inner.threads.clone();
            drop(self);
            threads.join();
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
        let usable = |context: &Context| !context.threads().any_has_failed();
        GLOBAL.get_or_try_make(usable, Context::new).cloned()
    }

    /// Returns the numbers of the context as of now: its threads, and its sockets with their endpoints and peers. Takes
    /// the lock of one socket after another, each for a time that grows with its peers.
    ///
    /// # Errors
    ///
    /// [`Error::Forked`] in a child of the process that made it.
    pub fn metrics(&self) -> Result<ContextMetrics, Error> {
        self.check()?;
        let threads = self.threads();
        let sockets = threads.sockets().into_iter();
        let sockets = sockets.filter(|core| !core.has_ended());
        Ok(ContextMetrics {
            age: self.now(),
            threads: threads.work(),
            sockets: sockets.map(|core| core.metrics()).collect(),
        })
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

    pub(crate) fn threads(&self) -> &Threads {
        &self.inner.threads
    }

    /// That of the first thread.
    pub(crate) fn mailbox(&self) -> &Arc<Mailbox> {
        self.threads().first()
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
