//! Events on standard output, one JSON object a line.

use std::io::Write;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Parts up to this many bytes are shown whole, longer ones by length and hash.
const SHOWN_WHOLE: usize = 256;

/// Prints `event`.
pub fn report(event: &Value) {
    let mut out = std::io::stdout().lock();
    // The driver of the program may have gone; the script ends on its own then.
    let _ = writeln!(out, "{event}");
    let _ = out.flush();
}

/// Prints a received message.
pub(crate) fn report_message(parts: &[Vec<u8>]) {
    let parts: Vec<Value> = parts.iter().map(|part| describe(part)).collect();
    report(&json!({ "event": "message", "parts": parts }));
}

fn describe(part: &[u8]) -> Value {
    if part.len() <= SHOWN_WHOLE {
        json!({ "length": part.len(), "hex": hex::encode(part) })
    } else {
        json!({ "length": part.len(), "sha256": hex::encode(Sha256::digest(part)) })
    }
}
