//! The committed vectors in `vectors/chacha20-blake3.json`, made by the crate `chacha20-blake3`
//! (see `examples/generate_vectors.rs`).

use sealwire_aead::Cipher;
use serde_json::Value;

fn bytes(case: &Value, name: &str) -> Vec<u8> {
    let text = case[name].as_str().expect("a hex string");
    assert!(
        text.is_ascii() && text.len().is_multiple_of(2),
        "{name} is not hex"
    );
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).expect("a hex string"))
        .collect()
}

#[test]
fn sealing_gives_the_committed_bytes_and_opening_takes_them() {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../vectors/chacha20-blake3.json"
    );
    let file = std::fs::read_to_string(file).expect("the vectors are part of the repository");
    let file: Value = serde_json::from_str(&file).expect("valid JSON");
    let cases = file["cases"].as_array().expect("an array of cases");
    assert!(cases.len() >= 30);
    for case in cases {
        let key = bytes(case, "key").try_into().expect("32 bytes");
        let nonce = bytes(case, "nonce").try_into().expect("24 bytes");
        let (aad, plaintext) = (bytes(case, "aad"), bytes(case, "plaintext"));
        let (ciphertext, tag) = (bytes(case, "ciphertext"), bytes(case, "tag"));
        let cipher = Cipher::new(&key);
        let (our_ciphertext, our_tag) = cipher.encrypt_detached(&nonce, &aad, &plaintext);
        assert_eq!(
            (&our_ciphertext, our_tag.as_slice()),
            (&ciphertext, tag.as_slice())
        );
        assert_eq!(
            cipher.decrypt_detached(&nonce, &aad, &ciphertext, &our_tag),
            Ok(plaintext)
        );
    }
}
