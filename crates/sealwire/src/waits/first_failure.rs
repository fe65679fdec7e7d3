use std::fmt;
use std::future::{Future, pending, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, ready};

use crate::failure::ConnectionFailure;
use crate::monitor::{Event, Monitor};
use crate::socket::Socket;

/// How a wait went on.
#[derive(Debug)]
pub enum Waited<T> {
    /// The attempt has ended.
    Done(T),
    /// A handshake failed meanwhile, the first of this socket. The attempt has been dropped: make another.
    Failed(ConnectionFailure),
}

/// The first failed handshake of a socket, for a log of the program, while somebody waits.
///
/// A handshake that fails, for want of the right key for example, does not fail a call: the socket goes on
/// trying. A call without a time limit would wait for ever and nobody would know why. A peer that is not there
/// yet does not count: it may come.
#[derive(Default)]
pub struct FirstFailure {
    told: AtomicBool,
    /// The events since the first wait, until a failure is told.
    events: Mutex<Option<Arc<Monitor>>>,
}

impl FirstFailure {
    /// Waits for `attempt` or for the failure that is to be told, whichever comes first. One object belongs to one
    /// socket, and tells one failure.
    pub async fn or<T>(&self, socket: &Socket, attempt: impl Future<Output = T>) -> Waited<T> {
        let (mut attempt, mut failure) = (pin!(attempt), pin!(self.failure(socket)));
        poll_fn(|context| {
            if let Poll::Ready(value) = attempt.as_mut().poll(context) {
                return Poll::Ready(Waited::Done(value));
            }
            Poll::Ready(Waited::Failed(ready!(failure.as_mut().poll(context))))
        })
        .await
    }

    /// Returns whether a failure was told, after which no other is.
    pub fn is_told(&self) -> bool {
        self.told.load(Ordering::Relaxed)
    }

    async fn failure(&self, socket: &Socket) -> ConnectionFailure {
        let Some(events) = self.watch(socket) else {
            return pending().await;
        };
        let before = socket.last_failure();
        if let Some(failure) = before.and_then(|failure| self.take(failure)) {
            return failure;
        }
        while let Some(event) = events.next().await {
            if let Event::Failed(failure) = event
                && let Some(failure) = self.take(failure)
            {
                return failure;
            }
        }
        pending().await
    }

    /// The events from now on, before anybody asks for earlier failures: so none is missed.
    fn watch(&self, socket: &Socket) -> Option<Arc<Monitor>> {
        let mut events = self.events();
        if self.is_told() {
            return None;
        }
        let events = events.get_or_insert_with(|| Arc::new(socket.monitor()));
        Some(events.clone())
    }

    fn take(&self, failure: ConnectionFailure) -> Option<ConnectionFailure> {
        if !failure.is_handshake_failure() {
            return None;
        }
        let mut events = self.events();
        if self.told.swap(true, Ordering::Relaxed) {
            return None;
        }
        // Nobody reads any more.
        *events = None;
        Some(failure)
    }

    fn events(&self) -> MutexGuard<'_, Option<Arc<Monitor>>> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for FirstFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FirstFailure")
            .field("told", &self.is_told())
            .finish_non_exhaustive()
    }
}
