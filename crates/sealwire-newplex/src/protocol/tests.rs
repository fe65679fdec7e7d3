//! The published vectors of protocols and random transcripts, on every back end.

use super::*;
use crate::TAG_SIZE;
use crate::duplex::every_back_end::on_every_back_end;
use crate::error::{InvalidCiphertext, TooManyBranches};
use crate::vectors::{VECTORS, bytes, hex, list, number, text};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::string::String;
use std::vec;
use std::vec::Vec;

/// The protocols of a transcript by their numbers.
type Instances = BTreeMap<usize, Protocol>;

fn label(op: &Value) -> Vec<u8> {
    match op["label"].as_str() {
        Some(label) => label.as_bytes().to_vec(),
        None => bytes(&op["label_hex"]),
    }
}

fn chunks(op: &Value) -> Vec<Vec<u8>> {
    let chunks = op["chunks"].as_array();
    chunks.map_or_else(Vec::new, |chunks| chunks.iter().map(bytes).collect())
}

/// Compares what a stream gave for each chunk.
fn assert_outputs(op: &Value, outputs: &[Vec<u8>]) {
    let expected = op["outputs"].as_array();
    let expected = expected.map_or_else(Vec::new, |outputs| outputs.iter().map(bytes).collect());
    assert_eq!(outputs, expected);
}

/// Splits off branches in every way there is, which must agree.
fn forked(protocol: &mut Protocol, op: &Value) -> Vec<Protocol> {
    let label = label(op);
    let values: Vec<Vec<u8>> = match op["values"].as_array() {
        Some(values) => values.iter().map(bytes).collect(),
        None => Vec::new(),
    };
    let values: Vec<&[u8]> = values.iter().map(Vec::as_slice).collect();
    let mut other = protocol.clone();
    let branches = protocol.fork_each(&label, &values).expect("few branches");
    if let [left, right] = values[..] {
        let (left, right) = other.fork(&label, left, right);
        assert_eq!(left.to_bytes(), branches[0].to_bytes());
        assert_eq!(right.to_bytes(), branches[1].to_bytes());
        assert_eq!(other.to_bytes(), protocol.to_bytes());
    }
    branches
}

/// Opens in every way there is, which must agree.
fn open(protocol: &mut Protocol, op: &Value) {
    let (label, input) = (label(op), bytes(&op["input"]));
    let mut other = protocol.clone();
    let opened = protocol.open(&label, &input);
    let mut buffer = input.clone();
    let opened_in_place = other.open_in_place(&label, &mut buffer);
    assert_eq!(opened_in_place.is_ok(), opened.is_ok());
    assert_eq!(other.to_bytes(), protocol.to_bytes());
    match opened {
        Ok(plaintext) => {
            assert_eq!(hex(&plaintext), text(&op["output"]));
            assert_eq!(buffer, plaintext);
        }
        Err(InvalidCiphertext) => assert_eq!(text(&op["error"]), "invalid_ciphertext"),
    }
}

