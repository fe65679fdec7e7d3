//! `waiting/` of the library: signals, tasks, the lease and what event loops wait for.

#[path = "../../../src/waiting/lease.rs"]
pub(super) mod lease;
#[path = "../../../src/waiting/lease_state.rs"]
mod lease_state;
#[path = "../../../src/waiting/listening.rs"]
#[expect(dead_code, reason = "the library calls the rest")]
pub(super) mod listening;
#[cfg(unix)]
#[path = "../../../src/waiting/notifier.rs"]
mod notifier;
#[cfg(unix)]
#[path = "../../../src/waiting/readiness.rs"]
#[expect(
    unreachable_pub,
    dead_code,
    reason = "users of the library reach and call it"
)]
pub(super) mod readiness;
#[path = "../../../src/waiting/tasks.rs"]
mod tasks;

mod sync {
    pub(super) use super::super::sync::{
        AtomicBool, AtomicU8, AtomicUsize, Mutex, MutexGuard, Ordering, fence,
    };
    pub(super) use super::event::{Event, IntoNotification};
}

/// Begins to listen as a thread does.
pub(super) fn listen(signal: &listening::Signal) -> event::Listener<'_> {
    signal.threads.listen()
}

mod guard {
    pub(super) use super::super::sync::contain;
}

/// What threads listen to, as `event-listener` has it.
mod event {
    use super::sync::{AtomicUsize, Mutex, Ordering, fence};
    use crate::orders::Wakeups;
    use std::sync::Arc;
    use std::thread;

    #[derive(Default)]
    pub(crate) struct Event {
        listeners: Mutex<Vec<Arc<Wakeups>>>,
        count: Count,
    }

    struct Count(AtomicUsize);

    impl Default for Count {
        fn default() -> Self {
            Count(AtomicUsize::new(0))
        }
    }

    impl Event {
        /// Tells all: one too many may always be woken.
        pub(crate) fn notify(&self, _: impl IntoNotification) {
            fence(Ordering::SeqCst);
            if self.count.0.load(Ordering::Relaxed) > 0 {
                for listener in &*self.listeners.lock().unwrap() {
                    listener.write();
                }
            }
        }

        pub(crate) fn total_listeners(&self) -> usize {
            self.count.0.load(Ordering::SeqCst)
        }

        /// Begins to listen.
        pub(crate) fn listen(&self) -> Listener<'_> {
            let listener = Listener(self, Arc::new(Wakeups::new()));
            self.change(|listeners| listeners.push(listener.1.clone()));
            fence(Ordering::SeqCst);
            listener
        }

        fn change(&self, change: impl FnOnce(&mut Vec<Arc<Wakeups>>)) {
            let mut listeners = self.listeners.lock().unwrap();
            change(&mut listeners);
            self.count.0.store(listeners.len(), Ordering::Relaxed);
        }
    }

    pub(crate) struct Listener<'a>(&'a Event, Arc<Wakeups>);

    impl Listener<'_> {
        pub(crate) fn wait(&self) {
            self.1.sleep();
        }
    }

    impl Drop for Listener<'_> {
        fn drop(&mut self) {
            if thread::panicking() {
                // The model has failed: loom does nothing any more.
                return;
            }
            let Listener(event, own) = self;
            event.change(|listeners| listeners.retain(|other| !Arc::ptr_eq(own, other)));
        }
    }

    pub(crate) trait IntoNotification: Sized {
        fn additional(self) -> Self {
            self
        }
    }

    impl IntoNotification for usize {}
}

/// The descriptor of the library, as a flag.
#[cfg(unix)]
mod waker {
    use crate::orders::Wakeups;
    use std::cell::RefCell;
    use std::io;
    use std::os::fd::{AsFd, BorrowedFd};
    use std::sync::Arc;

    thread_local! {
        static LATEST: RefCell<Option<Arc<Wakeups>>> = const { RefCell::new(None) };
    }

    pub(super) struct Waker(Arc<Wakeups>);

    /// Of the waker that was made last, for who polls it.
    pub(crate) fn latest() -> Arc<Wakeups> {
        LATEST.take().expect("one was made")
    }

    impl Waker {
        pub(super) fn new() -> io::Result<Self> {
            let wakeups = Arc::new(Wakeups::new());
            LATEST.set(Some(wakeups.clone()));
            Ok(Waker(wakeups))
        }

        pub(super) fn wake(&self) {
            self.0.write();
        }

        pub(super) fn clear(&self) {
            self.0.clear();
        }
    }

    impl AsFd for Waker {
        fn as_fd(&self) -> BorrowedFd<'_> {
            unreachable!("loom has no descriptors")
        }
    }
}

#[cfg(unix)]
pub(super) use waker::latest as latest_descriptor;
