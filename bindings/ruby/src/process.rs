//! The process: the I/O thread that its sockets share, what is still to be sent, and forks.
//!
//! A child of `fork` has the memory of its parent and none of its threads: locks that these held stay
//! locked. So nothing of the parent's is touched there, not even to be freed, and the child gets an
//! I/O thread of its own when it makes its first socket.

use std::future::Future;
use std::pin::Pin;
use std::process;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use magnus::{Error, RModule, Ruby, function, prelude::*};
use sealwire::{Socket, embed};

use crate::{errors, waiting};

/// Which process something was made in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Process(u32);

impl Process {
    pub(crate) fn current() -> Self {
        Process(process::id())
    }

    pub(crate) fn is_current(self) -> bool {
        self == Self::current()
    }

    /// # Errors
    ///
    /// `Sealwire::ForkedError` in a child of the process.
    pub(crate) fn check(self, ruby: &Ruby) -> Result<(), Error> {
        if self.is_current() {
            return Ok(());
        }
        let problem = "this was made before the process forked: make a new one in the child";
        Err(errors::forked(ruby, problem))
    }
}

/// A value of the process that made it. A child leaves it alone: it is neither reachable nor freed there.
pub(crate) struct OfProcess<T> {
    /// Taken when this is dropped, and not before.
    value: Option<T>,
    process: Process,
}

impl<T> OfProcess<T> {
    pub(crate) fn new(value: T) -> Self {
        OfProcess {
            value: Some(value),
            process: Process::current(),
        }
    }

    /// # Errors
    ///
    /// `Sealwire::ForkedError` in a child of the process that made it.
    pub(crate) fn get(&self, ruby: &Ruby) -> Result<&T, Error> {
        self.process.check(ruby)?;
        Ok(self.value.as_ref().expect("taken by drop alone"))
    }
}

impl<T> Drop for OfProcess<T> {
    fn drop(&mut self) {
        if !self.process.is_current() {
            std::mem::forget(self.value.take());
        }
    }
}

type Closing = Pin<Box<dyn Future<Output = Result<(), sealwire::Error>> + Send>>;

/// What sockets of one process share.
struct Shared {
    process: Process,
    /// The one of sockets that were given none.
    context: Option<sealwire::Context>,
    /// Sockets in use, to be closed when the program ends.
    open: Vec<std::sync::Weak<Open>>,
    /// Sockets that the garbage collector found, which still send what they have.
    closing: Vec<Closing>,
}

static SHARED: Mutex<Option<Shared>> = Mutex::new(None);

fn shared() -> MutexGuard<'static, Option<Shared>> {
    SHARED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What this process shares. What a parent shared is left as it is: its threads are not here to finish
/// anything.
fn of_this_process(shared: &mut Option<Shared>) -> &mut Shared {
    if !matches!(shared, Some(shared) if shared.process.is_current()) {
        let fresh = Shared {
            process: Process::current(),
            context: None,
            open: Vec::new(),
            closing: Vec::new(),
        };
        std::mem::forget(shared.replace(fresh));
    }
    shared.as_mut().expect("filled above")
}

/// The context of this process.
pub(crate) fn context() -> Result<sealwire::Context, sealwire::Error> {
    let mut shared = shared();
    let shared = of_this_process(&mut shared);
    if let Some(context) = &shared.context {
        return Ok(context.clone());
    }
    let context = sealwire::Context::new()?;
    Ok(shared.context.insert(context).clone())
}

/// A socket of this process, closed in the background when nobody has it any more.
pub(crate) struct Open {
    /// Taken when this is dropped, and not before.
    socket: Option<Socket>,
    process: Process,
}

impl Open {
    pub(crate) fn new(socket: Socket) -> Arc<Self> {
        let open = Arc::new(Open {
            socket: Some(socket),
            process: Process::current(),
        });
        let mut shared = shared();
        let shared = of_this_process(&mut shared);
        shared.open.retain(|open| open.strong_count() > 0);
        shared.open.push(Arc::downgrade(&open));
        open
    }

    /// # Errors
    ///
    /// `Sealwire::ForkedError` in a child of the process that made it.
    pub(crate) fn socket(&self, ruby: &Ruby) -> Result<&Socket, Error> {
        self.process.check(ruby)?;
        Ok(self.socket.as_ref().expect("taken by drop alone"))
    }
}

impl Drop for Open {
    /// Called by the garbage collector, so it does not wait.
    fn drop(&mut self) {
        let Some(socket) = self.socket.take() else {
            return;
        };
        if !self.process.is_current() {
            return std::mem::forget(socket);
        }
        let mut closing: Closing = Box::pin(socket.close());
        if is_done(&mut closing) {
            return;
        }
        if let Some(shared) = &mut *shared() {
            shared.closing.retain_mut(|closing| !is_done(closing));
            shared.closing.push(closing);
        }
    }
}

fn is_done(closing: &mut Closing) -> bool {
    let mut context = Context::from_waker(Waker::noop());
    matches!(closing.as_mut().poll(&mut context), Poll::Ready(_))
}

/// Closes all sockets of this process, and waits until they have sent what they hold or their linger
/// times are over.
fn close_all(ruby: &Ruby) -> Result<(), Error> {
    close_where(ruby, |_| true)
}

/// Does the same for those of this context, and for what was dropped without being closed.
pub(crate) fn close_those_of(ruby: &Ruby, context: &sealwire::Context) -> Result<(), Error> {
    close_where(ruby, |socket| embed::is_of(socket, context))
}

fn close_where(ruby: &Ruby, wanted: impl Fn(&Socket) -> bool) -> Result<(), Error> {
    let (mut closing, open) = match &mut *shared() {
        Some(shared) if shared.process.is_current() => {
            (std::mem::take(&mut shared.closing), shared.open.clone())
        }
        _ => return Ok(()),
    };
    // Not under the lock: dropping the last handle of a socket takes it.
    let sockets = open
        .iter()
        .filter_map(|open| open.upgrade()?.socket.clone());
    let sockets = sockets.filter(wanted);
    closing.extend(sockets.map(|socket| Box::pin(socket.close()) as Closing));
    // All begin to close before the first is waited for, so that the times do not add up.
    closing.retain_mut(|closing| !is_done(closing));
    for closing in closing {
        // What could not be sent is nobody's business any more.
        let _ = waiting::forever(ruby, closing)?;
    }
    Ok(())
}

pub(crate) fn define(sealwire: RModule) -> Result<(), Error> {
    sealwire.define_singleton_method("close_all", function!(close_all, 0))
}
