//! Wakers of tasks: those that tell a sleeping thread, and those that panic.

use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::task::{RawWaker, RawWakerVTable, Wake, Waker};

use super::Wakeups;
use super::sync::panic_of_others;

/// A thread that runs one task.
pub(super) struct Executor(pub(super) Wakeups);

impl Executor {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Executor(Wakeups::new()))
    }
}

impl Wake for Executor {
    fn wake(self: Arc<Self>) {
        self.0.write();
    }
}

/// The use of a waker that panics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Panics {
    Woken,
    Cloned,
    Dropped,
}

/// The waker of this executor, with a panic behind what it does. A waker made of `Wake` cannot panic as it is
/// cloned, so this one has a table of its own.
pub(super) fn panicking(executor: &Arc<Executor>, at: Panics) -> Waker {
    let hostile = Arc::new(Hostile(executor.clone(), at));
    // SAFETY: the functions of the table take its pointers for what they come from, `Arc::into_raw`, and
    // each gives up the reference that it is given, but for `clone` and `wake_by_ref`, which borrow it.
    unsafe { Waker::from_raw(RawWaker::new(Arc::into_raw(hostile).cast(), &TABLE)) }
}

struct Hostile(Arc<Executor>, Panics);

static TABLE: RawWakerVTable = RawWakerVTable::new(clone, wake, wake_by_ref, dropped);

unsafe fn clone(hostile: *const ()) -> RawWaker {
    // SAFETY: as the caller promises, it came from `Arc::into_raw` and is still owned.
    let hostile = ManuallyDrop::new(unsafe { Arc::from_raw(hostile.cast::<Hostile>()) });
    if hostile.1 == Panics::Cloned {
        panic_of_others();
    }
    RawWaker::new(Arc::into_raw(Arc::clone(&hostile)).cast(), &TABLE)
}

unsafe fn wake(hostile: *const ()) {
    // SAFETY: as above; this reference is given up.
    let hostile = unsafe { Arc::from_raw(hostile.cast::<Hostile>()) };
    hostile.0.0.write();
    if hostile.1 == Panics::Woken {
        panic_of_others();
    }
}

unsafe fn wake_by_ref(hostile: *const ()) {
    // SAFETY: as for `clone`.
    let hostile = ManuallyDrop::new(unsafe { Arc::from_raw(hostile.cast::<Hostile>()) });
    hostile.0.0.write();
}

unsafe fn dropped(hostile: *const ()) {
    // SAFETY: as for `wake`.
    let hostile = unsafe { Arc::from_raw(hostile.cast::<Hostile>()) };
    if hostile.1 == Panics::Dropped {
        panic_of_others();
    }
}
