//! A datagram of anybody: it is parsed or refused, nothing panics, and what is parsed is written the
//! same way again.

#![no_main]
#![allow(dead_code, reason = "only the layout is driven")]

use libfuzzer_sys::fuzz_target;

// Not part of any crate's interface, and needs nothing of the crate around it.
#[path = "../../crates/sealwire/src/transport/udp/datagram.rs"]
mod datagram;

fuzz_target!(|bytes: &[u8]| {
    if let Ok((group, body)) = datagram::parse(bytes) {
        assert_eq!(datagram::size(group, body), bytes.len());
        let mut again = Vec::new();
        datagram::encode(group, body, &mut again);
        assert_eq!(again, bytes);
    }
});
