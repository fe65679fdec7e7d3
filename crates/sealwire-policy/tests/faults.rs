//! Any fault in a file of rules is one of the whole file, told with its line and a remedy.

mod support;

use std::collections::BTreeSet;
use std::fs;

use support::{ANONYMOUS, CLIENT, Folder, HEAD, SERVER};

/// The lines of a file, with the key that each sets.
fn keys(text: &str) -> impl Iterator<Item = (usize, &str, &str)> {
    text.lines().enumerate().filter_map(|(index, line)| {
        let (key, _) = line.split_once(" = ")?;
        Some((index, line, key))
    })
}

fn with_line(text: &str, index: usize, replacement: &[&str]) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.splice(index..=index, replacement.iter().copied());
    lines.join("\n")
}

/// Its text, which names the file.
fn fault(folder: &Folder, text: &str) -> String {
    let fault = folder.parse(text).expect_err(text).to_string();
    let path = folder.path("rules").display().to_string();
    assert!(fault.starts_with(&path), "{fault}");
    assert!(!fault.contains('\n'), "{fault}");
    fault
}

/// The keys that there are, as the fault of an unknown one lists them: those of the reader's own table.
fn known(folder: &Folder, text: &str) -> BTreeSet<String> {
    let fault = fault(folder, text);
    let (_, list) = fault.split_once("those that there are: ").unwrap();
    list.split(", ").map(str::to_owned).collect()
}

/// What the tests below go through: a key that is not in one of the samples would be in none of them.
#[test]
fn every_key_is_in_a_sample() {
    let folder = Folder::new();
    let sampled = |text: &str| keys(text).map(|(_, _, key)| key.to_owned()).collect();
    let mut of_file: BTreeSet<String> = sampled(HEAD);
    of_file.insert("rule".into());
    assert_eq!(known(&folder, "version = 1\nx = 1"), of_file);
    let of_rules: BTreeSet<String> = sampled(&[SERVER, CLIENT, ANONYMOUS].concat());
    assert_eq!(known(&folder, "version = 1\n[[rule]]\nx = 1"), of_rules);
}

/// `locked` is a key of the file of the machine.
#[test]
fn locked_is_true_or_false_once_and_in_the_file_of_the_machine_only() {
    let folder = Folder::new();
    let path = folder.path("rules");
    let parse = |text: &str| sealwire_policy::Policy::parse(&path, text, true);
    for (text, locked) in [
        ("version = 1", false),
        ("version = 1\nlocked = false", false),
        ("version = 1\nlocked = true", true),
    ] {
        assert_eq!(parse(text).unwrap().is_locked(), locked, "{text}");
    }
    for (text, says) in [
        (
            "version = 1\nlocked = 1",
            "line 2: locked is not true or false",
        ),
        (
            "version = 1\nlocked = \"true\"",
            "line 2: locked is not true or false",
        ),
        ("version = 1\nlocked = true\nlocked = true", "duplicate"),
        ("locked = true", "has no version"),
    ] {
        let fault = parse(text).expect_err(text).to_string();
        assert!(fault.contains(says), "{fault}");
    }
    assert!(fault(&folder, "version = 1\nlocked = true").contains("unknown key \"locked\""));
}

#[test]
fn whole_files_are_taken() {
    let folder = Folder::new();
    for text in [SERVER, CLIENT, ANONYMOUS] {
        folder.parse(&format!("{HEAD}{text}")).unwrap();
    }
    folder.parse("version = 1").unwrap();
}

