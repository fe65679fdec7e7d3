//! The two directions of items that belong to one call, each with its credit.

use std::collections::VecDeque;
use std::task::{Poll, Waker};

use super::{Body, NotSent, Violation, cost};

/// The next thing that a stream gives.
#[derive(Debug)]
pub(crate) enum Item {
    One(Body),
    /// The peer sends no more.
    End,
}

impl Item {
    /// What it costs of a budget.
    pub(super) fn cost(&self) -> u64 {
        match self {
            Item::One(body) => cost(body.len()),
            Item::End => 0,
        }
    }
}

#[derive(Default)]
pub(super) struct Flow {
    incoming: VecDeque<Body>,
    /// What these cost.
    unread: u64,
    /// No more comes from the peer.
    pub(super) ended: bool,
    /// Items that the peer may still send.
    granted: u32,
    /// Items read since the peer was given more.
    consumed: u32,
    window: u32,
    /// Items that may be sent.
    credit: u32,
    /// This side sends no more.
    pub(super) finished: bool,
    readers: Wakers,
    writers: Wakers,
}

/// Tasks that wait for the same: mostly one, for which nothing is allocated.
#[derive(Default)]
struct Wakers {
    first: Option<Waker>,
    more: Vec<Waker>,
}

impl Wakers {
    fn add(&mut self, waker: &Waker) {
        let mut known = self.first.iter().chain(&self.more);
        if known.any(|known| known.will_wake(waker)) {
            return;
        }
        match self.first {
            None => self.first = Some(waker.clone()),
            Some(_) => self.more.push(waker.clone()),
        }
    }

    fn take(&mut self) -> impl Iterator<Item = Waker> + use<> {
        let more = std::mem::take(&mut self.more);
        self.first.take().into_iter().chain(more)
    }
}

impl Flow {
    pub(super) fn new(window: u32, credit: u32) -> Box<Self> {
        Box::new(Flow {
            granted: window,
            window,
            credit,
            ..Flow::default()
        })
    }

    /// Whether the item is kept, and whom to wake.
    pub(super) fn received(
        &mut self,
        body: Body,
    ) -> Result<(bool, impl Iterator<Item = Waker> + use<>), Violation> {
        self.granted = self.granted.checked_sub(1).ok_or(Violation::BeyondCredit)?;
        let kept = !self.ended;
        if kept {
            self.unread += cost(body.len());
            self.incoming.push_back(body);
        }
        Ok((kept, self.readers.take()))
    }

    /// What the items cost that nobody has read.
    pub(super) fn unread(&self) -> u64 {
        self.unread
    }

    /// Nothing more comes.
    pub(super) fn end(&mut self) -> impl Iterator<Item = Waker> + use<> {
        self.ended = true;
        self.readers.take().chain(self.writers.take())
    }

    pub(super) fn credited(&mut self, amount: u32) -> impl Iterator<Item = Waker> + use<> {
        self.credit = self.credit.saturating_add(amount);
        self.writers.take()
    }

    /// The next item, and how many more the peer is to be asked for.
    pub(super) fn poll_next(&mut self, waker: &Waker) -> Poll<(Item, Option<u32>)> {
        let Some(body) = self.incoming.pop_front() else {
            if self.ended {
                return Poll::Ready((Item::End, None));
            }
            self.readers.add(waker);
            return Poll::Pending;
        };
        self.consumed += 1;
        self.unread -= cost(body.len());
        let more = (!self.ended && self.consumed >= self.window.div_ceil(2)).then(|| {
            self.granted += self.consumed;
            std::mem::take(&mut self.consumed)
        });
        Poll::Ready((Item::One(body), more))
    }

    /// Takes one credit for an item for which there is room in the connection, or waits. `Full` leaves the
    /// waker for the end of the call: the connection tells of room by itself.
    pub(super) fn poll_to_send(
        &mut self,
        has_room: bool,
        waker: &Waker,
    ) -> Poll<Result<(), NotSent>> {
        if has_room && self.credit > 0 {
            self.credit -= 1;
            return Poll::Ready(Ok(()));
        }
        self.writers.add(waker);
        if has_room {
            Poll::Pending
        } else {
            Poll::Ready(Err(NotSent::Full))
        }
    }
}
