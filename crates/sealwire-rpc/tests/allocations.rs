//! After warm-up no call and no one-way message allocates, on either side. Both sides and all their
//! threads run in this process, whose allocator counts.
//!
//! A binary of its own: what any thread of the process allocates is counted.

#[path = "../../sealwire/tests/support/counting.rs"]
#[expect(dead_code, reason = "this counts allocations, not bytes")]
mod counting;
#[expect(dead_code, reason = "the suite uses the rest")]
mod support;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use counting::allocations_of;
use sealwire_rpc::blocking::Conn;
use sealwire_rpc::handler::Inline;
use sealwire_rpc::{Call, CallOptions, OneWay};
use support::{Scene, bind, echo, eventually};

const MESSAGES: u64 = 100_000;
/// A machine that is too slow for this number of calls fails after this time.
const LONGEST: Duration = Duration::from_secs(10);
const IN_FLIGHT: usize = 64;
/// Allocations that belong to no message, however many there are: queues that grow beyond what the
/// warm-up needed when one of the threads lags (each doubles a few times at most), buffers given back
/// and taken again with the heartbeats, timers, and threads that block for the first time. One
/// allocation in every thousandth message would be as many.
const SLACK: u64 = 100;

/// One test, so that nothing else allocates meanwhile.
#[test]
fn calls_and_messages_allocate_nothing() {
    let scene = Scene::new();
    let received = Arc::new(AtomicU64::new(0));
    let counter = received.clone();
    let handler = Inline::new(echo).on_message(move |_: &OneWay| {
        counter.fetch_add(1, Ordering::SeqCst);
    });
    let server = scene.server().build(handler).unwrap();
    let client = scene.client().build(bind(&server)).unwrap();
    let conn = client.blocking().conn().unwrap();
    // In place of a frame, in memory that others share.
    for size in [64, 1_400] {
        let body = vec![7; size];
        sequential(&conn, &body, 2_000);
        expect_none(&format!("calls of {size} B, one at a time"), || {
            sequential(&conn, &body, MESSAGES)
        });
        let mut calls = VecDeque::with_capacity(IN_FLIGHT);
        pipelined(&conn, &body, 20_000, &mut calls);
        expect_none(&format!("calls of {size} B, {IN_FLIGHT} in flight"), || {
            pipelined(&conn, &body, MESSAGES, &mut calls)
        });
        one_way(&conn, &body, 20_000, &received);
        expect_none(&format!("one-way messages of {size} B"), || {
            one_way(&conn, &body, MESSAGES, &received)
        });
    }
}

/// Runs what gives how many messages it was.
fn expect_none(what: &str, action: impl FnOnce() -> u64) {
    let mut messages = 0;
    let count = allocations_of(|| messages = action());
    println!("{messages} {what}: {count} allocations");
    assert!(messages > 10 * SLACK, "only {messages} {what}");
    assert!(count <= SLACK, "{messages} {what}: {count} allocations");
}

/// Does it for each message as long as there is time. Gives for how many there was.
fn as_time_allows(messages: u64, mut action: impl FnMut()) -> u64 {
    let started = Instant::now();
    for done in 0..messages {
        if started.elapsed() >= LONGEST {
            return done;
        }
        action();
    }
    messages
}

fn sequential(conn: &Conn, body: &[u8], calls: u64) -> u64 {
    as_time_allows(calls, || {
        assert_eq!(conn.request(body).unwrap()[..], *body);
    })
}

fn pipelined(conn: &Conn, body: &[u8], total: u64, calls: &mut VecDeque<Call>) -> u64 {
    let asked = as_time_allows(total, || {
        if calls.len() == IN_FLIGHT {
            let call = calls.pop_front().unwrap();
            assert_eq!(call.wait().unwrap()[..], *body);
        }
        calls.push_back(conn.start(body, CallOptions::default()).unwrap());
    });
    calls.drain(..).for_each(|call| drop(call.wait().unwrap()));
    asked
}

fn one_way(conn: &Conn, body: &[u8], messages: u64, received: &AtomicU64) -> u64 {
    let before = received.load(Ordering::SeqCst);
    let sent = as_time_allows(messages, || conn.send(body).unwrap());
    eventually("all are there", || {
        received.load(Ordering::SeqCst) == before + sent
    });
    sent
}
