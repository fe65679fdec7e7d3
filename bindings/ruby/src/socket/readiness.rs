//! Waiting for a socket beside other descriptors, and the end of receiving.

use std::future::{Future, poll_fn};
use std::os::fd::{AsRawFd as _, RawFd};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use magnus::typed_data::Obj;
use magnus::{Class as _, Error, Module as _, RArray, RModule, Ruby, method};

use super::Socket;
use crate::classes;
use crate::errors;
use crate::process::Process;

/// A descriptor that is readable when something about the socket may have changed.
#[magnus::wrap(class = "Sealwire::Readiness", free_immediately, size)]
pub(crate) struct Readiness {
    inner: sealwire::Readiness,
    process: Process,
}

pub(super) fn define(ruby: &Ruby, sealwire: RModule) -> Result<(), Error> {
    let class = classes::define::<Readiness>(ruby, sealwire, "Readiness")?;
    class.undef_default_alloc_func();
    class.define_method("fileno", method!(Readiness::fileno, 0))?;
    class.define_method("take", method!(Readiness::take, 0))
}

impl Readiness {
    fn fileno(ruby: &Ruby, this: &Self) -> Result<RawFd, Error> {
        this.process.check(ruby)?;
        Ok(this.inner.as_raw_fd())
    }

    /// Makes the descriptor unreadable and gives the names of what can be done without waiting.
    fn take(ruby: &Ruby, this: &Self) -> Result<RArray, Error> {
        this.process.check(ruby)?;
        let ready = this.inner.take();
        let names = [
            ("receive", ready.receive),
            ("send", ready.send),
            ("closed", ready.closed),
        ];
        let names = names.into_iter().filter(|(_, possible)| *possible);
        Ok(ruby.ary_from_iter(names.map(|(name, _)| ruby.sym_new(name))))
    }
}

impl Socket {
    pub(super) fn readiness(ruby: &Ruby, this: &Self) -> Result<Obj<Readiness>, Error> {
        let readiness = this.socket(ruby)?.readiness();
        let inner = readiness.map_err(|error| errors::raised(ruby, &error.into()))?;
        let process = Process::current();
        Ok(ruby.obj_wrap(Readiness { inner, process }))
    }

    /// A receive that would wait raises from now on, also one that waits already.
    pub(super) fn close_read(ruby: &Ruby, this: &Self) -> Result<(), Error> {
        // A child of a fork has copies of the wakers of its parent, and must not ring there.
        if let Some(open) = this.open.get() {
            open.socket(ruby)?;
        }
        this.reading.end();
        Ok(())
    }

    pub(super) fn is_read_closed(&self) -> bool {
        self.reading.has_ended()
    }
}

/// Whether receiving was ended by `close_read`, and the waits to be told.
#[derive(Default)]
pub(super) struct Reading {
    ended: AtomicBool,
    waiting: Mutex<Vec<Waker>>,
}

impl Reading {
    fn waiting(&self) -> MutexGuard<'_, Vec<Waker>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self) {
        // Under the lock, so that a wait which registers sees it or is told.
        let waiting = {
            let mut waiting = self.waiting();
            self.ended.store(true, Ordering::Release);
            std::mem::take(&mut *waiting)
        };
        waiting.into_iter().for_each(Waker::wake);
    }

    fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// The future's value, or `None` where receiving has ended and there is none.
    pub(super) async fn open<T>(&self, receiving: impl Future<Output = T>) -> Option<T> {
        let mut receiving = pin!(receiving);
        poll_fn(|context| {
            if let Poll::Ready(received) = receiving.as_mut().poll(context) {
                return Poll::Ready(Some(received));
            }
            let mut waiting = self.waiting();
            if self.has_ended() {
                return Poll::Ready(None);
            }
            // Bells are used again, so this holds one for each wait there was at a time.
            if !waiting.iter().any(|waker| waker.will_wake(context.waker())) {
                waiting.push(context.waker().clone());
            }
            Poll::Pending
        })
        .await
    }
}
