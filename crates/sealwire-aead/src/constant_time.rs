//! Constant time, checked: nothing depends on what [`sealwire_constant_time`] marks as secret.

use crate::batch::{OpenJob, SealJob, Verdict};
use crate::engine;
use crate::keys::Keying;
use crate::mac_input::MacInput;
use alloc::vec;
use alloc::vec::Vec;
use sealwire_constant_time::{
    assert_secret, classify, declassify, finds_nothing, notices_a_branch, notices_an_index,
};
use sealwire_simd::measuring::{Level, on_every};

pub(crate) use sealwire_constant_time::declassified;

/// Seals and opens messages of many lengths, alone and in batches, and derives keys, with secret keys and texts.
fn has_no_secret_branches(name: &str) {
    // Made here: a division takes a time that depends on what is divided.
    let batches: [Vec<usize>; 4] =
        [1, 70, 300, 2_500].map(|limit| (0..21).map(|i| i * 997 % limit).collect());
    finds_nothing(name, || {
        for forged in [false, true] {
            for length in [
                0, 1, 16, 63, 64, 200, 1_000, 1_100, 4_100, 9_000, 20_000, 40_000,
            ] {
                single(length, forged);
            }
            for lengths in &batches {
                batch(lengths, forged);
            }
        }
    });
}

fn single(length: usize, forged: bool) {
    let mut key = [7; 32];
    let mut text = vec![1; length];
    classify(&mut key);
    classify(&mut text);
    let mut original = text.clone();
    let mut same_text = text.clone();
    let mut purpose_key = [0; 100];
    crate::derive_key_into("purpose", &[&key[..], &text].concat(), &mut purpose_key);
    assert_secret(&purpose_key);
    let nonce = &[3; 24];
    let same_tag = engine::seal(
        Keying::Nonce { key: &key, nonce },
        b"header",
        &mut same_text,
    );
    let keys = engine::derive_message_keys(&key, &[3; 24]);
    let derived = Keying::Derived {
        keys: &keys,
        counter: 0,
    };
    let mut tag = engine::seal(derived, b"header", &mut text);
    let part = MacInput::part(5, b"header and length", &text, 0);
    let node = engine::node(&keys.authentication, &part, 0, part.len());
    for bytes in [&tag[..], &text, &same_tag, &same_text, &node] {
        assert_secret(bytes);
    }
    // The ciphertext and the tag are public; the plaintext and the keys are not.
    declassify(&mut tag);
    declassify(&mut text);
    tag[31] ^= u8::from(forged);
    let opened = engine::open_one(&key, &[3; 24], b"header", &mut text, &tag);
    assert_eq!(opened, !forged);
    declassify(&mut text);
    declassify(&mut original);
    assert!(forged || text == original);
}

fn batch(lengths: &[usize], forged: bool) {
    let mut key = [9; 32];
    let mut texts: Vec<Vec<u8>> = lengths.iter().map(|length| vec![1; *length]).collect();
    let mut tags = vec![[0; 32]; texts.len()];
    classify(&mut key);
    texts.iter_mut().for_each(|text| classify(text));
    let message_keys = engine::derive_message_keys(&key, &[0; 24]);

    for continuous in [false, true] {
        let mut jobs: Vec<_> = texts
            .iter_mut()
            .zip(&mut tags)
            .map(|(buffer, tag)| SealJob {
                nonce: [5; 24],
                aad: b"ab",
                buffer,
                tag,
            })
            .collect();
        if continuous {
            engine::run(&message_keys, 0, &mut jobs);
        } else {
            engine::batch(&key, &mut jobs);
        }
        tags.iter().for_each(|tag| assert_secret(tag));
        texts.iter_mut().for_each(|text| declassify(text));
        declassify(&mut tags);
        tags[20][0] ^= u8::from(forged);
        let mut jobs: Vec<_> = texts
            .iter_mut()
            .zip(&tags)
            .map(|(buffer, tag)| OpenJob::new([5; 24], b"ab", buffer, tag))
            .collect();
        if continuous {
            engine::run(&message_keys, 0, &mut jobs);
        } else {
            engine::batch(&key, &mut jobs);
        }
        assert_eq!(jobs[20].verdict, Verdict::of(!forged));
        assert!(
            jobs[..20]
                .iter()
                .all(|job| job.verdict == Verdict::Verified)
        );
    }
}

#[test]
fn every_back_end_is_constant_time() {
    let levels = [
        Level::Portable,
        Level::Neon,
        Level::Sse41,
        Level::Avx2,
        Level::Avx512,
    ];
    on_every(&levels, |level| has_no_secret_branches(level.name()));
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
