//! Memory of payloads that is used again while other threads drop payloads, under every order in which they can
//! take their steps, as loom tells them.
//!
//! `blocks.rs` is the library's own file. Whose memory is free is counted by the crate `bytes`, whose types loom cannot see:
//! [`memory`] has the least that stands for it, a count of handles with the orderings that `bytes` documents for its own.
//! So this tries what the library does with such memory, and not whether `bytes` counts right.

use std::collections::VecDeque;

use loom::thread;

#[path = "../../src/connection/blocks.rs"]
mod blocks;

use blocks::Blocks;
use memory::{Bytes, MAX_PAYLOAD_BLOCKS, PAYLOAD_BLOCK};

/// More take long, and find little (Musuvathi and Qadeer, Iterative Context Bounding, 2007).
const PREEMPTIONS: usize = 3;
/// Two of them fill a block.
const PAYLOAD: usize = PAYLOAD_BLOCK / 2;

/// Stands for `bytes`. A payload is one cell, which loom watches.
mod memory {
    use std::cell::Cell;
    use std::ops::Range;
    use std::rc::Rc;

    use loom::cell::UnsafeCell;
    use loom::sync::atomic::{AtomicUsize, Ordering};

    /// Bytes of the smallest block, so that all are of one size.
    pub(super) const PAYLOAD_BLOCK: usize = 4 << 10;
    pub(super) const MAX_PAYLOAD_BLOCKS: usize = 1;

    thread_local! {
        /// Blocks that were not freed. All threads of a model are one to std.
        static LIVE: Cell<usize> = const { Cell::new(0) };
    }

    pub(super) fn live_blocks() -> usize {
        LIVE.get()
    }

    struct Block {
        handles: AtomicUsize,
        places: Vec<Place>,
        /// Not memory of a single payload.
        is_shared: bool,
    }

    #[derive(Default)]
    struct Place {
        /// Tells loom who reads and writes, without a lock.
        access: UnsafeCell<()>,
        written: Cell<u8>,
    }

    impl Place {
        fn write(&self, byte: u8) {
            self.access.with_mut(|_| ());
            self.written.set(byte);
        }

        fn read(&self) -> u8 {
            self.access.with(|_| ());
            self.written.get()
        }
    }

    impl Block {
        fn allocate(places: usize, is_shared: bool) -> Handle {
            LIVE.set(LIVE.get() + usize::from(is_shared));
            Handle(Rc::new(Block {
                handles: AtomicUsize::new(1),
                places: (0..places).map(|_| Place::default()).collect(),
                is_shared,
            }))
        }
    }

    /// Counted as `bytes` does it; what is below keeps the cells until loom has seen all of it.
    struct Handle(Rc<Block>);

    impl Handle {
        fn share(&self) -> Self {
            self.0.handles.fetch_add(1, Ordering::Relaxed);
            Handle(self.0.clone())
        }

        fn is_only_one(&self) -> bool {
            self.0.handles.load(Ordering::Acquire) == 1
        }
    }

    impl Drop for Handle {
        fn drop(&mut self) {
            if self.0.handles.fetch_sub(1, Ordering::Release) > 1 {
                return;
            }
            self.0.handles.load(Ordering::Acquire);
            // Freeing is as writing: nobody may use it any more.
            self.0.places.iter().for_each(|place| place.write(0));
            LIVE.set(LIVE.get() - usize::from(self.0.is_shared));
        }
    }

    fn places(bytes: usize) -> usize {
        bytes.div_ceil(super::PAYLOAD)
    }

    /// As much of it as the library uses, where a payload is never larger than there is room for.
    #[derive(Default)]
    pub(super) struct BytesMut {
        handle: Option<Handle>,
        /// Places that are written, and behind them those that are free.
        written: Range<usize>,
        end: usize,
    }

    impl BytesMut {
        pub(super) fn with_capacity(bytes: usize) -> Self {
            BytesMut {
                handle: Some(Block::allocate(places(bytes), true)),
                written: 0..0,
                end: places(bytes),
            }
        }

        pub(super) fn capacity(&self) -> usize {
            (self.end - self.written.start) * super::PAYLOAD
        }

        pub(super) fn extend_from_slice(&mut self, payload: &[u8]) {
            let place = self.written.end;
            assert!(place < self.end, "a block would grow");
            let handle = self.handle.as_ref().expect("it has room");
            handle.0.places[place].write(payload[0]);
            self.written.end += 1;
        }

