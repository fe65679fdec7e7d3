//! Any bytes as a sealed stream: never more plaintext than ciphertext, and a failure is final. The
//! same bytes as plaintext, cut anywhere: what was sealed is read back, and less of it is refused.

#![no_main]

use core::num::NonZeroUsize;
use libfuzzer_sys::fuzz_target;
use sealwire_newplex::Protocol;
use sealwire_newplex::schemes::oae2::{Reader, Writer};
use std::io::{Read as _, Write as _};

/// Small, so that inputs have several blocks.
const BLOCK_SIZE: NonZeroUsize = NonZeroUsize::new(32).unwrap();

fn read(protocol: &Protocol, sealed: &[u8]) -> Option<Vec<u8>> {
    let mut plaintext = Vec::new();
    let mut reader = Reader::new(protocol.clone(), sealed, BLOCK_SIZE);
    let read = reader.read_to_end(&mut plaintext);
    assert!(plaintext.len() <= sealed.len());
    assert_eq!(reader.read(&mut [0; 8]).is_ok(), read.is_ok());
    assert_eq!(reader.finish().is_ok(), read.is_ok());
    read.ok().map(|_| plaintext)
}

fuzz_target!(|bytes: &[u8]| {
    let mut protocol = Protocol::new("com.example.fuzz");
    protocol.mix("key", b"key");
    assert!(read(&protocol, bytes).is_none());

    let mut writer = Writer::new(protocol.clone(), Vec::new(), BLOCK_SIZE);
    let cut = bytes
        .first()
        .map_or(0, |first| usize::from(*first).min(bytes.len()));
    writer.write_all(&bytes[..cut]).expect("memory");
    writer.write_all(&bytes[cut..]).expect("memory");
    let (_, sealed) = writer.finish().expect("memory");
    assert_eq!(read(&protocol, &sealed).as_deref(), Some(bytes));
    let shorter = sealed.len() - 1 - cut.min(sealed.len() - 1);
    assert!(read(&protocol, &sealed[..shorter]).is_none());
});
