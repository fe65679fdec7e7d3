//! Waits that a signal handler ends.
//!
//! A handler runs between any two instructions of its thread. The thread would sleep through one
//! that runs after it has checked whether to go on, and before it sleeps. So signals are blocked
//! from that check on, and the system unblocks them as the thread falls asleep, in one step
//! ([`signals::poll`]). It sleeps on a descriptor, as no other sleep can do that.
//!
//! ```text
//!   attempt ─▶ hold ─▶ check ─▶ sleep ─┬─▶ woken: attempt
//!                 ▲                    └─▶ a handler ran: check
//!                 └── go on ◀────────────────────┘  └─▶ Unfinished::Interrupted
//! ```

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::io;
use std::os::fd::AsFd;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use nix::poll::{PollFd, PollFlags};
use sealwire_fork::Birth;

use super::notifier::Notifier;
use super::until::{Interrupt, Next, Unfinished};
use super::{Listening, Signal, Spinning};
use crate::signals;

/// What a thread sleeps on, and what wakes it: the waker of a task.
struct Sleeper {
    birth: Birth,
    notifier: Arc<Notifier>,
}

thread_local! {
    /// A call that waits takes it. A signal handler, or a future, may wait inside of that call, and finds
    /// none here.
    static SPARE: Cell<Option<Sleeper>> = const { Cell::new(None) };
}

/// Lent to one call.
struct Lent(Sleeper);

impl Lent {
    /// That of the thread, or a new one. A child of a fork leaves its parent's alone.
    ///
    /// # Errors
    ///
    /// When the process has no descriptors left.
    fn take() -> io::Result<Self> {
        // A thread that is ending has none.
        let spare = SPARE.try_with(Cell::take).ok().flatten();
        match spare.filter(|sleeper| sleeper.birth.is_here()) {
            Some(sleeper) => Ok(Lent(sleeper)),
            None => Ok(Lent(Sleeper {
                birth: Birth::now(),
                notifier: Arc::new(Notifier::new()?),
            })),
        }
    }

    fn waker(&self) -> Waker {
        Waker::from(self.0.notifier.clone())
    }

    /// Sleeps until it is woken, which may be for what an earlier call waited for. A deadline that
    /// passed meanwhile counts more, so that who is woken all the time has an end too.
    fn sleep(
        &self,
        deadline: Option<Instant>,
        mut interrupted: impl FnMut(bool) -> bool,
    ) -> Result<(), Unfinished> {
        let notifier = &self.0.notifier;
        let mut polled = [PollFd::new(notifier.as_fd(), PollFlags::POLLIN)];
        match signals::poll(&mut polled, deadline, Some(&mut interrupted)) {
            Ok(None) => return Err(Unfinished::Interrupted),
            Ok(Some(0)) => return Err(Unfinished::TimedOut),
            // An error is want of memory: the descriptor is ours. An attempt is better than sleeping for ever.
            Ok(Some(_)) | Err(_) => notifier.clear(),
        }
        match deadline {
            Some(at) if at <= Instant::now() => Err(Unfinished::TimedOut),
            _ => Ok(()),
        }
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let sleeper = Sleeper {
            birth: self.0.birth,
            notifier: self.0.notifier.clone(),
        };
        let _ = SPARE.try_with(|spare| spare.set(Some(sleeper)));
    }
}

/// Runs a future to its end on this thread, which sleeps in between, and takes note of how long where it spins.
pub(crate) fn block_on<F: Future>(
    future: F,
    spinning: Option<&Spinning>,
    deadline: Option<Instant>,
    mut interrupted: impl FnMut(bool) -> bool,
) -> Result<F::Output, Unfinished> {
    let lent = Lent::take().map_err(Unfinished::Refused)?;
    let waker = lent.waker();
    let mut future = pin!(future);
    let mut over = false;
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return Ok(output),
            Poll::Pending if over => return Err(Unfinished::TimedOut),
            Poll::Pending => {}
        }
        let mut sleep = || lent.sleep(deadline, &mut interrupted);
        let slept = match spinning {
            Some(spinning) => spinning.sleep(sleep),
            None => sleep(),
        };
        match slept {
            Ok(()) => {}
            Err(Unfinished::TimedOut) => over = true,
            Err(why) => return Err(why),
        }
    }
}

impl Signal {
    /// [`Signal::wait`] where a signal handler may end it, once spinning is over: the thread waits as a
    /// task does, and sleeps where handlers can wake it. An event that comes as it is interrupted stays for
    /// other waiters, or for the next call.
    #[cold]
    pub(super) fn wait_interruptibly<T, E>(
        &self,
        spinning: Option<&Spinning>,
        deadline: Option<Instant>,
        interrupt: &Interrupt,
        attempt: &mut dyn FnMut(Next) -> Result<Option<T>, E>,
    ) -> Result<Result<T, Unfinished>, E> {
        let mut listening = Listening::over();
        let done = poll_fn(|context| {
            loop {
                // Seen, so that it is not passed on to others.
                let _ = Pin::new(&mut listening).poll(context);
                listening = Listening::to(self);
                let told = Pin::new(&mut listening).poll(context).is_ready();
                match attempt(Next::Sleep).transpose() {
                    Some(done) => return Poll::Ready(done),
                    None if told => {}
                    None => return Poll::Pending,
                }
            }
        });
        match block_on(done, spinning, deadline, |ran| interrupt.is_due(ran)) {
            Ok(done) => done.map(Ok),
            Err(why) => Ok(Err(why)),
        }
    }
}