#[test]
fn a_key_that_is_missing() {
    let folder = Folder::new();
    // The others have a meaning when they are not there.
    let optional = ["default", "types", "additional_secret_key_file", "override"];
    for rule in [SERVER, CLIENT, ANONYMOUS] {
        let text = format!("{HEAD}{rule}");
        for (index, _, key) in keys(&text) {
            let without = with_line(&text, index, &[]);
            if optional.contains(&key) {
                folder.parse(&without).unwrap();
                continue;
            }
            let fault = fault(&folder, &without);
            let named = match key {
                "bind" | "connect" => "names no endpoint",
                "server_key_file" | "allow" => "neither server_key_file",
                "anonymous" => "anonymous = true",
                // A client has the choice.
                "secret_key_file" => "secret_key_file",
                key => key,
            };
            assert!(fault.contains(named), "{key}: {fault}");
            if key != "version" {
                // That of the rule; TOML has its own word for what the rule begins with.
                let line = 1 + without.lines().position(|line| line == "[[rule]]").unwrap();
                assert!(fault.contains(&format!("line {line}:")), "{key}: {fault}");
            }
        }
    }
}

#[test]
fn a_key_that_is_there_twice() {
    let folder = Folder::new();
    for rule in [SERVER, CLIENT, ANONYMOUS] {
        let text = format!("{HEAD}{rule}");
        for (index, line, key) in keys(&text) {
            let fault = fault(&folder, &with_line(&text, index, &[line, line]));
            assert!(
                fault.contains(&format!("line {}:", index + 2)),
                "{key}: {fault}"
            );
            assert!(fault.contains("duplicate"), "{key}: {fault}");
        }
    }
}

#[test]
fn a_key_of_another_type() {
    let folder = Folder::new();
    for rule in [SERVER, CLIENT, ANONYMOUS] {
        let text = format!("{HEAD}{rule}");
        for (index, _, key) in keys(&text) {
            for value in ["7.5", "[7]", "[]", "{ a = 1 }", "\"\"", "1979-05-27"] {
                let line = format!("{key} = {value}");
                let fault = fault(&folder, &with_line(&text, index, &[&line]));
                assert!(
                    fault.contains(&format!("line {}:", index + 1)),
                    "{line}: {fault}"
                );
                assert!(fault.contains(key), "{line}: {fault}");
            }
        }
    }
    for (text, says) in [
        ("version = 1\nrule = 7", "line 2: rule is not a list"),
        (
            "version = 1\n[rule]\nbind = \"tcp://*:1\"",
            "line 2: rule is not a list",
        ),
        ("version = 1\nrule = [7]", "line 2: rule is not a list"),
    ] {
        let fault = fault(&folder, text);
        assert!(fault.contains(says), "{fault}");
    }
}

#[test]
fn a_key_that_is_unknown() {
    let folder = Folder::new();
    let rule = format!("{HEAD}{SERVER}");
    for (text, says) in [
        (
            "version = 1\nmechansim = 1".to_owned(),
            "line 2: unknown key \"mechansim\"",
        ),
        (
            "version = 1\nlocked = true".into(),
            "line 2: unknown key \"locked\"",
        ),
        (
            format!("{rule}alow = \"x\"\n"),
            "line 12: unknown key \"alow\"",
        ),
        (
            format!("{rule}[rule.more]\na = 1\n"),
            "line 12: unknown key \"more\"",
        ),
        (
            format!("{rule}[[rules]]\na = 1\n"),
            "line 12: unknown key \"rules\"",
        ),
        // Whatever somebody may have written there.
        (
            format!("{rule}secret_key = \"hidden\"\n"),
            "line 12: unknown key \"secret_key\"",
        ),
    ] {
        let fault = fault(&folder, &text);
        assert!(fault.contains(says), "{fault}");
        assert!(!fault.contains("hidden"), "{fault}");
    }
}

