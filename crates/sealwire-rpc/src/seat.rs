//! How threads of calls sleep: each has a seat, at which wakers wake it. One that reads sleeps at its socket,
//! as the sockets' own threads do, and is woken there.

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use sealwire::{blocking, waits};

use crate::lock::lock;

/// Where one thread sleeps.
pub(crate) struct Seat {
    thread: Thread,
    woken: AtomicBool,
    /// The socket that the thread reads, or is about to: it sleeps there.
    reads: Mutex<Option<blocking::Socket>>,
}

thread_local! {
    static SEAT: (Arc<Seat>, Waker) = {
        let seat = Arc::new(Seat::new());
        (seat.clone(), seat.into())
    };
}

impl Seat {
    fn new() -> Self {
        Seat {
            thread: thread::current(),
            woken: AtomicBool::new(false),
            reads: Mutex::default(),
        }
    }

    /// Lends this thread its seat and the waker that wakes it there.
    pub(crate) fn of_this_thread<R>(action: impl FnOnce(&Arc<Seat>, &Waker) -> R) -> R {
        SEAT.with(|(seat, waker)| action(seat, waker))
    }

    pub(crate) fn wake_up(&self) {
        self.woken.store(true, Ordering::SeqCst);
        self.thread.unpark();
        if let Some(socket) = &*lock(&self.reads) {
            waits::wake_receivers(socket);
        }
    }

    /// Whether it was woken since the last sleep.
    pub(crate) fn is_woken(&self) -> bool {
        self.woken.load(Ordering::SeqCst)
    }

    /// Sleeps until it is woken. `false` at the deadline.
    pub(crate) fn sleep(&self, deadline: Option<Instant>) -> bool {
        loop {
            if self.woken.swap(false, Ordering::SeqCst) {
                return true;
            }
            match deadline.map(|at| at.saturating_duration_since(Instant::now())) {
                None => thread::park(),
                Some(Duration::ZERO) => return false,
                Some(left) => thread::park_timeout(left),
            }
        }
    }

    /// Lets the thread read the socket, where waking it ends its wait too. It has been woken for
    /// nothing more then.
    pub(crate) fn read<R>(&self, socket: &blocking::Socket, action: impl FnOnce() -> R) -> R {
        struct ReadsHere<'a>(&'a Seat);
        impl Drop for ReadsHere<'_> {
            fn drop(&mut self) {
                *lock(&self.0.reads) = None;
                self.0.woken.store(false, Ordering::SeqCst);
            }
        }
        *lock(&self.reads) = Some(socket.clone());
        let _reading = ReadsHere(self);
        action()
    }
}

impl Wake for Seat {
    fn wake(self: Arc<Self>) {
        self.wake_up();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.wake_up();
    }
}

/// Runs a future on this thread.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    Seat::of_this_thread(|seat, waker| {
        let mut context = Context::from_waker(waker);
        loop {
            if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
                return output;
            }
            seat.sleep(None);
        }
    })
}

/// Runs a future on this thread, and gives up at the deadline.
pub(crate) fn block_until<F: Future>(deadline: Instant, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    Seat::of_this_thread(|seat, waker| {
        let mut context = Context::from_waker(waker);
        loop {
            if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
                return Some(output);
            }
            if !seat.sleep(Some(deadline)) {
                return None;
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use std::future;

    use super::*;

    #[test]
    fn who_is_woken_before_the_sleep_does_not_sleep() {
        let seat = Seat::new();
        seat.wake_up();
        assert!(seat.sleep(None));
        assert!(!seat.sleep(Some(Instant::now())), "it was for one sleep");
    }

    #[test]
    fn another_thread_wakes_it() {
        let seat = Arc::new(Seat::new());
        let other = seat.clone();
        let waking = thread::spawn(move || other.wake_up());
        assert!(seat.sleep(None));
        waking.join().unwrap();
    }

    #[test]
    fn a_future_ends_when_it_is_woken_or_at_the_deadline() {
        let long = Instant::now() + Duration::from_secs(60);
        let mut polls = 0;
        let third = future::poll_fn(|context| {
            polls += 1;
            context.waker().wake_by_ref();
            if polls == 3 {
                Poll::Ready(polls)
            } else {
                Poll::Pending
            }
        });
        assert_eq!(block_until(long, third), Some(3));
        assert_eq!(block_until(Instant::now(), future::pending::<()>()), None);
    }
}
