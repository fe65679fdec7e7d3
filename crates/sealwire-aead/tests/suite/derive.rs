//! Derived keys are BLAKE3's: the committed vectors in `vectors/blake3-derive-key.json` (see
//! `examples/generate_derive_vectors.rs`), and the crate `blake3` beside it on other inputs.

use sealwire_aead::{KEY_SIZE, derive_key, derive_key_into};
use serde_json::Value;

use crate::random::Random;

fn reference(context: &str, material: &[u8], derived: &mut [u8]) {
    let mut hasher = blake3::Hasher::new_derive_key(context);
    hasher.update(material).finalize_xof().fill(derived);
}

#[test]
fn the_committed_vectors_are_derived() {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../vectors/blake3-derive-key.json"
    );
    let file = std::fs::read_to_string(file).expect("the vectors are part of the repository");
    let file: Value = serde_json::from_str(&file).expect("valid JSON");
    let context = file["context"].as_str().expect("a text");
    let cases = file["cases"].as_array().expect("an array of cases");
    assert_eq!(cases.len(), 35);
    for case in cases {
        let size = case["material_size"].as_u64().expect("a number");
        let material: Vec<u8> = (0..size).map(|i| (i % 251) as u8).collect();
        let mut derived = [0; 131];
        derive_key_into(context, &material, &mut derived);
        let text: String = derived.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(case["derived"], *text, "{size} bytes");
        let key = derive_key(context, &material);
        assert_eq!(key.as_bytes(), &derived[..KEY_SIZE]);
    }
}

#[test]
fn contexts_materials_and_outputs_of_any_length_are_the_references() {
    let mut random = Random::new(0x5ea1_de21);
    let contexts = ["", "a", "grüße", &"long context ".repeat(300)];
    for round in 0..400 {
        let length = [70, 1_100, 9_000][round % 3];
        let material = random.below(length);
        let material = random.bytes(material);
        let mut ours = vec![0; random.below(300)];
        let mut theirs = ours.clone();
        let context = contexts[round % contexts.len()];
        derive_key_into(context, &material, &mut ours);
        reference(context, &material, &mut theirs);
        assert!(ours == theirs, "round {round}, {} bytes", material.len());
    }
}
