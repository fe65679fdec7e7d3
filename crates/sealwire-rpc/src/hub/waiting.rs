//! Waiting by the hub's clock, for what runs as a future.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use super::Hub;

impl Hub {
    /// Runs a future, and gives up at the deadline, or once this hub has ended.
    pub(crate) async fn by<F: Future>(&self, deadline: Duration, future: F) -> Option<F::Output> {
        let mut future = pin!(future);
        loop {
            let changed = self.changes.listen();
            if self.has_ended() || deadline <= self.now() {
                return poll_fn(|context| match future.as_mut().poll(context) {
                    Poll::Ready(output) => Poll::Ready(Some(output)),
                    Poll::Pending => Poll::Ready(None),
                })
                .await;
            }
            self.limit_wait_for_change(deadline);
            if let First::This(output) = first(future.as_mut(), changed).await {
                return Some(output);
            }
        }
    }
}

pub(crate) enum First<A, B> {
    This(A),
    That(B),
}

/// Whichever is done first.
pub(crate) async fn first<A, B>(
    this: impl Future<Output = A>,
    that: impl Future<Output = B>,
) -> First<A, B> {
    let (mut this, mut that) = (pin!(this), pin!(that));
    poll_fn(|context| match this.as_mut().poll(context) {
        Poll::Ready(output) => Poll::Ready(First::This(output)),
        Poll::Pending => that.as_mut().poll(context).map(First::That),
    })
    .await
}
