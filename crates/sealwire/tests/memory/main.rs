//! What a message takes of memory while it is on its way.
//!
//! A binary of its own: its allocator counts the bytes of the whole process.

#[path = "../support/counting.rs"]
#[expect(dead_code, reason = "this counts bytes, not allocations")]
mod counting;
#[path = "../support/mod.rs"]
#[expect(dead_code, reason = "the suite uses the rest")]
mod support;

mod large_messages;
#[cfg(feature = "ws")]
mod websocket_pieces;

use std::sync::{Mutex, PoisonError};

/// Bytes that one test may leave for the next: less than any of them measures.
const LEFT: usize = 2 << 20;

/// Runs a test while no other does, then waits until it has given back what it took.
fn alone(test: impl FnOnce()) {
    static MEASURING: Mutex<()> = Mutex::new(());
    let _measuring = MEASURING.lock().unwrap_or_else(PoisonError::into_inner);
    let before = counting::in_use();
    test();
    support::eventually("memory is given back", || {
        counting::in_use() < before + LEFT
    });
}
