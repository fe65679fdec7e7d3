//! Tasks that wait for a signal, one after the other; `tests/suite/orders/` has them at once.

use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use super::{Listening, Signal};

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
fn one_that_was_not_told_leaves_silently() {
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

/// A waker that panics as it is dropped.
struct Parting;

impl Wake for Parting {
    fn wake(self: Arc<Self>) {}
}

impl Drop for Parting {
    fn drop(&mut self) {
        panic!("an executor's task");
    }
}

#[test]
fn one_whose_waker_panics_as_it_is_dropped_gives_up_like_any_other() {
    let signal = Signal::default();
    let mut listening = Listening::to(&signal);
    let waker = Waker::from(Arc::new(Parting));
    assert!(
        Pin::new(&mut listening)
            .poll(&mut Context::from_waker(&waker))
            .is_pending()
    );
    drop(waker);
    drop(listening);
    assert_eq!(signal.waiters(), 0);
}
