//! Slips that would make a rule say something else than somebody meant: keys that strangers may change, two keys where
//! one is meant, and values of another type. Each is a fault of the whole file, with its line.

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use sealwire::{Generate as _, KeyPair};
use support::{ANONYMOUS, CLIENT, Folder, HEAD, SERVER};

/// A file with one rule, in which one line is another; and the number of that line.
fn with(rule: &str, key: &str, value: &str) -> (String, usize) {
    let text = format!("{HEAD}{rule}");
    let begins = format!("{key} = ");
    let index = text.lines().position(|line| line.starts_with(&begins));
    let index = index.unwrap_or_else(|| panic!("no {key} in {text}"));
    let line = format!("{key} = {value}");
    let mut lines: Vec<&str> = text.lines().collect();
    lines[index] = &line;
    (lines.join("\n"), index + 1)
}

/// The fault, which names the line and then the key.
fn fault(folder: &Folder, rule: &str, key: &str, value: &str) -> String {
    let (text, line) = with(rule, key, value);
    let fault = folder.parse(&text).expect_err(&text).to_string();
    let names = format!(", line {line}: {key}");
    assert!(fault.contains(&names), "{key} = {value}: {fault}");
    fault
}

fn taken(folder: &Folder, rule: &str, key: &str, value: &str) {
    let (text, _) = with(rule, key, value);
    if let Err(fault) = folder.parse(&text) {
        panic!("{key} = {value}: {fault}");
    }
}

fn set_mode(folder: &Folder, name: &str, mode: u32) {
    fs::set_permissions(folder.path(name), fs::Permissions::from_mode(mode)).unwrap();
}

/// A user who may write there chooses the server, or comes in.
#[test]
fn a_public_key_or_a_list_that_others_may_write() {
    let folder = Folder::new();
    let public = fs::read_to_string(folder.path("client.pub")).unwrap();
    folder.write("other.pub", &public, 0o644);
    fs::create_dir(folder.path("clients.d")).unwrap();
    folder.write("clients.d/alice.pub", &public, 0o644);
    for (rule, key, named, changed, dir) in [
        (CLIENT, "server_key_file", "other.pub", "other.pub", false),
        (
            ANONYMOUS,
            "server_key_file",
            "other.pub",
            "other.pub",
            false,
        ),
        (SERVER, "allow", "other.pub", "other.pub", false),
        (SERVER, "allow", "clients", "clients", false),
        // The directory of a list, and one of its files.
        (SERVER, "allow", "clients.d", "clients.d", true),
        (SERVER, "allow", "clients.d", "clients.d/alice.pub", false),
    ] {
        let search = if dir { 0o111 } else { 0 };
        let value = format!("{named:?}");
        for mode in [0o646, 0o666, 0o642, 0o602] {
            set_mode(&folder, changed, mode | search);
            let fault = fault(&folder, rule, key, &value);
            let mode = format!("mode {:03o}", mode | search);
            for says in [changed, "may be changed by others", &mode, "chmod o-w"] {
                assert!(fault.contains(says), "{fault}");
            }
        }
        // Others may read it, and the group may write.
        for mode in [0o664, 0o644, 0o600] {
            set_mode(&folder, changed, mode | search);
            taken(&folder, rule, key, &value);
        }
    }
}

/// Nothing says which of them counts.
#[test]
fn a_file_for_one_key_that_has_two() {
    let folder = Folder::new();
    let [first, second] = [(); 2].map(|()| KeyPair::generate());
    let public = |keys: &KeyPair| keys.public().to_string();
    let secret = |keys: &KeyPair| keys.secret().to_z85().to_string();
    let certificate = |lines: &[(&str, String)]| {
        let lines = lines.iter().map(|(kind, key)| {
            // Z85 has no quotation marks.
            format!("    {kind}-key = \"{key}\"\n")
        });
        format!("curve\n{}", lines.collect::<String>())
    };
    let one = [
        ("public", public(&first) + "\n"),
        ("public", certificate(&[("public", public(&first))])),
        ("secret", secret(&first) + "\n"),
        (
            "secret",
            certificate(&[("public", public(&first)), ("secret", secret(&first))]),
        ),
    ];
    let two = [
        (
            "public",
            format!("{}\n{}\n", public(&first), public(&second)),
        ),
        // The same twice is two as well.
        ("public", format!("{0}\n\n{0}\n", public(&first))),
        (
            "public",
            certificate(&[("public", public(&first)), ("public", public(&second))]),
        ),
        (
            "secret",
            format!("{}\n{}\n", secret(&first), secret(&second)),
        ),
        (
            "secret",
            certificate(&[
                ("public", public(&first)),
                ("secret", secret(&first)),
                ("secret", secret(&second)),
            ]),
        ),
    ];
    for (kind, rule, key) in [
        ("public", CLIENT, "server_key_file"),
        ("public", ANONYMOUS, "server_key_file"),
        ("secret", CLIENT, "secret_key_file"),
        ("secret", SERVER, "secret_key_file"),
        ("secret", SERVER, "additional_secret_key_file"),
    ] {
        let value = "\"some.keys\"";
        for (_, text) in one.iter().filter(|(of, _)| *of == kind) {
            folder.write("some.keys", text, 0o600);
            taken(&folder, rule, key, value);
        }
        for (_, text) in two.iter().filter(|(of, _)| *of == kind) {
            folder.write("some.keys", text, 0o600);
            let fault = fault(&folder, rule, key, value);
            let says = format!("more than one line for the {kind} key");
            assert!(fault.contains("some.keys, line "), "{fault}");
            assert!(fault.contains(&says), "{fault}");
            for keys in [&first, &second] {
                assert!(!fault.contains(&secret(keys)), "the fault repeats a secret");
            }
        }
    }
}

/// What people write who know other formats: nothing is taken for what it looks like.
#[test]
fn a_value_that_looks_like_the_right_one_and_is_of_another_type() {
    let folder = Folder::new();
    for (rule, key, value, wanted) in [
        (SERVER, "types", "\"REP\"", "a list of texts"),
        (SERVER, "types", "[\"REP\", 7]", "a list of texts"),
        (ANONYMOUS, "anonymous", "\"true\"", "true or false"),
        (ANONYMOUS, "anonymous", "1", "true or false"),
        (SERVER, "override", "1", "true or false"),
        (SERVER, "override", "\"true\"", "true or false"),
        (SERVER, "version", "\"1\"", "a whole number"),
        (SERVER, "version", "true", "a whole number"),
        (SERVER, "version", "1.0", "a whole number"),
        (SERVER, "mechanism", "[\"blake3\"]", "a text"),
        (SERVER, "bind", "[\"tcp://*:5555\"]", "a text"),
        (CLIENT, "connect", "[\"tcp://a:5555\"]", "a text"),
        (SERVER, "allow", "[\"clients\"]", "a text"),
        (SERVER, "allow", "true", "a text"),
        (SERVER, "default", "true", "a text"),
    ] {
        let fault = fault(&folder, rule, key, value);
        let says = format!("{key} is not {wanted}");
        assert!(fault.contains(&says), "{key} = {value}: {fault}");
    }
}
