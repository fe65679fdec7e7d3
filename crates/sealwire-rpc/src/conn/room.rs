//! Waiting for room on a connection.

use std::task::{Poll, Waker};

use super::Link;
use crate::lock::lock;
use crate::proto::{Connection, NotSent};

/// Somebody who waits for room. Nothing is allocated for it once as many have waited before.
pub(crate) struct Place<'a> {
    link: &'a Link,
    /// The round in which the waker was left, and where.
    key: Option<(u64, usize)>,
}

impl<'a> Place<'a> {
    pub(crate) fn new(link: &'a Link) -> Self {
        Place { link, key: None }
    }

    /// Tries; without room the waker is woken when there may be some.
    pub(crate) fn poll<R>(
        &mut self,
        waker: &Waker,
        mut attempt: impl FnMut(&mut Connection, &Waker) -> Poll<Result<R, NotSent>>,
    ) -> Poll<Result<R, NotSent>> {
        if !self.link.hub().is_here() {
            return Poll::Ready(Err(NotSent::Forked));
        }
        match self.link.with(|proto| attempt(proto, waker)) {
            Poll::Ready(Err(NotSent::Full)) => {}
            other => return other,
        }
        self.leave_waker(waker);
        // There may have been room before the waker was known.
        match self.link.with(|proto| attempt(proto, waker)) {
            Poll::Ready(Err(NotSent::Full)) => Poll::Pending,
            other => other,
        }
    }

    fn leave_waker(&mut self, waker: &Waker) {
        let mut core = lock(&self.link.core);
        let round = core.room_round;
        match self.key {
            Some((left_in, key)) if left_in == round => core.room[key].clone_from(waker),
            _ => self.key = Some((round, core.room.insert(waker.clone()))),
        }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if let Some((round, key)) = self.key
            && self.link.hub().is_here()
        {
            let mut core = lock(&self.link.core);
            if core.room_round == round {
                core.room.remove(key);
            }
        }
    }
}
