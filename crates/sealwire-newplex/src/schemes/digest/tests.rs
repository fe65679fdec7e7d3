//! The published vectors, on every back end.

use super::*;
use crate::duplex::every_back_end::{on_every_back_end, on_every_back_end_and_the_chosen_one};
use crate::vectors::{Random, VECTORS, bytes, hex, list, number, text};
use serde_json::Value;
use std::vec::Vec;

fn follows_the_steps<D: Update + FixedOutput + Reset + Clone>(mut digest: D, case: &Value) {
    for step in list(case, "steps") {
        match text(&step["op"]) {
            "write" => digest.update(&bytes(&step["input"])),
            "reset" => digest.reset(),
            "sum" => {
                let mut sum: Vec<u8> = bytes(&step["prefix"]);
                sum.extend(digest.clone().finalize_fixed());
                assert_eq!(hex(&sum), text(&step["output"]), "{}", case["name"]);
            }
            other => panic!("unknown step {other}"),
        }
    }
}

#[test]
fn steps_give_the_published_digests() {
    on_every_back_end(|_| {
        for case in list(&VECTORS["digest"], "vectors") {
            let domain = text(&case["domain"]);
            if case["key"].is_string() {
                follows_the_steps(KeyedDigest::new(domain, &bytes(&case["key"])), case);
            } else {
                follows_the_steps(Digest::new(domain), case);
            }
        }
    });
}

#[test]
fn every_length_of_the_sweep_gives_the_published_digest() {
    on_every_back_end(|_| {
        for case in list(&VECTORS["digest"], "sweep") {
            let (domain, buffer) = (text(&case["domain"]), bytes(&case["buffer"]));
            for output in list(case, "outputs") {
                let message = &buffer[..number(&output["len"])];
                let value = if case["key"].is_string() {
                    KeyedDigest::of(domain, &bytes(&case["key"]), message).to_vec()
                } else {
                    Digest::of(domain, message).to_vec()
                };
                assert_eq!(hex(&value), text(&output["output"]));
            }
        }
    });
}

#[test]
fn a_tag_is_verified_by_the_mac_trait_too() {
    let mut tag = KeyedDigest::new("com.example.mac", b"key");
    tag.update(b"message");
    let mut value = tag.value();
    assert!(tag.verify(&value));
    assert!(digest::Mac::verify_slice(tag.clone(), &value).is_ok());
    value[3] ^= 4;
    assert!(!tag.verify(&value));
    assert!(digest::Mac::verify_slice(tag, &value).is_err());
}

/// Messages whose lengths have nothing to do with each other, or are all `length`.
fn messages(count: usize, length: usize, equal: bool) -> Vec<Vec<u8>> {
    (0..count)
        .map(|i| {
            let length = if equal {
                length
            } else {
                (i + 1) * 7_919 % length
            };
            (0..length).map(|j| (i * 31 + j * 7) as u8).collect()
        })
        .collect()
}

#[test]
fn many_at_a_time_are_the_same_as_one_after_the_other() {
    on_every_back_end(|back_end| {
        for (count, length) in [
            (0, 1),
            (1, 400),
            (2, 94),
            (4, 63),
            (5, 3_000),
            (17, 900),
            (33, 5_000),
        ] {
            for (equal, domain) in [
                (true, "d"),
                (false, "d"),
                (
                    false,
                    "a domain that is so long that the headers after it lie across the end of a block, or nearly",
                ),
            ] {
                let messages = messages(count, length, equal);
                let messages: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
                let mut digests = std::vec![[0; DIGEST_SIZE]; count];
                Digest::of_many(domain, &messages, &mut digests);
                let mut tags = std::vec![[0; TAG_SIZE]; count];
                KeyedDigest::of_many(domain, b"key", &messages, &mut tags);
                for (i, message) in messages.iter().enumerate() {
                    assert_eq!(
                        digests[i],
                        Digest::of(domain, message),
                        "{back_end}, {i} of {count}"
                    );
                    assert_eq!(
                        tags[i],
                        KeyedDigest::of(domain, b"key", message),
                        "{back_end}, {i} of {count}"
                    );
                }
            }
        }
    });
}

#[test]
fn pieces_written_side_by_side_are_the_same_as_one_after_the_other() {
    on_every_back_end(|back_end| {
        let messages = messages(21, 4_000, false);
        let mut digests = std::vec![Digest::new("files"); messages.len()];
        let mut tags = std::vec![KeyedDigest::new("files", b"key"); messages.len()];
        for piece in 0..5 {
            let pieces: Vec<&[u8]> = messages
                .iter()
                .map(|message| message.chunks(900).nth(piece).unwrap_or_default())
                .collect();
            Digest::update_many(&mut digests, &pieces);
            KeyedDigest::update_many(&mut tags, &pieces);
        }
        for (i, message) in messages.iter().enumerate() {
            assert_eq!(
                digests[i].value(),
                Digest::of("files", message),
                "{back_end}, {i}"
            );
            assert_eq!(
                tags[i].value(),
                KeyedDigest::of("files", b"key", message),
                "{back_end}, {i}"
            );
        }
    });
}

#[test]
fn random_batches_are_the_same_as_one_after_the_other() {
    on_every_back_end_and_the_chosen_one(|back_end| {
        let mut random = Random::new(8);
        for batch in 0..12 {
            let (domain, key) = (random.bytes(100), random.bytes(100));
            let messages: Vec<Vec<u8>> = (0..random.below(36))
                .map(|_| {
                    let longest = [20, 200, 200, 4_000][random.below(4)];
                    random.bytes(longest)
                })
                .collect();
            let messages: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
            let mut digests = std::vec![[0; DIGEST_SIZE]; messages.len()];
            Digest::of_many(&domain, &messages, &mut digests);
            let mut tags = std::vec![[0; TAG_SIZE]; messages.len()];
            KeyedDigest::of_many(&domain, &key, &messages, &mut tags);
            let mut written = std::vec![Digest::new(&domain); messages.len()];
            Digest::update_many(&mut written, &messages);
            for (index, message) in messages.iter().enumerate() {
                let digest = Digest::of(&domain, message);
                let tag = KeyedDigest::of(&domain, &key, message);
                let got = (digests[index], tags[index], written[index].value());
                assert_eq!(
                    got,
                    (digest, tag, digest),
                    "{back_end}, {index} in batch {batch}"
                );
            }
        }
    });
}
