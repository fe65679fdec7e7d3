//! Programs that set BLAKE3 by themselves, with and without rules from outside.

use sealwire::FailureCause;
use sealwire::auth::AllowAnyone;

use super::*;
use crate::errno::Errno;

const ON: [u8; 4] = 1_i32.to_ne_bytes();

fn set(socket: &Socket, options: &[(c_int, &[u8])]) {
    for (option, value) in options {
        socket.set(*option, Some(value)).unwrap();
    }
}

fn without_rules() -> Arc<Governing> {
    Arc::new(Governing::new(Ok(None)))
}

/// A server with its key; the other options say whom it lets in.
fn server_with(
    rules: &Rules,
    governing: &Arc<Governing>,
    others: &[(c_int, &[u8])],
) -> Arc<Socket> {
    let server = socket(governing, SocketType::Pull);
    set(
        &server,
        &[
            (number::BLAKE3_SERVER, &ON),
            (number::BLAKE3_SECRETKEY, rules.server.secret().as_bytes()),
        ],
    );
    set(&server, others);
    server
}

/// A server that lets in `client` only.
fn server_for(rules: &Rules, governing: &Arc<Governing>) -> Arc<Socket> {
    server_with(
        rules,
        governing,
        &[
            (
                number::BLAKE3_ADDITIONAL_SECRETKEY,
                rules.old.secret().as_bytes(),
            ),
            (number::BLAKE3_ALLOW, rules.client.public().as_bytes()),
        ],
    )
}

#[test]
fn a_program_talks_blake3_by_its_own_options() {
    let rules = Rules::new();
    let server = server_for(&rules, &without_rules());
    assert_eq!(mechanism(&server), 100);
    let endpoint = bound(&server, "tcp://*:*");
    for keys in [&rules.server, &rules.old] {
        let security = Security::blake3_client_with_keys(keys.public(), rules.client.clone());
        let client = native(SocketType::Push, security);
        client.connect(&*endpoint).unwrap();
        arrives(&client, &server);
    }
    let security = Security::blake3_server(rules.server.clone(), AllowAnyone);
    let native_server = native(SocketType::Pull, security);
    let endpoint = native_server.bind("tcp://127.0.0.1:0").unwrap();
    for secret in [None, Some(rules.client.secret())] {
        let client = socket(&without_rules(), SocketType::Push);
        set(
            &client,
            &[(number::BLAKE3_SERVERKEY, rules.server.public().as_bytes())],
        );
        if let Some(secret) = secret {
            set(&client, &[(number::BLAKE3_SECRETKEY, secret.as_bytes())]);
        }
        client.connect(&endpoint.to_string()).unwrap();
        let message = leaves(&client, &native_server);
        let key = message.peer().unwrap().public_key();
        let shown = key == Some(rules.client.public());
        assert_eq!(shown, secret.is_some());
    }
}

#[test]
fn clients_in_options_and_in_a_file_come_in_and_no_others() {
    let rules = Rules::new();
    let server = server_for(&rules, &without_rules());
    let listed = KeyPair::generate();
    let path = rules.path("more");
    fs::write(&path, listed.public().to_string()).unwrap();
    set(
        &server,
        &[(number::BLAKE3_ALLOW_FILE, path.to_str().unwrap().as_bytes())],
    );
    let endpoint = bound(&server, "tcp://127.0.0.1:*");
    for (keys, comes) in [
        (&rules.client, true),
        (&listed, true),
        (&KeyPair::generate(), false),
    ] {
        let security = Security::blake3_client_with_keys(rules.server.public(), keys.clone());
        let client = native(SocketType::Push, security);
        let monitor = client.monitor();
        client.connect(&*endpoint).unwrap();
        let came = loop {
            match next(&monitor) {
                Event::Ready { .. } => break true,
                Event::Failed(_) => break false,
                _ => {}
            }
        };
        assert_eq!(came, comes);
    }
}

/// Whether a client with these keys comes in, which knows the server by that key.
fn comes_in(endpoint: &str, server: &KeyPair, client: &KeyPair) -> bool {
    let security = Security::blake3_client_with_keys(server.public(), client.clone());
    !is_refused(endpoint, security)
}

#[test]
fn each_key_of_a_list_counts_for_the_endpoints_after_it_until_all_are_removed() {
    let rules = Rules::new();
    let [second, next] = [(); 2].map(|()| KeyPair::generate());
    let server = server_for(&rules, &without_rules());
    let (allow, additional) = (number::BLAKE3_ALLOW, number::BLAKE3_ADDITIONAL_SECRETKEY);
    set(
        &server,
        &[
            (allow, second.public().to_z85().as_bytes()),
            (additional, next.secret().as_bytes()),
        ],
    );
    let both = bound(&server, "tcp://127.0.0.1:*");
    set(
        &server,
        &[
            (allow, b""),
            (allow, rules.client.public().as_bytes()),
            (additional, b""),
        ],
    );
    let one = bound(&server, "tcp://127.0.0.1:*");
    for (endpoint, others) in [(both, true), (one, false)] {
        for known in [&rules.server, &rules.old, &next] {
            for client in [&rules.client, &second] {
                let listed = client.public() == rules.client.public();
                let own = known.public() == rules.server.public();
                let expected = others || (listed && own);
                assert_eq!(comes_in(&endpoint, known, client), expected);
            }
        }
        assert!(!comes_in(&endpoint, &rules.server, &KeyPair::generate()));
    }
}

