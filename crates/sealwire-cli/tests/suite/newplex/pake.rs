//! `sealwire newplex pake`.

use super::{Folder, changed, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

const INITIATE: &str = "pake initiate --password-file @pw --state @state -o @message";
const RESPOND: &str = "pake respond --password-file @pw --key-file @bea.shared -o @answer @message";
const FINISH: &str =
    "pake finish --password-file @pw --state @state --key-file @alice.shared @answer";

/// With the passwords of both.
fn folder() -> Folder {
    let folder = Folder::new();
    for (name, password) in [("pw", "1234\n"), ("guess", "1235\n")] {
        folder.write(name, password);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = std::fs::Permissions::from_mode(0o600);
            std::fs::set_permissions(folder.path(name), mode).expect("a mode");
        }
    }
    folder
}

/// After the responder's answer.
fn answered() -> Folder {
    let folder = folder();
    folder.newplex(INITIATE, b"").expect_code(0);
    folder.newplex(RESPOND, b"").expect_code(0);
    folder
}

#[test]
fn both_have_a_key_that_seals_and_opens() {
    let folder = answered();
    folder.expect_private("state");
    folder.newplex(FINISH, b"").expect_code(0);
    assert!(!folder.has("state"));
    assert_eq!(folder.read("alice.shared"), folder.read("bea.shared"));
    folder.expect_private("alice.shared");
    folder.expect_private("bea.shared");
    let sealed = folder.newplex("seal --key-file @alice.shared", b"open the door");
    let opened = folder.newplex("open --key-file @bea.shared", &sealed.expect_code(0).stdout);
    assert_eq!(opened.expect_code(0).stdout, b"open the door");
    // The next exchange gives another key.
    folder
        .newplex(&format!("{INITIATE} --force"), b"")
        .expect_code(0);
    let respond = RESPOND.replace("@bea.shared", "@next.shared");
    folder
        .newplex(&format!("{respond} --force"), b"")
        .expect_code(0);
    assert_ne!(folder.read("next.shared"), folder.read("bea.shared"));
}

#[test]
fn over_pipes_nothing_but_the_key_is_kept() {
    let folder = folder();
    let mut alice = Command::new(env!("CARGO_BIN_EXE_sealwire"))
        .args(folder.arguments("pake initiate --key-file @alice.shared"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = alice.stdin.take().expect("a pipe");
    let mut stdout = BufReader::new(alice.stdout.take().expect("a pipe"));
    stdin.write_all(b"1234\n").expect("it reads");
    let mut message = String::new();
    stdout.read_line(&mut message).expect("a message");
    // The password first, then the message, on one standard input.
    let respond = "pake respond --key-file @bea.shared";
    let input = format!("1234\n\n# a comment\n{message}");
    let answer = folder.newplex(respond, input.as_bytes()).expect_code(0);
    stdin.write_all(&answer.stdout).expect("it reads");
    assert!(alice.wait().expect("a child").success());
    assert_eq!(folder.read("alice.shared"), folder.read("bea.shared"));
}

#[test]
fn what_differs_gives_no_key_and_ends_the_exchange() {
    for (respond, finish) in [
        (RESPOND.replace("@pw", "@guess"), FINISH.to_owned()),
        (RESPOND.to_owned(), FINISH.replace("@pw", "@guess")),
        (
            format!("{RESPOND} --session 7"),
            format!("{FINISH} --session 8"),
        ),
        (format!("{RESPOND} --initiator door"), FINISH.to_owned()),
        // Each takes itself for the initiator.
        (
            format!("{RESPOND} --initiator bea --responder alice"),
            format!("{FINISH} --initiator alice --responder bea"),
        ),
    ] {
        let folder = folder();
        folder.newplex(INITIATE, b"").expect_code(0);
        folder.newplex(&respond, b"").expect_code(0);
        let refused = folder.newplex(&finish, b"").expect_code(1);
        assert!(refused.stderr.contains("another password"), "{refused:?}");
        assert!(!folder.has("alice.shared") && !folder.has("state"));
        let again = folder.newplex(FINISH, b"").expect_code(1);
        assert!(again.stderr.contains("used once"), "{again:?}");
    }
}

#[test]
fn messages_that_were_changed_give_no_key() {
    let folder = folder();
    folder.newplex(INITIATE, b"").expect_code(0);
    let message = folder.read("message");
    let identity = format!("newplex-pake-message-v1:{:064}", 0);
    for bad in [&message[..50], b"", identity.as_bytes()] {
        folder.write("message", bad);
        folder.newplex(RESPOND, b"").expect_code(1);
        assert!(!folder.has("bea.shared") && !folder.has("answer"));
    }
    folder.write("message", &message);
    folder.newplex(RESPOND, b"").expect_code(0);
    let answer = folder.read("answer");
    // The tag alone: the element stays the right one.
    folder.write("answer", changed(&answer, 64));
    let refused = folder.newplex(FINISH, b"").expect_code(1);
    assert!(refused.stderr.contains("another password"), "{refused:?}");
    assert!(!folder.has("alice.shared"));
}

#[test]
fn what_is_no_answer_does_not_use_up_the_state() {
    let folder = answered();
    let answer = folder.read("answer");
    folder.write("answer", folder.read("message"));
    let refused = folder.newplex(FINISH, b"").expect_code(1);
    assert!(
        refused.stderr.contains("an initiator's message"),
        "{refused:?}"
    );
    folder.write("answer", &answer[..80]);
    folder.newplex(FINISH, b"").expect_code(1);
    folder.write("answer", &answer);
    folder.write("alice.shared", "mine");
    folder.newplex(FINISH, b"").expect_code(1);
    assert_eq!(folder.read("alice.shared"), b"mine");
    assert!(folder.has("state"));
    let finish = FINISH.replace("@alice.shared", "@other.shared");
    folder.newplex(&finish, b"").expect_code(0);
}

#[test]
fn secrets_are_in_no_output() {
    let folder = folder();
    let initiate = INITIATE.replace("-o @message", "--json");
    let begun = folder.newplex(&initiate, b"").expect_code(0);
    assert!(json(&begun)["message"].is_string());
    let state = String::from_utf8(folder.read("state")).expect("text");
    let digits = state.trim().rsplit(':').next().expect("digits");
    assert_eq!(digits.len(), 128);
    assert!(!begun.text().contains(digits) && !begun.stderr.contains(digits));
}

#[test]
fn what_finish_needs_is_kept_in_one_way() {
    let folder = folder();
    for usage in [
        "pake initiate --password-file @pw",
        "pake initiate --password-file @pw --state @s --key-file @k",
        "pake initiate --password-file @pw --key-file @k -o @message",
    ] {
        folder.newplex(usage, b"").expect_code(2);
    }
}
