//! libsodium's `crypto_box` in the same seat, each result in a buffer of its own.

use std::hint::black_box;

use libsodium_rs::crypto_box::{
    self, Nonce, PrecomputedKey, PublicKey, SecretKey, beforenm, open_afternm, seal_afternm,
};
use sealwire_nacl::KeyPair;

use super::contenders::{
    AGREE, Boxed, NONCE, ONE_STEP_OPEN, ONE_STEP_SEAL, OURS, THEIRS, TWO_STEP_OPEN, TWO_STEP_SEAL,
};

const SODIUM_AGREE: &str = "libsodium, agree with X25519";
const SODIUM_ONE_STEP_SEAL: &str = "libsodium, one step, seal";
const SODIUM_ONE_STEP_OPEN: &str = "libsodium, one step, open";
const SODIUM_TWO_STEP_SEAL: &str = "libsodium, two steps, seal";
const SODIUM_TWO_STEP_OPEN: &str = "libsodium, two steps, open";

/// Two steps, then one.
pub(super) const GAINS: &[(&str, &str)] = &[
    (SODIUM_TWO_STEP_SEAL, SODIUM_ONE_STEP_SEAL),
    (SODIUM_TWO_STEP_OPEN, SODIUM_ONE_STEP_OPEN),
];

/// Ours, then libsodium's.
pub(super) const COMPARISONS: &[(&str, &str)] = &[
    (AGREE, SODIUM_AGREE),
    (ONE_STEP_SEAL, SODIUM_ONE_STEP_SEAL),
    (ONE_STEP_OPEN, SODIUM_ONE_STEP_OPEN),
    (TWO_STEP_SEAL, SODIUM_TWO_STEP_SEAL),
    (TWO_STEP_OPEN, SODIUM_TWO_STEP_OPEN),
];

/// The version that is linked, which starts it as well.
pub(crate) fn version() -> Option<&'static str> {
    libsodium_rs::ensure_init().expect("libsodium starts");
    Some(libsodium_rs::version::version_string())
}

/// One party's secret key and the other's public key.
fn keys(own: [u8; 32], other: [u8; 32]) -> (SecretKey, PublicKey) {
    let public = *KeyPair::from_secret(other).public();
    (own.into(), public.into())
}

fn shared(secret: &SecretKey, public: &PublicKey) -> PrecomputedKey {
    beforenm(public, secret).expect("neither key is of low order")
}

/// The first of the two steps.
pub(super) fn agreement() -> Option<Boxed> {
    let (secret, public) = keys(OURS, THEIRS);
    Some(Boxed::new(None, SODIUM_AGREE, 0, move |_| {
        let _ = black_box(beforenm(black_box(&public), &secret));
    }))
}

pub(super) fn all(size: usize) -> [Boxed; 4] {
    let nonce = Nonce::from_bytes_exact(NONCE);
    let (sender_secret, receiver) = keys(OURS, THEIRS);
    let (receiver_secret, sender) = keys(THEIRS, OURS);
    let sealing = shared(&sender_secret, &receiver);
    let opening = shared(&receiver_secret, &sender);
    let text = vec![0x5a; size];
    let sealed = seal_afternm(&text, &nonce, &sealing).expect("short enough");
    let sealed_too = sealed.clone();
    let [one_seal, one_open, two_seal, two_open] = [(); 4].map(|()| nonce.clone());
    [
        Boxed::new(Some(1), SODIUM_ONE_STEP_SEAL, size, move |text| {
            let nonce = black_box(&one_seal);
            let _ = black_box(crypto_box::seal(text, nonce, &receiver, &sender_secret));
        }),
        Boxed::new(Some(1), SODIUM_ONE_STEP_OPEN, 0, move |_| {
            let nonce = black_box(&one_open);
            let opened = crypto_box::open(&sealed, nonce, &sender, &receiver_secret);
            assert!(black_box(opened).is_ok(), "what was sealed opens");
        }),
        Boxed::new(Some(2), SODIUM_TWO_STEP_SEAL, size, move |text| {
            let _ = black_box(seal_afternm(text, black_box(&two_seal), &sealing));
        }),
        Boxed::new(Some(2), SODIUM_TWO_STEP_OPEN, 0, move |_| {
            let opened = open_afternm(&sealed_too, black_box(&two_open), &opening);
            assert!(black_box(opened).is_ok(), "what was sealed opens");
        }),
    ]
}
