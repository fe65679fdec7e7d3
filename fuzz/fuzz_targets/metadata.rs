//! Any bytes as metadata: what parses is written back the same.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sealwire_zmtp::wire::metadata::Metadata;

fuzz_target!(|bytes: &[u8]| {
    let Ok(metadata) = Metadata::parse(bytes) else {
        return;
    };
    let mut again = Vec::new();
    metadata.encode(&mut again);
    assert_eq!(again, bytes);
    for (name, value) in metadata.iter() {
        assert_eq!(metadata.get(&name.to_ascii_uppercase()), Some(value));
    }
    let _ = (metadata.socket_type(), metadata.routing_id());
    assert!(format!("{metadata:?}").is_ascii());
});
