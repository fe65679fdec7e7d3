//! Manipulations of one unit of a sealed file, its header or a chunk, and what `open` says and returns.
//!
//! The table is the column of `docs/threats.md`.

use sealwire_file::{
    CHUNK_SIZE, Error, HEADER_SIZE, InvalidFile, Key, SEALED_CHUNK_SIZE, open, seal,
};
use sealwire_relay::{
    Expected, Format, Manipulation, Material, Outcome, SEALED, but, page, through,
};

/// Full chunks, and a short one behind them.
const FULL_CHUNKS: usize = 4;
const LAST_SIZE: usize = 100;
const SIZE: usize = FULL_CHUNKS * CHUNK_SIZE + LAST_SIZE;
/// The chunk that the table tells of: others stand before and behind it.
const MIDDLE: u64 = 2;
/// A chunk is the unit behind this one.
const HEADER: usize = 0;

const EXPECTED: Expected = but(
    SEALED,
    [
        (Manipulation::Cut, Outcome::NotAuthentic),
        (Manipulation::End, Outcome::CutShort),
        (Manipulation::Reflect, Outcome::Impossible),
        // A whole file in the place of another of the same key: no file says which one it is.
        (Manipulation::Replay, Outcome::Delivered),
    ],
);

fn format() -> Format {
    Format::Sized {
        first: vec![HEADER_SIZE],
        then: SEALED_CHUNK_SIZE,
    }
}

/// Two files of one key.
struct Files {
    key: Key,
    plaintext: Vec<u8>,
    sealed: Vec<u8>,
    other_plaintext: Vec<u8>,
    other: Vec<u8>,
}

impl Files {
    fn new() -> Self {
        let key = sealwire_file::generate_key().expect("randomness");
        let plaintext: Vec<u8> = (0..SIZE).map(|i| (i * 31 + (i >> 8) * 7) as u8).collect();
        let other_plaintext = vec![b'o'; SIZE];
        let sealed = |plaintext: &[u8]| {
            let mut sealed = Vec::new();
            seal(&key, plaintext, &mut sealed).expect("memory");
            sealed
        };
        let (sealed, other) = (sealed(&plaintext), sealed(&other_plaintext));
        Files {
            key,
            plaintext,
            sealed,
            other_plaintext,
            other,
        }
    }

    /// What `open` says and hands out where this is done to a unit.
    fn tampered(&self, manipulation: Manipulation, unit: usize) -> (Option<InvalidFile>, Vec<u8>) {
        let mut rest = &self.other[..];
        let mut units = (0..).map_while(|index| format().read_unit(&mut rest, index).unwrap());
        let material = Material {
            spliced: units.nth(unit).expect("a unit"),
            forged: vec![b'f'; SEALED_CHUNK_SIZE],
        };
        let script = manipulation.script(unit, material);
        let mut script = script.expect("it is done to a unit");
        let passed = through(&format(), &self.sealed, &mut script);
        assert!(
            passed.forward != self.sealed,
            "{manipulation} of unit {unit}"
        );
        self.opened(&passed.forward)
    }

    fn opened(&self, file: &[u8]) -> (Option<InvalidFile>, Vec<u8>) {
        let mut opened = Vec::new();
        match open(&self.key, file, &mut opened) {
            Ok(()) => (None, opened),
            Err(Error::Invalid(error)) => (Some(error), opened),
            Err(other) => panic!("{other}"),
        }
    }
}

/// The error, and that what is handed out is all chunks before the one where the file went wrong.
#[track_caller]
fn fails(files: &Files, manipulation: Manipulation, unit: usize, error: InvalidFile, whole: u64) {
    let (found, opened) = files.tampered(manipulation, unit);
    assert_eq!(found, Some(error), "{manipulation}: unit {unit}");
    let authentic = &files.plaintext[..whole as usize * CHUNK_SIZE];
    assert!(opened == authentic, "{manipulation}: unit {unit}");
}

