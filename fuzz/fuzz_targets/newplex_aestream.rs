//! Any bytes as a sealed stream: never more plaintext than ciphertext, and a failure is final. The
//! same bytes as plaintext, cut anywhere: what was sealed is read back, and less of it is refused.
//! Blocks opened in place come to the same.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sealwire_newplex::Protocol;
use sealwire_newplex::schemes::aestream::{Opener, Reader, Writer};
use std::io::{Read as _, Write as _};

fn read(protocol: &Protocol, sealed: &[u8]) -> Option<Vec<u8>> {
    let mut plaintext = Vec::new();
    let mut reader = Reader::new(protocol.clone(), sealed);
    let read = reader.read_to_end(&mut plaintext);
    assert!(plaintext.len() <= sealed.len());
    assert_eq!(reader.read(&mut [0; 8]).is_ok(), read.is_ok());
    assert_eq!(reader.finish().is_ok(), read.is_ok());
    let in_place = open_in_place(protocol, sealed);
    assert_eq!(in_place.is_some(), read.is_ok());
    let plaintext = read.ok().map(|_| plaintext);
    assert_eq!(in_place, plaintext);
    plaintext
}

fn open_in_place(protocol: &Protocol, sealed: &[u8]) -> Option<Vec<u8>> {
    let (mut opener, mut sealed) = (Opener::new(protocol.clone()), sealed.to_vec());
    let (mut rest, mut plaintext) = (sealed.as_mut_slice(), Vec::new());
    loop {
        let size = opener.block_size(*rest.first_chunk()?);
        let (block, after) = rest.split_at_mut_checked(size)?;
        rest = after;
        match opener.open(block).ok()? {
            [] => return Some(plaintext),
            text => plaintext.extend_from_slice(text),
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    let mut protocol = Protocol::new("com.example.fuzz");
    protocol.mix("key", b"key");
    assert!(read(&protocol, bytes).is_none());

    let mut writer = Writer::new(protocol.clone(), Vec::new());
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
