//! Constant time, checked: every secret is marked as undefined memory.
//!
//! A tool that follows undefined bits through every operation reports a branch or an address that
//! depends on them, which is just what constant-time code must not have. Two tools do, and
//! `ct/check.sh` runs these tests under both; elsewhere they say that they are skipped.
//!
//! * Valgrind's memcheck follows the machine code that is shipped, but knows no AVX-512.
//! * MemorySanitizer follows the optimised LLVM code, every instruction set of it.

#[cfg_attr(memory_sanitizer, path = "constant_time/memory_sanitizer.rs")]
#[cfg_attr(not(memory_sanitizer), path = "constant_time/valgrind.rs")]
mod tool;

use alloc::vec;
use alloc::vec::Vec;
use std::eprintln;

use crate::back_end::BackEnd;
use crate::counter_box::{OpenJob, SealJob};
use crate::portable::Portable;
use crate::{KeyPair, SecretBox};

/// What comes out of sealing depends on secrets, and a tool that has forgotten so saw nothing.
const LOST: &str = "the tool lost track of the secrets";

/// Marks memory as secret.
fn classify<T>(secret: &mut [T]) {
    tool::make_undefined(secret.as_mut_ptr().cast(), size_of_val(secret));
}

/// Marks memory as public.
fn declassify<T>(public: &mut [T]) {
    tool::make_defined(public.as_mut_ptr().cast(), size_of_val(public));
}

/// The same value, as one that may be branched on.
pub(crate) fn declassified(mut value: u8) -> u8 {
    declassify(core::slice::from_mut(core::hint::black_box(&mut value)));
    core::hint::black_box(value)
}

/// Runs the check under the tool, and says what became of it.
fn finds_nothing(name: &str, check: impl FnOnce()) {
    if !tool::is_running() {
        eprintln!("{name}: skipped, not under {}", tool::NAME);
        return;
    }
    let before = tool::errors();
    check();
    assert_eq!(
        tool::errors(),
        before,
        "{name}: a branch or an address depends on a secret"
    );
    eprintln!("{name}: checked under {}", tool::NAME);
}

/// Seals and opens messages of many lengths, alone and in batches, with secret keys and texts.
fn has_no_secret_branches(name: &str, back_end: Option<impl BackEnd>) {
    let Some(back_end) = back_end else {
        eprintln!("{name}: skipped, the instructions are not here");
        return;
    };
    finds_nothing(name, || {
        for forged in [false, true] {
            for length in [
                0, 1, 16, 31, 32, 33, 64, 200, 767, 768, 1_000, 2_559, 2_560, 9_000,
            ] {
                batch(back_end, vec![length], forged);
            }
            for limit in [1, 70, 300, 3_500] {
                batch(back_end, (0..37).map(|i| i * 997 % limit).collect(), forged);
            }
        }
    });
}

fn batch(back_end: impl BackEnd, lengths: Vec<usize>, forged: bool) {
    let mut key = [0x0102_0304; 8];
    let mut texts: Vec<Vec<u8>> = lengths.iter().map(|&length| vec![1; length]).collect();
    let mut tags = vec![[0; 16]; texts.len()];
    classify(&mut key);
    texts.iter_mut().for_each(|text| classify(text));
    let nonce = |index: usize| (index as u64).to_be_bytes();
    let pairs = texts.iter_mut().zip(&mut tags).enumerate();
    let mut jobs: Vec<_> = pairs
        .map(|(i, (buffer, tag))| SealJob {
            nonce: nonce(i),
            buffer,
            tag,
        })
        .collect();
    back_end.seal_batch(&key, &mut jobs);
    assert!(tags.iter().all(|tag| tool::is_undefined(tag)), "{LOST}");
    // What goes over the wire is public; the plaintext and the key are not.
    texts.iter_mut().for_each(|text| declassify(text));
    declassify(&mut tags);
    tags[0][15] ^= u8::from(forged);
    let pairs = texts.iter_mut().zip(&tags).enumerate();
    let mut jobs: Vec<_> = pairs
        .map(|(i, (buffer, tag))| OpenJob::new(nonce(i), buffer, tag))
        .collect();
    back_end.open_batch(&key, &mut jobs);
    let verdicts: Vec<_> = jobs.iter().map(|job| job.verified).collect();
    assert_eq!(verdicts[0], !forged);
    assert!(verdicts[1..].iter().all(|verified| *verified));
    texts.iter_mut().for_each(|text| declassify(text));
    let opened = &texts[usize::from(forged)..];
    assert!(opened.iter().flatten().all(|byte| *byte == 1));
}

#[test]
fn portable_is_constant_time() {
    has_no_secret_branches("portable", Some(Portable));
}

#[test]
fn sse2_is_constant_time() {
    has_no_secret_branches("sse2", crate::x86::sse2::Sse2::detect());
}

#[test]
fn avx2_is_constant_time() {
    has_no_secret_branches("avx2", crate::x86::avx2::Avx2::detect());
}

#[test]
fn avx512_is_constant_time() {
    has_no_secret_branches("avx512", crate::x86::avx512::Avx512::detect());
}

/// X25519 on both sides, and the derivation of the shared key and of a subkey.
#[test]
fn agreement_is_constant_time() {
    finds_nothing("agreement", || {
        let mut secret = [7; 32];
        let other = *KeyPair::from_secret([9; 32]).public();
        classify(&mut secret);
        let ours = KeyPair::from_secret(secret);
        assert!(tool::is_undefined(ours.public()), "{LOST}");
        let shared: SecretBox = ours.shared_with(&other).expect("no weak key");
        assert!(tool::is_undefined(shared.as_bytes()), "{LOST}");
        let _ = core::hint::black_box(shared.seal(&[3; 24], b"text"));
    });
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
        let table = core::hint::black_box([0_u8; 256]);
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
    let mut secret = [1_u8; 16];
    classify(core::hint::black_box(&mut secret));
    misuse(secret[3]);
    assert!(tool::errors() > before, "{LOST}");
    eprintln!("control: checked under {}", tool::NAME);
}
