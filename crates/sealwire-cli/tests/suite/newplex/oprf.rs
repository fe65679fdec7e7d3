//! `sealwire newplex oprf`.

use super::{Folder, bytes, changed, json, vectors};
use std::fs;

const BLIND: &str = "oprf blind --state @state -o @request";
const EVALUATE: &str = "oprf evaluate --secret-key-file @alice.key @request -o @answer --force";
const FINALIZE: &str = "oprf finalize --state @state --answer @answer --public-key-file @alice.pub";
const COMPUTE: &str = "oprf compute --secret-key-file @alice.key";

/// After the server's answer to `input`.
fn answered(input: &[u8]) -> Folder {
    let folder = Folder::new();
    folder.newplex(BLIND, input).expect_code(0);
    folder.newplex(EVALUATE, b"").expect_code(0);
    folder
}

#[test]
fn the_client_gets_the_value_that_the_server_computes() {
    let folder = answered(b"a private input");
    folder.expect_private("state");
    let value = folder.newplex(FINALIZE, b"a private input").expect_code(0);
    let computed = folder.newplex(COMPUTE, b"a private input").expect_code(0);
    assert_eq!(value.text(), computed.text());
    assert_eq!(value.text().trim().len(), 64);
    let other = folder.newplex(COMPUTE, b"another input").expect_code(0);
    assert_ne!(value.text(), other.text());
    // Its own file of the value is the client's alone.
    folder
        .newplex(&format!("{COMPUTE} -o @value"), b"x")
        .expect_code(0);
    folder.expect_private("value");
    let record = folder.newplex(&format!("{COMPUTE} --json"), b"a private input");
    assert_eq!(json(&record.expect_code(0))["output"], value.text().trim());
}

#[test]
fn a_request_tells_nothing_and_is_never_the_same() {
    let folder = answered(b"input");
    let first = folder.read("request");
    folder
        .newplex("oprf blind --state @second", b"input")
        .expect_code(0);
    let blind = BLIND
        .replace("@state", "@third")
        .replace("@request", "@again");
    folder.newplex(&blind, b"input").expect_code(0);
    assert_ne!(first, folder.read("again"));
    // An existing state stays, and there is no request.
    let refused = folder
        .newplex("oprf blind --state @state", b"input")
        .expect_code(1);
    assert!(refused.stdout.is_empty());
}

#[test]
fn a_state_is_used_once() {
    let folder = answered(b"input");
    folder.newplex(FINALIZE, b"input").expect_code(0);
    assert!(!folder.has("state"));
    let refused = folder.newplex(FINALIZE, b"input").expect_code(1);
    assert!(refused.stderr.contains("used once"), "{refused:?}");
    assert!(refused.stdout.is_empty());
}

#[test]
fn without_a_proof_there_is_no_value_and_the_state_stays() {
    let folder = answered(b"input");
    let refused = |finalize: &str, input: &[u8]| {
        let refused = folder.newplex(finalize, input).expect_code(1);
        assert!(
            refused.stdout.is_empty() && folder.has("state"),
            "{refused:?}"
        );
        refused.stderr
    };
    // Another input than was blinded, another server than is known, another purpose.
    assert!(refused(FINALIZE, b"other").contains("not proved"));
    refused(&FINALIZE.replace("alice", "mallory"), b"input");
    refused(&format!("{FINALIZE} --domain other"), b"input");
    let answer = folder.read("answer");
    for position in (0..192).step_by(17) {
        folder.write("answer", changed(&answer, position));
        refused(FINALIZE, b"input");
    }
    folder.write("answer", &answer[..100]);
    refused(FINALIZE, b"input");
    // Answers and requests exchanged.
    folder.write("answer", folder.read("request"));
    assert!(refused(FINALIZE, b"input").contains("this is a blinded input"));
    // An answer of a server with another key.
    folder
        .newplex(&EVALUATE.replace("alice", "mallory"), b"")
        .expect_code(0);
    refused(FINALIZE, b"input");
    // An answer to another request.
    let blind = "oprf blind --state @other --output @request --force";
    folder.newplex(blind, b"input").expect_code(0);
    folder.newplex(EVALUATE, b"").expect_code(0);
    refused(FINALIZE, b"input");
    folder.write("answer", &answer);
    folder.newplex(FINALIZE, b"input").expect_code(0);
}

#[cfg(unix)]
#[test]
fn a_state_that_others_read_is_not_used() {
    let folder = answered(b"input");
    folder.expose("state");
    let refused = folder.newplex(FINALIZE, b"input").expect_code(1);
    assert!(refused.stderr.contains("read by others"), "{refused:?}");
    assert!(folder.has("state"));
}

#[test]
fn values_are_those_of_the_reference() {
    let folder = Folder::new();
    let vectors = vectors();
    let text = |value: &serde_json::Value| value.as_str().expect("text").to_owned();
    let mut values = 0;
    for vector in vectors["voprf"]["vectors"].as_array().expect("a list") {
        if vector["n"] != 32 || !text(&vector["domain"]).starts_with("com.") {
            continue;
        }
        let write = |name: &str, kind: &str, parts: &[&str]| {
            let digits: String = parts.iter().map(|part| text(&vector[*part])).collect();
            let _ = fs::remove_file(folder.path(name));
            folder.write(name, format!("newplex-{kind}-v1:{digits}\n"))
        };
        let state = write("state", "oprf-state", &["blind_rand"]);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            fs::set_permissions(&state, fs::Permissions::from_mode(0o600)).expect("a mode");
        }
        let _ = state;
        let parts = ["evaluated_element", "proof_c", "proof_s"];
        write("answer", "oprf-answer", &parts);
        write("alice.pub", "public-key", &["server_public"]);
        let finalize = format!("{FINALIZE} --domain {}", text(&vector["domain"]));
        let input = bytes(&text(&vector["input"]));
        let done = folder.newplex(&finalize, &input).expect_code(0);
        assert_eq!(done.text().trim(), text(&vector["output"]));
        values += 1;
    }
    assert!(values >= 3, "{values}");
}
