//! Any bytes as a sealed file, as chunks of one, and as the text of a key: nothing panics, nothing opens that was
//! not sealed, and what is accepted says the same when it is written again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sealwire_file::{
    CHUNK_SIZE, HEADER_SIZE, Key, NONCE_SIZE, Opener, SEALED_CHUNK_SIZE, Sealer, key_line, open,
    parse_key, seal,
};

const KEY: Key = Key::from_bytes([7; 32]);

/// Opens chunks of the size that a length in front of them says: where a caller may cut them.
fn open_chunks(header: &[u8], mut bytes: &[u8]) {
    let Ok(mut opener) = Opener::new(&KEY, header) else {
        return;
    };
    let mut chunk = Box::new([0; SEALED_CHUNK_SIZE]);
    while let Some((size, rest)) = bytes.split_first() {
        let (part, rest) = rest.split_at(rest.len().min(usize::from(*size)));
        chunk[..part.len()].copy_from_slice(part);
        assert!(opener.open(&mut chunk).is_err());
        bytes = rest;
    }
    assert!(opener.open_last(&mut chunk[..]).is_err());
}

/// A place below `end` that depends on every byte.
fn somewhere(bytes: &[u8], end: usize) -> usize {
    let mix = |sum: usize, byte: &u8| sum.wrapping_mul(31).wrapping_add(usize::from(*byte));
    bytes.iter().fold(0, mix) % end
}

fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = std::str::from_utf8(bytes)
        && let Ok(key) = parse_key(text)
    {
        assert!(parse_key(&key_line(&key)).is_ok_and(|same| *same == *key));
    }

    let mut opened = Vec::new();
    let forged = open(&KEY, bytes, &mut opened);
    // A seed is sealed under the key; what is changed in it comes to light.
    assert!(forged.is_err() || opened == b"hello");

    let header = Sealer::with_nonce(&KEY, &[0; NONCE_SIZE]);
    open_chunks(header.header(), bytes);
    open_chunks(&bytes[..bytes.len().min(HEADER_SIZE)], bytes);

    // As much as makes a few chunks, cut anywhere.
    let content = bytes.repeat((2 * CHUNK_SIZE / bytes.len().max(1)).min(64) + 1);
    let (mut sealed, mut opened) = (Vec::new(), Vec::new());
    seal(&KEY, content.as_slice(), &mut sealed).expect("memory");
    open(&KEY, sealed.as_slice(), &mut opened).expect("authentic");
    assert_eq!(opened, content);
    let cut = somewhere(bytes, sealed.len());
    let mut opened = Vec::new();
    assert!(open(&KEY, &sealed[..cut], &mut opened).is_err());
    assert!(content.starts_with(&opened));
});
