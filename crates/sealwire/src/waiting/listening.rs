//! Waiting for a signal of a socket or monitor: threads with `event-listener`, tasks in a list of
//! ours.
//!
//! ```text
//!   notify(n) ─┬─▶ threads: Event, a listener on each one's stack
//!              └─▶ tasks: a queue of wakers, which keeps its memory
//! ```
//!
//! Each list is told of every signal. So where both have something in it one too many may be woken,
//! which finds nothing and waits again.
//!
//! A task's waker is foreign code. It is cloned, called and dropped without the lock of the list,
//! where a panic would leave it half done or a call back would wait for ever.

use std::collections::VecDeque;
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering, fence};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use event_listener::{Event, IntoNotification as _};
use sealwire_fork::Birth;

use crate::guard;

/// Tells those who wait.
#[derive(Default)]
pub(crate) struct Signal {
    /// Listened to by [`Signal::wait`].
    pub(super) threads: Event,
    tasks: Arc<Tasks>,
}

impl Signal {
    /// Tells up to `count` waiters, those included that were told before and have not seen it yet.
    #[inline]
    pub(crate) fn notify(&self, count: usize) {
        // Emits a fence: who began to wait before is seen.
        self.threads.notify(count);
        self.tasks.notify(count, false);
    }

    /// Tells up to `count` waiters that were not told yet.
    #[inline]
    pub(crate) fn notify_more(&self, count: usize) {
        self.threads.notify(count.additional());
        self.tasks.notify(count, true);
    }

    /// How many wait.
    pub(crate) fn waiters(&self) -> usize {
        self.threads.total_listeners() + self.tasks.count.load(Ordering::SeqCst)
    }
}

/// Tasks that wait, in the order they began to.
#[derive(Default)]
struct Tasks {
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

    /// Adds a task and gives its number.
    fn enter(&self) -> u64 {
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
        // The caller checks its condition behind this.
        fence(Ordering::SeqCst);
        number
    }

