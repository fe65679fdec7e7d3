//! Wrong keys, wrong domains, nobody there: both sides are told, and no client takes it for an end.

use std::fs;
use std::io::{Read as _, Write as _};

use super::ends::{ANY, Keys, as_str, content, dial, echo, exchange, service};
use crate::support::{Running, run, start};

/// A client of `connector` gets nothing, and not as a clean end.
fn is_cut_off(connector: &mut Running) {
    is_cut_off_at(&connector.endpoint());
}

fn is_cut_off_at(entry: &str) {
    let mut socket = dial(entry);
    let mut received = Vec::new();
    // The system reports a reset once, to the first call.
    let outcome = socket
        .write_all(b"hello")
        .and_then(|()| socket.read_to_end(&mut received));
    assert!(outcome.is_err());
    assert!(received.is_empty());
}

#[test]
fn a_key_that_is_not_allowed_is_refused_and_both_sides_know_why() {
    let keys = Keys::new();
    let mut listener = keys.listen(&service(echo), &["--json"]);
    let mut connector = keys.connect("mallory", &listener.endpoint(), &["--json"]);
    is_cut_off(&mut connector);
    let line = connector.await_line("does not allow our key");
    assert!(line.contains("\"cause\":\"refused\""), "{line}");
    let line = listener.await_line("is not allowed");
    assert!(line.contains("\"cause\":\"not_allowed\""), "{line}");
    let public = fs::read_to_string(keys.path("mallory.pub")).expect("a key");
    let digits = public.trim().rsplit(':').next().expect("digits");
    assert!(line.contains(digits), "{line}");
}

#[test]
fn what_is_allowed_is_read_again_for_each_connection() {
    let keys = Keys::new();
    let (folder, service) = (keys.path("allowed"), service(echo));
    fs::create_dir(&folder).expect("a folder");
    let mut listener = keys.listen_for(&folder, &service);
    let endpoint = listener.endpoint();
    let mut connector = keys.connect("alice", &endpoint, &[]);
    let entry = connector.endpoint();
    is_cut_off_at(&entry);
    fs::copy(keys.path("alice.pub"), keys.path("allowed/alice.pub")).expect("a copy");
    let (received, ended) = exchange(dial(&entry), content(10));
    assert!(ended.is_ok() && received == content(10));
    // A file that cannot be understood lets nobody in, and turns nobody away.
    fs::write(keys.path("allowed/bob.pub"), "?").expect("a file");
    let mut stranger = keys.connect("mallory", &endpoint, &[]);
    is_cut_off(&mut stranger);
    listener.await_line("bob.pub");
    let (received, ended) = exchange(dial(&entry), content(10));
    assert!(ended.is_ok() && received == content(10));
}

/// Both ends ask a vault.
#[test]
fn secret_keys_come_from_commands_too() {
    let keys = Keys::new();
    let from_a_vault = |name: &str, arguments: Vec<String>| {
        let at = arguments
            .iter()
            .position(|word| word == "--secret-key-file");
        let at = at.expect("a key");
        let command = format!("cat '{}'", keys.path(name));
        let mut changed = arguments;
        changed.splice(at..at + 2, ["--secret-key-command".to_owned(), command]);
        changed
    };
    let mut listener = start(&as_str(&from_a_vault(
        "server.key",
        keys.listening(&service(echo), &[]),
    )));
    let connecting = keys.connecting("alice", &listener.endpoint(), &[]);
    let mut connector = start(&as_str(&from_a_vault("alice.key", connecting.clone())));
    let (received, ended) = exchange(dial(&connector.endpoint()), content(10));
    assert!(ended.is_ok() && received == content(10));

    let public = from_a_vault("alice.pub", connecting.clone());
    let told = run(&as_str(&public)).expect_code(1).stderr;
    assert!(told.contains("the output of 'cat "), "{told}");
    let both = [&as_str(&connecting)[..], &["--secret-key-command", "true"]].concat();
    let told = run(&both).expect_code(2).stderr;
    assert!(told.contains("cannot be used with"), "{told}");
    let mut neither = connecting;
    let at = neither.iter().position(|word| word == "--secret-key-file");
    neither.drain(at.map(|at| at..at + 2).expect("a key"));
    let told = run(&as_str(&neither)).expect_code(2).stderr;
    assert!(told.contains("--secret-key-file"), "{told}");
}

#[test]
fn keys_are_allowed_by_their_digits_and_in_lists() {
    let keys = Keys::new();
    let public = |name: &str| {
        let text = fs::read_to_string(keys.path(name)).expect("a key");
        text.trim().lines().last().expect("a line").to_owned()
    };
    let alice = public("alice.pub");
    let digits = alice.rsplit(':').next().expect("digits");
    let list = keys.path("list");
    let lines = format!(
        "# friends\n\n{} mallory of old\n{alice} alice\n",
        public("server.pub")
    );
    fs::write(&list, lines).expect("a file");
    let service = service(echo);
    for allowed in [digits, &list] {
        let mut listener = keys.listen_for(allowed, &service);
        let mut connector = keys.connect("alice", &listener.endpoint(), &[]);
        let (received, ended) = exchange(dial(&connector.endpoint()), content(10));
        assert!(ended.is_ok() && received == content(10), "{allowed}");
    }
}

