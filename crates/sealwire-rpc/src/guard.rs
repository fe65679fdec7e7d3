//! Code of others on threads of this crate: a panic ends the call or event that it belongs to, and
//! nothing else.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};

pub(crate) use sealwire::account::LogGate;

use crate::hub::Hub;

/// Runs code of others; nothing when it panics, which is logged.
pub(crate) fn contain<T>(what: &'static str, action: impl FnOnce() -> T) -> Option<T> {
    match catch_unwind(AssertUnwindSafe(action)) {
        Ok(value) => Some(value),
        Err(payload) => {
            static GATE: LogGate = LogGate::new();
            let message = text(&*payload);
            if let Some(times) = GATE.pass() {
                tracing::error!(target: "sealwire::rpc", message, times, "{what} panicked");
            }
            if message.is_empty() {
                // Its destructor is code of others as well.
                mem::forget(payload);
            }
            None
        }
    }
}

fn text(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or_default()
}

/// Wakes tasks. `false` when a waker panicked; the others were woken all the same.
pub(crate) fn wake_all(wakers: &mut Vec<Waker>) -> bool {
    let mut good = true;
    for waker in wakers.drain(..) {
        good &= contain("a waker", || waker.wake()).is_some();
    }
    good
}

/// A waker of others where it is called by code that no panic may pass.
struct Shield {
    waker: Waker,
    hub: Arc<Hub>,
}

impl Wake for Shield {
    fn wake(self: Arc<Self>) {
        let _ = self.hub.guard("a waker", || self.waker.wake_by_ref());
    }
}

/// Polls a future whose wakers are called in the middle of something.
pub(crate) async fn shielded<F: Future>(hub: &Arc<Hub>, future: F) -> F::Output {
    let mut future = pin!(future);
    poll_fn(|context| {
        let waker = context.waker().clone();
        let shield = Arc::new(Shield {
            waker,
            hub: hub.clone(),
        });
        let waker = shield.into();
        future.as_mut().poll(&mut Context::from_waker(&waker))
    })
    .await
}

#[cfg(test)]
mod tests {
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
    }
}
