//! Waits that a signal handler ends.
//!
//! A handler runs between any two instructions of its thread. The thread would sleep through one
//! that runs after it has checked whether to go on, and before it sleeps. So signals are blocked
//! from that check on, and the system unblocks them as the thread falls asleep, in one step
//! ([`signals::sleep`]). It sleeps on a descriptor, as no other sleep can do that.
//!
//! ```text
//!   attempt ─▶ hold ─▶ look ─▶ sleep ─┬─▶ woken: attempt
//!                 ▲                   └─▶ a handler ran: look
//!                 └── go on ◀───────────────────┘  └─▶ Unfinished::Interrupted
//! ```

use std::cell::Cell;
use std::future::Future;
use std::io;
use std::os::fd::AsFd;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use sealwire_fork::Birth;

use super::notifier::Notifier;
use super::until::{Interrupt, Next, Unfinished, or_timed_out};
use super::{Listening, Signal, Spinning};
use crate::signals::{self, Slept};

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
    fn sleep(&self, deadline: Option<Instant>, interrupted: impl FnMut(bool) -> bool) -> Slept<1> {
        let notifier = &self.0.notifier;
        let slept = signals::sleep([notifier.as_fd()], deadline, interrupted);
        if slept == Slept::Woken([true]) {
            notifier.clear();
            if deadline.is_some_and(|at| at <= Instant::now()) {
                return Slept::TimedOut;
            }
        }
        slept
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

/// Runs a future to its end on this thread, which sleeps in between.
pub(crate) fn block_on<F: Future>(
    future: F,
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
        match lent.sleep(deadline, &mut interrupted) {
            Slept::Woken(_) => {}
            Slept::TimedOut => over = true,
            Slept::Interrupted => return Err(Unfinished::Interrupted),
        }
    }
}

impl Signal {
    /// [`Signal::wait`] where a signal handler may end it, once spinning is over: the thread waits as a
    /// task does, and sleeps where handlers can wake it.
    #[cold]
    pub(super) fn wait_interruptibly<T, E>(
        &self,
        spinning: Option<&Spinning>,
        deadline: Option<Instant>,
        interrupt: &Interrupt,
        attempt: &mut dyn FnMut(Next) -> Result<Option<T>, E>,
    ) -> Result<Result<T, Unfinished>, E> {
        let lent = match Lent::take() {
            Ok(lent) => lent,
            Err(error) => return Ok(Err(Unfinished::Refused(error))),
        };
        let waker = lent.waker();
        let mut context = Context::from_waker(&waker);
        loop {
            let mut listening = Listening::to(self);
            let told = Pin::new(&mut listening).poll(&mut context).is_ready();
            if let Some(done) = attempt(Next::Sleep)? {
                return Ok(Ok(done));
            }
            if told {
                continue;
            }
            let sleep = || lent.sleep(deadline, |handler_ran| interrupt.is_due(handler_ran));
            let slept = match spinning {
                Some(spinning) => spinning.sleep(sleep),
                None => sleep(),
            };
            match slept {
                // Seen, so that it is not passed on to others.
                Slept::Woken(_) => {
                    let _ = Pin::new(&mut listening).poll(&mut context);
                }
                Slept::TimedOut => return attempt(Next::Attempt).map(or_timed_out),
                // The event stays for other waiters, or for the next call.
                Slept::Interrupted => return Ok(Err(Unfinished::Interrupted)),
            }
        }
    }
}
