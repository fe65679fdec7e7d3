//! The published vectors, on every back end.

use super::*;
use crate::duplex::back_end::forced::on_every_back_end;
use crate::vectors::{VECTORS, bytes, hex, list, number, text};
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
