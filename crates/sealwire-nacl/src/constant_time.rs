//! Constant time, checked: nothing depends on what [`sealwire_constant_time`] marks as secret.

use alloc::vec;
use alloc::vec::Vec;

use sealwire_constant_time::{
    assert_secret, classify, declassify, finds_nothing, notices_a_branch, notices_an_index,
};
use sealwire_simd::measuring::{Level, on_every};

use crate::batch::{open_batch, seal_batch};
use crate::job::{OpenJob, SealJob};
use crate::keys::KeyPair;
use crate::one_time_key::OneTimeKey;
use crate::secret_box::SecretBox;
use crate::xsalsa20::XSalsa20;

/// Seals and opens messages of many lengths, alone and in batches, with secret keys and texts.
fn has_no_secret_branches(name: &str) {
    // Made here: a division takes a time that depends on what is divided.
    let batches: [Vec<usize>; 4] =
        [1, 70, 300, 3_500].map(|limit| (0..37).map(|i| i * 997 % limit).collect());
    finds_nothing(name, || {
        for forged in [false, true] {
            for length in [
                0, 1, 16, 31, 32, 33, 64, 96, 97, 200, 224, 225, 511, 512, 767, 768, 1_000, 5_119,
                5_120, 9_000,
            ] {
                batch(&[length], forged);
            }
            for lengths in &batches {
                batch(lengths, forged);
            }
        }
    });
}

fn batch(lengths: &[usize], forged: bool) {
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
    seal_batch(&key, &mut jobs);
    tags.iter().for_each(|tag| assert_secret(tag));
    // The ciphertexts are public; the plaintext and the key are not.
    texts.iter_mut().for_each(|text| declassify(text));
    declassify(&mut tags);
    tags[0][15] ^= u8::from(forged);
    let pairs = texts.iter_mut().zip(&tags).enumerate();
    let mut jobs: Vec<_> = pairs
        .map(|(i, (buffer, tag))| OpenJob::new(nonce(i), buffer, tag))
        .collect();
    open_batch(&key, &mut jobs);
    let verdicts: Vec<_> = jobs.iter().map(|job| job.verified).collect();
    assert_eq!(verdicts[0], !forged);
    assert!(verdicts[1..].iter().all(|verified| *verified));
    texts.iter_mut().for_each(|text| declassify(text));
    originals.iter_mut().for_each(|text| declassify(text));
    let opened = usize::from(forged)..;
    assert!(texts[opened.clone()] == originals[opened]);
}

#[test]
fn every_back_end_is_constant_time() {
    let levels = [
        Level::Portable,
        Level::Neon,
        Level::Sse2,
        Level::Avx2,
        Level::Avx512,
        Level::Ifma,
    ];
    on_every(&levels, |level| has_no_secret_branches(level.name()));
}

/// A tag and a keystream by themselves, of lengths that fill lanes, leave some empty, and end in a block.
#[test]
fn each_part_is_constant_time() {
    finds_nothing("parts", || {
        for length in [0, 33, 64, 200, 1_100, 3_000] {
            let (mut key, mut text) = ([5; 32], vec![1; length]);
            classify(&mut key);
            classify(&mut text);
            let mut tag = OneTimeKey::new(&key).tag(&text);
            assert_secret(&tag);
            declassify(&mut tag);
            assert_eq!(OneTimeKey::new(&key).verify(&text, &tag), Ok(()));
            tag[0] ^= 1;
            assert!(OneTimeKey::new(&key).verify(&text, &tag).is_err());
            XSalsa20::new(&key).xor_unauthenticated(&[3; 24], &mut text);
            assert_secret(&text);
        }
    });
}

/// X25519 on both sides, and the derivation of the shared key and of a subkey: by the Rust that multiplies, as the
/// tools do not see what assembly writes, or do not have its instructions.
#[test]
fn agreement_is_constant_time() {
    on_every(&[Level::Portable], |_| {
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
