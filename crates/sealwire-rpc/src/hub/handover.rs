//! The choice of the thread that reads for all who wait: one, which hands the reading over to another when it
//! leaves.
//!
//! On a client that is a thread that waits for an answer, which saves two hand-overs between threads for
//! each. When there is none it is a thread of the client's own, but not at once: the next call mostly comes
//! soon.
//!
//! ```text
//!                own_reads                enter
//!    Own ◀──────────────────── Nobody ────────────────▶ Caller
//!     │                         ▲  ▲                     │ │ ▲
//!     │                         │  └── leave, none sleeps┘ └─┘ leave: the latest that sleeps
//!     └── share ────────────────┴───────────────────────────▶ Caller
//!         nobody waits: Own     none sleeps                    the latest that sleeps
//! ```
//!
//! Threads that wait and were woken are not chosen: they mostly have their answers, and are about to leave. One that has not
//! asks again whether it [reads](Handover::reads) before it sleeps, and reads if nobody does.
//!
//! The tests of this module try all orders of its steps (`tests/suite/handover_orders.rs`). The caller of
//! [`leave`](Handover::leave) and [`share`](Handover::share) has to wake the thread that is chosen. A thread
//! that was chosen and has its answer already chooses the next as it leaves.

use super::sync::{Mutex, MutexGuard};

/// What wakes a thread that waits.
pub(super) trait Sleeper {
    /// Whether it was woken, and asks again before it sleeps whether it reads.
    fn is_woken(&self) -> bool;
}

/// The reader and those that wait, each known by what wakes it.
pub(super) struct Handover<W> {
    state: Mutex<State<W>>,
}

struct State<W> {
    reader: Reader,
    /// Threads that wait while another one reads.
    waiting: Vec<(Ticket, W)>,
    next: u64,
    /// A caller has read since the client's own thread asked last.
    lately: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reader {
    Nobody,
    /// The hub's own thread.
    Own,
    Caller(Ticket),
}

/// A thread that waits, or reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ticket(u64);

impl<W: Sleeper> Handover<W> {
    pub(super) fn new() -> Self {
        Handover {
            state: Mutex::new(State {
                reader: Reader::Nobody,
                waiting: Vec::new(),
                next: 0,
                lately: false,
            }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<W>> {
        // Nothing panics under it.
        self.state
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// A thread begins to wait: it reads if nobody does.
    pub(super) fn enter(&self, wake: W) -> Ticket {
        let mut state = self.lock();
        let ticket = Ticket(state.next);
        state.next += 1;
        match state.reader {
            Reader::Nobody => state.reader = Reader::Caller(ticket),
            Reader::Own | Reader::Caller(_) => state.waiting.push((ticket, wake)),
        }
        ticket
    }

    /// Whether this thread reads: it does if nobody else does. To be asked before each sleep.
    pub(super) fn reads(&self, ticket: Ticket) -> bool {
        let mut state = self.lock();
        if state.reader == Reader::Nobody {
            state.forget(ticket);
            state.reader = Reader::Caller(ticket);
        }
        state.reader == Reader::Caller(ticket)
    }

    /// A thread waits no longer. Returns what wakes the one that reads from now on.
    #[must_use]
    pub(super) fn leave(&self, ticket: Ticket) -> Option<W> {
        let mut state = self.lock();
        state.lately = true;
        if state.reader == Reader::Caller(ticket) {
            return state.choose();
        }
        state.forget(ticket);
        None
    }

    /// Whether the client's own thread reads. It does not if a caller does, or has since it asked last.
    pub(super) fn own_reads(&self) -> bool {
        let mut state = self.lock();
        let lately = std::mem::take(&mut state.lately);
        if state.reader == Reader::Nobody && !lately {
            state.reader = Reader::Own;
        }
        state.reader == Reader::Own
    }

    /// The client's own thread has read, and leaves the reading to one that waits. Returns what wakes that.
    #[must_use]
    pub(super) fn share(&self) -> Option<W> {
        let mut state = self.lock();
        if state.waiting.is_empty() {
            return None;
        }
        state.lately = true;
        state.choose()
    }
}

impl<W: Sleeper> State<W> {
    /// Of the threads that sleep the one that came last reads: it is the one that will wait longest. Where all are awake nobody
    /// does.
    fn choose(&mut self) -> Option<W> {
        self.reader = Reader::Nobody;
        let sleeps = |(_, wake): &(Ticket, W)| !wake.is_woken();
        let place = self.waiting.iter().rposition(sleeps)?;
        let (ticket, wake) = self.waiting.remove(place);
        self.reader = Reader::Caller(ticket);
        Some(wake)
    }

    /// This thread is not to be chosen any more.
    fn forget(&mut self, ticket: Ticket) {
        if let Some(place) = self.waiting.iter().position(|(each, _)| *each == ticket) {
            self.waiting.remove(place);
        }
    }
}