#[test]
fn a_value_that_means_nothing() {
    let folder = Folder::new();
    let rules = [SERVER, CLIENT, ANONYMOUS].map(|rule| format!("{HEAD}{rule}"));
    let mut tried = BTreeSet::from(["override".to_owned(), "rule".to_owned()]);
    for (rule, key, value, says) in [
        (0, "version", "2", "version 2 is not known"),
        (0, "default", "\"plain\"", "neither \"refuse\""),
        (0, "bind", "\"tcp://*\"", "has no port"),
        (0, "bind", "\"inproc://a\"", "never leaves the process"),
        (0, "bind", "\"udp://*:1\"", "udp cannot be encrypted"),
        (
            0,
            "types",
            "[\"router\"]",
            "\"router\" is not a socket type",
        ),
        (0, "types", "[\"STREAM\"]", "cannot be encrypted"),
        (0, "types", "[\"DGRAM\"]", "cannot be encrypted"),
        (0, "mechanism", "\"null\"", "\"plain-text\""),
        (
            0,
            "mechanism",
            "\"plain-text\"",
            "secret_key_file has no use for plain text",
        ),
        (0, "mechanism", "\"curve\"", "servers of CURVE have one key"),
        (0, "secret_key_file", "\"absent.key\"", "absent.key"),
        (
            0,
            "secret_key_file",
            "\"server.pub\"",
            "holds no secret key",
        ),
        (
            0,
            "additional_secret_key_file",
            "\"absent.key\"",
            "absent.key",
        ),
        (0, "allow", "\"absent\"", "absent"),
        (1, "connect", "\"db.example\"", "not a pattern"),
        (1, "server_key_file", "\"absent.pub\"", "absent.pub"),
        (1, "server_key_file", "\"clients/\"", "clients"),
        (2, "mechanism", "\"curve\"", "clients of CURVE show a key"),
        (
            2,
            "anonymous",
            "false",
            "neither secret_key_file nor anonymous",
        ),
    ] {
        tried.insert(key.to_owned());
        let text = &rules[rule];
        let (index, ..) = keys(text).find(|(_, _, other)| *other == key).unwrap();
        let line = format!("{key} = {value}");
        let fault = fault(&folder, &with_line(text, index, &[&line]));
        assert!(fault.contains(says), "{line}: {fault}");
        // The rule, where several of its keys are to blame.
        assert!(fault.contains(", line "), "{line}: {fault}");
    }
    // Either value of override means something.
    let of_rules = known(&folder, "version = 1\n[[rule]]\nx = 1");
    let all: BTreeSet<String> = &known(&folder, "version = 1\nx = 1") | &of_rules;
    assert_eq!(tried, all);
}

#[test]
fn keys_that_do_not_go_together() {
    let folder = Folder::new();
    let rules = [SERVER, CLIENT, ANONYMOUS].map(|rule| format!("{HEAD}{rule}"));
    for (rule, line, says) in [
        (0, "connect = \"tcp://a:1\"", "write a rule for each"),
        (
            0,
            "server_key_file = \"server.pub\"",
            "take one of them out",
        ),
        (0, "anonymous = true", "anonymous is for clients"),
        (1, "allow = \"anyone\"", "take one of them out"),
        (
            1,
            "additional_secret_key_file = \"old.key\"",
            "is for servers",
        ),
        (1, "anonymous = true", "is not anonymous"),
        (2, "secret_key_file = \"client.key\"", "is not anonymous"),
    ] {
        let fault = fault(&folder, &format!("{}{line}\n", rules[rule]));
        assert!(fault.contains(says), "{line}: {fault}");
    }
    for (mechanism, says) in [
        ("plain-text", "gives way to keys only"),
        ("curve", "keys only"),
    ] {
        let text = format!(
            "{HEAD}[[rule]]\nbind = \"tcp://*:1\"\nmechanism = \"{mechanism}\"\noverride = true\n"
        );
        let fault = fault(&folder, &text);
        assert!(fault.contains("line 6:") && fault.contains(says), "{fault}");
    }
}

