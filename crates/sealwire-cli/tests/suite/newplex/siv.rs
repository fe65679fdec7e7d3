//! `sealwire newplex siv`.

use super::{Folder, content};

const SEAL: &str = "siv seal --key-file @one.key";
const OPEN: &str = "siv open --key-file @one.key";
const PREFIX: &[u8] = b"\xd5NPDSIV\x01";

#[test]
fn equal_messages_have_equal_ciphertexts_and_others_do_not() {
    let folder = Folder::new();
    let seal = |rest: &str, plain: &[u8]| {
        let sealed = folder.newplex(&format!("{SEAL}{rest}"), plain);
        sealed.expect_code(0).stdout
    };
    for size in [0, 1, 100, 200_000] {
        let plain = content(size);
        let sealed = seal("", &plain);
        assert_eq!(sealed.len(), PREFIX.len() + size + 16);
        assert!(sealed == seal("", &plain));
        assert!(folder.newplex(OPEN, &sealed).expect_code(0).stdout == plain);
    }
    let same = seal("", b"a message");
    assert_ne!(same, seal("", b"A message"));
    assert_ne!(same, seal(" --associated-data row", b"a message"));
    let other = SEAL.replace("one", "other");
    assert_ne!(
        same,
        folder.newplex(&other, b"a message").expect_code(0).stdout
    );
}

#[test]
fn key_associated_data_and_every_byte_count() {
    let folder = Folder::new();
    let seal = format!("{SEAL} --associated-data -4");
    let sealed = folder.newplex(&seal, b"a message").expect_code(0).stdout;
    let open = format!("{OPEN} --associated-data -4");
    assert_eq!(
        folder.newplex(&open, &sealed).expect_code(0).stdout,
        b"a message"
    );
    for wrong in [
        OPEN,
        &format!("{OPEN} --associated-data -5"),
        &open.replace("one", "other"),
    ] {
        let refused = folder.newplex(wrong, &sealed).expect_code(1);
        assert!(refused.stderr.contains("not authentic"), "{refused:?}");
        assert!(refused.stdout.is_empty());
    }
    for place in 0..sealed.len() {
        let mut changed = sealed.clone();
        changed[place] ^= 1;
        folder.newplex(&open, &changed).expect_code(1);
        folder.newplex(&open, &sealed[..place]).expect_code(1);
    }
}

#[test]
fn an_output_that_exists_stays() {
    let folder = Folder::new();
    folder.write("sealed", "mine");
    let seal = format!("{SEAL} -o @sealed");
    folder.newplex(&seal, b"x").expect_code(1);
    assert_eq!(folder.read("sealed"), b"mine");
    folder
        .newplex(&format!("{seal} --force"), b"x")
        .expect_code(0);
    folder
        .newplex(&format!("{OPEN} @sealed -o @opened"), b"")
        .expect_code(0);
    folder.expect_private("opened");
}
