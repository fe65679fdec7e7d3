//! Whether a host lives, and whether it is stopped for a while.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::Duration;

use super::world::Tasks;
use crate::lock::lock;

/// The life of what runs on one host: all of it ends at once, and stands still at once.
#[derive(Clone, Default)]
pub(super) struct Life(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    is_over: bool,
    frozen_until: Duration,
    /// Of those who are to notice the end.
    wakers: Vec<Waker>,
}

impl Life {
    pub(super) fn is_over(&self) -> bool {
        lock(&self.0).is_over
    }

    pub(super) fn is_awake(&self, now: Duration) -> bool {
        let state = lock(&self.0);
        !state.is_over && state.frozen_until <= now
    }

    pub(super) fn end(&self) {
        let mut state = lock(&self.0);
        state.is_over = true;
        state.wakers.drain(..).for_each(Waker::wake);
    }

    pub(super) fn freeze(&self, until: Duration) {
        lock(&self.0).frozen_until = until;
    }

    /// A program on the host.
    pub(super) async fn run(self, tasks: Tasks, program: impl Future<Output = ()>) {
        let mut program = pin!(program);
        poll_fn(|context| {
            let now = tasks.now();
            {
                let mut state = lock(&self.0);
                if state.is_over {
                    return Poll::Ready(());
                }
                if now < state.frozen_until {
                    tasks.wake_at(state.frozen_until, context.waker().clone());
                    return Poll::Pending;
                }
                if !state
                    .wakers
                    .iter()
                    .any(|waker| waker.will_wake(context.waker()))
                {
                    state.wakers.push(context.waker().clone());
                }
            }
            program.as_mut().poll(context)
        })
        .await;
    }
}
