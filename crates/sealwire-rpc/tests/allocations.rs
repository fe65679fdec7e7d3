//! After warm-up no call and no one-way message allocates, on either side. Both sides and all their
//! threads run in this process, whose allocator counts.

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sealwire_rpc::handler::Inline;
use sealwire_rpc::{CallOptions, OneWay};
use support::{Scene, bind, echo, eventually};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every method passes its arguments on to the system's allocator unchanged, which keeps
// the promises of the trait; the counter allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the promises of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: `memory` came from `alloc` above, with this layout.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as for `dealloc`; the new size is the caller's promise.
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const MESSAGES: u64 = 100_000;
/// Growth of queues that the warm-up did not fill, and what threads do now and then.
const SLACK: u64 = 100;

fn allocations_of(action: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.load(Ordering::SeqCst);
    action();
    ALLOCATIONS.load(Ordering::SeqCst) - before
}

/// One test, so that nothing else allocates meanwhile.
#[test]
fn calls_and_messages_of_64_bytes_allocate_nothing() {
    let scene = Scene::new();
    let received = Arc::new(AtomicU64::new(0));
    let counter = received.clone();
    let handler = Inline::new(echo).on_message(move |_: &OneWay| {
        counter.fetch_add(1, Ordering::SeqCst);
    });
    let server = scene.server().build(handler).unwrap();
    let client = scene.client().build(bind(&server)).unwrap();
    let conn = client.blocking().conn().unwrap();
    let body = [7; 64];

    let sequential = |calls: u64| {
        for _ in 0..calls {
            assert_eq!(conn.request(&body).unwrap()[..], body);
        }
    };
    let mut calls = VecDeque::with_capacity(64);
    let mut pipelined = |total: u64| {
        for _ in 0..total {
            if calls.len() == 64 {
                let call: sealwire_rpc::Call = calls.pop_front().unwrap();
                assert_eq!(call.wait().unwrap()[..], body);
            }
            calls.push_back(conn.start(&body, CallOptions::default()).unwrap());
        }
        calls.drain(..).for_each(|call| drop(call.wait().unwrap()));
    };
    let one_way = |messages: u64| {
        let before = received.load(Ordering::SeqCst);
        for _ in 0..messages {
            conn.send(&body).unwrap();
        }
        eventually("all are there", || {
            received.load(Ordering::SeqCst) == before + messages
        });
    };

    sequential(2_000);
    let count = allocations_of(|| sequential(10_000));
    assert!(
        count <= SLACK,
        "10,000 calls, one at a time: {count} allocations"
    );
    pipelined(20_000);
    let count = allocations_of(|| pipelined(MESSAGES));
    assert!(
        count <= SLACK,
        "{MESSAGES} calls, 64 in flight: {count} allocations"
    );
    one_way(20_000);
    let count = allocations_of(|| one_way(MESSAGES));
    // Waiting for room takes memory each time, not each message.
    let waits = MESSAGES / 50;
    assert!(
        count <= SLACK + waits,
        "{MESSAGES} messages: {count} allocations"
    );
}
