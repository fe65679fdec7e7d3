//! Memory that payloads share, with payloads that are kept, dropped, and dropped by other threads. In every order of
//! a few steps: `tests/suite/block_orders.rs`.

use alloc::collections::{BTreeSet, VecDeque};
use alloc::vec::Vec;

use super::blocks::Blocks;
use super::memory::{Bytes, MAX_PAYLOAD_BLOCKS, PAYLOAD_BLOCK};

fn payload(size: usize, seed: usize) -> Vec<u8> {
    (0..size).map(|i| (i * 7 + seed) as u8).collect()
}

#[test]
fn payloads_of_every_size_keep_their_bytes() {
    let mut blocks = Blocks::default();
    let sizes = [
        71,
        100,
        1_400,
        4_096,
        4_097,
        30_000,
        PAYLOAD_BLOCK / 2,
        PAYLOAD_BLOCK,
    ];
    let kept: Vec<_> = (0..2_000)
        .map(|n| (n, blocks.copy(&payload(sizes[n % sizes.len()], n))))
        .collect();
    for (n, bytes) in kept {
        assert_eq!(bytes, payload(sizes[n % sizes.len()], n), "payload {n}");
    }
}

#[test]
fn memory_of_payloads_that_are_gone_is_used_again() {
    let mut blocks = Blocks::default();
    let mut held = VecDeque::new();
    for n in 0..100_000 {
        held.push_back(blocks.copy(&payload(1_400, n)));
        if held.len() > 1_000 {
            held.pop_front();
        }
    }
    // 1,000 payloads fill 22 blocks.
    assert!(blocks.full.len() <= 24, "{} blocks", blocks.full.len());
}

#[test]
fn payloads_that_are_kept_keep_a_bounded_number_of_blocks() {
    let mut blocks = Blocks::default();
    let mut kept = Vec::new();
    for n in 0..100_000 {
        let bytes = blocks.copy(&payload(100, n));
        if n % 600 == 0 {
            kept.push(bytes);
        }
    }
    assert!(blocks.full.len() <= MAX_PAYLOAD_BLOCKS);
    kept.clear();
    let places: BTreeSet<_> = (0..100_000)
        .map(|n| blocks.copy(&payload(100, n)).as_ptr().addr() / PAYLOAD_BLOCK)
        .collect();
    assert!(
        places.len() <= 2 * (MAX_PAYLOAD_BLOCKS + 1),
        "blocks come back into use"
    );
}

#[test]
fn a_quiet_connection_gives_its_blocks_back_but_not_those_in_use() {
    let mut blocks = Blocks::default();
    let mut kept: Vec<_> = (0..1_000)
        .map(|n| blocks.copy(&payload(1_400, n)))
        .collect();
    let most = blocks.full.len();
    // 41 payloads fill the four smaller blocks, and 46 each of the others.
    assert_eq!(most, (1_000 - 41) / 46);
    blocks.give_back();
    assert_eq!(blocks.full.len(), most, "all are in use");
    kept.truncate(100);
    blocks.give_back();
    assert!(
        (1..=5).contains(&blocks.full.len()),
        "{} blocks",
        blocks.full.len()
    );
    kept.clear();
    blocks.give_back();
    assert!(blocks.full.is_empty());
    assert_eq!(blocks.copy(&payload(1_400, 7)), payload(1_400, 7));
}

/// Keeps payloads for a while, and drops them in an order and at moments of its own.
fn keep(seed: u64, payloads: impl IntoIterator<Item = (usize, Bytes)>) {
    extern crate std;
    let mut state = seed;
    let mut below = |limit: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % limit
    };
    let mut kept = Vec::new();
    for received in payloads {
        kept.push(received);
        while kept.len() > 300 || (!kept.is_empty() && below(3) == 0) {
            let (n, bytes) = kept.swap_remove(below(kept.len()));
            if below(4) == 0 {
                std::thread::yield_now();
            }
            assert_eq!(bytes, payload(bytes.len(), n), "payload {n}");
        }
    }
}

#[test]
fn payloads_are_dropped_by_other_threads_while_their_memory_is_used_again() {
    extern crate std;
    let mut blocks = Blocks::default();
    std::thread::scope(|scope| {
        let threads = [1, 2, 3].map(|seed| {
            let (to, payloads) = std::sync::mpsc::sync_channel(100);
            scope.spawn(move || keep(seed, payloads));
            to
        });
        // Under Miri each takes long, and a few show what races.
        for n in 0..if cfg!(miri) { 300 } else { 60_000 } {
            let bytes = blocks.copy(&payload([100, 1_000, 9_000][n % 7 % 3], n));
            threads[n % 3].send((n, bytes)).unwrap();
            assert!(blocks.full.len() <= MAX_PAYLOAD_BLOCKS);
            if n % 1_000 == 999 {
                blocks.give_back();
            }
        }
    });
    // Nobody has any of them now.
    blocks.give_back();
    blocks.give_back();
    assert!(blocks.full.is_empty(), "{} blocks", blocks.full.len());
}
