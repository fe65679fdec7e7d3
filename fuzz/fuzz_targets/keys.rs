//! Keys as text: what is accepted is written back as it stood.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sealwire_zmtp::{PublicKey, SecretKey};

fuzz_target!(|text: &str| {
    if let Ok(key) = text.parse::<PublicKey>() {
        assert_eq!(key.to_string().parse(), Ok(key));
        assert!(key.to_string() == text || text.len() == 64);
    }
    if let Ok(key) = text.parse::<SecretKey>() {
        let written = key.to_z85();
        assert!(written.as_str() == text || text.len() == 64);
    }
});
