//! What a program gives a DGRAM socket for an address, which it may have from anybody: it is read or refused, nothing
//! panics, and what is read is written in a way that is read the same again.

#![no_main]
#![allow(dead_code, reason = "only the text is driven")]

use libfuzzer_sys::fuzz_target;

// Not part of any crate's interface, and needs nothing of the crate around it.
#[path = "../../crates/sealwire/src/message/address.rs"]
mod address;

fuzz_target!(|bytes: &[u8]| {
    let Ok(target) = address::parse_address(bytes) else {
        return;
    };
    assert_ne!(target.port(), 0);
    let text = target.to_string();
    assert_eq!(address::parse_address(text.as_bytes()), Ok(target));
    assert_eq!(address::canonical(target), target);
});
