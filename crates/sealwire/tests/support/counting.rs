//! An allocator that counts for all threads, for tests that are alone in their process.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
/// Bytes in use, and the most that were since somebody began to watch.
static IN_USE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// Counts one call that takes memory.
fn took(bytes: usize) {
    ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
    let in_use = IN_USE.fetch_add(bytes, Ordering::Relaxed) + bytes;
    PEAK.fetch_max(in_use, Ordering::Relaxed);
}

fn gave_back(bytes: usize) {
    IN_USE.fetch_sub(bytes, Ordering::Relaxed);
}

// SAFETY: every method passes its arguments on to the system's allocator unchanged, which keeps
// the promises of the trait; the counters allocate nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        took(layout.size());
        // SAFETY: the caller keeps the promises of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        gave_back(layout.size());
        // SAFETY: `memory` came from `alloc` above, with this layout.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        gave_back(layout.size());
        took(size);
        // SAFETY: as for `dealloc`; the new size is the caller's promise.
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How often any thread allocates meanwhile.
pub(crate) fn allocations_of(action: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.load(Ordering::SeqCst);
    action();
    ALLOCATIONS.load(Ordering::SeqCst) - before
}

/// Bytes in use now.
pub(crate) fn in_use() -> usize {
    IN_USE.load(Ordering::SeqCst)
}

/// The most bytes that are in use meanwhile.
pub(crate) fn peak_of(action: impl FnOnce()) -> usize {
    PEAK.store(in_use(), Ordering::SeqCst);
    action();
    PEAK.load(Ordering::SeqCst)
}