fn apply(instances: &mut Instances, op: &Value) {
    let p = number(&op["p"]);
    let kind = text(&op["op"]);
    if kind == "init" {
        let domain = match op["domain"].as_str() {
            Some(domain) => domain.as_bytes().to_vec(),
            None => bytes(&op["domain_hex"]),
        };
        instances.insert(p, Protocol::new(domain));
    }
    if kind == "unmarshal" {
        let state = bytes(&op["input"]);
        instances.insert(p, Protocol::from_bytes(&state).expect("a state"));
    }
    let equal_to = op["with"].as_u64().map(|with| &instances[&(with as usize)]);
    let equal_to = equal_to.map(|other| instances[&p].ct_eq(other));
    let protocol = instances.get_mut(&p).expect("a live instance");
    let mut created = Vec::new();
    match kind {
        "init" | "unmarshal" => {}
        "mix" => protocol.mix(label(op), &bytes(&op["input"])),
        "mix_writer" => {
            let mut writer = protocol.mix_writer(label(op), Vec::new());
            for chunk in chunks(op) {
                writer.write_all(&chunk).expect("memory");
            }
            assert_eq!(writer.finish(), chunks(op).concat());
        }
        "mix_reader" => {
            let input = chunks(op).concat();
            let mut output = Vec::new();
            let mut reader = protocol.mix_reader(label(op), input.as_slice());
            reader.read_to_end(&mut output).expect("memory");
            assert_eq!(output, input);
        }
        "mix_writer_branch" => {
            let mut stream = protocol.mix_stream(label(op));
            let chunks = chunks(op);
            stream.update(&chunks[0]);
            created.push(stream.branch());
            stream.update(&chunks[1]);
            stream.finish();
        }
        "derive" => {
            let mut output = vec![0; number(&op["n"])];
            protocol.derive(label(op), &mut output);
            assert_eq!(hex(&output), text(&op["output"]));
        }
        "mask" | "unmask" => {
            let mut output = bytes(&op["input"]);
            if kind == "mask" {
                protocol.mask(label(op), &mut output);
            } else {
                protocol.unmask(label(op), &mut output);
            }
            assert_eq!(hex(&output), text(&op["output"]));
        }
        "mask_stream" => {
            let (mut chunks, mut other) = (chunks(op), protocol.clone());
            let mut writer = other.mask_writer(label(op), Vec::new());
            let mut stream = protocol.mask_stream(label(op));
            for chunk in &mut chunks {
                writer.write_all(chunk).expect("memory");
                stream.apply(chunk);
            }
            assert_eq!(writer.finish(), chunks.concat());
            assert_outputs(op, &chunks);
        }
        "unmask_stream" => {
            let (mut chunks, mut other) = (chunks(op), protocol.clone());
            let (input, mut output) = (chunks.concat(), Vec::new());
            let mut reader = other.unmask_reader(label(op), input.as_slice());
            reader.read_to_end(&mut output).expect("memory");
            let mut stream = protocol.unmask_stream(label(op));
            chunks.iter_mut().for_each(|chunk| stream.apply(chunk));
            assert_eq!(output, chunks.concat());
            assert_outputs(op, &chunks);
        }
        "seal" => {
            let sealed = protocol.seal(label(op), &bytes(&op["input"]));
            assert_eq!(hex(&sealed), text(&op["output"]));
        }
        "open" => open(protocol, op),
        "fork" | "fork_n" => created = forked(protocol, op),
        "ratchet" => protocol.ratchet(label(op)),
        "clone" => created.push(protocol.clone()),
        "marshal" => assert_eq!(hex(&*protocol.to_bytes()), text(&op["output"])),
        "equal" => {
            let equal = bool::from(equal_to.expect("another instance"));
            let expected = op["equal"]
                .as_bool()
                .or(op["equal"].as_u64().map(|one| one == 1));
            assert_eq!(Some(equal), expected);
        }
        "string" => {
            let fingerprint = protocol.clone().derive_array::<8>("debug");
            let expected = text(&op["text"]);
            assert!(expected.contains(&hex(&fingerprint)), "{expected}");
        }
        other => panic!("unknown operation {other}"),
    }
    if let Some(state) = op["state"].as_str() {
        assert_eq!(hex(&*protocol.to_bytes()), state, "after {kind}");
    }
    let into = op["into"].as_array().map_or(&[][..], Vec::as_slice);
    if kind != "unmarshal" {
        assert_eq!(into.len(), created.len(), "{kind}");
    }
    for (number, protocol) in into.iter().zip(created) {
        instances.insert(number.as_u64().expect("a number") as usize, protocol);
    }
}

fn gives_the_published_outputs(section: &str) {
    on_every_back_end(|back_end| {
        for case in list(&VECTORS[section], "vectors") {
            let name = std::format!("{back_end}, {}", case["name"]);
            let mut instances = Instances::new();
            for op in list(case, "ops") {
                apply(&mut instances, op);
            }
            for end in list(case, "finals") {
                let protocol = instances.get_mut(&number(&end["p"])).expect("an instance");
                if let Some(state) = end["state"].as_str() {
                    assert_eq!(hex(&*protocol.to_bytes()), state, "{name}");
                }
                let output = protocol.derive_array::<32>("final");
                assert_eq!(hex(&output), text(&end["output"]), "{name}");
            }
        }
    });
}

#[test]
fn operations_give_the_published_outputs() {
    gives_the_published_outputs("protocol");
}

#[test]
fn random_transcripts_give_the_published_outputs() {
    gives_the_published_outputs("transcripts");
}

#[test]
fn a_state_is_restored_exactly_when_the_reference_restores_it() {
    for case in list(&VECTORS["protocol"], "unmarshal") {
        let restored = Protocol::from_bytes(&bytes(&case["input"]));
        assert_eq!(restored.is_ok(), case["accept"] == true, "{}", case["name"]);
        if let Ok(mut protocol) = restored {
            let output = protocol.derive_array::<16>("after");
            assert_eq!(hex(&output), text(&case["derive"]), "{}", case["name"]);
        }
    }
}

