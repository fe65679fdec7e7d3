//! Agreement with the crate `chacha20-blake3`, another implementation of the same construction, on
//! random keys, nonces, associated data and every length.

use crate::random::Random;
use chacha20_blake3::ChaCha20Blake3;
use sealwire_aead::{Cipher, Session};

#[test]
fn every_length_seals_to_the_same_bytes_and_opens() {
    let mut random = Random::new(1);
    let lengths = (0..=2_200).chain([4_000, 4_096, 8_183, 16_385, 65_536, 300_001, 1 << 20]);
    for length in lengths {
        let (key, nonce) = (random.array(), random.array());
        let aad_len = if length % 50 == 0 {
            random.below(3_000)
        } else {
            random.below(40)
        };
        let (aad, plaintext) = (random.bytes(aad_len), random.bytes(length));

        let expected = ChaCha20Blake3::new(key).encrypt(&nonce, &plaintext, &aad);
        let cipher = Cipher::new(&key);
        let sealed = cipher.encrypt_with_aad(&nonce, &aad, &plaintext);
        assert!(
            sealed == expected,
            "length {length}, associated data {aad_len}"
        );
        assert_eq!(
            cipher.decrypt_with_aad(&nonce, &aad, &sealed).as_ref(),
            Ok(&plaintext)
        );
    }
}

#[test]
fn a_session_is_the_continuous_keystream_of_the_crate() {
    let mut random = Random::new(2);
    let (enc_key, auth_key, nonce) = (random.array(), random.array(), random.array());
    let mut sealing = Session::new(&enc_key, &auth_key, &nonce);
    let mut opening = Session::new(&enc_key, &auth_key, &nonce);
    let mut peer = chacha20_blake3::Session20::new(enc_key, auth_key, nonce);
    for length in (0..2_200).step_by(7).chain([16_385, 65_536]) {
        let aad_len = random.below(20);
        let (aad, plaintext) = (random.bytes(aad_len), random.bytes(length));
        let (mut ours, mut theirs) = (plaintext.clone(), plaintext.clone());
        let tag = sealing.seal(&aad, &mut ours);
        assert_eq!(tag, peer.encrypt_in_place_detached(&mut theirs, &aad));
        assert!(ours == theirs, "length {length}");
        assert_eq!(sealing.block_counter(), peer.block_counter());
        opening.open(&aad, &mut ours, &tag).expect("authentic");
        assert!(ours == plaintext);
    }
}
