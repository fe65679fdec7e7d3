//! Tells a process from the one it was forked from, at the cost of one load.
//!
//! A child of `fork` has a copy of its parent's memory and none of its threads. Keys and nonces are
//! copied as well, so both would seal with the same ones; locks may be held by threads that the
//! child does not have. A value that must not be used there notes its [`Birth`] and asks it.
//!
//! ```text
//!   parent   generation 0 ─────────────────────────▶ 0
//!                            └─ fork: handler ─────▶ 1   child
//! ```
//!
//! The generation is counted by a handler of `pthread_atfork`, which runs in the child before `fork`
//! returns there. It is registered with the first birth. It does not run where the C library is
//! passed by: in a child of the system call `clone` itself, or of `_Fork`. `vfork` and
//! `posix_spawn` share memory until `exec` and need nothing.
//!
//! Systems other than Unix do not have `fork`: nothing changes there.

use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

static GENERATION: AtomicU32 = AtomicU32::new(0);

/// Which process something was made in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Birth(u32);

impl Birth {
    /// In this process.
    pub fn now() -> Self {
        register();
        Birth(GENERATION.load(Ordering::Relaxed))
    }

    /// Whether that was this process, and no fork came between. Async-signal-safe.
    #[inline]
    pub fn is_here(self) -> bool {
        self.0 == GENERATION.load(Ordering::Relaxed)
    }
}

/// Has forks counted from now on. No effect when done already.
#[cfg(all(unix, not(miri)))]
fn register() {
    use std::sync::atomic::AtomicBool;

    static REGISTERED: AtomicBool = AtomicBool::new(false);

    extern "C" fn in_child() {
        GENERATION.fetch_add(1, Ordering::Relaxed);
    }

    if REGISTERED.load(Ordering::Acquire) {
        return;
    }
    // Two threads may come here; counting a fork twice does no harm, missing one would. Nothing
    // waits here, as a child would wait for a thread that it does not have.
    //
    // SAFETY: the handler is a function that lives as long as the program, and does nothing but
    // change an atomic, as a handler may.
    let refused = unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    assert_eq!(refused, 0, "no memory for a handler of forks");
    REGISTERED.store(true, Ordering::Release);
}

/// Without forks there is nothing to count. Miri has none either.
#[cfg(any(not(unix), miri))]
fn register() {}

/// One value for each process, made when it is first asked for. A child makes its own and leaves
/// that of its parent alone. Takes no lock.
pub struct PerProcess<T: 'static> {
    latest: AtomicPtr<Entry<T>>,
}

struct Entry<T> {
    birth: Birth,
    value: T,
}

impl<T: Send + Sync> PerProcess<T> {
    /// With no value yet.
    pub const fn new() -> Self {
        PerProcess {
            latest: AtomicPtr::new(ptr::null_mut()),
        }
    }

    /// The value of this process. It is made anew when there is none, or none that is `usable`.
    /// Where two threads make one, one of both is dropped. A value that is replaced stays in
    /// memory.
    ///
    /// # Errors
    ///
    /// Those of `make`.
    pub fn get_or_try_make<E>(
        &'static self,
        usable: impl Fn(&T) -> bool,
        make: impl Fn() -> Result<T, E>,
    ) -> Result<&'static T, E> {
        loop {
            let latest = self.latest.load(Ordering::Acquire);
            // SAFETY: it is null or came from `Box::into_raw` below, and entries that were
            // published are never freed nor changed.
            if let Some(entry) = unsafe { latest.as_ref() }
                && entry.birth.is_here()
                && usable(&entry.value)
            {
                return Ok(&entry.value);
            }
            let (birth, value) = (Birth::now(), make()?);
            let fresh = Box::into_raw(Box::new(Entry { birth, value }));
            let published =
                self.latest
                    .compare_exchange(latest, fresh, Ordering::AcqRel, Ordering::Acquire);
            if published.is_err() {
                // SAFETY: it came from `Box::into_raw` above, and nobody else has seen it.
                drop(unsafe { Box::from_raw(fresh) });
            }
        }
    }
}

impl<T: Send + Sync> Default for PerProcess<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// The README's example is compiled and run as printed.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(test)]
mod tests {
    use super::*;

    static NUMBER: PerProcess<u32> = PerProcess::new();

    fn number(make: u32) -> u32 {
        let made = NUMBER.get_or_try_make(|&value| value != 13, || Ok::<_, ()>(make));
        *made.unwrap()
    }

    #[cfg(all(unix, not(miri)))]
    #[test]
    fn a_child_and_its_child_are_elsewhere() {
        fn in_child(check: impl FnOnce() -> bool) -> bool {
            // SAFETY: the child makes no use of what other threads may hold: it compares atomics,
            // allocates, forks, waits and leaves without unwinding.
            match unsafe { libc::fork() } {
                -1 => panic!("{}", std::io::Error::last_os_error()),
                // SAFETY: `_exit` may be called at any time.
                0 => unsafe { libc::_exit(i32::from(!check())) },
                child => {
                    let mut status = -1;
                    // SAFETY: the status is written to a place of ours.
                    let waited = unsafe { libc::waitpid(child, &mut status, 0) };
                    waited == child && status == 0
                }
            }
        }

        let birth = Birth::now();
        assert_eq!(number(1), 1);
        assert!(in_child(|| {
            let elsewhere = !birth.is_here();
            let own = Birth::now();
            let below = in_child(|| !birth.is_here() && !own.is_here() && number(3) == 3);
            elsewhere && own.is_here() && number(2) == 2 && below
        }));
        assert!(birth.is_here());
        assert_eq!(number(4), 1);
    }

    #[test]
    fn what_is_not_usable_is_made_anew() {
        static OTHER: PerProcess<u32> = PerProcess::new();
        let get = |make| {
            let made = OTHER.get_or_try_make(|&value| value != 13, move || Ok::<_, ()>(make));
            *made.unwrap()
        };
        assert_eq!((get(12), get(14)), (12, 12));
        let failed = OTHER.get_or_try_make(|_| false, || Err("no"));
        assert_eq!(failed, Err("no"));
    }
}
