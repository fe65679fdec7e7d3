//! Endpoints over TLS.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::support::{run, start};

/// A certificate for this machine that stands for itself, and its key, as files.
fn certificate(folder: &std::path::Path) -> (String, String) {
    let names = ["127.0.0.1".to_owned(), "localhost".to_owned()];
    let made = rcgen::generate_simple_self_signed(names).expect("a certificate");
    let write = |name: &str, text: String| {
        let path = folder.join(name);
        fs::write(&path, text).expect("a file");
        let private = fs::Permissions::from_mode(0o600);
        fs::set_permissions(&path, private).expect("permissions");
        path.to_str().expect("text").to_owned()
    };
    (
        write("cert.pem", made.cert.pem()),
        write("key.pem", made.signing_key.serialize_pem()),
    )
}

#[test]
fn messages_pass_over_tls_with_an_authority_that_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let (cert, key) = certificate(folder.path());
    let at = "wss://127.0.0.1:0/inbox";
    let mut pull = start(&[
        "pull",
        "-b",
        at,
        "-n",
        "1",
        "--tls-cert",
        &cert,
        "--tls-key",
        &key,
    ]);
    let endpoint = pull.endpoint();
    assert!(endpoint.ends_with("/inbox"), "{endpoint}");
    let push = ["push", "-c", &endpoint, "-d", "hello", "-t", "25s"];
    run(&[&push[..], &["--tls-ca", &cert]].concat()).expect_code(0);
    assert_eq!(pull.finish().expect_code(0).text(), "hello\n");
}

#[test]
fn a_certificate_that_is_not_believed_is_a_failed_handshake() {
    let folder = tempfile::tempdir().expect("a folder");
    let (cert, key) = certificate(folder.path());
    let mut pull = start(&[
        "pull",
        "-b",
        "wss://127.0.0.1:0",
        "--tls-cert",
        &cert,
        "--tls-key",
        &key,
    ]);
    let endpoint = pull.endpoint();
    let push = ["push", "-c", &endpoint, "-d", "hello", "-t", "10s"];
    let other = ["--tls-ca", &cert, "--tls-host-name", "example.org"];
    let failed = run(&[&push[..], &other].concat()).expect_code(4);
    assert!(failed.stderr.contains("another host"), "{failed:?}");
}

#[test]
fn what_is_missing_or_unusable_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let (cert, key) = certificate(folder.path());
    let missing = run(&["pull", "-b", "wss://127.0.0.1:0"]).expect_code(2);
    assert!(missing.stderr.contains("--tls-cert"), "{missing:?}");
    let half = run(&["pull", "-b", "wss://127.0.0.1:0", "--tls-cert", &cert]);
    half.expect_code(2);
    let bind = ["pull", "-b", "wss://127.0.0.1:0"];
    let swapped = run(&[&bind[..], &["--tls-cert", &key, "--tls-key", &cert]].concat());
    assert!(swapped.expect_code(1).stderr.contains("no usable"));
    let connect = ["push", "-c", "wss://127.0.0.1:9", "-d", "x", "--tls-ca"];
    let none = run(&[&connect[..], &["no-such-file"]].concat()).expect_code(1);
    assert!(none.stderr.contains("no-such-file"), "{none:?}");
}

#[test]
fn a_tls_key_that_others_can_read_or_a_group_can_change_is_not_used() {
    let folder = tempfile::tempdir().expect("a folder");
    let (cert, key) = certificate(folder.path());
    let link = folder.path().join("link.pem");
    std::os::unix::fs::symlink(&key, &link).expect("a link");
    let files = [&*key, link.to_str().expect("text")];
    for (mode, problem) in [
        (0o600, None),
        (0o440, None),
        (0o640, None),
        (0o644, Some("read by others")),
        (0o604, Some("read by others")),
        (0o660, Some("changed by others")),
        (0o602, Some("changed by others")),
    ] {
        fs::set_permissions(&key, fs::Permissions::from_mode(mode)).expect("permissions");
        for file in files {
            let tls = ["--tls-cert", &cert, "--tls-key", file];
            let pull = ["pull", "-b", "wss://127.0.0.1:0", "-n", "1", "-t", "100ms"];
            let pull = run(&[&pull[..], &tls].concat());
            match problem {
                // Nobody comes.
                None => drop(pull.expect_code(3)),
                Some(text) => {
                    let refused = pull.expect_code(1);
                    assert!(refused.stderr.contains(text), "{mode:o}: {refused:?}");
                    assert!(refused.stderr.contains("chmod 640"), "{refused:?}");
                }
            }
        }
    }
}

/// A certificate that cannot be read keeps that of before, at every endpoint.
#[cfg(unix)]
#[test]
fn a_certificate_is_read_again_or_stays() {
    let folder = tempfile::tempdir().expect("a folder");
    let (cert, key) = certificate(folder.path());
    let old = folder.path().join("old.pem").display().to_string();
    fs::copy(&cert, &old).expect("a copy");
    let at = "wss://127.0.0.1:0/inbox";
    let words = [
        "rep",
        "-b",
        at,
        "--echo",
        "--tls-cert",
        &cert,
        "--tls-key",
        &key,
    ];
    let mut rep = start(&words);
    let endpoint = rep.endpoint();
    let doctor = |ca: &str| run(&["doctor", &endpoint, "-t", "30s", "--tls-ca", ca]);
    let fine = doctor(&old).expect_code(0);
    for step in [
        "TLS            ok",
        "WebSocket      ok",
        "the connection stays",
    ] {
        assert!(fine.text().contains(step), "{step}: {fine:?}");
    }

    fs::write(&cert, "no certificate").expect("a file");
    rep.signal("-HUP");
    rep.await_line("stay as they were");
    doctor(&old).expect_code(0);

    let (cert, _) = certificate(folder.path());
    rep.signal("-HUP");
    rep.await_line("were read again");
    doctor(&cert).expect_code(0);
    doctor(&old).expect_code(14);
}
