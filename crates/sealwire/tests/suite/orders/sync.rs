//! What the library's files have in place of `std::sync`.
//!
//! loom's own mutex orders everything before and behind it, as a fence would, and does not know
//! poison. A missing fence beside a lock, or a panic under one, would not be found with it.

use std::cell::RefCell;
use std::mem;
use std::ops::{Deref, DerefMut};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, LockResult, PoisonError, TryLockError, TryLockResult};

pub(super) use loom::sync::atomic::{
    AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering, fence,
};
use loom::thread::{self, Thread};

/// As std's: what is done under it is seen by those who take it afterwards, and nothing more.
#[derive(Default)]
pub(super) struct Mutex<T> {
    taken: Arc<Taken>,
    /// Poisoned by a panic. Nobody waits for it.
    data: std::sync::Mutex<T>,
}

struct Taken {
    by_somebody: AtomicBool,
    /// Threads that sleep until it is given back. loom does nothing between two steps of its own.
    waiting: std::sync::Mutex<Vec<Thread>>,
}

impl Default for Taken {
    fn default() -> Self {
        Taken {
            by_somebody: AtomicBool::new(false),
            waiting: std::sync::Mutex::default(),
        }
    }
}

impl Taken {
    fn take(&self) -> bool {
        self.by_somebody
            .compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
    }

    fn wait(&self) {
        self.waiting.lock().unwrap().push(thread::current());
        thread::park();
    }

    fn release(&self) {
        self.by_somebody.store(false, Ordering::Release);
        let waiting = mem::take(&mut *self.waiting.lock().unwrap());
        for thread in waiting {
            thread.unpark();
        }
    }
}

thread_local! {
    /// Given back by an unwinding panic. loom goes on to another thread of the model at each store, and all
    /// of them are one to std, which then would take that one for panicking too.
    static RELEASED: RefCell<Vec<Arc<Taken>>> = const { RefCell::new(Vec::new()) };
}

impl<T> Mutex<T> {
    pub(super) fn new(data: T) -> Self {
        Mutex {
            taken: Arc::default(),
            data: std::sync::Mutex::new(data),
        }
    }

    pub(super) fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
        while !self.taken.take() {
            self.taken.wait();
        }
        self.guard()
    }

    pub(super) fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
        if !self.taken.take() {
            return Err(TryLockError::WouldBlock);
        }
        self.guard().map_err(TryLockError::Poisoned)
    }

    pub(super) fn is_poisoned(&self) -> bool {
        self.data.is_poisoned()
    }

    fn guard(&self) -> LockResult<MutexGuard<'_, T>> {
        let guard = |data| MutexGuard {
            data: Some(data),
            taken: &self.taken,
        };
        match self.data.lock() {
            Ok(data) => Ok(guard(data)),
            Err(poisoned) => Err(PoisonError::new(guard(poisoned.into_inner()))),
        }
    }
}

pub(super) struct MutexGuard<'a, T> {
    data: Option<std::sync::MutexGuard<'a, T>>,
    taken: &'a Arc<Taken>,
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.data.as_deref().unwrap()
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.data.as_deref_mut().unwrap()
    }
}

impl<T> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        self.data = None;
        if std::thread::panicking() {
            RELEASED.with_borrow_mut(|released| released.push(self.taken.clone()));
        } else {
            self.taken.release();
        }
    }
}

/// Stands for the library's `guard::contain`.
pub(super) fn contain<R>(_: &'static str, action: impl FnOnce() -> R) -> Option<R> {
    let outcome = catch_unwind(AssertUnwindSafe(action));
    for taken in RELEASED.take() {
        taken.release();
    }
    outcome
        .map_err(|panic| {
            // What loom or a test found wrong is nobody's to contain.
            if !panic.is::<Foreign>() {
                std::panic::resume_unwind(panic);
            }
        })
        .ok()
}

/// Thrown by code of others.
struct Foreign;

/// A panic of theirs, of which nothing is printed.
pub(super) fn panic_of_others() -> ! {
    std::panic::resume_unwind(Box::new(Foreign))
}
