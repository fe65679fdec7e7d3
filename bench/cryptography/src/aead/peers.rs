//! Other ciphers in the same seat: sealing one message in place.

use std::hint::black_box;

use chacha20_blake3::{ChaCha20Blake3, Session20};

use super::contenders::{BATCH_SEAL, BATCH_SESSION_SEAL, KEY, NONCE, SEAL, SESSION_SEAL};
use crate::contender::Contender;

const CRATE: &str = "chacha20-blake3 seal";
const CRATE_SESSION: &str = "chacha20-blake3 Session seal";
const RING: &str = "ring ChaCha20-Poly1305 seal";
const AWS_LC: &str = "aws-lc AES-256-GCM seal";

/// Ours, then the peer's. The crate has no batches, so ours are held against its single messages.
pub(super) const COMPARISONS: &[(&str, &str)] = &[
    (SEAL, CRATE),
    (SEAL, RING),
    (SEAL, AWS_LC),
    (SESSION_SEAL, CRATE_SESSION),
    (BATCH_SEAL, CRATE),
    (BATCH_SESSION_SEAL, CRATE_SESSION),
];

pub(super) fn all(size: usize) -> [Contender; 4] {
    let cipher = ChaCha20Blake3::new(KEY);
    let one_shot = Contender::single(CRATE, size, move |buffer| {
        black_box(cipher.encrypt_in_place_detached(black_box(&NONCE), buffer, b""));
    });
    let mut session = Session20::new(KEY, KEY, [0; 8]);
    let session = Contender::single(CRATE_SESSION, size, move |buffer| {
        black_box(session.encrypt_in_place_detached(buffer, b""));
    });
    [one_shot, session, ring(size), aws_lc(size)]
}

fn ring(size: usize) -> Contender {
    use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};

    let key = UnboundKey::new(&CHACHA20_POLY1305, &KEY).expect("a key of 32 bytes");
    let key = LessSafeKey::new(key);
    Contender::single(RING, size, move |buffer| {
        let nonce = Nonce::assume_unique_for_key([7; 12]);
        let tag = key.seal_in_place_separate_tag(nonce, Aad::empty(), buffer);
        let _ = black_box(tag.expect("short enough"));
    })
}

fn aws_lc(size: usize) -> Contender {
    use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};

    let key = UnboundKey::new(&AES_256_GCM, &KEY).expect("a key of 32 bytes");
    let key = LessSafeKey::new(key);
    Contender::single(AWS_LC, size, move |buffer| {
        let nonce = Nonce::assume_unique_for_key([7; 12]);
        let tag = key.seal_in_place_separate_tag(nonce, Aad::empty(), buffer);
        let _ = black_box(tag.expect("short enough"));
    })
}
