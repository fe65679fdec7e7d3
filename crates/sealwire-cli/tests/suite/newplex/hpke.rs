//! `sealwire newplex hpke`.

use super::{BLOCK, Folder, bytes, content};
use sealwire_newplex::Protocol;
use sealwire_newplex::schemes::hpke::Receiver;
use sealwire_newplex::schemes::keys::{PublicKey, SecretKey};

const HEADER: usize = 88;
const SEAL: &str = "hpke seal --secret-key-file @alice.key --to @mallory.pub";
const OPEN: &str = "hpke open --secret-key-file @mallory.key --from @alice.pub";

#[test]
fn files_of_every_size_come_back() {
    let folder = Folder::new();
    for size in [0, 1, BLOCK, BLOCK + 1, (3 << 20) + 77] {
        let plain = content(size);
        let sealed = folder.newplex(SEAL, &plain).expect_code(0).stdout;
        assert_eq!(
            sealed.len(),
            HEADER + size + 18 * (size.div_ceil(BLOCK) + 1)
        );
        assert!(folder.newplex(OPEN, &sealed).expect_code(0).stdout == plain);
    }
    folder.write("plain", "over files");
    folder
        .newplex(&format!("{SEAL} @plain -o @sealed"), b"")
        .expect_code(0);
    folder
        .newplex(&format!("{OPEN} @sealed -o @opened"), b"")
        .expect_code(0);
    assert_eq!(folder.read("opened"), b"over files");
    folder.expect_private("opened");
    // A public key may be given in digits.
    let key = String::from_utf8(folder.read("mallory.pub")).expect("text");
    let key = key.trim().rsplit(':').next().expect("digits");
    let seal = SEAL.replace("@mallory.pub", key);
    let sealed = folder.newplex(&seal, b"digits").expect_code(0).stdout;
    assert_eq!(
        folder.newplex(OPEN, &sealed).expect_code(0).stdout,
        b"digits"
    );
}

#[test]
fn others_open_nothing() {
    let folder = Folder::new();
    let sealed = folder.newplex(SEAL, b"for one alone").expect_code(0).stdout;
    for open in [
        // The sender, the receiver's key taken for the sender's, both exchanged, another purpose.
        "hpke open --secret-key-file @alice.key --from @mallory.pub",
        "hpke open --secret-key-file @mallory.key --from @mallory.pub",
        "hpke open --secret-key-file @alice.key --from @alice.pub",
        &format!("{OPEN} --domain other"),
    ] {
        let refused = folder.newplex(open, &sealed).expect_code(1);
        assert!(refused.stderr.contains("another sender"), "{refused:?}");
        assert!(refused.stdout.is_empty());
    }
    let named = folder.newplex(&format!("{SEAL} --domain -x"), b"text");
    let open = format!("{OPEN} --domain -x");
    let opened = folder.newplex(&open, &named.expect_code(0).stdout);
    assert_eq!(opened.expect_code(0).stdout, b"text");
}

#[test]
fn changed_cut_and_foreign_files_leave_no_output() {
    let folder = Folder::new();
    let sealed = folder.newplex(SEAL, &content(BLOCK + 9));
    let sealed = sealed.expect_code(0).stdout;
    let open = format!("{OPEN} @sealed -o @opened");
    let refused = |bytes: &[u8]| {
        folder.write("sealed", bytes);
        let done = folder.newplex(&open, b"").expect_code(1);
        assert!(!folder.has("opened"), "{done:?}");
        done.stderr
    };
    let second = HEADER + BLOCK + 18;
    for place in [
        0,
        7,
        8,
        39,
        40,
        87,
        88,
        89,
        5_000,
        second,
        second + 5,
        second + 30,
    ] {
        let mut changed = sealed.clone();
        changed[place] ^= 1;
        refused(&changed);
        refused(&sealed[..place]);
    }
    assert!(refused(&sealed[..second]).contains("first 65535 bytes"));
    assert!(refused(&[&sealed[..], b"x"].concat()).contains("appended"));
    // The other formats are told by their names.
    folder.write("plain", "x");
    for (seal, command) in [
        ("seal --key-file @one.key @plain", "newplex open"),
        ("siv seal --key-file @one.key @plain", "newplex siv open"),
        (
            &*SEAL.replace("hpke", "signcrypt"),
            "newplex signcrypt open",
        ),
    ] {
        let other = folder.newplex(seal, b"x").expect_code(0).stdout;
        assert!(refused(&other).contains(command), "{command}");
    }
}

#[test]
fn files_are_what_the_specification_says() {
    let folder = Folder::new();
    let sealed = folder.newplex(SEAL, b"hello").expect_code(0).stdout;
    let key = |name: &str| {
        let text = String::from_utf8(folder.read(name)).expect("text");
        bytes(text.trim().rsplit(':').next().expect("digits"))
    };
    let secret = SecretKey::from_bytes(&key("mallory.key")).expect("a key");
    let sender = PublicKey::from_bytes(&key("alice.pub")).expect("a key");
    let (header, blocks) = sealed.split_at(HEADER);
    assert_eq!(header[..8], *b"\xd5NPHPKE\x01");
    let file_key = Receiver::new("sealwire.hpke", &secret, &sender)
        .open(&header[8..])
        .expect("authentic");
    let mut protocol = Protocol::new("sealwire.newplex.hpke-file");
    protocol.mix("key", &file_key);
    protocol.mix("header", header);
    let mut length = [blocks[0], blocks[1]];
    protocol.unmask("header", &mut length);
    assert_eq!(length, [0, 5]);
    assert_eq!(
        protocol.open("block", &blocks[2..23]).expect("authentic"),
        b"hello"
    );
}
