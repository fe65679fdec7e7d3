//! The calls that use what is in a slot, counted in one word: two atomic instructions for a call, where a lock and a count
//! of owners are four.
//!
//! ```text
//!   empty ── open ──▶ open ── close ──▶ closed ── the last user leaves ──▶ empty
//! ```

use super::sync::{AtomicUsize, Ordering};

pub(super) struct Users(AtomicUsize);

/// Beside the number of users.
const CLOSED: usize = 1 << (usize::BITS - 1);
const EMPTY: usize = CLOSED >> 1;

impl Users {
    /// Those of an empty slot.
    pub(super) fn of_none() -> Self {
        Users(AtomicUsize::new(CLOSED | EMPTY))
    }

    /// The value is there. For the one who may fill an empty slot.
    pub(super) fn open(&self) {
        self.0.fetch_and(!(CLOSED | EMPTY), Ordering::Release);
    }

    /// Returns whether there is a value, which stays until [`leave`](Self::leave): that follows in any case.
    #[inline]
    pub(super) fn enter(&self) -> bool {
        self.0.fetch_add(1, Ordering::Acquire) & CLOSED == 0
    }

    /// Returns whether a closed slot may be empty now, which [`empty`](Self::empty) decides.
    #[inline]
    pub(super) fn leave(&self) -> bool {
        self.0.fetch_sub(1, Ordering::Release) == CLOSED | 1
    }

    /// Returns whether it was open. For users.
    pub(super) fn close(&self) -> bool {
        self.0.fetch_or(CLOSED, Ordering::Relaxed) & CLOSED == 0
    }

    /// Returns whether the caller has to take the value: the slot is closed, nobody uses it, and nobody else was told so.
    pub(super) fn empty(&self) -> bool {
        let (acquire, relaxed) = (Ordering::Acquire, Ordering::Relaxed);
        let emptied = (self.0).compare_exchange(CLOSED, CLOSED | EMPTY, acquire, relaxed);
        emptied.is_ok()
    }
}
