//! What rules do not let through.

use sealwire_policy::Sources;

use super::*;
use crate::errno::Errno;

/// Options with their values.
type Set<'a> = &'a [(c_int, &'a [u8])];

const NETWORK: [&str; 3] = ["tcp://127.0.0.1:*", "tcp://*:*", "ws://127.0.0.1:*"];

#[test]
fn rules_with_a_fault_refuse_everything_that_leaves_the_process() {
    let rules = Rules::new();
    let broken = rules.governing("\n[[rule]]\nmechansim = \"blake3\"\n");
    let missing = Arc::new(Governing::new(
        Sources::of_process(true)
            .with_config(rules.path("absent"))
            .read(),
    ));
    for (governing, says) in [
        (broken, "rules, line 4: unknown key"),
        (missing, "no such file"),
    ] {
        let socket = socket(&governing, SocketType::Pull);
        for endpoint in NETWORK.into_iter().chain(["ipc://*"]) {
            assert_eq!(socket.bind(endpoint), Err(Errno::ACCES), "{endpoint}");
        }
        for endpoint in ["tcp://127.0.0.1:1", "ipc:///nowhere"] {
            assert_eq!(socket.connect(endpoint), Err(Errno::ACCES), "{endpoint}");
        }
        assert_eq!(text(&socket, number::LAST_ENDPOINT), "");
        let told = governing.told();
        assert_eq!(told.len(), 6, "{told:?}");
        for line in &told {
            assert!(line.contains(" refused: ") && line.contains(says), "{line}");
        }
        // Not that of another process.
        socket.bind("inproc://here").unwrap();
        assert_eq!(governing.told().len(), 6);
    }
}

#[test]
fn network_endpoints_that_no_rule_names_are_refused_unless_the_file_says_otherwise() {
    let rules = Rules::new();
    let rule = format!("[[rule]]\nbind = \"tcp://192.0.2.1:1\"\n{SERVER}");
    for (head, expected) in [
        ("", Err(Errno::ACCES)),
        ("default = \"refuse\"\n", Err(Errno::ACCES)),
        ("default = \"plain-text\"\n", Ok(())),
    ] {
        let governing = rules.governing(&format!("{head}{rule}"));
        let socket = socket(&governing, SocketType::Pull);
        for endpoint in NETWORK {
            assert_eq!(socket.bind(endpoint), expected, "{head}{endpoint}");
        }
        assert_eq!(socket.connect("tcp://127.0.0.1:1"), expected, "{head}");
        let told = governing.told();
        // Plain text was said explicitly: there is nothing to warn of.
        assert_eq!(told.len(), if expected.is_ok() { 0 } else { 4 }, "{told:?}");
        for line in told {
            assert!(
                line.contains("no rule of") && line.contains("add one"),
                "{line}"
            );
        }
    }
}

#[test]
fn a_stream_is_refused_where_a_rule_says_that_it_is_encrypted() {
    let rules = Rules::new();
    let governing = rules.governing(&format!("[[rule]]\nbind = \"tcp://*:*\"\n{SERVER}"));
    let stream = socket(&governing, SocketType::Stream);
    assert_eq!(stream.bind("tcp://127.0.0.1:*"), Err(Errno::ACCES));
    let plain = "[[rule]]\nbind = \"tcp://*:*\"\nmechanism = \"plain-text\"\n";
    socket(&rules.governing(plain), SocketType::Stream)
        .bind("tcp://127.0.0.1:*")
        .unwrap();
}

#[test]
fn the_mechanism_of_a_program_is_not_taken_from_it_and_never_becomes_plain_text() {
    let rules = Rules::new();
    let on = 1_i32.to_ne_bytes();
    let key = rules.old.secret().as_bytes().to_vec();
    let own: [(&str, Set<'_>); 3] = [
        (
            "CURVE",
            &[(number::CURVE_SERVER, &on), (number::CURVE_SECRETKEY, &key)],
        ),
        // A client that is not complete.
        ("CURVE", &[(number::CURVE_SECRETKEY, &key)]),
        ("PLAIN", &[(number::PLAIN_SERVER, &on)]),
    ];
    let [curve, with_keys] = [
        "mechanism = \"curve\"\n".to_owned(),
        SERVER.replace("blake3", "curve"),
    ];
    let plain = "mechanism = \"plain-text\"\n";
    for (name, options) in own {
        for rule in [SERVER, &with_keys, plain, &curve] {
            // Those that go together.
            if (name == "PLAIN" && rule == plain) || (name == "CURVE" && *rule == curve) {
                continue;
            }
            let governing = rules.governing(&format!("[[rule]]\nbind = \"tcp://*:*\"\n{rule}"));
            let socket = socket(&governing, SocketType::Pull);
            for (option, value) in options {
                socket.set(*option, Some(value)).unwrap();
            }
            assert_eq!(
                socket.bind("tcp://127.0.0.1:*"),
                Err(Errno::ACCES),
                "{name} {rule}"
            );
            let told = governing.told();
            let says = format!("has set {name}");
            assert!(told.len() == 1 && told[0].contains(&says), "{told:?}");
        }
    }
}

#[test]
fn a_line_is_told_once_and_no_more_than_there_is_room_for() {
    let rules = Rules::new();
    let governing = rules.governing("");
    let socket = socket(&governing, SocketType::Push);
    for port in (1..=2 * super::super::MAX_LINES).chain(1..=3) {
        let endpoint = format!("tcp://127.0.0.1:{port}");
        assert_eq!(socket.connect(&endpoint), Err(Errno::ACCES));
    }
    assert_eq!(governing.told().len(), super::super::MAX_LINES);
}
