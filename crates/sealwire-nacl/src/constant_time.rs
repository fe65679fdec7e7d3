//! Constant time, checked: nothing depends on what [`sealwire_constant_time`] marks as secret.

use alloc::vec;
use alloc::vec::Vec;
use std::eprintln;

pub(crate) use sealwire_constant_time::declassified;
use sealwire_constant_time::{
    assert_secret, classify, declassify, finds_nothing, notices_a_branch, notices_an_index,
};

use crate::back_end::BackEnd;
use crate::counter_box::{OpenJob, SealJob};
use crate::portable::Portable;
use crate::{KeyPair, SecretBox};

/// Seals and opens messages of many lengths, alone and in batches, with secret keys and texts.
fn has_no_secret_branches(name: &str, back_end: Option<impl BackEnd>) {
    let Some(back_end) = back_end else {
        eprintln!("{name}: skipped, the instructions are not here");
        return;
    };
    // Made here: a division takes a time that depends on what is divided.
    let batches: [Vec<usize>; 4] =
        [1, 70, 300, 3_500].map(|limit| (0..37).map(|i| i * 997 % limit).collect());
    finds_nothing(name, || {
        for forged in [false, true] {
            for length in [
                0, 1, 16, 31, 32, 33, 64, 200, 767, 768, 1_000, 2_559, 2_560, 9_000,
            ] {
                batch(back_end, &[length], forged);
            }
            for lengths in &batches {
                batch(back_end, lengths, forged);
            }
        }
    });
}

fn batch(back_end: impl BackEnd, lengths: &[usize], forged: bool) {
    let mut key = [0x0102_0304; 8];
    let mut texts: Vec<Vec<u8>> = lengths.iter().map(|&length| vec![1; length]).collect();
    let mut tags = vec![[0; 16]; texts.len()];
    classify(&mut key);
    texts.iter_mut().for_each(|text| classify(text));
    let mut originals = texts.clone();
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
    tags.iter().for_each(|tag| assert_secret(tag));
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
    originals.iter_mut().for_each(|text| declassify(text));
    let opened = usize::from(forged)..;
    assert!(texts[opened.clone()] == originals[opened]);
}

#[test]
fn portable_is_constant_time() {
    has_no_secret_branches("portable", Some(Portable));
}

#[cfg(target_arch = "x86_64")]
#[test]
fn sse2_is_constant_time() {
    has_no_secret_branches("sse2", crate::x86::sse2::Sse2::detect());
}

#[cfg(target_arch = "x86_64")]
#[test]
fn avx2_is_constant_time() {
    has_no_secret_branches("avx2", crate::x86::avx2::Avx2::detect());
}

#[cfg(target_arch = "x86_64")]
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
        assert_secret(ours.public());
        let shared: SecretBox = ours.shared_with(&other).expect("no weak key");
        assert_secret(shared.as_bytes());
        let _ = core::hint::black_box(shared.seal(&[3; 24], b"text"));
    });
}

/// Some tools end the process there, which `check.sh` expects of both controls.
#[test]
fn a_branch_on_a_secret_is_noticed() {
    notices_a_branch();
}

#[test]
fn an_index_that_is_secret_is_noticed() {
    notices_an_index();
}
