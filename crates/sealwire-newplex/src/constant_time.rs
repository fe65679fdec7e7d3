//! Constant time, checked: every secret is marked as undefined memory.
//!
//! A tool that follows undefined bits through every operation reports a branch or an address that
//! depends on them, which is just what constant-time code must not have. Two tools do, and
//! `ct/check.sh` runs these tests under both; elsewhere they say that they are skipped.
//!
//! * Valgrind's memcheck follows the machine code that is shipped, but not every instruction set.
//! * MemorySanitizer follows the optimised LLVM code, every instruction set of it.

#[cfg_attr(memory_sanitizer, path = "constant_time/memory_sanitizer.rs")]
#[cfg_attr(not(memory_sanitizer), path = "constant_time/valgrind.rs")]
mod tool;

use crate::Protocol;
use crate::duplex::back_end::forced::on_every_back_end;
use crate::schemes::aead::{Aead, OpenJob, SealJob};
use crate::schemes::digest::KeyedDigest;
use digest::Update as _;
use std::eprintln;
use std::vec;
use std::vec::Vec;

/// What comes out depends on secrets, and a tool that has forgotten so saw nothing.
const LOST: &str = "the tool lost track of the secrets";

/// Across the ends of lanes and blocks.
const LENGTHS: [usize; 12] = [0, 1, 7, 15, 16, 63, 93, 94, 95, 188, 300, 1_000];

/// Marks memory as secret.
fn classify(secret: &mut [u8]) {
    tool::make_undefined(secret.as_mut_ptr(), secret.len());
}

/// Marks memory as public.
fn declassify(public: &mut [u8]) {
    tool::make_defined(public.as_mut_ptr(), public.len());
}

/// The same value, as one that may be branched on.
pub(crate) fn declassified(mut value: u8) -> u8 {
    declassify(core::slice::from_mut(core::hint::black_box(&mut value)));
    core::hint::black_box(value)
}

#[test]
fn every_back_end_is_constant_time() {
    if !tool::is_running() {
        eprintln!("every back end: skipped, not under {}", tool::NAME);
        return;
    }
    on_every_back_end(|name| {
        let before = tool::errors();
        for forged in [false, true] {
            for length in LENGTHS {
                aead(length, forged);
                keyed_digest(length, forged);
            }
            aead_batch(forged);
        }
        for length in LENGTHS {
            derived_and_masked(length);
        }
        assert_eq!(
            tool::errors(),
            before,
            "{name}: a branch or an address depends on a secret"
        );
        eprintln!("{name}: checked under {}", tool::NAME);
    });
}

fn aead(length: usize, forged: bool) {
    let mut key = [7; 32];
    let mut text = vec![1; length];
    classify(&mut key);
    classify(&mut text);
    let cipher: Aead = Aead::new("constant time", &key);
    let nonce = [5; 16].into();
    let mut tag = cipher.seal_detached(&nonce, b"header", &mut text);
    assert!(
        tool::is_undefined(&tag) && tool::is_undefined(&text),
        "{LOST}"
    );
    // What goes over the wire is public; the plaintext and the key are not.
    declassify(&mut tag);
    declassify(&mut text);
    tag[15] ^= u8::from(forged);
    let opened = cipher.open_detached(&nonce, b"header", &mut text, &tag);
    assert_eq!(opened.is_err(), forged);
    declassify(&mut text);
    assert!(forged || text.iter().all(|byte| *byte == 1));
}

fn aead_batch(forged: bool) {
    let mut key = [7; 32];
    classify(&mut key);
    let cipher: Aead = Aead::new("constant time", &key);
    let nonce = [5; 16].into();
    let mut texts: Vec<Vec<u8>> = (0..21).map(|i| vec![1; i * 997 % 400]).collect();
    texts.iter_mut().for_each(|text| classify(text));
    let mut tags = vec![[0; 16]; texts.len()];
    let mut jobs: Vec<_> = (texts.iter_mut().zip(&mut tags))
        .map(|(text, tag)| SealJob {
            nonce: &nonce,
            associated_data: b"header",
            text,
            tag,
        })
        .collect();
    cipher.seal_many(&mut jobs);
    assert!(tags.iter().all(|tag| tool::is_undefined(tag)), "{LOST}");
    tags.iter_mut().for_each(|tag| declassify(tag));
    texts.iter_mut().for_each(|text| declassify(text));
    tags[20][0] ^= u8::from(forged);
    let mut results = vec![Ok(()); texts.len()];
    let mut jobs: Vec<_> = (texts.iter_mut().zip(&tags).zip(&mut results))
        .map(|((text, tag), result)| OpenJob {
            nonce: &nonce,
            associated_data: b"header",
            text,
            tag,
            result,
        })
        .collect();
    cipher.open_many(&mut jobs);
    assert_eq!(results[20].is_err(), forged);
    assert!(results[..20].iter().all(Result::is_ok));
}

fn keyed_digest(length: usize, forged: bool) {
    let mut key = [7; 32];
    let mut message = vec![1; length];
    classify(&mut key);
    classify(&mut message);
    let mut tag = KeyedDigest::of("constant time", &key, &message);
    assert!(tool::is_undefined(&tag), "{LOST}");
    let mut digest = KeyedDigest::new("constant time", &key);
    digest.update(&message);
    declassify(&mut tag);
    tag[0] ^= u8::from(forged);
    assert_eq!(digest.verify(&tag), !forged);
}

fn derived_and_masked(length: usize) {
    let mut key = [7; 32];
    let mut text = vec![1; length];
    classify(&mut key);
    classify(&mut text);
    let mut protocol = Protocol::new("constant time");
    protocol.mix("key", &key);
    let mut other = protocol.clone();
    protocol.mask("text", &mut text);
    other.unmask("text", &mut text);
    let mut output = vec![0; length];
    protocol.derive("output", &mut output);
    assert!(
        tool::is_undefined(&output) && tool::is_undefined(&text),
        "{LOST}"
    );
    protocol.ratchet("ratchet");
}

/// The check can fail: a branch on a secret is seen.
///
/// MemorySanitizer ends the process there, which `ct/check.sh` expects of both controls.
#[test]
fn a_branch_on_a_secret_is_noticed() {
    is_noticed(|secret| {
        if core::hint::black_box(secret) == 0 {
            eprintln!("control: branched on a secret");
        }
    });
}

/// The check can fail: an address that depends on a secret is seen.
#[test]
fn an_index_that_is_secret_is_noticed() {
    is_noticed(|secret| {
        let table = core::hint::black_box([0u8; 256]);
        core::hint::black_box(table[usize::from(secret)]);
    });
}

#[inline(always)]
fn is_noticed(misuse: impl Fn(u8)) {
    if !tool::is_running() {
        eprintln!("control: skipped, not under {}", tool::NAME);
        return;
    }
    let before = tool::errors();
    let mut secret = [0];
    classify(&mut secret);
    misuse(secret[0]);
    assert!(tool::errors() > before);
    eprintln!("control: checked under {}", tool::NAME);
}
