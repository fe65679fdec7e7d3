//! The published vectors, for tests.

use serde_json::Value;
use std::string::String;
use std::sync::LazyLock;
use std::vec::Vec;

/// `vectors/newplex.json`, made by running the reference.
pub(crate) static VECTORS: LazyLock<Value> = LazyLock::new(|| {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/newplex.json");
    let file = std::fs::read_to_string(file).expect("the vectors are part of the repository");
    serde_json::from_str(&file).expect("valid JSON")
});

/// The array `name` of a section, which is not empty.
pub(crate) fn list<'a>(section: &'a Value, name: &str) -> &'a [Value] {
    let list = section[name].as_array().expect("an array");
    assert!(!list.is_empty(), "{name} is empty");
    list
}

/// The bytes of a hex string.
pub(crate) fn bytes(text: &Value) -> Vec<u8> {
    let text = text.as_str().expect("a hex string");
    assert!(text.len().is_multiple_of(2), "not hex: {text}");
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).expect("a hex string"))
        .collect()
}

/// A number.
pub(crate) fn number(value: &Value) -> usize {
    value
        .as_u64()
        .and_then(|number| number.try_into().ok())
        .expect("a number")
}

/// A string.
pub(crate) fn text(value: &Value) -> &str {
    value.as_str().expect("a string")
}

/// Lower-case hex.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .map(|byte| std::format!("{byte:02x}"))
        .collect()
}

/// Reproducible random input (xorshift64).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(0x9e37_79b9_7f4a_7c15 ^ seed)
    }

    pub(crate) const fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 32) as usize % end
    }

    /// Fewer bytes than `end`.
    pub(crate) fn bytes(&mut self, end: usize) -> Vec<u8> {
        (0..self.below(end))
            .map(|_| self.below(256) as u8)
            .collect()
    }
}
