//! `sealwire newplex signcrypt`.

use super::{Folder, bytes, content, vectors};

const SEAL: &str = "signcrypt seal --secret-key-file @alice.key --to @mallory.pub";
const OPEN: &str = "signcrypt open --secret-key-file @mallory.key --from @alice.pub";
const PREFIX: &[u8] = b"\xd5NPSCRY\x01";

#[test]
fn messages_come_back_and_are_never_the_same() {
    let folder = Folder::new();
    for size in [0, 1, 100, 200_000] {
        let plain = content(size);
        let sealed = folder.newplex(SEAL, &plain).expect_code(0).stdout;
        assert_eq!(sealed.len(), PREFIX.len() + 96 + size);
        assert!(folder.newplex(OPEN, &sealed).expect_code(0).stdout == plain);
        assert!(folder.newplex(SEAL, &plain).expect_code(0).stdout != sealed);
    }
}

#[test]
fn what_the_reference_sealed_is_opened() {
    let folder = Folder::new();
    let vectors = vectors();
    let section = &vectors["signcrypt"];
    let mut opened = 0;
    let text = |value: &serde_json::Value| value.as_str().expect("text").to_owned();
    for (list, code) in [("vectors", 0), ("reject", 1)] {
        for vector in section[list].as_array().expect("a list").iter().take(12) {
            assert!(text(&vector["domain"]).starts_with("com."));
            let key = format!(
                "newplex-secret-key-v1:{}",
                text(&vector["receiver_private"])
            );
            folder.write("alice.key", key);
            let sealed = [PREFIX, &bytes(&text(&vector["ciphertext"]))].concat();
            let open = format!(
                "signcrypt open --secret-key-file @alice.key --from {} --domain {}",
                text(&vector["sender_public"]),
                text(&vector["domain"])
            );
            let done = folder.newplex(&open, &sealed).expect_code(code);
            if code == 0 {
                assert_eq!(done.stdout, bytes(&text(&vector["plaintext"])));
                opened += 1;
            }
        }
    }
    assert_eq!(opened, 12);
}

#[test]
fn others_open_nothing_and_every_part_counts() {
    let folder = Folder::new();
    let sealed = folder.newplex(SEAL, b"a dozen").expect_code(0).stdout;
    for open in [
        "signcrypt open --secret-key-file @alice.key --from @mallory.pub",
        "signcrypt open --secret-key-file @mallory.key --from @mallory.pub",
        &format!("{OPEN} --domain other"),
    ] {
        let refused = folder.newplex(open, &sealed).expect_code(1);
        assert!(refused.stderr.contains("another sender"), "{refused:?}");
        assert!(refused.stdout.is_empty());
    }
    for place in [0, 6, 7, 8, 39, 40, 46, 47, 78, 79, 110] {
        let mut changed = sealed.clone();
        changed[place] ^= 1;
        for bytes in [&changed[..], &sealed[..place]] {
            let refused = folder.newplex(OPEN, bytes).expect_code(1);
            assert!(refused.stdout.is_empty(), "{place}");
        }
    }
    let appended = [&sealed[..], b"x"].concat();
    folder.newplex(OPEN, &appended).expect_code(1);
    folder
        .newplex(&SEAL.replace("@alice.key", "@alice.pub"), b"x")
        .expect_code(1);
}
