//! The published vectors of the permutation and of the duplex, on every back end.

use super::*;
use crate::duplex::every_back_end::on_every_back_end;
use crate::vectors::{VECTORS, bytes, hex, list, number, text};
use std::format;
use std::vec;
use std::vec::Vec;

impl Duplex {
    /// Squeezes from the middle of a block on, as the published vectors do and no protocol does.
    fn squeeze(&mut self, output: &mut [u8]) {
        let (first, rest) = output.split_at_mut(self.room().min(output.len()));
        let position = self.position();
        first.copy_from_slice(&self.core.state[position..][..first.len()]);
        self.absorb_short(first);
        if self.position() == RATE {
            self.permute_and_squeeze(rest);
        }
    }
}

#[test]
fn the_permutation_gives_the_published_outputs() {
    on_every_back_end(|back_end| {
        for case in list(&VECTORS["simpira1024"], "vectors") {
            let mut duplex = Duplex::new();
            duplex.core.state = bytes(&case["input"]).try_into().expect("128 bytes");
            for _ in 0..number(&case["iterations"]) {
                duplex.core.absorb(&[]);
            }
            let output = hex(&duplex.core.state);
            assert_eq!(
                output,
                text(&case["output"]),
                "{back_end}, {}",
                case["name"]
            );
        }
    });
}

fn apply(duplex: &mut Duplex, op: &serde_json::Value) {
    let input = || bytes(&op["input"]);
    match text(&op["op"]) {
        "absorb" => duplex.absorb(&input()),
        "absorb_byte" => duplex.absorb_byte(number(&op["byte"]) as u8),
        "absorb_leb128" => duplex.absorb_leb128(text(&op["value"]).parse().expect("a number")),
        "absorb_header" => {
            duplex.absorb_header(number(&op["opcode"]) as u8, text(&op["label"]).as_bytes());
        }
        "frame" => duplex.frame(number(&op["byte"]) as u8),
        "permute" => duplex.permute(),
        "squeeze" => {
            let mut output = vec![0; number(&op["n"])];
            duplex.squeeze(&mut output);
            assert_eq!(hex(&output), text(&op["output"]));
        }
        "encrypt" => {
            let mut output = input();
            duplex.encrypt(&mut output);
            assert_eq!(hex(&output), text(&op["output"]));
        }
        "decrypt" => {
            let mut output = input();
            duplex.decrypt(&mut output);
            assert_eq!(hex(&output), text(&op["output"]));
        }
        "ratchet" => duplex.ratchet(),
        other => panic!("unknown operation {other}"),
    }
    if let Some(state) = op["state"].as_str() {
        assert_eq!(hex(&duplex.encode()), state, "after {}", op["op"]);
    }
}

#[test]
fn operations_give_the_published_outputs_and_states() {
    on_every_back_end(|back_end| {
        for case in list(&VECTORS["duplex"], "vectors") {
            let mut duplex = Duplex::new();
            for op in list(case, "ops") {
                apply(&mut duplex, op);
            }
            let state = hex(&duplex.encode());
            assert_eq!(
                state,
                text(&case["final_state"]),
                "{back_end}, {}",
                case["name"]
            );
        }
    });
}

#[test]
fn a_state_is_restored_exactly_when_the_reference_restores_it() {
    for case in list(&VECTORS["duplex"], "unmarshal") {
        let encoded = bytes(&case["input"]);
        let restored = <&[u8; ENCODED_SIZE]>::try_from(encoded.as_slice())
            .ok()
            .and_then(Duplex::decode);
        assert_eq!(
            restored.is_some(),
            case["accept"] == true,
            "{}",
            case["name"]
        );
        if let Some(mut duplex) = restored {
            assert_eq!(duplex.encode(), *encoded);
            let mut output = [0; 16];
            duplex.permute();
            duplex.squeeze(&mut output);
            assert_eq!(hex(&output), text(&case["derive"]), "{}", case["name"]);
        }
    }
}

