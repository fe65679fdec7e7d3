//! What needs no `alloc` takes no memory from the heap.
//!
//! A binary of its own: its allocator counts.

#![allow(unsafe_code, reason = "an allocator that counts")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::Write as _;

use sealwire_newplex::schemes::aead::{Aead, OpenJob, SealJob};
use sealwire_newplex::schemes::digest::{Digest, KeyedDigest};
use sealwire_newplex::schemes::siv::Siv;
use sealwire_newplex::{InvalidCiphertext, Protocol};

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: everything is left to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller promises what is asked for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller promises what is asked for.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// How often `work` asks for memory.
fn allocations(work: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.get();
    work();
    ALLOCATIONS.get() - before
}

#[test]
fn the_allocator_counts() {
    assert_eq!(allocations(|| drop(std::hint::black_box(vec![1_u8]))), 1);
}

#[test]
fn operations_of_a_protocol_allocate_nothing() {
    let count = allocations(|| {
        let mut protocol = Protocol::new("test");
        let mut text = [7; 3_000];
        protocol.mix("key", &text);
        let mut other = protocol.clone();
        protocol.mask("mask", &mut text);
        other.unmask("mask", &mut text);
        let tag = protocol.seal_detached("seal", &mut text);
        assert_eq!(other.open_detached("seal", &mut text, &tag), Ok(()));
        let forged = other.open_detached("seal", &mut text, &tag);
        assert_eq!(forged, Err(InvalidCiphertext));
        protocol.derive("derive", &mut text);
        protocol.ratchet("ratchet");
        let (left, _) = protocol.fork("fork", b"left", b"right");
        let mut restored = Protocol::from_bytes(&*left.to_bytes()).expect("a state");
        let mut stream = restored.mix_stream("stream");
        stream.update(&text);
    });
    assert_eq!(count, 0);
}

#[test]
fn symmetric_schemes_allocate_nothing_one_by_one_and_in_batches() {
    let count = allocations(|| {
        let text = [7; 3_000];
        let _ = Digest::of("test", &text);
        let mut mac = KeyedDigest::new("test", b"key");
        mac.write_all(&text).expect("no failure");
        assert!(mac.verify(&KeyedDigest::of("test", b"key", &text)));
        Digest::of_many("test", &[&text[..]; 5], &mut [[0; 32]; 5]);

        let (nonce, mut text) = ([1; 16].into(), text);
        let cipher: Siv = Siv::new("test", b"key");
        let tag = cipher.seal_detached(&nonce, b"data", &mut text);
        assert_eq!(
            cipher.open_detached(&nonce, b"data", &mut text, &tag),
            Ok(())
        );

        let cipher: Aead = Aead::new("test", b"key");
        let (mut texts, mut tags) = ([text; 5], [[0; 16]; 5]);
        let mut parts = texts.iter_mut().zip(&mut tags);
        let mut jobs: [_; 5] = std::array::from_fn(|_| {
            let (text, tag) = parts.next().expect("five");
            SealJob {
                nonce: &nonce,
                associated_data: b"data",
                text,
                tag,
            }
        });
        cipher.seal_many(&mut jobs);
        let mut results = [Ok(()); 5];
        let mut parts = texts.iter_mut().zip(&tags).zip(&mut results);
        let mut jobs: [_; 5] = std::array::from_fn(|_| {
            let ((text, tag), result) = parts.next().expect("five");
            OpenJob {
                nonce: &nonce,
                associated_data: b"data",
                text,
                tag,
                result,
            }
        });
        cipher.open_many(&mut jobs);
        assert_eq!(results, [Ok(()); 5]);
    });
    assert_eq!(count, 0);
}