        pub(super) fn split(&mut self) -> Self {
            let (written, end) = (self.written.clone(), self.written.end);
            self.written = end..end;
            BytesMut {
                handle: self.handle.as_ref().map(Handle::share),
                written,
                end,
            }
        }

        pub(super) fn freeze(self) -> Bytes {
            Bytes {
                handle: self.handle.expect("a payload"),
                place: self.written.start,
            }
        }

        pub(super) fn try_reclaim(&mut self, additional: usize) -> bool {
            if self.capacity() >= additional {
                return true;
            }
            let Some(handle) = self.handle.as_ref().filter(|handle| handle.is_only_one()) else {
                return false;
            };
            (self.written, self.end) = (0..0, handle.0.places.len());
            self.capacity() >= additional
        }
    }

    pub(super) struct Bytes {
        handle: Handle,
        place: usize,
    }

    impl Bytes {
        pub(super) fn copy_from_slice(payload: &[u8]) -> Self {
            let handle = Block::allocate(1, false);
            handle.0.places[0].write(payload[0]);
            Bytes { handle, place: 0 }
        }

        pub(super) fn byte(&self) -> u8 {
            self.handle.0.places[self.place].read()
        }

        pub(super) fn is_in_a_block(&self) -> bool {
            self.handle.0.is_shared
        }
    }
}

/// A connection, which hands out payloads.
#[derive(Default)]
struct Connection {
    blocks: Blocks,
    payloads: u8,
}

impl Connection {
    fn receive(&mut self) -> Payload {
        self.payloads += 1;
        let bytes = self.blocks.copy(&vec![self.payloads; PAYLOAD]);
        check_blocks();
        Payload(bytes, self.payloads)
    }

    fn give_back(&mut self) {
        self.blocks.give_back();
        check_blocks();
    }
}

/// Beside the current one.
fn check_blocks() {
    let live = memory::live_blocks();
    assert!(live <= MAX_PAYLOAD_BLOCKS + 1, "{live} blocks");
}

struct Payload(Bytes, u8);

impl Payload {
    fn use_and_drop(self) {
        assert_eq!(self.0.byte(), self.1, "the bytes of another payload");
    }
}

/// Two threads use and drop the payloads of the first block, while the connection goes on.
fn beside_threads_that_drop(go_on: impl Fn(&mut Connection) + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(PREEMPTIONS);
    builder.check(move || {
        let mut connection = Connection::default();
        let threads = [(); 2].map(|()| {
            let payload = connection.receive();
            thread::spawn(|| payload.use_and_drop())
        });
        go_on(&mut connection);
        for thread in threads {
            thread.join().unwrap();
        }
        // Everybody else's payloads are gone: it goes on with what it has, after one block's worth of bytes at most.
        let own = (0..4).map(|_| connection.receive());
        let own: Vec<_> = own.map(|payload| payload.0.is_in_a_block()).collect();
        assert_eq!(own[2..], [true; 2], "memory does not come back");
        connection.give_back();
        connection.give_back();
        let live = memory::live_blocks();
        assert_eq!(live, 1, "the current one is left");
        drop(connection);
        assert_eq!(memory::live_blocks(), 0);
    });
}

#[test]
fn payloads_keep_their_bytes_while_memory_is_used_again() {
    beside_threads_that_drop(|connection| {
        let mut kept = VecDeque::new();
        for _ in 0..5 {
            kept.push_back(connection.receive());
            if kept.len() > 2 {
                kept.pop_front().unwrap().use_and_drop();
            }
        }
        kept.into_iter().for_each(Payload::use_and_drop);
    });
}

/// Heartbeats of a connection that was busy before the first.
fn as_others_are_given_back(heartbeats: usize) {
    beside_threads_that_drop(move |connection| {
        let kept = [(); 2].map(|()| connection.receive());
        (0..heartbeats).for_each(|_| connection.give_back());
        let more = [(); 3].map(|()| connection.receive());
        kept.into_iter().chain(more).for_each(Payload::use_and_drop);
        connection.give_back();
    });
}

#[test]
fn blocks_are_used_again_behind_a_heartbeat() {
    as_others_are_given_back(1);
}

#[test]
fn blocks_in_use_are_not_forgotten_as_others_are_given_back() {
    as_others_are_given_back(2);
}
