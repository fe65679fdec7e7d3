//! Constant time, checked: nothing depends on what [`sealwire_constant_time`] marks as secret.

use crate::Protocol;
use crate::duplex::every_back_end::on_every_back_end;
use crate::schemes::aead::{Aead, OpenJob, SealJob};
use crate::schemes::digest::KeyedDigest;
use digest::Update as _;
pub(crate) use sealwire_constant_time::declassified;
use sealwire_constant_time::{
    assert_secret, classify, declassify, finds_nothing, notices_a_branch, notices_an_index,
};
use std::vec;
use std::vec::Vec;

/// Across the ends of lanes and blocks.
const LENGTHS: [usize; 12] = [0, 1, 7, 15, 16, 63, 93, 94, 95, 188, 300, 1_000];

#[test]
fn every_back_end_is_constant_time() {
    on_every_back_end(|name| {
        finds_nothing(name, || {
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
        });
    });
}

fn aead(length: usize, forged: bool) {
    let mut key = [7; 32];
    let mut text = vec![1; length];
    classify(&mut key);
    classify(&mut text);
    let mut original = text.clone();
    let cipher: Aead = Aead::new("constant time", &key);
    let nonce = [5; 16].into();
    let mut tag = cipher.seal_detached(&nonce, b"header", &mut text);
    assert_secret(&tag);
    assert_secret(&text);
    // The ciphertext and the tag are public; the plaintext and the key are not.
    declassify(&mut tag);
    declassify(&mut text);
    tag[15] ^= u8::from(forged);
    let opened = cipher.open_detached(&nonce, b"header", &mut text, &tag);
    assert_eq!(opened.is_err(), forged);
    declassify(&mut text);
    declassify(&mut original);
    assert!(forged || text == original);
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
    tags.iter().for_each(|tag| assert_secret(tag));
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
    assert_secret(&tag);
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
    assert_secret(&output);
    assert_secret(&text);
    protocol.ratchet("ratchet");
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
