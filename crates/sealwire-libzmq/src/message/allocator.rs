//! The allocator of this library: mimalloc for what is short, and the system's for long messages, with the blocks of a
//! few that were freed last.
//!
//! mimalloc gives free pages back to the system after a moment, and the system zeroes them before they are used again, 2
//! MiB for a byte where it has huge pages: more than all else that is done for a message of 64 KiB. Most messages are as
//! long as those that were freed just before, whichever thread did that, so their blocks serve again.

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use mimalloc::MiMalloc;

/// The least bytes of a long block.
const LONG: usize = 16 << 10;

/// The most blocks that are kept.
const MAX_BLOCKS: usize = 512;

/// The youngest of them, among which one is looked for.
const SEARCHED: usize = 64;

/// The most bytes of a block that is kept, and of all of them. While more than that is in use in long blocks it may be as much as
/// that: a sender that had to wait goes on when half of its queue was sent, and freed.
const MAX_BYTES: usize = 8 << 20;

/// Blocks that are given back to the system at a time.
const FREED: usize = 8;

/// Attempts at the lock, which is held for some 20 ns. In a child of a fork it may be held for ever.
const ATTEMPTS: u32 = 100;

/// Both, with blocks in reserve.
pub(crate) struct Allocator {
    spare: Mutex<Spare>,
    /// Bytes of long blocks that are in use.
    used: AtomicUsize,
}

impl Allocator {
    pub(crate) const fn new() -> Self {
        Allocator {
            spare: Mutex::new(Spare::new()),
            used: AtomicUsize::new(0),
        }
    }

    /// A block of this size came into use, if it is one.
    fn counted(&self, block: *mut u8, size: usize) -> *mut u8 {
        if !block.is_null() {
            self.used.fetch_add(size, Ordering::Relaxed);
        }
        block
    }

    fn spare(&self) -> Option<MutexGuard<'_, Spare>> {
        for _ in 0..ATTEMPTS {
            if let Ok(spare) = self.spare.try_lock() {
                return Some(spare);
            }
            hint::spin_loop();
        }
        None
    }

    fn take(&self, layout: Layout) -> Option<*mut u8> {
        let block = self.spare()?.take(layout)?;
        Some(ptr::with_exposed_provenance_mut(block))
    }

    /// Keeps a long block, and returns whether it does.
    fn keep(&self, block: *mut u8, layout: Layout) -> bool {
        if layout.size() > MAX_BYTES {
            self.trim(0);
            return false;
        }
        // Another thread may take the room that is made.
        for _ in 0..2 {
            let Some(mut spare) = self.spare() else {
                return false;
            };
            if spare.has_room_for(layout.size(), self.most()) {
                spare.keep(block.expose_provenance(), layout);
                return true;
            }
            drop(spare);
            self.trim(layout.size());
        }
        false
    }

    /// Bytes that may be kept now.
    fn most(&self) -> usize {
        self.used.load(Ordering::Relaxed).max(MAX_BYTES)
    }

    /// Frees the oldest of what is kept, until there is room for as many bytes more.
    fn trim(&self, room: usize) {
        loop {
            let mut oldest = [None; FREED];
            if let Some(mut spare) = self.spare() {
                for block in &mut oldest {
                    *block = spare.too_many(room, self.most());
                }
            }
            // The lock is not held while the system takes them.
            for (block, layout) in oldest.into_iter().flatten() {
                // SAFETY: allocated by the system with this layout, and given up by its owner, who freed it.
                unsafe { System.dealloc(ptr::with_exposed_provenance_mut(block), layout) }
            }
            if oldest.contains(&None) {
                return;
            }
        }
    }
}