#[test]
fn a_secret_that_others_may_read_or_change() {
    let folder = Folder::new();
    let secret = fs::read_to_string(folder.path("server.key")).unwrap();
    for key in ["secret_key_file", "additional_secret_key_file"] {
        let text = format!("{HEAD}{SERVER}");
        let (index, ..) = keys(&text).find(|(_, _, other)| *other == key).unwrap();
        let text = with_line(&text, index, &[&format!("{key} = \"other.key\"")]);
        for mode in [0o640, 0o604, 0o620, 0o644] {
            folder.write("other.key", &secret, mode);
            let fault = fault(&folder, &text);
            assert!(fault.contains(&format!("line {}", index + 1)), "{fault}");
            assert!(fault.contains("chmod 600"), "{fault}");
        }
        folder.write("other.key", &secret, 0o600);
        folder.parse(&text).unwrap();
    }
}

#[test]
fn a_file_of_keys_that_holds_none() {
    let folder = Folder::new();
    folder.write("broken", "not a key\n", 0o600);
    for (rule, key) in [
        (SERVER, "secret_key_file"),
        (SERVER, "additional_secret_key_file"),
        (SERVER, "allow"),
        (CLIENT, "server_key_file"),
        (CLIENT, "secret_key_file"),
    ] {
        let text = format!("{HEAD}{rule}");
        let (index, ..) = keys(&text).find(|(_, _, other)| *other == key).unwrap();
        let fault = fault(
            &folder,
            &with_line(&text, index, &[&format!("{key} = \"broken\"")]),
        );
        assert!(
            fault.contains(&format!("line {}: {key}: ", index + 1)),
            "{fault}"
        );
        assert!(fault.contains("broken, line 1"), "{fault}");
    }
}

#[test]
fn a_secret_in_place_of_a_path_is_not_repeated() {
    let folder = Folder::new();
    let secret = folder.server.secret();
    for (rule, key) in [
        (SERVER, "secret_key_file"),
        (SERVER, "additional_secret_key_file"),
        (SERVER, "allow"),
        (CLIENT, "server_key_file"),
    ] {
        let (z85, hex) = (secret.to_z85().to_string(), secret.to_hex().to_string());
        // As a file of keys has it, and with what else may come to be beside it.
        let copied = [
            format!("{z85} "),
            format!(" {hex}"),
            format!("secret-key = \"{z85}\""),
            format!("secret-key={hex}"),
            format!("0x{hex}"),
            format!("./{z85}"),
            format!("z85:{z85}"),
            format!("hex:{hex}"),
        ];
        for written in [z85.clone(), hex.clone()].into_iter().chain(copied) {
            let text = format!("{HEAD}{rule}");
            let (index, ..) = keys(&text).find(|(_, _, other)| *other == key).unwrap();
            let line = format!("{key} = '{written}'");
            let fault = fault(&folder, &with_line(&text, index, &[&line]));
            assert!(fault.contains("is a key and not the path"), "{key}");
            assert!(!fault.contains(&z85) && !fault.contains(&hex), "{key}");
        }
    }
    // Nor by the words of TOML.
    let written = secret.to_z85().to_string();
    let fault = fault(&folder, &format!("version = 1\nkey = {written}\n"));
    assert!(!fault.contains(&written[..8]), "{fault}");
}

#[test]
fn a_rule_that_is_for_nothing() {
    let folder = Folder::new();
    for (endpoint, says) in [
        ("connect = \"tcp://a:0\"", "nobody listens at port 0"),
        ("connect = \"tcp://a:05\"", "none begins with a 0"),
        ("bind = \"tcp://127.1:5\"", "an address has four numbers"),
        ("bind = \"ipc:///run/../a\"", "goes up"),
    ] {
        let rule = format!("version = 1\n[[rule]]\n{endpoint}\nmechanism = \"curve\"\n");
        let fault = fault(&folder, &rule);
        assert!(
            fault.contains(", line 3: ") && fault.contains(says),
            "{fault}"
        );
    }
    // A port that the program leaves open.
    let rule = "version = 1\n[[rule]]\nbind = \"tcp://a:0\"\nmechanism = \"curve\"\n";
    folder.parse(rule).unwrap();
}
