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
//!     │                         │  └── leave, alone ─────┘ └─┘ leave: the latest that waits
//!     └── share, somebody waits ┼────────────────────────────▶ Caller
//!         share, alone: Own     │
//! ```
//!
//! The tests of this module try all orders of its steps (`tests/suite/handover_orders.rs`). The caller of
//! [`leave`](Handover::leave) and [`share`](Handover::share) has to wake the thread that is chosen. A thread
//! that was chosen and has its answer already chooses the next as it leaves.

use super::sync::{Mutex, MutexGuard};

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

impl<W> Handover<W> {
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

    /// Whether this thread reads.
    pub(super) fn reads(&self, ticket: Ticket) -> bool {
        self.lock().reader == Reader::Caller(ticket)
    }

    /// A thread waits no longer. Returns what wakes the one that reads from now on.
    #[must_use]
    pub(super) fn leave(&self, ticket: Ticket) -> Option<W> {
        let mut state = self.lock();
        state.lately = true;
        if state.reader == Reader::Caller(ticket) {
            state.reader = Reader::Nobody;
            return state.choose();
        }
        let place = state.waiting.iter().position(|(each, _)| *each == ticket)?;
        drop(state.waiting.swap_remove(place));
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
        self.lock().choose()
    }
}

impl<W> State<W> {
    /// The thread that came last reads: it is the one that will wait longest.
    fn choose(&mut self) -> Option<W> {
        let (ticket, wake) = self.waiting.pop()?;
        self.reader = Reader::Caller(ticket);
        Some(wake)
    }
}