#[test]
fn an_invalid_state_says_what_is_wrong() {
    let error = |state: &[u8]| Protocol::from_bytes(state).map(|_| ()).unwrap_err();
    assert_eq!(error(&[0; 129]), InvalidState::Length(129));
    let mut state = [0; STATE_SIZE];
    state[1] = 94;
    assert_eq!(error(&state), InvalidState::Position);
}

#[test]
fn a_failed_opening_wipes_the_text() {
    on_every_back_end(|back_end| {
        for length in [1, 15, 16, 93, 94, 95, 300] {
            let mut protocol = Protocol::new("com.example.wipe");
            let mut text = vec![0x5a; length];
            let mut tag = protocol.clone().seal_detached("message", &mut text);
            tag[7] ^= 1;
            let opened = protocol.open_detached("message", &mut text, &tag);
            assert_eq!(opened, Err(InvalidCiphertext));
            assert_eq!(text, vec![0; length], "{back_end}, {length} bytes");
        }
    });
}

#[test]
fn what_is_too_short_for_a_tag_leaves_bytes_and_state_alone() {
    let mut protocol = Protocol::new("com.example.short");
    let before = protocol.to_bytes();
    let mut short = [7; TAG_SIZE - 1];
    assert_eq!(
        protocol.open_in_slice("message", &mut short),
        Err(InvalidCiphertext)
    );
    assert_eq!(short, [7; TAG_SIZE - 1]);
    assert_eq!(protocol.to_bytes(), before);
}

#[test]
fn more_than_255_branches_are_refused_and_change_nothing() {
    let mut protocol = Protocol::new("com.example.branches");
    let before = protocol.to_bytes();
    let refused = protocol
        .fork_each("many", &[b"".as_slice(); 256])
        .map(|_| ());
    assert_eq!(refused, Err(TooManyBranches(256)));
    assert_eq!(protocol.to_bytes(), before);
    assert_eq!(
        protocol
            .fork_each("many", &[b"".as_slice(); 255])
            .map(|all| all.len()),
        Ok(255)
    );
}

#[test]
fn debug_output_shows_nothing_of_the_state() {
    let (mut one, other) = (Protocol::new("one"), Protocol::new("other"));
    one.mix("key", b"secret");
    assert_eq!(std::format!("{one:?}"), std::format!("{other:?}"));
}

/// Takes some bytes, then fails once, then would go on.
struct FailsOnce {
    taken: Vec<u8>,
    room: usize,
}

impl std::io::Write for FailsOnce {
    fn write(&mut self, data: &[u8]) -> std::io::Result<usize> {
        if self.room == 0 {
            self.room = usize::MAX;
            return Err(std::io::Error::other(String::from("no room")));
        }
        let length = data.len().min(self.room);
        self.room -= length;
        self.taken.extend(&data[..length]);
        Ok(length)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_masking_writer_whose_writer_failed_stays_failed() {
    let mut protocol = Protocol::new("com.example.failing");
    let inner = FailsOnce {
        taken: Vec::new(),
        room: 3,
    };
    let mut writer = protocol.mask_writer("text", inner);
    assert!(writer.write(b"hello").is_err());
    assert!(writer.write(b"hello").is_err());
    assert_eq!(writer.finish().taken.len(), 3);
}

/// The limit that `docs/newplex/design.md` gives for labels. A frame that begins where a block begins is
/// not recorded, and two of them in a row are not missed either.
#[test]
fn labels_of_92_bytes_can_pass_for_data() {
    let begun = |data: &[u8]| {
        let mut protocol = Protocol::new("");
        protocol.mix("", data);
        protocol
    };
    // One byte is left of the block: it will hold the index of the frame of the data, which is the
    // same for data of any length.
    let empty = begun(b"").to_bytes();
    let (position, frame) = (empty[0], empty[1]);
    let data = vec![7; 93 - usize::from(position)];
    for (length, confused) in [(91, false), (92, true), (93, false), (92 + 94, true)] {
        let label = vec![b'x'; length];
        let mut two = begun(&data);
        two.mix(&label, b"message");
        let frames = [&data[..], &[frame, 0x02], &label, &[0, 0x82], b"message"].concat();
        let one = begun(&frames);
        assert_eq!(two.to_bytes() == one.to_bytes(), confused, "{length}");
    }
}
