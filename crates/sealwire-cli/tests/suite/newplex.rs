//! `sealwire newplex`: what docs/spec/newplex-files.md promises.

#[cfg(unix)]
mod ceremony;
mod frost;
mod hpke;
mod oprf;
mod pake;
mod signcrypt;
mod siv;
mod vrf;

use std::fs;

use crate::support::{Finished, run, start_with_input};
use sealwire_newplex::Protocol;
use sealwire_newplex::schemes::mhf::{self, Cost};
use serde_json::Value;
use tempfile::TempDir;

const HEADER: usize = 40;
const BLOCK: usize = 65_535;

struct Folder(TempDir);

impl Folder {
    /// With two symmetric keys, and the key pairs of alice and mallory.
    fn new() -> Self {
        let folder = Folder(tempfile::tempdir().expect("a folder"));
        for name in ["one.key", "other.key"] {
            newplex(&["keygen", "--symmetric", &folder.path(name)], b"").expect_code(0);
        }
        for name in ["alice", "mallory"] {
            newplex(&["keygen", "--out", &folder.path(name)], b"").expect_code(0);
        }
        folder
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().expect("text").to_owned()
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        fs::write(self.path(name), content).expect("a file");
        self.path(name)
    }

    /// `seal` or `open` as a filter.
    fn filter(&self, command: &str, input: &[u8]) -> Finished {
        newplex(&[command, "--key-file", &self.path("one.key")], input)
    }

    /// The content of a file.
    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).expect("a file")
    }

    fn has(&self, name: &str) -> bool {
        fs::exists(self.path(name)).expect("a folder")
    }

    /// The arguments of a command; each word that begins with `@` is a name in the folder.
    fn arguments(&self, command: &str) -> Vec<String> {
        let words = command.split(' ').map(|word| match word.strip_prefix('@') {
            Some(name) => self.path(name),
            None => word.to_owned(),
        });
        std::iter::once("newplex".to_owned()).chain(words).collect()
    }

    /// Runs a command as [`arguments`](Self::arguments) takes it.
    fn newplex(&self, command: &str, input: &[u8]) -> Finished {
        let arguments = self.arguments(command);
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        start_with_input(&arguments, input).finish()
    }

    /// Fails unless the file can be read by its owner alone.
    #[track_caller]
    fn expect_private(&self, name: &str) {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let metadata = fs::metadata(self.path(name)).expect("a file");
            assert_eq!(metadata.permissions().mode() & 0o777, 0o600, "{name}");
        }
    }

    /// Lets others read the file.
    #[cfg(unix)]
    fn expose(&self, name: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o644)).expect("a mode");
    }

    fn verify(&self, arguments: &[&str], message: &[u8]) -> Finished {
        let signature = self.path("sig");
        newplex(
            &[&["verify", "--signature", &signature], arguments].concat(),
            message,
        )
    }
}

fn newplex(arguments: &[&str], input: &[u8]) -> Finished {
    start_with_input(&[&["newplex"], arguments].concat(), input).finish()
}

/// The vectors that were made by running the reference.
fn vectors() -> Value {
    serde_json::from_str(include_str!("../../../../vectors/newplex.json")).expect("JSON")
}

/// `line` with another digit `position` digits behind its label.
fn changed(line: &[u8], position: usize) -> Vec<u8> {
    let mut changed = line.to_vec();
    let start = line
        .iter()
        .rposition(|byte| *byte == b':')
        .expect("a label")
        + 1;
    let digit = &mut changed[start + position];
    *digit = if *digit == b'0' { b'1' } else { b'0' };
    changed
}

fn content(size: usize) -> Vec<u8> {
    (0..size).map(|i| (i * 31 + (i >> 8) * 7) as u8).collect()
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits = hex.as_bytes().chunks(2);
    digits
        .map(|pair| {
            let pair = std::str::from_utf8(pair).expect("digits");
            u8::from_str_radix(pair, 16).expect("digits")
        })
        .collect()
}

fn json(finished: &Finished) -> Value {
    serde_json::from_str(finished.text()).expect("JSON")
}

