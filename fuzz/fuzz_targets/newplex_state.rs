//! Any bytes as the state of a protocol: what is accepted is written back, and can be used.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sealwire_newplex::{Protocol, STATE_SIZE};

fuzz_target!(|bytes: &[u8]| {
    match Protocol::from_bytes(bytes) {
        Ok(mut protocol) => {
            assert_eq!(protocol.to_bytes().as_slice(), bytes);
            let mut other = protocol.clone();
            let sealed = protocol.seal("message", bytes);
            assert_eq!(other.open("message", &sealed).as_deref(), Ok(bytes));
            assert_eq!(protocol.to_bytes(), other.to_bytes());
            protocol.ratchet("ratchet");
            assert!(Protocol::from_bytes(&*protocol.to_bytes()).is_ok());
        }
        Err(_) => assert!(bytes.len() != STATE_SIZE || bytes[0] >= 94 || bytes[1] >= 94),
    }
});
