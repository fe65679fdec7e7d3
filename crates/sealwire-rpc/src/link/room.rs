//! Waiting for room on a connection.

use std::future::poll_fn;
use std::task::{Poll, Waker};
use std::time::Duration;

use super::CallLink;
use super::owner::Owner;
use super::waiters::WaiterKey;
use crate::lock::lock;
use crate::proto::{NotSent, Protocol};
use crate::status::Error;

/// Somebody who waits for room. Nothing is allocated for it once as many have waited before.
pub(crate) struct RoomWait<'a, O: Owner> {
    link: &'a CallLink<O>,
    waiting: Option<WaiterKey>,
}

impl<'a, O: Owner> RoomWait<'a, O> {
    pub(crate) fn new(link: &'a CallLink<O>) -> Self {
        RoomWait {
            link,
            waiting: None,
        }
    }

    /// Tries; without room the waker is woken when there may be some.
    pub(crate) fn poll<R>(
        &mut self,
        waker: &Waker,
        mut attempt: impl FnMut(&mut Protocol, &Waker) -> Poll<Result<R, NotSent>>,
    ) -> Poll<Result<R, NotSent>> {
        if !self.link.owner.is_here() {
            return Poll::Ready(Err(NotSent::Forked));
        }
        match self.link.with(|proto| attempt(proto, waker)) {
            Poll::Ready(Err(NotSent::Full)) => {}
            other => return other,
        }
        lock(&self.link.core).room.add(&mut self.waiting, waker);
        // There may have been room before the waker was known.
        match self.link.with(|proto| attempt(proto, waker)) {
            Poll::Ready(Err(NotSent::Full)) => Poll::Pending,
            other => other,
        }
    }
}

impl<O: Owner> Drop for RoomWait<'_, O> {
    fn drop(&mut self) {
        if let Some(waiting) = self.waiting
            && self.link.owner.is_here()
        {
            lock(&self.link.core).room.remove(waiting);
        }
    }
}

impl<O: Owner> CallLink<O> {
    /// Tries until it works, there will never be room, or time is up. Until when is asked only
    /// if it has to wait.
    pub(crate) async fn when_there_is_room<R>(
        &self,
        until: impl FnOnce() -> Duration,
        mut attempt: impl FnMut(&mut Protocol) -> Result<R, NotSent>,
    ) -> Result<R, Error> {
        if !self.owner.is_here() {
            return Err(Error::Forked);
        }
        match self.with(&mut attempt) {
            Err(NotSent::Full) => {}
            other => return other.map_err(Error::from),
        }
        let until = until();
        let mut place = RoomWait::new(self);
        poll_fn(|context| {
            let attempt = |proto: &mut Protocol, _: &Waker| Poll::Ready(attempt(proto));
            if let Poll::Ready(done) = place.poll(context.waker(), attempt) {
                return Poll::Ready(done.map_err(Error::from));
            }
            if self.owner.now() >= until {
                return Poll::Ready(Err(Error::Congested(self.owner.options().write_limit)));
            }
            self.limit_wait(until);
            Poll::Pending
        })
        .await
    }

    /// Wakes the senders that wait for room at this time.
    fn limit_wait(&self, until: Duration) {
        lock(&self.core).room.limit_wait(until);
        self.owner.arm(until);
    }

    pub(crate) fn room_until(&self) -> Duration {
        self.owner.now() + self.owner.options().write_limit
    }
}

impl From<NotSent> for Error {
    fn from(not_sent: NotSent) -> Self {
        match not_sent {
            NotSent::Full => Error::WouldBlock,
            NotSent::GoingAway => Error::ShuttingDown,
            NotSent::Forked => Error::Forked,
            NotSent::Closed => Error::ConnectionLost {
                may_have_run: false,
            },
            NotSent::TooLarge { size, limit } => Error::TooLarge { size, limit },
        }
    }
}
