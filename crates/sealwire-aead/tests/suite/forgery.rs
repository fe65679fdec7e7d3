//! What does not open: every single-bit change, and what a failed opening leaves behind.

use sealwire_aead::batch::{OpenJob, Verdict};
use sealwire_aead::{Cipher, DecryptionError, Session};

const KEY: [u8; 32] = [0x11; 32];
const NONCE: [u8; 24] = [0x22; 24];
const AAD: &[u8] = b"associated";
const PLAINTEXT: &[u8] = b"the quick brown fox jumps over the lazy dog, and over the block's end";

fn flipped(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> + '_ {
    (0..bytes.len() * 8).map(|bit| {
        let mut changed = bytes.to_vec();
        changed[bit / 8] ^= 1 << (bit % 8);
        changed
    })
}

#[test]
fn no_single_bit_can_change() {
    let cipher = Cipher::new(&KEY);
    let sealed = cipher.encrypt_with_aad(&NONCE, AAD, PLAINTEXT);
    for changed in flipped(&sealed) {
        assert_eq!(
            cipher.decrypt_with_aad(&NONCE, AAD, &changed),
            Err(DecryptionError)
        );
    }
    for changed in flipped(AAD) {
        assert_eq!(
            cipher.decrypt_with_aad(&NONCE, &changed, &sealed),
            Err(DecryptionError)
        );
    }
    for changed in flipped(&NONCE) {
        let nonce = changed.try_into().expect("24 bytes");
        assert_eq!(
            cipher.decrypt_with_aad(&nonce, AAD, &sealed),
            Err(DecryptionError)
        );
    }
    for changed in flipped(&KEY) {
        let key = changed.try_into().expect("32 bytes");
        assert_eq!(
            Cipher::new(&key).decrypt_with_aad(&NONCE, AAD, &sealed),
            Err(DecryptionError)
        );
    }
}

#[test]
fn a_byte_cannot_move_between_associated_data_and_message() {
    let cipher = Cipher::new(&KEY);
    let (mut text, tag) = cipher.encrypt_detached(&NONCE, b"ab", b"cd");
    let aad = [b'a', b'b', text.remove(0)];
    assert_eq!(
        cipher.decrypt_detached(&NONCE, &aad, &text, &tag),
        Err(DecryptionError)
    );
}

#[test]
fn what_is_shorter_than_a_tag_does_not_open() {
    let cipher = Cipher::new(&KEY);
    for length in 0..32 {
        assert_eq!(
            cipher.decrypt(&NONCE, &vec![0; length]),
            Err(DecryptionError)
        );
        let mut buffer = vec![0; length];
        assert_eq!(
            cipher.decrypt_in_place(&NONCE, b"", &mut buffer),
            Err(DecryptionError)
        );
        assert_eq!(buffer.len(), length);
    }
}

#[test]
fn a_failed_opening_in_place_leaves_the_ciphertext() {
    let cipher = Cipher::new(&KEY);
    for length in [0, 1, 63, 64, 65, 1000, 5000] {
        let (ciphertext, mut tag) = cipher.encrypt_detached(&NONCE, AAD, &vec![7; length]);
        tag[31] ^= 0x80;

        let mut buffer = ciphertext.clone();
        let failed = cipher.decrypt_in_place_detached(&NONCE, AAD, &mut buffer, &tag);
        assert_eq!((failed, &buffer), (Err(DecryptionError), &ciphertext));

        let mut jobs = [OpenJob::new(NONCE, AAD, &mut buffer, &tag)];
        assert_eq!(cipher.open_batch(&mut jobs), Err(DecryptionError));
        assert_eq!(jobs[0].verdict, Verdict::Forged);
        assert_eq!(buffer, ciphertext);

        let mut session = Session::new(&KEY, &[0x33; 32], &[0; 8]);
        assert_eq!(session.open(AAD, &mut buffer, &tag), Err(DecryptionError));
        assert_eq!((session.block_counter(), &buffer), (0, &ciphertext));
    }
}

#[test]
fn nothing_secret_is_printed() {
    let key = sealwire_aead::Key::from_bytes([0xab; 32]);
    let shown = format!(
        "{key:?} {:?} {:?} {:?} {:?}",
        Cipher::new(&key),
        sealwire_aead::Stream::new(&key, &[0xab; 24]),
        sealwire_aead::StreamOpener::new(&key, &[0xab; 24]),
        Session::new(&key, &key, &[0xab; 8]),
    );
    assert!(!shown.contains("171") && !shown.contains("ab, "), "{shown}");
}