    #[inline]
    fn notify(&self, count: usize, additional: bool) {
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
    fn leave(&self, number: u64) -> Option<bool> {
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
    fn poll(&self, number: u64, waker: &Waker) -> Poll<()> {
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

/// A task's wait that has begun, and has to be followed by a look at what is waited for. In a child of
/// a fork it is over, as nobody would end it, and the list is left alone: its lock may be held by a
/// thread that is not there.
pub(crate) struct Listening {
    /// `None` when it is over.
    wait: Option<(Arc<Tasks>, u64)>,
    birth: Birth,
}

impl Listening {
    /// Begins to wait.
    pub(crate) fn to(signal: &Signal) -> Self {
        let number = signal.tasks.enter();
        Listening {
            wait: Some((signal.tasks.clone(), number)),
            birth: Birth::now(),
        }
    }

    /// A wait that is over at once.
    pub(crate) fn over() -> Self {
        Listening {
            wait: None,
            birth: Birth::now(),
        }
    }

    fn take(&mut self) -> Option<(Arc<Tasks>, u64)> {
        let wait = self.wait.take();
        if self.birth.is_here() {
            return wait;
        }
        mem::forget(wait);
        None
    }
}

impl Future for Listening {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let Some((tasks, number)) = self.take() else {
            return Poll::Ready(());
        };
        let polled = tasks.poll(number, context.waker());
        self.wait = Some((tasks, number)).filter(|_| polled.is_pending());
        polled
    }
}

/// A listener that was notified and does not check passes the notification on.
impl Drop for Listening {
    fn drop(&mut self) {
        if let Some((tasks, number)) = self.take()
            && let Some(additional) = tasks.leave(number)
        {
            tasks.notify(1, additional);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::task::Wake;

    use super::*;

    #[derive(Default)]
    struct Flag(AtomicBool);

    impl Wake for Flag {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Ordering::SeqCst);
        }
    }

    /// A task that waits, and whether it was woken.
    struct Waiting {
        listening: Option<Listening>,
        flag: Arc<Flag>,
    }

    impl Waiting {
        fn on(signal: &Signal) -> Self {
            let mut waiting = Waiting {
                listening: Some(Listening::to(signal)),
                flag: Arc::default(),
            };
            assert!(waiting.poll().is_pending());
            waiting
        }

        fn poll(&mut self) -> Poll<()> {
            let waker = Waker::from(self.flag.clone());
            let listening = self.listening.as_mut().unwrap();
            Pin::new(listening).poll(&mut Context::from_waker(&waker))
        }

        fn was_woken(&self) -> bool {
            self.flag.0.load(Ordering::SeqCst)
        }

        fn give_up(&mut self) {
            self.listening = None;
        }
    }

    fn woken(waiting: &[Waiting]) -> Vec<bool> {
        waiting.iter().map(Waiting::was_woken).collect()
    }

    #[test]
    fn tasks_are_told_in_the_order_they_began_to_wait() {
        let signal = Signal::default();
        let mut waiting = [(); 4].map(|()| Waiting::on(&signal));
        assert_eq!(signal.waiters(), 4);
        signal.notify(1);
        // That one has not looked yet.
        signal.notify(1);
        assert_eq!(woken(&waiting), [true, false, false, false]);
        signal.notify_more(1);
        assert_eq!(woken(&waiting), [true, true, false, false]);
        assert!(waiting[1].poll().is_ready() && waiting[2].poll().is_pending());
        assert!(waiting[1].poll().is_ready(), "it stays over");
        signal.notify(2);
        assert_eq!(woken(&waiting), [true, true, true, false]);
        signal.notify(usize::MAX);
        assert_eq!(woken(&waiting), [true; 4]);
        waiting
            .iter_mut()
            .for_each(|each| assert!(each.poll().is_ready()));
        assert_eq!(signal.waiters(), 0);
    }

    #[test]
    fn who_is_told_and_gives_up_passes_it_on() {
        let signal = Signal::default();
        let mut waiting = [(); 4].map(|()| Waiting::on(&signal));
        signal.notify(1);
        waiting[0].give_up();
        assert_eq!(woken(&waiting), [true, true, false, false]);
        signal.notify_more(1);
        waiting[1].give_up();
        // One of the two that were told is left.
        assert_eq!(woken(&waiting), [true, true, true, false]);
        waiting[2].give_up();
        assert_eq!(woken(&waiting), [true; 4]);
        waiting[3].give_up();
        assert_eq!(signal.waiters(), 0);
    }

    #[test]
    fn one_that_was_not_told_leaves_without_a_word() {
        let signal = Signal::default();
        let mut waiting = [(); 3].map(|()| Waiting::on(&signal));
        waiting[1].give_up();
        assert_eq!(woken(&waiting), [false; 3]);
        signal.notify(2);
        assert_eq!(woken(&waiting), [true, false, true]);
    }

    #[test]
    fn a_signal_between_the_beginning_and_the_first_poll_counts() {
        let signal = Signal::default();
        let mut listening = Listening::to(&signal);
        signal.notify(1);
        let mut context = Context::from_waker(Waker::noop());
        assert!(Pin::new(&mut listening).poll(&mut context).is_ready());
    }

    #[test]
    fn the_waker_of_the_last_poll_is_called() {
        let signal = Signal::default();
        let mut waiting = Waiting::on(&signal);
        let first = mem::take(&mut waiting.flag);
        assert!(waiting.poll().is_pending());
        signal.notify(1);
        assert!(waiting.was_woken() && !first.0.load(Ordering::SeqCst));
    }

    /// A waker that calls the signal and panics, whatever is done with it.
    struct Hostile(Arc<Signal>);

    impl Wake for Hostile {
        fn wake(self: Arc<Self>) {
            self.0.notify_more(1);
            drop(Listening::to(&self.0));
            panic!("an executor");
        }
    }

    impl Drop for Hostile {
        fn drop(&mut self) {
            self.0.notify_more(1);
            panic!("an executor's task");
        }
    }

    /// Polls its wait, and begins another, as soon as it is woken.
    struct Eager(Arc<Signal>, Mutex<Vec<Listening>>);

    impl Wake for Eager {
        fn wake(self: Arc<Self>) {
            let mut again = Listening::to(&self.0);
            let waker = Waker::from(self.clone());
            let polled = Pin::new(&mut again).poll(&mut Context::from_waker(&waker));
            assert!(polled.is_pending());
            self.1.lock().unwrap().push(again);
        }
    }

    #[test]
    fn one_that_waits_again_as_it_is_woken_is_told_once() {
        let signal = Arc::new(Signal::default());
        let eager = Arc::new(Eager(signal.clone(), Mutex::default()));
        eager.clone().wake();
        signal.notify(usize::MAX);
        let waits = mem::take(&mut *eager.1.lock().unwrap());
        assert_eq!(waits.len(), 2);
        // Dropped, they would pass it on to one another for ever.
        mem::forget(waits);
    }

    #[test]
    fn wakers_may_panic_and_call_back() {
        let signal = Arc::new(Signal::default());
        let mut first = Listening::to(&signal);
        let hostile = Waker::from(Arc::new(Hostile(signal.clone())));
        assert!(
            Pin::new(&mut first)
                .poll(&mut Context::from_waker(&hostile))
                .is_pending()
        );
        let mut second = Waiting::on(&signal);
        mem::forget(hostile);
        signal.notify(1);
        assert!(second.was_woken(), "by the waker of the first");
        assert!(second.poll().is_ready());
        drop(first);
        assert_eq!(signal.waiters(), 0);
    }
}
