//! Async operations with a timeout, whose error says why it passed. A timeout of an executor drops them
//! and knows nothing of peers.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use super::Socket;
use crate::engine::Timeout;
use crate::error::{Error, Operation};
use crate::waiting::Unfinished;

/// A time limit of one operation, `None` for none. It runs from the first wait on, so what is done at once
/// sets no timeout.
pub(super) struct Limit<'a> {
    socket: &'a Socket,
    limit: Option<Duration>,
    timeout: Option<Timeout>,
}

impl<'a> Limit<'a> {
    pub(super) fn new(socket: &'a Socket, limit: Option<Duration>) -> Self {
        Limit {
            socket,
            limit,
            timeout: None,
        }
    }

    /// Begins anew with the next wait.
    pub(super) fn restart(&mut self) {
        self.timeout = None;
    }

    /// Waits for the work; `None` once the limit has run out.
    pub(super) async fn wait<T>(&mut self, work: impl Future<Output = T>) -> Option<T> {
        let mut work = pin!(work);
        poll_fn(|context| {
            if let Poll::Ready(done) = work.as_mut().poll(context) {
                return Poll::Ready(Some(done));
            }
            match self.limit {
                None => Poll::Pending,
                Some(Duration::ZERO) => Poll::Ready(None),
                Some(limit) => {
                    let timeout = self
                        .timeout
                        .get_or_insert_with(|| self.socket.timeout(limit));
                    Pin::new(timeout).poll(context).map(|()| None)
                }
            }
        })
        .await
    }

    /// The error where it ran out.
    pub(super) fn timed_out(&self, operation: Operation) -> Error {
        match self.socket.core() {
            Ok(core) => core.unfinished(Unfinished::TimedOut, operation, self.limit),
            Err(error) => error,
        }
    }
}

impl Socket {
    /// Does the work within the limit.
    pub(super) async fn within<T>(
        &self,
        limit: Duration,
        operation: Operation,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let mut limit = Limit::new(self, Some(limit));
        match limit.wait(work).await {
            Some(done) => done,
            None => Err(limit.timed_out(operation)),
        }
    }

    fn timeout(&self, limit: Duration) -> Timeout {
        let context = self.handle.context();
        Timeout::set(context.mailbox(), context.core().next_number(), limit)
    }
}
