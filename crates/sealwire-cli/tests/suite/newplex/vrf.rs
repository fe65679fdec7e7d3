//! `sealwire newplex vrf`.

use super::{Folder, bytes, changed, json, vectors};

const PROVE: &str = "vrf prove --secret-key-file @alice.key --proof @proof";
const VERIFY: &str = "vrf verify --public-key-file @alice.pub --proof @proof";

#[test]
fn an_output_is_the_same_and_its_proof_shows_it() {
    let folder = Folder::new();
    let drawn = folder.newplex(PROVE, b"round 7").expect_code(0);
    assert_eq!(drawn.text().trim().len(), 64);
    let first = folder.read("proof");
    let checked = folder.newplex(VERIFY, b"round 7").expect_code(0);
    assert_eq!(checked.text(), drawn.text());
    // Another proof of the same output.
    folder.newplex(PROVE, b"round 7").expect_code(1);
    let again = folder.newplex(&format!("{PROVE} --force"), b"round 7");
    assert_eq!(again.expect_code(0).text(), drawn.text());
    assert_ne!(folder.read("proof"), first);
    let record = json(
        &folder
            .newplex(&format!("{VERIFY} --json"), b"round 7")
            .expect_code(0),
    );
    assert_eq!(record["output"], drawn.text().trim());
    assert_eq!(record["valid"], true);
}

#[test]
fn a_proof_is_for_one_input_key_and_domain() {
    let folder = Folder::new();
    folder.newplex(PROVE, b"round 7").expect_code(0);
    for (verify, input) in [
        (VERIFY.to_owned(), &b"round 8"[..]),
        (VERIFY.replace("alice", "mallory"), b"round 7"),
        (format!("{VERIFY} --domain other"), b"round 7"),
    ] {
        let refused = folder.newplex(&verify, input).expect_code(1);
        assert!(refused.stderr.contains("not proved"), "{refused:?}");
        assert!(refused.stdout.is_empty());
    }
    let line = folder.read("proof");
    for position in (0..192).step_by(13) {
        folder.write("proof", changed(&line, position));
        folder.newplex(VERIFY, b"round 7").expect_code(1);
    }
    for bad in [&b""[..], &line[..100], &[&line[..], &line].concat()] {
        folder.write("proof", bad);
        folder.newplex(VERIFY, b"round 7").expect_code(1);
    }
    // A file of another kind is told.
    let refused = folder.newplex(&VERIFY.replace("@proof", "@alice.pub"), b"");
    assert!(
        refused
            .expect_code(1)
            .stderr
            .contains("this is a public key")
    );
    let both = VERIFY.replace("@proof", "-");
    folder.newplex(&both, &line).expect_code(2);
}

#[test]
fn outputs_are_those_of_the_reference() {
    let folder = Folder::new();
    let vectors = vectors();
    let text = |value: &serde_json::Value| value.as_str().expect("text").to_owned();
    let (mut verified, mut refused) = (0, 0);
    for (list, code) in [("vectors", 0), ("reject", 1)] {
        for vector in vectors["vrf"][list].as_array().expect("a list") {
            if vector["n"] != 32 || !text(&vector["domain"]).starts_with("com.") {
                continue;
            }
            let key = format!("newplex-public-key-v1:{}", text(&vector["public_key"]));
            folder.write("alice.pub", key);
            folder.write(
                "proof",
                format!("newplex-vrf-proof-v1:{}", text(&vector["proof"])),
            );
            let verify = format!("{VERIFY} --domain {}", text(&vector["domain"]));
            let message = bytes(&text(&vector["message"]));
            let done = folder.newplex(&verify, &message).expect_code(code);
            if code == 0 {
                assert_eq!(done.text().trim(), text(&vector["prf"]));
                verified += 1;
            } else {
                refused += 1;
            }
        }
    }
    assert!(verified >= 3 && refused >= 10, "{verified} and {refused}");
}