#[test]
fn anyone_who_knows_the_key_of_the_server_comes_in_where_the_program_says_so() {
    let rules = Rules::new();
    let server = server_with(&rules, &without_rules(), &[(number::BLAKE3_ANYONE, &ON)]);
    let endpoint = bound(&server, "tcp://127.0.0.1:*");
    let anonymous = Security::blake3_client(rules.server.public());
    assert!(!is_refused(&endpoint, anonymous));
    assert!(comes_in(&endpoint, &rules.server, &KeyPair::generate()));
    assert!(!comes_in(&endpoint, &rules.old, &rules.client));
    assert!(is_refused(&endpoint, Security::plain_text()));
}

#[test]
fn a_file_of_the_programs_own_is_read_again_while_it_runs() {
    let rules = Rules::new();
    let path = rules.path("clients");
    let server = server_with(
        &rules,
        &without_rules(),
        &[(number::BLAKE3_ALLOW_FILE, path.to_str().unwrap().as_bytes())],
    );
    let endpoint = bound(&server, "tcp://127.0.0.1:*");
    let security = Security::blake3_client_with_keys(rules.server.public(), rules.client.clone());
    let client = native(SocketType::Push, security);
    let monitor = client.monitor();
    client.connect(&*endpoint).unwrap();
    arrives(&client, &server);
    let other = KeyPair::generate();
    assert!(!comes_in(&endpoint, &rules.server, &other));
    fs::write(rules.path("new"), other.public().to_string()).unwrap();
    fs::rename(rules.path("new"), &path).unwrap();
    // Nobody asks again for the one that is connected: its connection ends by itself.
    while !matches!(
        next(&monitor),
        Event::Failed(_) | Event::Disconnected { .. }
    ) {}
    assert!(comes_in(&endpoint, &rules.server, &other));
    assert!(!comes_in(&endpoint, &rules.server, &rules.client));
}

#[test]
fn options_that_are_not_complete_fail_at_the_endpoint_and_say_so() {
    let governing = without_rules();
    let server = socket(&governing, SocketType::Pull);
    set(
        &server,
        &[
            (number::BLAKE3_SERVER, &ON),
            (number::BLAKE3_SECRETKEY, &[5; 32]),
        ],
    );
    assert_eq!(server.bind("tcp://127.0.0.1:*"), Err(Errno::INVAL));
    assert_eq!(text(&server, number::LAST_ENDPOINT), "");
    let told = governing.told();
    assert!(
        told.len() == 1 && told[0].contains("ZMQ_BLAKE3_ALLOW"),
        "{told:?}"
    );
    set(&server, &[(number::BLAKE3_ANYONE, &ON)]);
    server.bind("tcp://127.0.0.1:*").unwrap();
}

#[test]
fn without_its_zap_handler_a_server_lets_nobody_in() {
    let rules = Rules::new();
    let server = server_with(&rules, &without_rules(), &[(number::ZAP_DOMAIN, b"domain")]);
    let endpoint = bound(&server, "tcp://127.0.0.1:*");
    let security = Security::blake3_client_with_keys(rules.server.public(), rules.client.clone());
    let client = native(SocketType::Push, security);
    let monitor = client.monitor();
    client.connect(&*endpoint).unwrap();
    loop {
        match next(&monitor) {
            Event::Failed(_) => break,
            Event::Ready { .. } => panic!("nobody decided"),
            _ => {}
        }
    }
}

#[test]
fn rules_do_not_replace_the_blake3_of_a_program_and_may_leave_it_to_it() {
    let rules = Rules::new();
    for (rule, expected) in [
        (SERVER, Err(Errno::ACCES)),
        ("mechanism = \"plain-text\"\n", Err(Errno::ACCES)),
        ("mechanism = \"blake3\"\n", Ok(())),
    ] {
        let governing = rules.governing(&format!("[[rule]]\nbind = \"tcp://*:*\"\n{rule}"));
        let server = server_for(&rules, &governing);
        assert_eq!(server.bind("tcp://127.0.0.1:*"), expected, "{rule}");
    }
}

#[test]
fn the_last_failure_is_told_with_its_cause_until_a_connection_is_ready() {
    let rules = Rules::new();
    let server = server_for(&rules, &without_rules());
    assert_eq!(text(&server, number::LAST_FAILURE), "");
    let endpoint = bound(&server, "tcp://127.0.0.1:*");
    let stranger = native(SocketType::Push, Security::plain_text());
    let monitor = stranger.monitor();
    let failures = server.inner_monitor();
    stranger.connect(&*endpoint).unwrap();
    while !matches!(next(&monitor), Event::Failed(_)) {}
    loop {
        if let Event::Failed(failure) = next(&failures) {
            assert!(matches!(failure.cause(), FailureCause::Protocol(_)));
            break;
        }
    }
    let told = text(&server, number::LAST_FAILURE);
    assert!(
        told.contains("mechanism NULL") && told.contains("BLAKE3"),
        "{told}"
    );
}

#[test]
fn a_listener_takes_as_many_connections_as_it_may() {
    let server = socket(&without_rules(), SocketType::Pull);
    set(&server, &[(number::MAX_CONNECTIONS_PER_ADDRESS, &ON)]);
    let endpoint = bound(&server, "tcp://127.0.0.1:*");
    let first = native(SocketType::Push, Security::plain_text());
    first.connect(&*endpoint).unwrap();
    arrives(&first, &server);
    let second = native(SocketType::Push, Security::plain_text());
    let monitor = second.monitor();
    second.connect(&*endpoint).unwrap();
    loop {
        match next(&monitor) {
            Event::Failed(_) => break,
            Event::Ready { .. } => panic!("a second one of the same address was taken"),
            _ => {}
        }
    }
}
