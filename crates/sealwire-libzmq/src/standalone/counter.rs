//! A counter that threads share.

use std::sync::atomic::{AtomicI32, Ordering};

/// Wraps around at the ends of its type.
#[derive(Default)]
pub(crate) struct Counter(AtomicI32);

impl Counter {
    pub(crate) fn set(&self, value: i32) {
        self.0.store(value, Ordering::Release);
    }

    /// Adds one and returns the value before.
    pub(crate) fn increment(&self) -> i32 {
        self.0.fetch_add(1, Ordering::AcqRel)
    }

    /// Takes one away and returns whether the counter is above or below zero now.
    pub(crate) fn decrement(&self) -> bool {
        self.0.fetch_sub(1, Ordering::AcqRel) != 1
    }

    pub(crate) fn value(&self) -> i32 {
        self.0.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_decrement_says_so() {
        let counter = Counter::default();
        assert_eq!(counter.increment(), 0);
        assert_eq!(counter.increment(), 1);
        assert!(counter.decrement());
        assert!(!counter.decrement());
        assert!(counter.decrement(), "below zero");
        assert_eq!(counter.value(), -1);
        counter.set(i32::MAX);
        assert_eq!(counter.increment(), i32::MAX);
        assert_eq!(counter.value(), i32::MIN);
    }
}
