//! The known answers of `vectors/sealed-file.json`, which the program made before this crate was cut out of it.

use std::fs;

use chacha20_blake3::ChaCha20Blake3;
use sealwire_file::{
    CHUNK_SIZE, Error, HEADER_SIZE, Key, NONCE_SIZE, Opener, SEALED_CHUNK_SIZE, Sealer, TAG_SIZE,
    open,
};
use serde_json::Value;

fn vectors() -> Value {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../vectors/sealed-file.json"
    );
    let text = fs::read_to_string(file).expect("the vectors are part of the repository");
    serde_json::from_str(&text).expect("valid JSON")
}

fn list<'v>(vectors: &'v Value, name: &str) -> &'v [Value] {
    let list = vectors[name].as_array().expect("an array");
    assert!(!list.is_empty(), "{name} is empty");
    list
}

fn bytes(text: &Value) -> Vec<u8> {
    let text = text.as_str().expect("a hex string");
    let byte = |at| u8::from_str_radix(&text[at..at + 2], 16).expect("a hex string");
    (0..text.len()).step_by(2).map(byte).collect()
}

fn number(value: &Value) -> usize {
    value.as_u64().expect("a number") as usize
}

/// The plaintexts that the file describes.
fn content(size: usize) -> Vec<u8> {
    (0..size).map(|i| (i * 31 + (i >> 8) * 7) as u8).collect()
}

fn key(file: &Value) -> Key {
    Key::from_bytes(bytes(&file["key"]).try_into().expect("32 bytes"))
}

fn header(file: &Value) -> [u8; HEADER_SIZE] {
    bytes(&file["header"]).try_into().expect("32 bytes")
}

/// Seals the plaintext of an entry under its nonce.
fn sealed(file: &Value) -> Vec<u8> {
    let nonce: [u8; NONCE_SIZE] = *header(file).last_chunk().expect("it is longer");
    let mut sealer = Sealer::with_nonce(&key(file), &nonce);
    let mut sealed = sealer.header().to_vec();
    let mut plaintext = content(number(&file["size"]));
    let mut rest = plaintext.as_mut_slice();
    while rest.len() > CHUNK_SIZE {
        let (chunk, behind) = rest.split_first_chunk_mut().expect("it is longer");
        let tag = sealer.seal(chunk).expect("there are positions");
        sealed.extend_from_slice(chunk);
        sealed.extend(tag);
        rest = behind;
    }
    let tag = sealer.seal_last(rest).expect("there are positions");
    sealed.extend_from_slice(rest);
    sealed.extend(tag);
    sealed
}

fn chunks(sealed: &[u8]) -> std::slice::Chunks<'_, u8> {
    sealed[HEADER_SIZE..].chunks(SEALED_CHUNK_SIZE)
}

#[test]
fn every_byte_is_the_one_that_the_program_wrote() {
    for file in list(&vectors(), "files") {
        let size = number(&file["size"]);
        let sealed = sealed(file);
        assert_eq!(sealed[..HEADER_SIZE], header(file), "{size}");
        assert_eq!(sealed.len(), number(&file["sealed_size"]));
        let tags: Vec<_> = chunks(&sealed)
            .map(|chunk| chunk[chunk.len() - TAG_SIZE..].to_vec())
            .collect();
        let expected: Vec<_> = list(file, "tags").iter().map(bytes).collect();
        assert_eq!(tags, expected, "{size}");
        if let Some(whole) = file["chunks"].as_array() {
            let whole: Vec<u8> = whole.iter().flat_map(bytes).collect();
            assert_eq!(sealed[HEADER_SIZE..], whole, "{size}");
        }
    }
}

#[test]
fn another_implementation_opens_every_chunk() {
    for file in list(&vectors(), "files") {
        let (sealed, header) = (sealed(file), header(file));
        let cipher = ChaCha20Blake3::new(*key(file).as_bytes());
        let (mut opened, last) = (Vec::new(), chunks(&sealed).len() - 1);
        for (position, chunk) in chunks(&sealed).enumerate() {
            let mut nonce: [u8; NONCE_SIZE] = *header.last_chunk().expect("it is longer");
            let counter = nonce.last_chunk_mut::<8>().expect("it is longer");
            let sum = u64::from_le_bytes(*counter).wrapping_add(position as u64);
            *counter = sum.to_le_bytes();
            let associated_data = [&header[..], &[u8::from(position == last)]].concat();
            let text = cipher.decrypt(&nonce, chunk, &associated_data);
            opened.extend(text.expect("authentic"));
        }
        assert!(opened == content(number(&file["size"])));
    }
}

#[test]
fn what_the_program_wrote_opens() {
    for file in list(&vectors(), "files") {
        let (sealed, mut opened) = (sealed(file), Vec::new());
        open(&key(file), sealed.as_slice(), &mut opened).expect("authentic");
        assert!(opened == content(number(&file["size"])));
    }
}

/// The same bytes through the chunks, without a reader.
fn open_in_place(key: &Key, sealed: &mut [u8], output: &mut Vec<u8>) -> Result<(), Error> {
    let (header, mut rest) = sealed.split_at_mut(sealed.len().min(HEADER_SIZE));
    let mut opener = Opener::new(key, header)?;
    while rest.len() > SEALED_CHUNK_SIZE {
        let (chunk, behind) = rest.split_first_chunk_mut().expect("it is longer");
        output.extend_from_slice(opener.open(chunk)?);
        rest = behind;
    }
    output.extend_from_slice(opener.open_last(rest)?);
    Ok(())
}

#[test]
fn what_the_program_refused_is_refused_in_the_same_words() {
    let vectors = vectors();
    for refused in list(&vectors, "refused") {
        let of_size = number(&refused["of_size"]);
        let file = list(&vectors, "files")
            .iter()
            .find(|file| number(&file["size"]) == of_size)
            .expect("a file of this size");
        let mut damaged = sealed(file);
        damaged.truncate(number(&refused["keep"]));
        damaged.extend(bytes(&refused["append"]));
        let (mut opened, mut in_place) = (Vec::new(), Vec::new());
        let result = open(&key(file), damaged.as_slice(), &mut opened);
        let message = result.expect_err("it is not what was sealed").to_string();
        assert_eq!(message, refused["message"], "{refused}");
        assert_eq!(opened.len(), number(&refused["released"]), "{refused}");
        assert!(content(of_size).starts_with(&opened));
        let result = open_in_place(&key(file), &mut damaged, &mut in_place);
        assert_eq!(result.expect_err("the same").to_string(), message);
        assert!(in_place == opened);
    }
}