// SAFETY: a block's size says whose it is, and each goes back there with the layout that it has here. None is handed
// out twice until it is freed. Nothing panics, and nothing is allocated for what is kept.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.size() < LONG {
            // SAFETY: as for this function.
            return unsafe { MiMalloc.alloc(layout) };
        }
        let block = match self.take(layout) {
            Some(block) => block,
            // SAFETY: as for this function.
            None => unsafe { System.alloc(layout) },
        };
        self.counted(block, layout.size())
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if layout.size() < LONG {
            // SAFETY: as for this function.
            return unsafe { MiMalloc.dealloc(block, layout) };
        }
        self.used.fetch_sub(layout.size(), Ordering::Relaxed);
        if !self.keep(block, layout) {
            // SAFETY: as for this function.
            unsafe { System.dealloc(block, layout) }
        }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        match layout.size() < LONG {
            // SAFETY: as for this function.
            true => unsafe { MiMalloc.alloc_zeroed(layout) },
            // SAFETY: as for this function.
            false => self.counted(unsafe { System.alloc_zeroed(layout) }, layout.size()),
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        match (layout.size() < LONG, size < LONG) {
            // SAFETY: as for this function.
            (true, true) => unsafe { MiMalloc.realloc(block, layout, size) },
            (false, false) => {
                // SAFETY: as for this function.
                let to = unsafe { System.realloc(block, layout, size) };
                if !to.is_null() {
                    self.counted(to, size);
                    self.used.fetch_sub(layout.size(), Ordering::Relaxed);
                    if size < layout.size() {
                        self.trim(0);
                    }
                }
                to
            }
            _ => {
                // SAFETY: no size overflows with this alignment, as the caller says.
                let other = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
                // SAFETY: it is not zero, as the caller says.
                let to = unsafe { self.alloc(other) };
                if !to.is_null() {
                    // SAFETY: both have as many bytes, and are two blocks.
                    unsafe { ptr::copy_nonoverlapping(block, to, size.min(layout.size())) };
                    // SAFETY: it is the caller's, who gives it up.
                    unsafe { self.dealloc(block, layout) };
                }
                to
            }
        }
    }
}

/// Addresses of blocks, the oldest first.
struct Spare {
    blocks: [(usize, Layout); MAX_BLOCKS],
    first: usize,
    count: usize,
    bytes: usize,
}

impl Spare {
    const fn new() -> Self {
        Spare {
            blocks: [(0, Layout::new::<()>()); MAX_BLOCKS],
            first: 0,
            count: 0,
            bytes: 0,
        }
    }

    /// Where the block is that came as this one, the oldest as 0.
    fn at(&self, index: usize) -> usize {
        (self.first + index) % MAX_BLOCKS
    }

    /// A block of this layout, the youngest first: it is in the cache.
    fn take(&mut self, layout: Layout) -> Option<usize> {
        let mut indices = (0..self.count).rev().take(SEARCHED);
        let found = indices.find(|&index| self.blocks[self.at(index)].1 == layout)?;
        let (block, _) = self.blocks[self.at(found)];
        for index in found..self.count - 1 {
            self.blocks[self.at(index)] = self.blocks[self.at(index + 1)];
        }
        self.count -= 1;
        self.bytes -= layout.size();
        Some(block)
    }

    /// Whether one more block may be kept, with these bytes, where `most` of them may be.
    fn has_room_for(&self, bytes: usize, most: usize) -> bool {
        self.count < MAX_BLOCKS && self.bytes + bytes <= most
    }

    /// Removes the oldest block, where one with these bytes would be too many.
    fn too_many(&mut self, bytes: usize, most: usize) -> Option<(usize, Layout)> {
        if self.count == 0 || self.has_room_for(bytes, most) {
            return None;
        }
        let (block, layout) = self.blocks[self.first];
        self.first = self.at(1);
        self.count -= 1;
        self.bytes -= layout.size();
        Some((block, layout))
    }

    /// Keeps one more, for which there is room.
    fn keep(&mut self, block: usize, layout: Layout) {
        self.blocks[self.at(self.count)] = (block, layout);
        self.count += 1;
        self.bytes += layout.size();
    }
}

#[cfg(test)]
mod tests {
    use std::slice;
    use std::thread;

    use super::*;

    fn layout(size: usize) -> Layout {
        Layout::array::<u8>(size).unwrap()
    }

