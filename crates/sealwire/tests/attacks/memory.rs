//! How much memory the process holds, for the tests that assert a bound.
//!
//! Tests of one binary share its memory, so those that measure run alone.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

static MEASURING: RwLock<()> = RwLock::new(());

/// Held by a test that measures nothing.
pub(crate) fn shared() -> RwLockReadGuard<'static, ()> {
    MEASURING.read().unwrap_or_else(PoisonError::into_inner)
}

/// Held by a test that measures: no other runs meanwhile.
pub(crate) fn alone() -> RwLockWriteGuard<'static, ()> {
    MEASURING.write().unwrap_or_else(PoisonError::into_inner)
}

/// Memory in use from the moment this was made on.
pub(crate) struct Growth {
    before: usize,
}

impl Growth {
    pub(crate) fn start() -> Growth {
        Growth {
            before: resident_bytes(),
        }
    }

    /// Asserts that no more than `bound` bytes were added.
    pub(crate) fn assert_below(&self, bound: usize) {
        if cfg!(not(target_os = "linux")) {
            println!("skipped: how much memory is in use is only known on Linux");
            return;
        }
        let growth = resident_bytes().saturating_sub(self.before);
        println!("resident memory grew by {} KiB", growth >> 10);
        assert!(
            growth < bound,
            "{} KiB more, allowed are {}",
            growth >> 10,
            bound >> 10
        );
    }
}

/// Resident memory of this process (`VmRSS`, proc(5)).
fn resident_bytes() -> usize {
    if cfg!(not(target_os = "linux")) {
        return 0;
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kibibytes = line
        .and_then(|line| line.split_whitespace().nth(1))
        .unwrap();
    kibibytes.parse::<usize>().unwrap() << 10
}
