//! Writes `vectors/blake3-derive-key.json` to standard output: context, inputs and lengths are those
//! of BLAKE3's published `test_vectors.json`.
//!
//! Every byte of the results comes from the crate `blake3`, the reference; nothing here calls
//! `sealwire-aead`.

use serde_json::json;

const CONTEXT: &str = "BLAKE3 2019-12-27 16:29:52 test vectors context";

/// Lengths on both sides of the boundaries of blocks, chunks and subtrees.
const LENGTHS: [usize; 35] = [
    0, 1, 2, 3, 4, 5, 6, 7, 8, 63, 64, 65, 127, 128, 129, 1023, 1024, 1025, 2048, 2049, 3072, 3073,
    4096, 4097, 5120, 5121, 6144, 6145, 7168, 7169, 8192, 8193, 16384, 31744, 102_400,
];

/// Two blocks of output and a little more.
const DERIVED_SIZE: usize = 131;

fn main() -> Result<(), serde_json::Error> {
    let cases: Vec<_> = LENGTHS
        .into_iter()
        .map(|length| {
            let material: Vec<u8> = (0..length).map(|i| (i % 251) as u8).collect();
            let mut derived = [0; DERIVED_SIZE];
            let mut hasher = blake3::Hasher::new_derive_key(CONTEXT);
            hasher.update(&material).finalize_xof().fill(&mut derived);
            json!({ "material_size": length, "derived": hex(&derived) })
        })
        .collect();
    let file = json!({
        "algorithm": "BLAKE3, key derivation mode",
        "origin": "crate blake3 1.8.7 (https://github.com/BLAKE3-team/BLAKE3), with the context, inputs and \
                   lengths of its test_vectors.json; written by \
                   crates/sealwire-aead/examples/generate_derive_vectors.rs",
        "encoding": "hex",
        "context": CONTEXT,
        "material": "byte i is i modulo 251",
        "cases": cases,
    });
    println!("{}", serde_json::to_string_pretty(&file)?);
    Ok(())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
