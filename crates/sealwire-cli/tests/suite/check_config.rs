//! `check-config`.

use std::fs;

use serde_json::Value;

use crate::support::{Keys, run};

#[test]
fn files_that_can_be_used_are_told_with_what_they_hold() {
    let keys = Keys::new();
    let users = keys.path("users");
    fs::write(&users, "alice secret\nbob secret\n").unwrap();
    let password = keys.path("password");
    fs::write(&password, "secret\n").unwrap();
    for path in [&users, &password] {
        mode(path, 0o600);
    }
    let fine = run(&[
        "check-config",
        "--secret-key-file",
        &keys.path("server.key"),
        "--server-key",
        &keys.path("server.pub"),
        "--allow",
        &keys.path("allowed"),
        "--passwords",
        &users,
        "--password-file",
        &password,
    ])
    .expect_code(0);
    let lines: Vec<&str> = fine.text().lines().collect();
    assert_eq!(lines.len(), 5, "{lines:?}");
    let public = run(&["keygen", "--print-public", &keys.path("server.key")]).expect_code(0);
    let public = public.text().trim();
    for (line, part) in lines
        .iter()
        .zip([public, public, "1 key", "2 users", "a password"])
    {
        assert!(line.starts_with("ok: ") && line.contains(part), "{line}");
    }
    assert!(!fine.text().contains("secret\n"), "no password is shown");
    assert_eq!(fine.stderr, "");
}

#[test]
fn every_fault_is_told_and_the_others_are_checked_all_the_same() {
    let keys = Keys::new();
    mode(&keys.path("server.key"), 0o644);
    mode(&keys.path("allowed"), 0o777);
    fs::write(keys.path("broken"), "not a key\n").unwrap();
    let faults = run(&[
        "check-config",
        "--secret-key-file",
        &keys.path("server.key"),
        "--secret-key-file",
        &keys.path("alice.key"),
        "--allow",
        &keys.path("allowed"),
        "--allow",
        &keys.path("broken"),
        "--server-key",
        &keys.path("nowhere"),
    ])
    .expect_code(1);
    assert!(
        faults.text().contains("alice.key: a secret key"),
        "{faults:?}"
    );
    for fault in [
        "chmod 600",
        "chmod o-w",
        "broken, line 1",
        "cannot read",
        "4 of 5",
    ] {
        assert!(faults.stderr.contains(fault), "{fault}: {faults:?}");
    }
}

#[test]
fn scripts_read_one_object_a_file() {
    let keys = Keys::new();
    let (good, missing) = (keys.path("server.pub"), keys.path("missing"));
    let arguments = [
        "check-config",
        "--json",
        "--server-key",
        &good,
        "--allow",
        &missing,
    ];
    let finished = run(&arguments).expect_code(1);
    let ok: Value = serde_json::from_str(finished.text()).unwrap();
    assert_eq!(
        (&ok["kind"], &ok["ok"]),
        (&"server_key".into(), &true.into())
    );
    let told: Vec<Value> = finished
        .stderr
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        (&told[0]["kind"], &told[0]["ok"]),
        (&"allow".into(), &false.into())
    );
    assert_eq!(told[0]["path"], *missing);
    assert_eq!(told[1]["exit_code"], 1);
}

#[test]
fn an_empty_list_and_no_file_at_all() {
    let keys = Keys::new();
    let empty = keys.path("empty");
    fs::create_dir(&empty).unwrap();
    let finished = run(&["check-config", "--allow", &empty]).expect_code(0);
    assert!(finished.text().contains("nobody is let in"), "{finished:?}");
    run(&["check-config"]).expect_code(2);
    run(&["check-config", "--tls-cert", &empty]).expect_code(2);
}

#[test]
fn certificates_their_keys_and_authorities() {
    let folder = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name).to_str().unwrap().to_owned();
        fs::write(&path, text).unwrap();
        mode(&path, 0o600);
        path
    };
    let chain = file("chain.pem", &made.cert.pem());
    let key = file("key.pem", &made.signing_key.serialize_pem());
    let tls = [
        "check-config",
        "--tls-cert",
        &chain,
        "--tls-key",
        &key,
        "--tls-ca",
    ];
    let fine = run(&[&tls[..], &[&chain]].concat()).expect_code(0);
    assert_eq!(fine.text().lines().count(), 2, "{fine:?}");
    let wrong = run(&[&tls[..], &[&key]].concat()).expect_code(1);
    assert!(
        wrong.stderr.contains("key.pem") && wrong.stderr.contains("1 of 2"),
        "{wrong:?}"
    );
    mode(&key, 0o644);
    let open = run(&[&tls[..], &[&chain]].concat()).expect_code(1);
    assert!(open.stderr.contains("chmod 640"), "{open:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn rules_and_all_files_that_they_name() {
    let keys = Keys::new();
    let rules = keys.path("rules.conf");
    let rule = "version = 1\n[[rule]]\nbind = \"tcp://*:5555\"\nmechanism = \"blake3\"\n\
                secret_key_file = \"server.key\"\nallow = \"allowed\"\n";
    fs::write(&rules, rule).unwrap();
    let fine = run(&["check-config", "--rules", &rules]).expect_code(0);
    assert!(fine.text().contains("tcp://*:5555"), "{fine:?}");
    fs::remove_file(keys.path("server.key")).unwrap();
    let fault = run(&["check-config", "--rules", &rules]).expect_code(1);
    assert!(fault.stderr.contains("server.key"), "{fault:?}");
}

#[cfg(unix)]
fn mode(path: &str, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}
