//! The tasks that wait for a signal: a queue of wakers, which keeps its memory.
//!
//! A task's waker is foreign code. It is cloned, called and dropped without the lock of the queue,
//! where a panic would leave it half done or a call back would wait for ever.

use std::collections::VecDeque;
use std::sync::PoisonError;
use std::task::{Poll, Waker};

use super::guard;
use super::sync::{AtomicUsize, Mutex, MutexGuard, Ordering, fence};

/// Tasks that wait, in the order they began to.
#[derive(Default)]
pub(super) struct Tasks {
    queue: Mutex<Queue>,
    count: AtomicUsize,
}

#[derive(Default)]
struct Queue {
    /// By number. Those that were told come first.
    waiting: VecDeque<Task>,
    told: usize,
    next_number: u64,
}

struct Task {
    number: u64,
    /// `None` before the first poll, and once it is told.
    waker: Option<Waker>,
    /// Told beside others that were told before.
    additional: bool,
}

impl Tasks {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many wait.
    pub(super) fn count(&self) -> usize {
        self.count.load(Ordering::SeqCst)
    }

    /// Adds a task and gives its number.
    pub(super) fn enter(&self) -> u64 {
        let mut queue = self.lock();
        let number = queue.next_number;
        queue.next_number += 1;
        queue.waiting.push_back(Task {
            number,
            waker: None,
            additional: false,
        });
        self.count.store(queue.waiting.len(), Ordering::SeqCst);
        drop(queue);
        // The task checks its condition behind this.
        fence(Ordering::SeqCst);
        number
    }

    #[inline]
    pub(super) fn notify(&self, count: usize, additional: bool) {
        if self.count.load(Ordering::SeqCst) > 0 {
            self.tell(count, additional);
        }
    }

    #[cold]
    fn tell(&self, count: usize, additional: bool) {
        let mut queue = self.lock();
        // A task that is woken may begin to wait again at once: it is not told twice.
        let end = queue.next_number;
        let mut left = match additional {
            true => count,
            false => count.saturating_sub(queue.told),
        };
        while left > 0 {
            let next = queue.told;
            let Some(task) = queue.waiting.get_mut(next).filter(|task| task.number < end) else {
                return;
            };
            task.additional = additional;
            let waker = task.waker.take();
            queue.told += 1;
            drop(queue);
            if let Some(waker) = waker {
                guard::contain("waking a task", || waker.wake());
            }
            left -= 1;
            queue = self.lock();
        }
    }

    /// Takes a task out. Whether it was told, and how.
    pub(super) fn leave(&self, number: u64) -> Option<bool> {
        let mut queue = self.lock();
        let place = queue.place_of(number)?;
        let task = queue.waiting.remove(place)?;
        let told = place < queue.told;
        queue.told -= usize::from(told);
        self.count.store(queue.waiting.len(), Ordering::SeqCst);
        drop(queue);
        drop_waker(task.waker);
        told.then_some(task.additional)
    }

    /// Takes a task out that was told. Another has this waker from now on.
    pub(super) fn poll(&self, number: u64, waker: &Waker) -> Poll<()> {
        let mut fresh = None;
        loop {
            let mut queue = self.lock();
            let place = queue.place_of(number);
            let Some(place) = place.filter(|&place| place >= queue.told) else {
                drop(queue);
                drop_waker(fresh);
                self.leave(number);
                return Poll::Ready(());
            };
            let own = &mut queue.waiting[place].waker;
            let unused = match fresh.take() {
                fresh if own.as_ref().is_some_and(|own| own.will_wake(waker)) => fresh,
                Some(fresh) => own.replace(fresh),
                None => {
                    drop(queue);
                    fresh = Some(waker.clone());
                    continue;
                }
            };
            drop(queue);
            drop_waker(unused);
            return Poll::Pending;
        }
    }
}

impl Queue {
    fn place_of(&self, number: u64) -> Option<usize> {
        self.waiting
            .binary_search_by_key(&number, |task| task.number)
            .ok()
    }
}

fn drop_waker(waker: Option<Waker>) {
    if let Some(waker) = waker {
        guard::contain("dropping a waker", || drop(waker));
    }
}
