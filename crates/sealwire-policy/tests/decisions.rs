//! What counts for an endpoint.

mod support;

use sealwire::{Endpoint, SocketType};
use sealwire_policy::{Own, Policy, Role, Ruling};
use support::{CLIENT, Folder, SERVER};

/// `program`, the line of the rule whose keys count, or what the refusal says.
fn decided(
    policy: &Policy,
    role: Role,
    endpoint: &str,
    socket_type: SocketType,
    own: Own,
) -> String {
    let endpoint: Endpoint = endpoint.parse().unwrap();
    match policy.decide(role, &endpoint, socket_type, own) {
        Ok(Ruling::AsProgram) => "program".into(),
        Ok(Ruling::Keys { rule, .. }) => {
            let text = rule.to_string();
            let (_, line) = text.split_once(", line ").unwrap();
            line.split_once(':').unwrap().0.into()
        }
        Err(refusal) => {
            let text = refusal.to_string();
            assert!(text.starts_with(&format!("{endpoint} refused: ")), "{text}");
            text
        }
    }
}

#[test]
fn the_first_rule_that_names_an_endpoint_counts() {
    let folder = Folder::new();
    let plain = "[[rule]]\nbind = \"tcp://*:5555\"\nmechanism = \"plain-text\"\n";
    let policy = folder
        .parse(&format!("version = 1\n{plain}{SERVER}"))
        .unwrap();
    let at = |policy, socket_type| {
        decided(
            policy,
            Role::Bind,
            "tcp://*:5555",
            socket_type,
            Own::Nothing,
        )
    };
    assert_eq!(at(&policy, SocketType::Router), "program");
    let policy = folder
        .parse(&format!("version = 1\n{SERVER}{plain}"))
        .unwrap();
    assert_eq!(at(&policy, SocketType::Router), "3");
    // Of another type.
    assert_eq!(at(&policy, SocketType::Pull), "program");
}

/// A rule whose keys are in use already is known by its place.
#[test]
fn rules_on_one_line_have_places_of_their_own() {
    let folder = Folder::new();
    let rule = |port: u16, allow: &str| {
        let keys = format!("secret_key_file = \"server.key\", allow = \"{allow}\"");
        format!("{{ bind = \"tcp://*:{port}\", mechanism = \"blake3\", {keys} }}")
    };
    let (one, two, three) = (rule(1, "anyone"), rule(2, "clients"), rule(3, "clients"));
    let text = format!("version = 1\nrule = [{one}, {two},\n{three}]\n");
    let policy = folder.parse(&text).unwrap();
    let places: Vec<_> = policy.rules().iter().map(|rule| rule.place()).collect();
    let all = places.iter().collect::<std::collections::HashSet<_>>();
    assert_eq!(all.len(), 3, "{places:?}");
    assert!(places[0].ends_with(", line 2"));
    assert!(places[1].ends_with(", line 2 (rule 2)"));
    assert!(places[2].ends_with(", line 3"));
}

/// Nor where the first one refuses: the one behind it might be plain text.
#[test]
fn an_endpoint_that_a_rule_refuses_is_not_tried_with_the_next() {
    let folder = Folder::new();
    let refuses = SERVER
        .replace("types = [\"ROUTER\", \"REP\"]\n", "")
        .replace("override = true\n", "");
    for next in ["plain-text", "curve", "blake3"] {
        let next = format!("[[rule]]\nbind = \"tcp://*:*\"\nmechanism = \"{next}\"\n");
        let policy = folder
            .parse(&format!("version = 1\n{refuses}{next}"))
            .unwrap();
        for (socket_type, own, says) in [
            (
                SocketType::Stream,
                Own::Nothing,
                "line 3: STREAM cannot be encrypted",
            ),
            (
                SocketType::Rep,
                Own::Plain,
                "line 3: the program has set PLAIN",
            ),
            (
                SocketType::Rep,
                Own::Curve,
                "line 3: the program has set CURVE",
            ),
            (
                SocketType::Rep,
                Own::Blake3,
                "line 3: the program has set BLAKE3",
            ),
        ] {
            let said = decided(&policy, Role::Bind, "tcp://*:5555", socket_type, own);
            assert!(said.contains(says), "{said}");
        }
    }
}