    fn allocate(allocator: &Allocator, size: usize, fill: u8) -> *mut u8 {
        // SAFETY: no size here is zero.
        let block = unsafe { allocator.alloc(layout(size)) };
        assert!(!block.is_null());
        // SAFETY: as many bytes are there.
        unsafe { block.write_bytes(fill, size) };
        block
    }

    /// Frees a block that is full of this.
    fn free(allocator: &Allocator, block: *mut u8, size: usize, fill: u8) {
        // SAFETY: as many bytes are there, all written.
        let bytes = unsafe { slice::from_raw_parts(block, size) };
        assert!(bytes.iter().all(|&byte| byte == fill), "{size}");
        // SAFETY: it was allocated with this size.
        unsafe { allocator.dealloc(block, layout(size)) };
    }

    #[test]
    fn the_block_that_was_freed_last_serves_a_message_of_its_size() {
        let allocator = Allocator::new();
        let blocks = [1, 2, 3].map(|fill| allocate(&allocator, LONG, fill));
        for (block, fill) in blocks.into_iter().zip(1..) {
            free(&allocator, block, LONG, fill);
        }
        let other = allocate(&allocator, LONG + 1, 4);
        assert!(!blocks.contains(&other));
        for block in blocks.into_iter().rev() {
            assert_eq!(allocate(&allocator, LONG, 5), block);
        }
        assert_eq!(allocator.spare().unwrap().count, 0);
        assert_eq!(allocator.spare().unwrap().bytes, 0);
    }

    #[test]
    fn blocks_and_bytes_that_are_kept_are_bounded() {
        let mut spare = Spare::new();
        let mut keep = |block, size| {
            let mut freed = Vec::new();
            while let Some((oldest, _)) = spare.too_many(size, MAX_BYTES) {
                freed.push(oldest);
            }
            spare.keep(block, layout(size));
            assert!(spare.count <= MAX_BLOCKS && spare.bytes <= MAX_BYTES);
            freed
        };
        for block in 0..MAX_BLOCKS {
            assert!(keep(block, LONG).is_empty());
        }
        assert_eq!(keep(100, LONG), [0]);
        // As long as all that there is room for beside 14 of the others.
        assert_eq!(keep(101, MAX_BYTES - 14 * LONG).len(), MAX_BLOCKS - 14);
        assert_eq!(keep(102, MAX_BYTES).len(), 15);
        assert!(spare.take(layout(LONG)).is_none());
        assert_eq!(spare.take(layout(MAX_BYTES)), Some(102));
        assert_eq!((spare.count, spare.bytes), (0, 0));
        let longer = Allocator::new();
        let block = allocate(&longer, MAX_BYTES + 1, 1);
        free(&longer, block, MAX_BYTES + 1, 1);
        assert_eq!(longer.spare().unwrap().count, 0);
    }

