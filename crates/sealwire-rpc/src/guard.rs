//! Code of others on threads of this crate, and in the middle of its calls: a panic ends the call or
//! event that it belongs to, and nothing else. Of a subscriber of `tracing` it ends one line.

use std::task::Waker;

pub(crate) use sealwire::account::LogGate;
use sealwire::panics::{self, Panic};
use tracing::Span;

/// Runs code of others; nothing when it panics, which is logged.
pub(crate) fn contain<T>(what: &'static str, action: impl FnOnce() -> T) -> Option<T> {
    panics::contain(action)
        .map_err(|panic| report(what, &panic))
        .ok()
}

#[cold]
fn report(what: &'static str, panic: &Panic) {
    static GATE: LogGate = LogGate::new();
    let message = panic.text();
    if let Some(times) = GATE.pass() {
        log(|| {
            tracing::error!(target: "sealwire::rpc", message, times, "{what} panicked");
        });
    }
}

/// Lets subscribers of `tracing` hear of something; nothing when one panics.
pub(crate) fn log<T>(emit: impl FnOnce() -> T) -> Option<T> {
    panics::contain(emit).ok()
}

/// A span whose subscriber may panic: what it says is lost then.
pub(crate) struct Traced(Option<Span>);

impl Traced {
    pub(crate) fn new(make: impl FnOnce() -> Span) -> Self {
        Traced(log(make))
    }

    pub(crate) fn record(&self, say: impl FnOnce(&Span)) {
        if let Some(span) = &self.0 {
            log(|| say(span));
        }
    }

    /// Runs it inside the span. It must not panic.
    pub(crate) fn within<T>(&self, action: impl FnOnce() -> T) -> T {
        let entered = self.0.as_ref().and_then(|span| log(|| span.enter()));
        let outcome = action();
        log(|| drop(entered));
        outcome
    }
}

impl Drop for Traced {
    fn drop(&mut self) {
        let span = self.0.take();
        log(|| drop(span));
    }
}

/// Wakes tasks. `false` when a waker panicked; the others were woken all the same.
pub(crate) fn wake_all(wakers: &mut Vec<Waker>) -> bool {
    let mut good = true;
    for waker in wakers.drain(..) {
        good &= contain("a waker", || waker.wake()).is_some();
    }
    good
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use super::*;

    struct Counting(AtomicUsize);

    impl Wake for Counting {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    struct Panicking;

    impl Wake for Panicking {
        fn wake(self: Arc<Self>) {
            panic!("a waker of a test");
        }
    }

    #[test]
    fn a_waker_that_panics_keeps_nobody_asleep() {
        let counting = Arc::new(Counting(AtomicUsize::new(0)));
        let mut wakers = vec![
            counting.clone().into(),
            Arc::new(Panicking).into(),
            counting.clone().into(),
        ];
        assert!(!wake_all(&mut wakers));
        assert_eq!(counting.0.load(Ordering::SeqCst), 2);
        assert!(wakers.is_empty());
    }

    #[test]
    fn a_payload_that_panics_when_it_is_dropped_is_contained_too() {
        struct Payload;
        impl Drop for Payload {
            fn drop(&mut self) {
                panic!("dropped");
            }
        }
        assert_eq!(
            contain("a test", || std::panic::panic_any(Payload)),
            None::<()>
        );
        assert_eq!(contain("a test", || 7), Some(7));
        assert_eq!(log(|| std::panic::panic_any(Payload)), None::<()>);
    }
}