#[test]
fn digests_and_tags_are_those_of_the_reference() {
    let folder = Folder::new();
    let vectors = vectors();
    let (mut digests, mut tags) = (0, 0);
    for vector in vectors["digest"]["vectors"].as_array().expect("a list") {
        let steps = vector["steps"].as_array().expect("a list");
        let [write, sum] = steps.as_slice() else {
            continue;
        };
        if write["op"] != "write" || sum["op"] != "sum" || sum["prefix"] != "" {
            continue;
        }
        let text = |value: &Value| value.as_str().expect("text").to_owned();
        let (input, output) = (bytes(&text(&write["input"])), text(&sum["output"]));
        let domain = text(&vector["domain"]);
        match vector["key"].as_str() {
            None => {
                let done = newplex(&["digest", "--domain", &domain], &input).expect_code(0);
                assert_eq!(done.text(), format!("{output}  -\n"));
                digests += 1;
            }
            Some(key) if key.len() == 64 => {
                let line = format!("newplex-symmetric-key-v1:{key}\n");
                let key = folder.write("one.key", line);
                let arguments = ["mac", "--domain", &domain, "--key-file", &key];
                let done = newplex(&arguments, &input).expect_code(0);
                assert_eq!(done.text(), format!("{output}\n"));
                tags += 1;
            }
            Some(_) => {}
        }
    }
    assert!(digests >= 7 && tags >= 7, "{digests} digests, {tags} tags");
}

#[test]
fn digests_of_several_files_and_as_json() {
    let folder = Folder::new();
    let (a, b) = (folder.write("a", content(200_000)), folder.write("b", b""));
    let done = newplex(&["digest", &a, &b], b"").expect_code(0);
    let lines: Vec<_> = done.text().lines().collect();
    assert_eq!(lines.len(), 2);
    assert!(lines[0].ends_with(&format!("  {a}")), "{lines:?}");
    let piped = json(&newplex(&["digest", "--json"], &content(200_000)).expect_code(0));
    assert_eq!(piped["digest"], lines[0][..64]);
    assert_eq!(piped["domain"], "sealwire.digest");
    newplex(&["digest", &folder.path("none")], b"").expect_code(1);
}

#[test]
fn files_that_are_hashed_side_by_side_have_the_digests_they_have_alone() {
    let folder = Folder::new();
    let sizes = [0, 1, 511, 512, 65_535, 65_536, 65_537, 131_072, 200_000];
    let files: Vec<_> = (0..35_usize)
        .map(|index| {
            let name = format!("file {index}");
            folder.write(&name, &content(sizes[index % sizes.len()] + index / 9)[..])
        })
        .collect();
    let mut names: Vec<_> = files.iter().map(String::as_str).collect();
    names[20] = "-";
    let done = newplex(&[&["digest"], &names[..]].concat(), b"piped").expect_code(0);
    for (line, name) in done.text().lines().zip(&names) {
        let alone = newplex(&["digest", name], b"piped").expect_code(0);
        assert_eq!(alone.text().trim_end(), line);
    }
    assert_eq!(done.text().lines().count(), names.len());
    // Those before a file that cannot be read are told.
    let none = folder.path("none");
    names[3] = &none;
    let done = newplex(&[&["digest"], &names[..]].concat(), b"").expect_code(1);
    assert_eq!(done.text().lines().count(), 3);
    assert!(done.stderr.contains(&none), "{}", done.stderr);
}

#[test]
fn tags_verify_under_their_key_domain_and_message_only() {
    let folder = Folder::new();
    let (one, other) = (folder.path("one.key"), folder.path("other.key"));
    let tag = newplex(&["mac", "--key-file", &one], b"message").expect_code(0);
    let tag = tag.text().trim();
    let verify = ["mac", "--key-file", &one, "--verify", tag];
    newplex(&verify, b"message").expect_code(0);
    newplex(&verify, b"massage").expect_code(1);
    newplex(&[&verify[..], &["--domain", "x"]].concat(), b"message").expect_code(1);
    newplex(&["mac", "--key-file", &other, "--verify", tag], b"message").expect_code(1);
    newplex(
        &["mac", "--key-file", &one, "--verify", &tag[2..]],
        b"message",
    )
    .expect_code(2);
}

