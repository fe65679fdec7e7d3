//! `sealwire keygen`.

use std::fs;

use crate::support::run;
use serde_json::Value;

#[test]
fn both_keys_in_z85() {
    let finished = run(&["keygen"]).expect_code(0);
    let keys: Vec<_> = finished
        .text()
        .lines()
        .map(|line| line.rsplit(' ').next())
        .collect();
    assert_eq!(keys.len(), 2);
    assert!(
        keys.iter()
            .all(|key| key.is_some_and(|key| key.len() == 40)),
        "{keys:?}"
    );
    assert_ne!(keys[0], keys[1]);
}

#[test]
fn hexadecimal_and_json() {
    let finished = run(&["keygen", "--hex", "--json"]).expect_code(0);
    let record: Value = serde_json::from_str(finished.text()).expect("one JSON object");
    for name in ["public_key", "secret_key"] {
        let key = record[name].as_str().expect("a key");
        assert!(
            key.len() == 64 && key.bytes().all(|byte| byte.is_ascii_hexdigit()),
            "{key}"
        );
    }
}

#[cfg(unix)]
#[test]
fn files_keep_the_secret_from_others_and_from_the_screen() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir().expect("a folder");
    let stem = folder.path().join("server");
    let stem = stem.to_str().expect("text");
    let finished = run(&["keygen", "--json", "--out", stem]).expect_code(0);
    let record: Value = serde_json::from_str(finished.text()).expect("one JSON object");
    let (public, secret) = (format!("{stem}.pub"), format!("{stem}.key"));
    assert_eq!(record["public_key_file"], *public);
    assert_eq!(record["secret_key_file"], *secret);
    assert!(record.get("secret_key").is_none());
    let public_key = record["public_key"].as_str().expect("a key");
    assert!(
        fs::read_to_string(&public)
            .expect("a file")
            .contains(public_key)
    );
    let mode = fs::metadata(&secret).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    let before = fs::read(&secret).expect("a file");
    let again = run(&["keygen", "--out", stem]).expect_code(1);
    assert!(again.stderr.contains("server.key"), "{}", again.stderr);
    assert_eq!(
        fs::read(&secret).expect("a file"),
        before,
        "existing keys are left alone"
    );
}
