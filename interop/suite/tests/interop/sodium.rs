//! NaCl's box against libsodium, on random keys, nonces and messages of every length up to a few
//! blocks and some beyond.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use interop::Program;
use sealwire::nacl::KeyPair;
use sealwire::{Generate as _, KeyPair as Randomness};

const SODIUM: Program = Program {
    name: "sodium-peer",
    what: "libsodium",
};

/// Bytes that differ from run to run: the secrets of fresh keys.
fn random(size: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while bytes.len() < size {
        bytes.extend_from_slice(Randomness::generate().secret().as_bytes());
    }
    bytes.truncate(size);
    bytes
}

fn array<const N: usize>() -> [u8; N] {
    random(N).try_into().expect("as many as asked for")
}

#[test]
fn libsodium_makes_the_same_boxes() {
    if !SODIUM.is_there() {
        return;
    }
    let mut process = Command::new(SODIUM.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it was built");
    let mut input = process.stdin.take().expect("it is piped");
    let mut output = BufReader::new(process.stdout.take().expect("it is piped")).lines();
    for length in (0..300).chain([1_000, 2_559, 2_560, 5_000, 8_224, 20_000, 65_535]) {
        let (ours, theirs) = (KeyPair::from_secret(array()), KeyPair::from_secret(array()));
        let (nonce, message) = (array::<24>(), random(length));
        let text = match length {
            0 => "-".into(),
            _ => hex::encode(&message),
        };
        let (secret, public) = (hex::encode(ours.secret()), hex::encode(theirs.public()));
        writeln!(input, "{secret} {public} {} {text}", hex::encode(nonce)).expect("it reads");
        let line = output.next().expect("an answer").expect("text");
        let sealed = ours
            .seal(theirs.public(), &nonce, &message)
            .expect("a good key");
        assert!(line == hex::encode(&sealed), "{length} bytes");
        let opened = theirs.open(ours.public(), &nonce, &hex::decode(&line).expect("hex"));
        assert_eq!(opened.expect("authentic"), message);
    }
    drop(input);
    assert!(process.wait().expect("it ends").success());
}