#[test]
fn signatures_verify_through_pipes_and_files_and_nothing_else_does() {
    let folder = Folder::new();
    let (secret, public) = (folder.path("alice.key"), folder.path("alice.pub"));
    let (message, signature) = (content(150_000), folder.path("sig"));
    let file = folder.write("message", &message);
    let sign = ["sign", "--secret-key-file", &secret];
    newplex(&[&sign[..], &[&file, "-o", &signature]].concat(), b"").expect_code(0);
    let key = ["--public-key-file", &*public];
    folder.verify(&key, &message).expect_code(0);
    folder
        .verify(&[&key[..], &[&file]].concat(), b"")
        .expect_code(0);
    let shown = folder.verify(&[&key[..], &["--json"]].concat(), &message);
    assert_eq!(json(&shown.expect_code(0))["valid"], true);

    let refused = folder.verify(&key, &message[1..]).expect_code(1);
    assert!(
        refused.stderr.contains("not authentic"),
        "{}",
        refused.stderr
    );
    folder
        .verify(&[&key[..], &["--domain", "x"]].concat(), &message)
        .expect_code(1);
    let mallory = folder.path("mallory.pub");
    folder
        .verify(&["--public-key-file", &mallory], &message)
        .expect_code(1);

    // A signature that exists stays, unless it is to be replaced.
    let again = [&sign[..], &[&file, "-o", &signature]].concat();
    newplex(&again, b"").expect_code(1);
    newplex(&[&again[..], &["--force"]].concat(), b"").expect_code(0);

    let line = fs::read_to_string(&signature).expect("text");
    let start = "newplex-signature-v1:".len();
    for position in (start..start + 128).step_by(9) {
        let mut changed = line.clone().into_bytes();
        changed[position] = if changed[position] == b'0' {
            b'1'
        } else {
            b'0'
        };
        folder.write("sig", &changed);
        folder.verify(&key, &message).expect_code(1);
    }
    for bad in [
        "",
        &line[..60],
        &line.replace("-v1", "-v2"),
        &line.repeat(2),
    ] {
        folder.write("sig", bad);
        folder.verify(&key, &message).expect_code(1);
    }
}

#[test]
fn keys_are_private_kept_and_of_one_kind_each() {
    let folder = Folder::new();
    let (one, alice) = (folder.path("one.key"), folder.path("alice.key"));
    #[cfg(unix)]
    for name in [&one, &alice] {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::metadata(name).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let before = fs::read(&one).expect("a file");
    newplex(&["keygen", "--symmetric", &one], b"").expect_code(1);
    newplex(&["keygen", "--out", &folder.path("alice")], b"").expect_code(1);
    assert_eq!(fs::read(&one).expect("a file"), before);
    // A pair of which one half cannot be written is not there at all.
    folder.write("half.pub", "");
    newplex(&["keygen", "--out", &folder.path("half")], b"").expect_code(1);
    assert!(fs::metadata(folder.path("half.key")).is_err());

    let refused = newplex(&["seal", "--key-file", &alice], b"x").expect_code(1);
    assert!(refused.stderr.contains("this is a secret key"));
    newplex(&["sign", "--secret-key-file", &one], b"x").expect_code(1);
    run(&["seal", "--key-file", &one]).expect_code(1);
    newplex(&["keygen"], b"").expect_code(2);
}

#[test]
fn sealed_files_round_trip_through_pipes_and_files() {
    let folder = Folder::new();
    let key = folder.path("one.key");
    for size in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, (3 << 20) + 77] {
        let plaintext = content(size);
        let sealed = folder.filter("seal", &plaintext).expect_code(0).stdout;
        assert_eq!(
            sealed.len(),
            HEADER + size + 18 * (size.div_ceil(BLOCK) + 1)
        );
        assert_eq!(sealed[..8], *b"\xd5NPSEAL\x01");
        assert!(folder.filter("open", &sealed).expect_code(0).stdout == plaintext);
        let (plain, sealed) = (folder.write("plain", &plaintext), folder.path("sealed"));
        let opened = folder.path("opened");
        for (command, input, output) in [("seal", &plain, &sealed), ("open", &sealed, &opened)] {
            let files = ["--key-file", &key, input, "-o", output, "--force"];
            newplex(&[&[command], &files[..]].concat(), b"").expect_code(0);
        }
        assert!(fs::read(&opened).expect("a file") == plaintext, "{size}");
    }
}

