//! Key files: made here, read back, and CZMQ certificates read as they are.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use sealwire::auth::AllowedKeysFile;
use sealwire::keys::{
    KeyFileError, Readers, read_key_list, read_key_pair, read_public_file, read_public_key,
    read_secret_file, write_key_pair,
};
use sealwire::{Generate as _, KeyPair, PublicKey};

/// The example keys of the ZeroMQ manual (`zmq_curve_keypair`, `zmq_z85_encode`), in the layout
/// that CZMQ's `zcert_save` writes.
const CZMQ_SECRET: &str = r#"#   ****  Generated on 2026-01-01 12:00:00 by CZMQ  ****
#   ZeroMQ CURVE **Secret** Certificate
#   DO NOT PROVIDE THIS FILE TO OTHER USERS nor change its permissions.

metadata
    name = "client = one"
    email = "client@example.org"
curve
    public-key = "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID"
    secret-key = "D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs"
"#;

fn write(path: &Path, text: &str, mode: u32) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn written_pairs_are_read_back_and_secret() {
    let folder = tempfile::tempdir().unwrap();
    let keys = KeyPair::generate();
    let (public, secret) = write_key_pair(folder.path().join("server"), &keys).unwrap();
    assert_eq!(public.file_name().unwrap(), "server.pub");
    assert_eq!(
        fs::metadata(&secret).unwrap().permissions().mode() & 0o777,
        0o600
    );
    assert_eq!(read_public_key(&public).unwrap(), keys.public());
    assert_eq!(read_key_pair(&secret).unwrap().public(), keys.public());
    assert!(!fs::read_to_string(&public).unwrap().contains("secret-key"));

    let again = write_key_pair(folder.path().join("server"), &KeyPair::generate());
    assert!(
        matches!(again, Err(KeyFileError::Write { .. })),
        "never overwritten"
    );
    assert_eq!(read_key_pair(&secret).unwrap().public(), keys.public());
}

#[test]
fn half_a_pair_is_not_left_behind() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("k.pub"), "mine").unwrap();
    assert!(write_key_pair(folder.path().join("k"), &KeyPair::generate()).is_err());
    assert!(!folder.path().join("k.key").exists());
}

#[test]
fn czmq_certificates_are_read_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("client_secret");
    write(&path, CZMQ_SECRET, 0o600);
    let public: PublicKey = "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID".parse().unwrap();
    assert_eq!(
        read_key_pair(&path).unwrap().public(),
        public,
        "X25519 is CURVE's key as well"
    );
    assert_eq!(read_public_key(&path).unwrap(), public);
}

#[test]
fn open_permissions_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("client_secret");
    write(&path, CZMQ_SECRET, 0o640);
    let error = read_key_pair(&path).unwrap_err();
    assert!(matches!(
        error,
        KeyFileError::Permissions { mode: 0o640, .. }
    ));
    assert!(error.to_string().contains("chmod 600"), "{error}");
    assert!(error.to_string().contains("read by others"), "{error}");
    // What others can change is not the owner's secret either, and a link counts as its target.
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    write(&path, CZMQ_SECRET, 0o602);
    let error = read_key_pair(&link).unwrap_err();
    assert!(error.to_string().contains("changed by others"), "{error}");
    // A group may read what is read for TLS.
    write(&path, CZMQ_SECRET, 0o640);
    assert!(read_secret_file(&path, Readers::OwnerAndGroup).is_ok());
    for mode in [0o644, 0o660, 0o604, 0o642] {
        write(&path, CZMQ_SECRET, mode);
        let error = read_secret_file(&path, Readers::OwnerAndGroup).unwrap_err();
        assert!(error.to_string().contains("chmod 640"), "{mode:o}: {error}");
    }
}

#[cfg(unix)]
#[test]
fn what_everybody_may_change_lets_nobody_in() {
    let folder = tempfile::tempdir().unwrap();
    let (public, _) = write_key_pair(folder.path().join("alice"), &KeyPair::generate()).unwrap();
    let list = folder.path().join("allowed");
    fs::create_dir(&list).unwrap();
    fs::copy(&public, list.join("alice.pub")).unwrap();
    let mode =
        |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    mode(&public, 0o664);
    mode(&list, 0o775);
    assert!(read_public_key(&public).is_ok(), "a group may change it");
    assert_eq!(AllowedKeysFile::open(&list).unwrap().len(), 1);
    assert_eq!(AllowedKeysFile::open(&public).unwrap().len(), 1);

    mode(&public, 0o666);
    mode(&list, 0o1777);
    let refused = [
        read_public_key(&public).map(drop),
        read_key_list(&public).map(drop),
        read_public_file(&public).map(drop),
        AllowedKeysFile::open(&public).map(drop),
        AllowedKeysFile::open(&list).map(drop),
    ];
    for error in refused.map(Result::unwrap_err) {
        assert!(matches!(error, KeyFileError::Permissions { .. }), "{error}");
        let text = error.to_string();
        assert!(
            text.contains("changed by others") && text.contains("chmod o-w"),
            "{text}"
        );
    }
    // A file of a directory that nobody else may change.
    mode(&list, 0o755);
    mode(&list.join("alice.pub"), 0o646);
    assert!(matches!(
        AllowedKeysFile::open(&list).map(drop),
        Err(KeyFileError::Permissions { .. })
    ));
}

