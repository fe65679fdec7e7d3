//! Wakers of others that are called in the middle of something: a panic of one is only counted.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};

use super::Hub;

/// A waker of others where it is called by code that no panic may pass.
struct Shield {
    /// Gone while it is dropped.
    waker: Option<Waker>,
    hub: Arc<Hub>,
}

impl Wake for Shield {
    fn wake(self: Arc<Self>) {
        if let Some(waker) = &self.waker {
            let _ = self.hub.guard("a waker", || waker.wake_by_ref());
        }
    }
}

impl Drop for Shield {
    fn drop(&mut self) {
        let waker = self.waker.take();
        let _ = self.hub.guard("a waker", || drop(waker));
    }
}

/// Polls a future whose wakers are called in the middle of something.
pub(crate) async fn shielded<F: Future>(hub: &Arc<Hub>, future: F) -> F::Output {
    let mut future = pin!(future);
    poll_fn(|context| {
        let waker = context.waker().clone();
        let shield = Arc::new(Shield {
            waker: Some(waker),
            hub: hub.clone(),
        });
        let waker = shield.into();
        future.as_mut().poll(&mut Context::from_waker(&waker))
    })
    .await
}