#[test]
fn sealed_files_are_what_the_specification_says() {
    let folder = Folder::new();
    let line = fs::read_to_string(folder.path("one.key")).expect("text");
    let key = bytes(line.trim().rsplit(':').next().expect("digits"));
    let sealed = folder.filter("seal", b"hello").expect_code(0).stdout;
    let (header, mut rest) = sealed.split_at(HEADER);
    let mut protocol = Protocol::new("sealwire.newplex.sealed-file");
    protocol.mix("key", &key);
    protocol.mix("header", header);
    for expected in [&b"hello"[..], b""] {
        let mut length = [rest[0], rest[1]];
        protocol.unmask("header", &mut length);
        assert_eq!(usize::from(u16::from_be_bytes(length)), expected.len());
        let end = 2 + expected.len() + 16;
        let opened = protocol.open("block", &rest[2..end]).expect("authentic");
        assert_eq!(opened, expected);
        protocol.ratchet("block");
        rest = &rest[end..];
    }
    assert!(rest.is_empty());
}

#[test]
fn changed_cut_and_foreign_sealed_files_leave_no_output() {
    let folder = Folder::new();
    let sealed = folder.filter("seal", &content(BLOCK + 100));
    let sealed = sealed.expect_code(0).stdout;
    let (input, output) = (folder.path("sealed"), folder.path("opened"));
    let refused = |key: &str, bytes: &[u8]| {
        folder.write("sealed", bytes);
        let key = folder.path(key);
        let done = newplex(&["open", "--key-file", &key, &input, "-o", &output], b"");
        let done = done.expect_code(1);
        assert!(fs::metadata(&output).is_err(), "{done:?}");
        done.stderr
    };
    let second = HEADER + BLOCK + 18;
    let end = second + 118;
    assert_eq!(sealed.len(), end + 18);
    let places = [
        0,
        6,
        7,
        8,
        39,
        40,
        41,
        42,
        5_000,
        second - 16,
        second - 1,
        second,
        second + 1,
        second + 2,
        second + 110,
        end,
        end + 1,
        end + 2,
        end + 17,
    ];
    for place in places {
        let mut changed = sealed.clone();
        changed[place] ^= 1;
        refused("one.key", &changed);
        refused("one.key", &sealed[..place]);
    }
    assert!(refused("other.key", &sealed).contains("another key"));
    assert!(refused("one.key", &sealed[..end]).contains("first 65635 bytes"));
    assert!(refused("one.key", &[&sealed[..], b"x"].concat()).contains("appended"));
    let mut later = sealed.clone();
    later[7] = 2;
    assert!(refused("one.key", &later).contains("version 2"));
    assert!(refused("one.key", b"\xd5SEALED\x01").contains("'sealwire open'"));
    // Blocks in another order: the second one and the end exchanged.
    let moved = [&sealed[..second], &sealed[end..], &sealed[second..end]].concat();
    refused("one.key", &moved);

    // A pipe gets what was authentic, and is told that it is not all.
    let mut changed = sealed;
    changed[second + 5] ^= 1;
    let done = folder.filter("open", &changed).expect_code(1);
    assert!(done.stdout == content(BLOCK));
}

#[test]
fn password_hashes_verify_the_right_password_and_no_other() {
    let folder = Folder::new();
    let done = newplex(&["hash-password", "--cost", "10"], b"secret\r\nmore").expect_code(0);
    let line = done.text().trim().to_owned();
    let mut parts = line.split(':').skip(1);
    let mut part = || parts.next().expect("a part");
    let (cost, salt, hash) = (part(), bytes(part()), bytes(part()));
    assert_eq!(cost, "10");
    let mut expected = [0; 32];
    let cost = Cost::new(10).expect("low");
    mhf::hash(
        "sealwire.newplex.password",
        cost,
        &salt,
        b"secret",
        &mut expected,
    )
    .expect("memory");
    assert_eq!(hash, expected);

    let file = folder.write("hash", &line);
    let verify = ["hash-password", "--verify", &*file];
    newplex(&verify, b"secret").expect_code(0);
    let wrong = newplex(&verify, b"Secret").expect_code(1);
    assert!(wrong.stderr.contains("wrong password"));
    newplex(&verify, b"").expect_code(1);
    let salted = newplex(&["hash-password", "--cost", "10"], b"secret").expect_code(0);
    assert_ne!(salted.text().trim(), line);
    let expensive = line.replacen(":10:", ":24:", 1);
    let bad = [expensive.as_str(), "", &line[..50], &format!("{line}:00")];
    for bad in bad {
        folder.write("hash", bad);
        newplex(&verify, b"secret").expect_code(1);
    }
    newplex(&["hash-password", "--cost", "9"], b"secret").expect_code(2);
}