#[cfg(unix)]
#[test]
fn a_public_key_in_place_of_the_secret_is_told_before_its_mode() {
    let folder = tempfile::tempdir().unwrap();
    let stem = folder.path().join("server");
    let (public, secret) = write_key_pair(&stem, &KeyPair::generate()).unwrap();
    assert!(matches!(
        read_key_pair(&public),
        Err(KeyFileError::Missing {
            wanted: "secret",
            ..
        })
    ));
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o644)).unwrap();
    assert!(matches!(
        read_key_pair(&secret),
        Err(KeyFileError::Permissions { mode: 0o644, .. })
    ));
}

#[test]
fn files_are_read_up_to_a_bound() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let file = fs::File::create(&path).unwrap();
    file.set_permissions(fs::Permissions::from_mode(0o600))
        .unwrap();
    file.set_len((16 << 20) + 1).unwrap();
    for error in [
        read_key_pair(&path).map(drop).unwrap_err(),
        read_public_key(&path).map(drop).unwrap_err(),
        read_key_list(&path).map(drop).unwrap_err(),
    ] {
        assert!(matches!(error, KeyFileError::TooLarge { .. }), "{error}");
    }
    // Some files do not tell their size.
    let endless = read_secret_file("/dev/zero", Readers::Owner).unwrap_err();
    assert!(
        matches!(endless, KeyFileError::TooLarge { .. }),
        "{endless}"
    );
}

#[test]
fn bare_keys_and_hex_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let keys = KeyPair::generate();
    let hex: String = keys
        .public()
        .as_bytes()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    for text in [keys.public().to_string(), hex] {
        let path = folder.path().join("key");
        write(&path, &format!("# a comment\n\n  {text}  \n"), 0o644);
        assert_eq!(read_public_key(&path).unwrap(), keys.public());
    }
    let path = folder.path().join("secret");
    write(&path, &keys.secret().to_z85(), 0o600);
    assert_eq!(read_key_pair(&path).unwrap().public(), keys.public());
}

#[test]
fn lists_have_names_and_comments() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("allowed");
    let (alice, other) = (KeyPair::generate().public(), KeyPair::generate().public());
    write(
        &path,
        &format!("# people\n{alice} alice of accounts\n\n{other}\n"),
        0o644,
    );
    let list = read_key_list(&path).unwrap();
    assert_eq!(
        list,
        [(alice, Some("alice of accounts".into())), (other, None)]
    );

    write(
        &path,
        &format!("{other}\n{}x\n", &other.to_string()[..38]),
        0o644,
    );
    assert!(matches!(
        read_key_list(&path),
        Err(KeyFileError::NotAKey { line: 2, .. })
    ));
}

#[test]
fn a_certificate_is_a_list_of_one() {
    let folder = tempfile::tempdir().unwrap();
    let keys = KeyPair::generate();
    let (public, _) = write_key_pair(folder.path().join("alice"), &keys).unwrap();
    let list = read_key_list(public).unwrap();
    assert_eq!(list, [(keys.public(), Some("alice".into()))]);
}

#[test]
fn what_is_no_key_file_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    assert!(matches!(
        read_public_key(&path),
        Err(KeyFileError::Read { .. })
    ));
    fs::write(&path, [0xff, 0xfe, 0]).unwrap();
    assert!(matches!(
        read_public_key(&path),
        Err(KeyFileError::NotText { .. })
    ));
    fs::write(&path, "# nothing\n").unwrap();
    assert!(matches!(
        read_public_key(&path),
        Err(KeyFileError::Missing { .. })
    ));
    fs::write(&path, "curve\n    public-key = \"short\"\n").unwrap();
    assert!(matches!(
        read_public_key(&path),
        Err(KeyFileError::NotAKey { line: 2, .. })
    ));
    let (one, two) = (KeyPair::generate(), KeyPair::generate());
    let mixed = format!(
        "curve\n    public-key = \"{}\"\n    secret-key = \"{}\"\n",
        one.public(),
        two.secret().to_z85().as_str()
    );
    write(&path, &mixed, 0o600);
    for error in [
        read_key_pair(&path).map(drop).unwrap_err(),
        read_public_key(&path).map(drop).unwrap_err(),
        read_key_list(&path).map(drop).unwrap_err(),
    ] {
        assert!(matches!(error, KeyFileError::Mismatch { .. }), "{error}");
    }
}

#[test]
fn a_file_for_one_key_has_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let keys = KeyPair::generate();
    let (public, z85) = (keys.public(), keys.secret().to_z85());
    let (public_line, secret_line) = (
        format!("    public-key = \"{public}\"\n"),
        format!("    secret-key = \"{}\"\n", z85.as_str()),
    );
    let certificate = format!("curve\n{public_line}{secret_line}");
    for (text, at) in [
        (format!("{public}\n# another\n{public}\n"), 3),
        (format!("{public}\nalice\n"), 2),
        (format!("{certificate}{public_line}"), 4),
        (format!("{certificate}{secret_line}"), 4),
        (format!("{certificate}curve\n{secret_line}{public_line}"), 5),
    ] {
        write(&path, &text, 0o600);
        for error in [
            read_key_pair(&path).map(drop).unwrap_err(),
            read_public_key(&path).map(drop).unwrap_err(),
        ] {
            assert!(
                matches!(error, KeyFileError::Ambiguous { line, .. } if line == at),
                "{text}: {error}"
            );
            assert!(!error.to_string().contains(z85.as_str()));
        }
    }
}
