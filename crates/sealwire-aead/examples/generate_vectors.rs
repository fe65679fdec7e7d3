//! Writes `vectors/chacha20-blake3.json` to standard output.
//!
//! Every byte comes from the crate `chacha20-blake3` 0.10.0, an implementation independent of this
//! one; nothing here calls `sealwire-aead`.

use chacha20_blake3::{ChaCha20Blake3, TAG_SIZE};
use serde_json::json;

/// Lengths on both sides of the block, chunk and subtree boundaries of ChaCha20 and BLAKE3.
const LENGTHS: [usize; 18] = [
    0, 1, 15, 16, 47, 48, 49, 63, 64, 65, 127, 128, 256, 1007, 1008, 1009, 2048, 3100,
];
const AAD_LENGTHS: [usize; 3] = [0, 2, 70];

fn main() -> Result<(), serde_json::Error> {
    let mut cases = Vec::new();
    for (index, length) in LENGTHS.into_iter().enumerate() {
        for aad_len in AAD_LENGTHS {
            let case = (index * AAD_LENGTHS.len() + aad_len) as u8;
            let key: [u8; 32] = pattern(32, case).try_into().unwrap_or_default();
            let mut nonce = [0; 24];
            nonce.copy_from_slice(&pattern(24, case ^ 0xa5));
            let (aad, plaintext) = (pattern(aad_len, 0x40), pattern(length, 0x80));
            let sealed = ChaCha20Blake3::new(key).encrypt(&nonce, &plaintext, &aad);
            let (ciphertext, tag) = sealed.split_at(sealed.len() - TAG_SIZE);
            cases.push(json!({
                "key": hex(&key), "nonce": hex(&nonce), "aad": hex(&aad),
                "plaintext": hex(&plaintext), "ciphertext": hex(ciphertext), "tag": hex(tag),
            }));
        }
    }
    let file = json!({
        "algorithm": "ChaCha20-BLAKE3",
        "origin": "crate chacha20-blake3 0.10.0 (https://github.com/paddor/chacha20-blake3), \
                   type ChaCha20Blake3; written by crates/sealwire-aead/examples/generate_vectors.rs",
        "encoding": "hex",
        "cases": cases,
    });
    println!("{}", serde_json::to_string_pretty(&file)?);
    Ok(())
}

fn pattern(length: usize, seed: u8) -> Vec<u8> {
    (0..length)
        .map(|i| (i as u8).wrapping_mul(167).wrapping_add(seed))
        .collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