#[test]
fn another_server_learns_nothing_of_us() {
    let keys = Keys::new();
    let (service, mallory, alice) = (
        service(echo),
        keys.path("mallory.key"),
        keys.path("alice.pub"),
    );
    let mut listener = start(&[
        "tunnel",
        "listen",
        "--bind",
        ANY,
        "--to",
        &service,
        "--allow",
        &alice,
        "--secret-key-file",
        &mallory,
    ]);
    let mut connector = keys.connect("alice", &listener.endpoint(), &[]);
    is_cut_off(&mut connector);
    connector.await_line("not that of --server-key");
    listener.await_line("left during the handshake");
}

#[test]
fn another_domain_is_another_tunnel() {
    let keys = Keys::new();
    let mut listener = keys.listen(&service(echo), &["--domain", "one"]);
    let mut connector = keys.connect("alice", &listener.endpoint(), &["--domain", "other"]);
    is_cut_off(&mut connector);
    connector.await_line("same domain");
}

#[test]
fn a_service_or_a_listener_that_is_not_there_is_named() {
    let keys = Keys::new();
    // A port that was free a moment ago, and that nobody listens on.
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let nobody = format!("tcp://{}", taken.local_addr().expect("an address"));
    drop(taken);
    let mut listener = keys.listen(&nobody, &[]);
    let mut connector = keys.connect("alice", &listener.endpoint(), &[]);
    is_cut_off(&mut connector);
    listener.await_line(&format!("cannot connect to {nobody}"));
    connector.await_line("cannot reach the service");
    let mut connector = keys.connect("alice", &nobody, &[]);
    is_cut_off(&mut connector);
    connector.await_line(&format!("cannot connect to {nobody}"));
}

#[test]
fn mistakes_on_the_command_line_are_told_at_once() {
    let keys = Keys::new();
    let (secret, public) = (keys.path("alice.key"), keys.path("server.pub"));
    let connect = |bind: &str, server: &str, secret: &str| {
        let ends = [
            "tunnel",
            "connect",
            "--bind",
            bind,
            "--to",
            "tcp://127.0.0.1:9",
        ];
        run(&[
            &ends[..],
            &["--server-key", server, "--secret-key-file", secret],
        ]
        .concat())
    };
    connect("ipc:///tmp/x", &public, &secret).expect_code(2);
    connect(ANY, &secret, &secret).expect_code(1);
    connect(ANY, &public, &public).expect_code(1);
    connect(ANY, "0000", &secret).expect_code(1);
    let listen = [
        "tunnel",
        "listen",
        "--bind",
        ANY,
        "--to",
        "tcp://127.0.0.1:9",
    ];
    run(&[&listen[..], &["--secret-key-file", &secret]].concat()).expect_code(2);
    let none = keys.path("none");
    let allow = ["--secret-key-file", &secret, "--allow", &none];
    let failed = run(&[&listen[..], &allow].concat()).expect_code(1);
    assert!(failed.stderr.contains("none"), "{}", failed.stderr);
}

/// Plain text off this machine only when somebody wrote that word.
#[test]
fn a_plain_end_off_this_machine_takes_a_word() {
    let keys = Keys::new();
    let (secret, public) = (keys.path("alice.key"), keys.path("server.pub"));
    let listen = [
        "tunnel", "listen", "--bind", ANY, "--allow", &public, "--to",
    ];
    let connect = [
        "tunnel",
        "connect",
        "--to",
        "tcp://127.0.0.1:9",
        "--server-key",
        &public,
        "--bind",
    ];
    for end in [&listen[..], &connect[..]] {
        for elsewhere in [
            "tcp://no.such.host.invalid:1",
            "tcp://192.0.2.1:1",
            "tcp://*:0",
        ] {
            if elsewhere.contains('*') && end[1] == "listen" {
                continue;
            }
            let arguments = [end, &[elsewhere, "--secret-key-file", &secret]].concat();
            let refused = run(&arguments).expect_code(2);
            assert!(refused.stderr.contains("--plain-text"), "{refused:?}");
        }
        let lost = [end, &["tcp://no.such.host.invalid:1"]].concat();
        let meant = ["--secret-key-file", &secret, "--plain-text"];
        run(&[&lost[..], &meant].concat()).expect_code(5);
    }
    let meant = ["tcp://*:0", "--secret-key-file", &secret, "--plain-text"];
    let mut connector = start(&[&connect[..], &meant].concat());
    connector.await_line("listening on ");
}