fn outcome_of(error: InvalidFile) -> Outcome {
    match error {
        InvalidFile::Chunk(_) | InvalidFile::FirstChunk => Outcome::NotAuthentic,
        InvalidFile::NoEnd(_) => Outcome::CutShort,
        other => panic!("{other}"),
    }
}

#[test]
fn every_chunk_of_a_file() {
    let files = Files::new();
    let chunk = InvalidFile::Chunk;
    for (manipulation, outcome) in EXPECTED {
        let (error, whole) = match manipulation {
            Manipulation::Replay => {
                let replayed = files.opened(&files.other);
                assert!(replayed == (None, files.other_plaintext.clone()));
                continue;
            }
            // A file has one direction.
            Manipulation::Reflect => continue,
            Manipulation::Repeat => (chunk(MIDDLE + 1), MIDDLE + 1),
            Manipulation::End => (InvalidFile::NoEnd(MIDDLE), MIDDLE),
            _ => (chunk(MIDDLE), MIDDLE),
        };
        fails(&files, manipulation, MIDDLE as usize + 1, error, whole);
        assert_eq!(outcome, outcome_of(error), "{manipulation}");
    }
    page::agrees("sealed file", &EXPECTED, "tampering::every_chunk_of_a_file");
}

#[test]
fn the_header() {
    let files = Files::new();
    for (manipulation, error) in [
        (Manipulation::Drop, InvalidFile::NotSealed),
        (Manipulation::Repeat, InvalidFile::FirstChunk),
        (Manipulation::Reorder, InvalidFile::NotSealed),
        (Manipulation::Shorten, InvalidFile::FirstChunk),
        (Manipulation::Cut, InvalidFile::HeaderCutShort),
        (Manipulation::End, InvalidFile::NoChunk),
        (Manipulation::Splice, InvalidFile::FirstChunk),
        (Manipulation::Inject, InvalidFile::NotSealed),
        (Manipulation::Flip, InvalidFile::FirstChunk),
    ] {
        fails(&files, manipulation, HEADER, error, 0);
    }
}

#[test]
fn the_first_chunk() {
    let files = Files::new();
    for (manipulation, error, whole) in [
        (Manipulation::Drop, InvalidFile::FirstChunk, 0),
        (Manipulation::Repeat, InvalidFile::Chunk(1), 1),
        (Manipulation::Reorder, InvalidFile::FirstChunk, 0),
        (Manipulation::Shorten, InvalidFile::FirstChunk, 0),
        (Manipulation::Cut, InvalidFile::FirstChunk, 0),
        (Manipulation::End, InvalidFile::NoEnd(0), 0),
        (Manipulation::Splice, InvalidFile::FirstChunk, 0),
        (Manipulation::Inject, InvalidFile::FirstChunk, 0),
        (Manipulation::Flip, InvalidFile::FirstChunk, 0),
    ] {
        fails(&files, manipulation, HEADER + 1, error, whole);
    }
}

/// Nothing stands behind it that could come before it, and a cut behind it changes nothing.
#[test]
fn the_last_chunk() {
    let files = Files::new();
    let last = FULL_CHUNKS as u64;
    for (manipulation, error, whole) in [
        (Manipulation::Drop, InvalidFile::NoEnd(last - 1), last - 1),
        (Manipulation::Repeat, InvalidFile::Chunk(last), last),
        (Manipulation::Shorten, InvalidFile::Chunk(last), last),
        (Manipulation::Cut, InvalidFile::Chunk(last), last),
        (Manipulation::Splice, InvalidFile::Chunk(last), last),
        (Manipulation::Inject, InvalidFile::Chunk(last), last),
        (Manipulation::Flip, InvalidFile::Chunk(last), last),
    ] {
        fails(&files, manipulation, HEADER + 1 + FULL_CHUNKS, error, whole);
    }
}