    #[test]
    fn as_much_is_kept_as_is_in_use_and_less_once_that_is_freed() {
        const SIZE: usize = 1 << 20;
        let allocator = Allocator::new();
        let mut blocks: Vec<_> = (0..24).map(|_| allocate(&allocator, SIZE, 1)).collect();
        for block in blocks.drain(..12) {
            free(&allocator, block, SIZE, 1);
        }
        assert_eq!(allocator.spare().unwrap().bytes, 12 * SIZE);
        // They serve again.
        blocks.extend((0..12).map(|_| allocate(&allocator, SIZE, 2)));
        assert_eq!(allocator.spare().unwrap().bytes, 0);
        for (block, fill) in blocks.into_iter().zip([1; 12].into_iter().chain([2; 12])) {
            free(&allocator, block, SIZE, fill);
        }
        assert_eq!(allocator.spare().unwrap().bytes, MAX_BYTES);
        assert_eq!(allocator.used.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn what_is_kept_goes_with_a_block_that_is_too_long_to_keep() {
        const SIZE: usize = 1 << 20;
        const LONGEST: usize = 32 * SIZE;
        for shrinks in [false, true] {
            let allocator = Allocator::new();
            let mut longest = allocate(&allocator, LONGEST, 9);
            for block in [(); 12].map(|()| allocate(&allocator, SIZE, 1)) {
                free(&allocator, block, SIZE, 1);
            }
            let kept = || allocator.spare().unwrap().bytes;
            assert_eq!(kept(), 12 * SIZE);
            if shrinks {
                // SAFETY: it has this size, and the next is not zero.
                longest = unsafe { allocator.realloc(longest, layout(LONGEST), LONG) };
                assert_eq!(kept(), MAX_BYTES);
                free(&allocator, longest, LONG, 9);
            } else {
                free(&allocator, longest, LONGEST, 9);
            }
            assert!(kept() <= MAX_BYTES);
        }
    }

    #[test]
    fn what_is_in_use_is_counted_whatever_becomes_of_it() {
        let allocator = Allocator::new();
        let used = || allocator.used.load(Ordering::Relaxed);
        let (mut block, mut size) = (allocate(&allocator, 1, 1), 1);
        assert_eq!(used(), 0);
        for next in [LONG, 3 * LONG, 2 * LONG, 1] {
            // SAFETY: it has this size, and the next is not zero.
            block = unsafe { allocator.realloc(block, layout(size), next) };
            assert_eq!(used(), if next < LONG { 0 } else { next });
            size = next;
        }
        free(&allocator, block, 1, 1);
        // SAFETY: the size is not zero.
        let zeroed = unsafe { allocator.alloc_zeroed(layout(LONG)) };
        assert_eq!(used(), LONG);
        free(&allocator, zeroed, LONG, 0);
        assert_eq!(used(), 0);
    }

    #[test]
    fn a_block_that_becomes_long_or_short_keeps_its_bytes() {
        let allocator = Allocator::new();
        let sizes = [1, LONG - 1, LONG, 5 * LONG, LONG, LONG - 1, 1];
        let mut block = allocate(&allocator, sizes[0], 7);
        for (size, next) in sizes.into_iter().zip(sizes.into_iter().skip(1)) {
            // SAFETY: it has this size, and the next is not zero.
            block = unsafe { allocator.realloc(block, layout(size), next) };
            // SAFETY: as many bytes are there, written where both sizes are.
            let bytes = unsafe { slice::from_raw_parts(block, size.min(next)) };
            assert!(bytes.iter().all(|&byte| byte == 7), "{size} to {next}");
            // SAFETY: as many bytes are there.
            unsafe { block.write_bytes(7, next) };
        }
        free(&allocator, block, 1, 7);
    }

    #[test]
    fn zeroed_blocks_are_zeroed() {
        let allocator = Allocator::new();
        let dirty = allocate(&allocator, LONG, 9);
        free(&allocator, dirty, LONG, 9);
        // SAFETY: the size is not zero.
        let block = unsafe { allocator.alloc_zeroed(layout(LONG)) };
        free(&allocator, block, LONG, 0);
    }

    #[test]
    fn nobody_waits_for_a_lock_that_is_never_given_back() {
        let allocator = Allocator::new();
        let kept = allocate(&allocator, LONG, 1);
        free(&allocator, kept, LONG, 1);
        let lock = allocator.spare.lock().unwrap();
        let block = allocate(&allocator, LONG, 2);
        assert_ne!(block, kept);
        free(&allocator, block, LONG, 2);
        drop(lock);
        assert_eq!(allocator.spare().unwrap().count, 1);
    }

    #[test]
    fn threads_never_have_the_same_block() {
        let allocator = Allocator::new();
        thread::scope(|scope| {
            for fill in 1..=4 {
                let allocator = &allocator;
                scope.spawn(move || {
                    let mut held = Vec::new();
                    for turn in 0..2_000_usize {
                        let size = LONG - 1 + turn % 3;
                        held.push((allocate(allocator, size, fill), size));
                        if held.len() == 5 {
                            let (block, size) = held.swap_remove(turn % 5);
                            free(allocator, block, size, fill);
                        }
                    }
                    for (block, size) in held {
                        free(allocator, block, size, fill);
                    }
                });
            }
        });
        assert!(allocator.spare().unwrap().count > 0);
    }
}
