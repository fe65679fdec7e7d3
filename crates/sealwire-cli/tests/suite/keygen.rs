//! `sealwire keygen`.

use std::fs;

use crate::support::{run, start_with_input};
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

/// The vector of `sealwire::keys::key_pair_from_seed`: bytes 0 to 31.
const PUBLIC: &str = "dd34c2725bbf9aa936895a3b45d4b681a514663a7ce8221382f1fbb2e5861571";

#[cfg(unix)]
#[test]
fn a_seed_makes_the_same_pair_each_time() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("text").to_owned();
    let seed: Vec<u8> = (0..32).collect();
    let hex: String = seed.iter().map(|byte| format!("{byte:02x}")).collect();
    let file = path("seed");
    fs::write(&file, &seed).expect("a file");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("a file");
    let bytes = run(&["keygen", "--hex", "--from-seed", &file]).expect_code(0);
    assert!(bytes.text().contains(PUBLIC), "{bytes:?}");
    let line = start_with_input(
        &["keygen", "--hex", "--from-seed", "-"],
        format!("{hex}\n").as_bytes(),
    );
    let line = line.finish().expect_code(0);
    assert_eq!(line.text(), bytes.text());

    let stem = path("server");
    run(&["keygen", "--from-seed", &file, "--out", &stem]).expect_code(0);
    let secret = format!("{stem}.key");
    let public = run(&["keygen", "--print-public", &secret, "--hex"]).expect_code(0);
    assert_eq!(public.text(), format!("{PUBLIC}\n"));
    let json = run(&["keygen", "--print-public", &secret, "--hex", "--json"]).expect_code(0);
    let record: Value = serde_json::from_str(json.text()).expect("one JSON object");
    assert_eq!(record, serde_json::json!({ "public_key": PUBLIC }));

    fs::write(&file, "too short").expect("a file");
    let refused = run(&["keygen", "--from-seed", &file]).expect_code(1);
    assert!(refused.stderr.contains("32 random bytes"), "{refused:?}");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).expect("a file");
    let refused = run(&["keygen", "--from-seed", &file]).expect_code(1);
    assert!(refused.stderr.contains("chmod 600"), "{refused:?}");
    run(&["keygen", "--print-public", &secret, "--out", &stem]).expect_code(2);
    let not_secret = run(&["keygen", "--print-public", &format!("{stem}.pub")]).expect_code(1);
    assert!(
        not_secret.stderr.contains("holds no secret key"),
        "{not_secret:?}"
    );
}