#[test]
fn binding_and_connecting_have_rules_of_their_own() {
    let folder = Folder::new();
    let policy = folder
        .parse(&format!("version = 1\n{SERVER}{CLIENT}"))
        .unwrap();
    let decided = |role, endpoint| decided(&policy, role, endpoint, SocketType::Rep, Own::Nothing);
    assert_eq!(decided(Role::Bind, "tcp://127.0.0.1:5555"), "3");
    assert_eq!(decided(Role::Connect, "tcp://db.example:1"), "12");
    assert!(decided(Role::Connect, "tcp://127.0.0.1:5555").contains("no rule"));
    assert!(decided(Role::Bind, "tcp://db.example:1").contains("no rule"));
}

#[test]
fn network_endpoints_that_no_rule_names_are_refused_unless_the_file_says_otherwise() {
    let folder = Folder::new();
    for (head, refused) in [
        ("version = 1\n", true),
        ("version = 1\ndefault = \"refuse\"\n", true),
        ("version = 1\ndefault = \"plain-text\"\n", false),
    ] {
        for rules in ["", SERVER] {
            let policy = folder.parse(&format!("{head}{rules}")).unwrap();
            for (endpoint, network) in [
                ("tcp://127.0.0.1:1", true),
                ("tcp://*:1", true),
                ("ws://a:1", true),
                ("udp://239.0.0.1:1", true),
                ("ipc:///run/a.sock", false),
                ("ipc://@a", false),
                ("inproc://a", false),
            ] {
                for role in [Role::Bind, Role::Connect] {
                    for own in [Own::Nothing, Own::Plain, Own::Curve, Own::Blake3] {
                        let said = decided(&policy, role, endpoint, SocketType::Pair, own);
                        if network && refused {
                            assert!(said.contains("no rule of"), "{said}");
                            assert!(said.contains("default = \"plain-text\""), "{said}");
                        } else {
                            assert_eq!(said, "program", "{endpoint}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn ipc_follows_rules_and_inproc_does_not() {
    let folder = Folder::new();
    let rule = SERVER.replace("tcp://*:5555", "ipc:///run/*");
    let policy = folder.parse(&format!("version = 1\n{rule}")).unwrap();
    let decided = |endpoint| decided(&policy, Role::Bind, endpoint, SocketType::Rep, Own::Nothing);
    assert_eq!(decided("ipc:///run/a"), "3");
    assert_eq!(decided("ipc:///tmp/a"), "program");
    assert_eq!(decided("inproc://run/a"), "program");
}

#[test]
fn a_stream_cannot_be_encrypted() {
    let folder = Folder::new();
    let rule = SERVER.replace("types = [\"ROUTER\", \"REP\"]\n", "");
    let plain =
        "[[rule]]\nbind = \"tcp://*:*\"\ntypes = [\"STREAM\"]\nmechanism = \"plain-text\"\n";
    let curve = "[[rule]]\nbind = \"tcp://*:*\"\nmechanism = \"curve\"\n";
    for (rules, allowed) in [
        (rule.clone(), false),
        (curve.into(), false),
        (format!("{plain}{rule}"), true),
    ] {
        let policy = folder.parse(&format!("version = 1\n{rules}")).unwrap();
        let said = decided(
            &policy,
            Role::Bind,
            "tcp://*:5555",
            SocketType::Stream,
            Own::Nothing,
        );
        match allowed {
            true => assert_eq!(said, "program"),
            false => assert!(said.contains("STREAM cannot be encrypted"), "{said}"),
        }
    }
}

#[test]
fn the_mechanism_that_a_program_sets_by_itself_is_never_weakened() {
    let folder = Folder::new();
    let bind = "[[rule]]\nbind = \"tcp://*:5555\"\n";
    let keys = "secret_key_file = \"server.key\"\nallow = \"clients\"\n";
    const OWNS: [Own; 4] = [Own::Nothing, Own::Plain, Own::Curve, Own::Blake3];
    let set = |name: &str| format!("has set {name}");
    let refused = ["NULL", "PLAIN", "CURVE", "BLAKE3"].map(set);
    let [nothing, plain, curve, blake3] = refused.each_ref().map(String::as_str);
    for (rule, expected) in [
        (
            format!("mechanism = \"blake3\"\n{keys}"),
            ["2", plain, curve, blake3],
        ),
        (
            format!("mechanism = \"curve\"\n{keys}"),
            ["2", plain, curve, blake3],
        ),
        (
            format!("mechanism = \"blake3\"\n{keys}override = false\n"),
            ["2", plain, curve, blake3],
        ),
        (
            format!("mechanism = \"blake3\"\n{keys}override = true\n"),
            ["2"; 4],
        ),
        (
            format!("mechanism = \"curve\"\n{keys}override = true\n"),
            ["2"; 4],
        ),
        // The program's own.
        (
            "mechanism = \"curve\"\n".into(),
            [nothing, plain, "program", blake3],
        ),
        (
            "mechanism = \"blake3\"\n".into(),
            [nothing, plain, curve, "program"],
        ),
        (
            "mechanism = \"plain-text\"\n".into(),
            ["program", "program", curve, blake3],
        ),
    ] {
        let policy = folder.parse(&format!("version = 1\n{bind}{rule}")).unwrap();
        for (own, expected) in OWNS.into_iter().zip(expected) {
            let said = decided(&policy, Role::Bind, "tcp://*:5555", SocketType::Rep, own);
            match expected {
                "2" | "program" => assert_eq!(said, expected, "{rule}"),
                part => assert!(said.contains(part), "{rule}: {said}"),
            }
        }
    }
}

#[test]
fn a_policy_says_what_each_rule_does_and_shows_no_secret() {
    let folder = Folder::new();
    let text = format!("version = 1\n{SERVER}{CLIENT}");
    let policy = folder.parse(&text).unwrap();
    let said = policy.to_string();
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 3, "{said}");
    let (server, client) = (
        folder.server.public().to_string(),
        folder.client.public().to_string(),
    );
    for (line, parts) in [
        (
            lines[0],
            [
                ", line 3: bind tcp://*:5555 (ROUTER, REP)",
                "BLAKE3 server",
                &server,
                "in place of",
            ],
        ),
        (
            lines[1],
            [
                ", line 12: connect tcp://db.example:*",
                "BLAKE3 client",
                &server,
                &client,
            ],
        ),
        (lines[2], ["other network endpoints", "refused", "", ""]),
    ] {
        for part in parts {
            assert!(line.contains(part), "{part}: {line}");
        }
    }
    for secret in [folder.server.secret(), folder.client.secret()] {
        let debug = format!("{policy:?}");
        for text in [said.as_str(), &debug] {
            assert!(!text.contains(secret.to_z85().as_str()));
            assert!(!text.contains(secret.to_hex().as_str()));
        }
    }
}

/// A link that somebody else wrote leads nobody to plain text.
#[test]
fn plain_text_is_for_a_file_and_not_for_a_path_that_leads_to_another() {
    let folder = Folder::new();
    let at = |name: &str| folder.path(name).display().to_string();
    for name in ["open", "closed"] {
        std::fs::create_dir(at(name)).unwrap();
    }
    std::os::unix::fs::symlink(at("closed"), at("open/link")).unwrap();
    let rule = |pattern: String, mechanism: &str| {
        format!("[[rule]]\nbind = \"ipc://{pattern}\"\nmechanism = \"{mechanism}\"\n")
    };
    let plain = rule(at("open/*/a"), "plain-text") + &rule(at("open/*"), "plain-text");
    let closed = rule("*".into(), "curve");
    let policy = folder.parse(&format!("version = 1\n{plain}{closed}"));
    let policy = policy.unwrap();
    let bound = |policy, path: &str| {
        let endpoint = format!("ipc://{}", at(path));
        decided(policy, Role::Bind, &endpoint, SocketType::Rep, Own::Nothing)
    };
    assert_eq!(bound(&policy, "open/a"), "program");
    for path in ["open/link/a", "closed/a", "open/../closed/a"] {
        assert!(bound(&policy, path).contains("leaves CURVE to the program"));
    }
    // Before the rule that names all of them.
    assert!(bound(&policy, "open/none/../a").contains("nobody can say where its path leads"));
    let policy = folder
        .parse(&format!("version = 1\n{closed}{plain}"))
        .unwrap();
    assert!(bound(&policy, "open/none/../a").contains("leaves CURVE"));
    let elsewhere = SERVER.replace("tcp://*:5555", "tcp://*:1");
    let policy = folder.parse(&format!("version = 1\n{elsewhere}")).unwrap();
    assert_eq!(bound(&policy, "open/none/../a"), "program");
}