/// Bytes that look random.
fn noise(length: usize, seed: usize) -> Vec<u8> {
    let mut state = seed as u32 | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state as u8
    };
    (0..length).map(|_| next()).collect()
}

/// One operation on `data`, chosen by `choice`.
fn operate(duplex: &mut Duplex, choice: usize, data: &mut [u8]) -> [u8; TAG_SIZE] {
    match choice % 9 {
        0 => duplex.absorb(data),
        1 => duplex.squeeze(data),
        2 => duplex.encrypt(data),
        3 => duplex.decrypt(data),
        4 => duplex.permute_and_squeeze(data),
        5 => duplex.permute_and_encrypt(data),
        6 => duplex.permute_and_decrypt(data),
        7 => return duplex.seal(data),
        _ => return duplex.open(data),
    }
    [0; TAG_SIZE]
}

/// The output and the end state of operations of all kinds and lengths.
fn long_walk() -> Vec<u8> {
    let mut duplex = Duplex::new();
    let mut record = Vec::new();
    for step in 0..3_000 {
        let length = if step % 50 == 0 { step } else { step * 7 % 400 };
        let mut data = noise(length, step);
        let tag = operate(&mut duplex, step * step / 3 + step, &mut data);
        record.extend(tag);
        record.extend(&data);
    }
    record.extend(duplex.encode());
    record
}

#[test]
fn back_ends_agree_on_a_long_walk_through_all_operations() {
    let records = std::cell::RefCell::new(Vec::new());
    on_every_back_end(|_| records.borrow_mut().push(long_walk()));
    let records = records.into_inner();
    assert!(records.iter().all(|record| *record == records[0]));
}

#[test]
fn sealing_is_encryption_between_two_permutations_and_opening_undoes_it() {
    // Miri needs a second for a length. These have no block, one and two, and parts of words.
    let lengths = (0..300).step_by(if cfg!(miri) { 61 } else { 1 });
    on_every_back_end(|back_end| {
        for length in lengths.clone() {
            let mut sealing = Duplex::new();
            sealing.absorb(b"a key");
            let (mut stepwise, mut opening) = (sealing.clone(), sealing.clone());

            let text = noise(length, length + 1);
            let mut sealed = text.clone();
            let tag = sealing.seal(&mut sealed);

            let (mut expected, mut expected_tag) = (text.clone(), [0; TAG_SIZE]);
            stepwise.permute();
            stepwise.encrypt(&mut expected);
            stepwise.permute();
            stepwise.squeeze(&mut expected_tag);
            assert_eq!(
                (&sealed, tag),
                (&expected, expected_tag),
                "{back_end}, {length} bytes"
            );
            assert_eq!(
                sealing.encode(),
                stepwise.encode(),
                "{back_end}, {length} bytes"
            );

            assert_eq!(opening.open(&mut sealed), tag, "{back_end}, {length} bytes");
            assert_eq!(sealed, text, "{back_end}, {length} bytes");
            assert_eq!(
                sealing.encode(),
                opening.encode(),
                "{back_end}, {length} bytes"
            );
        }
    });
}

/// Around the place where the length fills its block, which has a kernel of its own.
#[test]
fn a_length_is_taken_in_and_squeezed_the_same_everywhere() {
    on_every_back_end(|back_end| {
        for position in (2..6).chain(RATE - 4..RATE) {
            for size in [0, 1, 16, 32, 93, 94, 95, 127, 128, 200] {
                let mut fused = Duplex::new();
                fused.frame(3);
                fused.absorb(&noise(position - 2, position));
                let mut stepwise = fused.clone();
                let (mut output, mut expected) = (vec![0; size], vec![0; size]);
                fused.squeeze_with_length(&mut output);
                stepwise.absorb_leb128(size as u64);
                stepwise.permute_and_squeeze(&mut expected);
                let case = format!("{back_end}, {size} bytes from {position} on");
                assert_eq!(output, expected, "{case}");
                assert_eq!(fused.encode(), stepwise.encode(), "{case}");
            }
        }
    });
}