#[test]
fn every_command_explains_itself() {
    for command in [
        "digest",
        "mac",
        "keygen",
        "sign",
        "verify",
        "seal",
        "open",
        "hash-password",
        "hpke",
        "hpke seal",
        "hpke open",
        "signcrypt",
        "signcrypt seal",
        "signcrypt open",
        "siv",
        "siv seal",
        "siv open",
        "vrf",
        "vrf prove",
        "vrf verify",
        "oprf",
        "oprf blind",
        "oprf evaluate",
        "oprf finalize",
        "oprf compute",
        "pake",
        "pake initiate",
        "pake respond",
        "pake finish",
        "frost",
        "frost deal",
        "frost commit",
        "frost sign",
        "frost aggregate",
    ] {
        let mut arguments: Vec<_> = command.split(' ').collect();
        arguments.push("--help");
        let help = newplex(&arguments, b"").expect_code(0);
        assert!(help.text().contains("Examples"), "{command}");
    }
}

/// The program behind a terminal, which shows what is typed unless it is told not to.
#[cfg(target_os = "linux")]
fn on_a_terminal(arguments: &[&str], answers: &[&str]) -> (Option<i32>, String, Vec<u8>) {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use std::io::{Read as _, Write as _};
    use std::process::{Command, Stdio};

    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&terminal).expect("a terminal");
    unlockpt(&terminal).expect("a terminal");
    let name = ptsname(&terminal, Vec::new()).expect("a name");
    let open = || {
        let name = name.to_str().expect("text");
        let mut options = fs::OpenOptions::new();
        options
            .read(true)
            .write(true)
            .open(name)
            .expect("its other side")
    };
    // Held open, so that what was shown can be read after the program has ended.
    let (stdin, held) = (open(), open());
    let mut child = Command::new(env!("CARGO_BIN_EXE_sealwire"))
        .args(arguments)
        .stdin(Stdio::from(stdin))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut terminal = fs::File::from(terminal);
    let mut stderr = child.stderr.take().expect("a pipe");
    let mut said = Vec::new();
    for answer in answers {
        let mut byte = [0];
        while !said.ends_with(b": ") {
            assert_eq!(stderr.read(&mut byte).expect("a prompt"), 1, "{said:?}");
            said.push(byte[0]);
        }
        said.clear();
        terminal.write_all(answer.as_bytes()).expect("it reads");
    }
    let finished = child.wait_with_output().expect("a child");
    // What the terminal shows now marks the end of what it has shown.
    (&held).write_all(b"#").expect("a terminal");
    let (mut shown, mut byte) = (Vec::new(), [0]);
    while !shown.ends_with(b"#") {
        terminal.read_exact(&mut byte).expect("what was shown");
        shown.push(byte[0]);
    }
    let text = String::from_utf8(finished.stdout).expect("text");
    (finished.status.code(), text, shown)
}

#[cfg(target_os = "linux")]
#[test]
fn a_password_is_asked_for_on_a_terminal_and_not_shown() {
    let folder = Folder::new();
    let hash = ["newplex", "hash-password", "--cost", "10"];
    let (code, line, shown) = on_a_terminal(&hash, &["secret\n", "secret\n"]);
    assert_eq!((code, shown.as_slice()), (Some(0), &b"\r\n\r\n#"[..]));
    let file = folder.write("hash", &line);
    newplex(&["hash-password", "--verify", &file], b"secret").expect_code(0);
    let verify = ["newplex", "hash-password", "--verify", &file];
    assert_eq!(on_a_terminal(&verify, &["secret\n"]).0, Some(0));
    assert_eq!(on_a_terminal(&verify, &["secre\n"]).0, Some(1));
    let (code, line, _) = on_a_terminal(&hash, &["secret\n", "secreT\n"]);
    assert_eq!((code, line.as_str()), (Some(1), ""));
}
