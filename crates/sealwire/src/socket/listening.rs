//! Waiting for a signal of a socket or monitor.

use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use event_listener::{Event as Signal, EventListener, Listener as _};
use sealwire_fork::Birth;

use crate::guard::Guarded;

/// A wait that has begun, and has to be followed by a look at what is waited for. In a child of a
/// fork it is over, as nobody would end it, and the signal is left alone: its lock may be held by a
/// thread that is not there.
pub(crate) struct Listening {
    listener: Option<EventListener>,
    birth: Birth,
    /// Called under the signal's lock, where a panic would leave it half done.
    waker: Option<Arc<Guarded>>,
}

impl Listening {
    /// Begins to wait.
    pub(crate) fn to(signal: &Signal) -> Self {
        Listening {
            listener: Some(signal.listen()),
            birth: Birth::now(),
            waker: None,
        }
    }

    /// A wait that is over at once.
    pub(crate) fn over() -> Self {
        Listening {
            listener: None,
            birth: Birth::now(),
            waker: None,
        }
    }

    /// Blocks.
    pub(crate) fn wait(mut self) {
        if let Some(listener) = self.take() {
            listener.wait();
        }
    }

    /// Blocks until then at the latest. `false` when it is then.
    pub(crate) fn wait_deadline(mut self, deadline: Instant) -> bool {
        self.take()
            .is_none_or(|listener| listener.wait_deadline(deadline).is_some())
    }

    fn take(&mut self) -> Option<EventListener> {
        let listener = self.listener.take();
        if self.birth.is_here() {
            return listener;
        }
        mem::forget(listener);
        None
    }
}

impl Future for Listening {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let Some(mut listener) = self.take() else {
            return Poll::Ready(());
        };
        let waker = match self.waker.take() {
            Some(waker) if waker.wakes(context.waker()) => waker,
            _ => Guarded::new(context.waker()),
        };
        let guarded = Waker::from(waker.clone());
        self.waker = Some(waker);
        let polled = Pin::new(&mut listener).poll(&mut Context::from_waker(&guarded));
        self.listener = Some(listener).filter(|_| polled.is_pending());
        polled
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        drop(self.take());
    }
}
