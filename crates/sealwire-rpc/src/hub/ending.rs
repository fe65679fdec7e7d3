//! Whether a hub has ended, and how.

use std::sync::atomic::{AtomicU8, Ordering};

/// Ends once.
#[derive(Default)]
pub(super) struct Ending(AtomicU8);

const OPEN: u8 = 0;
const ENDED: u8 = 1;
const FAILED: u8 = 2;

impl Ending {
    /// Ends it as it was to. `false` where it has ended before.
    pub(super) fn end(&self) -> bool {
        self.move_to(ENDED)
    }

    /// Ends it by a fault.
    pub(super) fn fail(&self) -> bool {
        self.move_to(FAILED)
    }

    fn move_to(&self, end: u8) -> bool {
        let (success, failure) = (Ordering::SeqCst, Ordering::SeqCst);
        self.0.compare_exchange(OPEN, end, success, failure).is_ok()
    }

    pub(super) fn has_ended(&self) -> bool {
        self.0.load(Ordering::SeqCst) != OPEN
    }

    /// Whether it ended by a fault.
    pub(super) fn has_failed(&self) -> bool {
        self.0.load(Ordering::SeqCst) == FAILED
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_end_counts() {
        let ending = Ending::default();
        assert!(!ending.has_ended() && !ending.has_failed());
        assert!(ending.fail() && !ending.end());
        assert!(ending.has_ended() && ending.has_failed());
        let ending = Ending::default();
        assert!(ending.end() && !ending.fail());
        assert!(ending.has_ended() && !ending.has_failed());
    }
}
