//! What rules let through: with the mechanism, the keys and the clients that they name.

use sealwire::Mechanism;
use sealwire::auth::{AllowAnyone, AllowedKeys};

use super::*;

fn blake3_client(rules: &Rules) -> Security {
    Security::blake3_client_with_keys(rules.server.public(), rules.client.clone()).into()
}

fn allowed(rules: &Rules) -> AllowedKeys {
    AllowedKeys::new().allow_as(rules.client.public(), "alice")
}

#[test]
fn a_server_by_rule_talks_blake3_to_those_on_its_list_and_to_nobody_else() {
    let rules = Rules::new();
    for (pattern, endpoint) in [
        ("tcp://*:*", "tcp://127.0.0.1:*"),
        ("tcp://*:*", "tcp://*:*"),
        ("ws://*:*", "ws://127.0.0.1:*"),
        ("ipc://*", "ipc://*"),
    ] {
        let server = socket(&rules.server(pattern), SocketType::Pull);
        assert_eq!(mechanism(&server), 0);
        let endpoint = bound(&server, endpoint);
        assert_eq!(mechanism(&server), 100, "{endpoint}");
        let client = native(SocketType::Push, blake3_client(&rules));
        client.connect(&*endpoint).unwrap();
        arrives(&client, &server);
        let stranger = KeyPair::generate();
        let server_key = rules.server.public();
        for security in [
            Security::plain_text(),
            Security::curve_client(server_key, rules.client.clone()),
            Security::blake3_client(server_key).into(),
            Security::blake3_client_with_keys(server_key, stranger.clone()).into(),
            Security::blake3_client_with_keys(stranger.public(), rules.client.clone()).into(),
        ] {
            let name = format!("{endpoint} {security:?}");
            assert!(is_refused(&endpoint, security), "{name}");
        }
    }
}

#[test]
fn a_client_by_rule_talks_blake3_and_shows_its_key() {
    let rules = Rules::new();
    let governing = rules.governing(&format!("[[rule]]\nconnect = \"tcp://*:*\"\n{CLIENT}"));
    let security = Security::blake3_server(rules.server.clone(), allowed(&rules));
    let server = native(SocketType::Pull, security);
    let endpoint = server.bind("tcp://127.0.0.1:0").unwrap();
    let client = socket(&governing, SocketType::Push);
    client.connect(&endpoint.to_string()).unwrap();
    let message = leaves(&client, &server);
    let peer = message.peer().unwrap();
    assert_eq!(peer.mechanism(), Some(Mechanism::Blake3));
    assert_eq!(peer.user_id(), Some("alice"));
    assert_eq!(mechanism(&client), 100);
}

#[test]
fn a_client_may_stay_anonymous_where_anyone_may_come() {
    let rules = Rules::new();
    let anonymous = CLIENT.replace("secret_key_file = \"client.key\"", "anonymous = true");
    let anyone = SERVER.replace("\"clients\"", "\"anyone\"");
    let both = rules.governing(&format!(
        "[[rule]]\nconnect = \"tcp://*:*\"\n{anonymous}[[rule]]\nbind = \"tcp://*:*\"\n{anyone}"
    ));
    let (server, client) = (
        socket(&both, SocketType::Pull),
        socket(&both, SocketType::Push),
    );
    client
        .connect(&bound(&server, "tcp://127.0.0.1:*"))
        .unwrap();
    passes(&client, &server);
    assert_eq!((mechanism(&server), mechanism(&client)), (100, 100));
}

/// The key that the next message came with.
fn key_shown(from: &Socket, to: &Native) -> sealwire::PublicKey {
    leaves(from, to).peer().unwrap().public_key().unwrap()
}

#[test]
fn an_anonymous_client_shows_another_key_on_each_connection() {
    let rules = Rules::new();
    let anonymous = CLIENT.replace("secret_key_file = \"client.key\"", "anonymous = true");
    let governing = rules.governing(&format!("[[rule]]\nconnect = \"tcp://*:*\"\n{anonymous}"));
    let keys = [(); 2].map(|()| {
        let security = Security::blake3_server(rules.server.clone(), AllowAnyone);
        let server = native(SocketType::Pull, security);
        let endpoint = server.bind("tcp://127.0.0.1:0").unwrap();
        let client = socket(&governing, SocketType::Push);
        client.connect(&endpoint.to_string()).unwrap();
        key_shown(&client, &server)
    });
    assert_ne!(keys[0], keys[1]);
}

#[test]
fn the_list_of_a_server_may_be_a_directory_and_an_empty_one_is_told_of() {
    let rules = Rules::new();
    let folder = rules.path("clients.d");
    fs::create_dir(&folder).unwrap();
    let governing = rules.governing(&format!(
        "[[rule]]\nbind = \"tcp://*:*\"\n{}",
        SERVER.replace("\"clients\"", "\"clients.d\"")
    ));
    let server = socket(&governing, SocketType::Pull);
    let monitor = server.inner_monitor();
    let endpoint = bound(&server, "tcp://127.0.0.1:*");
    while !matches!(next(&monitor), Event::NobodyAllowed { .. }) {}
    assert!(is_refused(&endpoint, blake3_client(&rules)));

    fs::copy(rules.path("client.pub"), folder.join("alice.pub")).unwrap();
    let server = socket(&governing, SocketType::Pull);
    let endpoint = bound(&server, "tcp://127.0.0.1:*");
    let client = native(SocketType::Push, blake3_client(&rules));
    client.connect(&*endpoint).unwrap();
    arrives(&client, &server);
    let stranger = KeyPair::generate();
    let stranger = Security::blake3_client_with_keys(rules.server.public(), stranger);
    assert!(is_refused(&endpoint, stranger));
}

#[test]
fn the_server_of_a_rule_may_connect_and_the_client_bind() {
    let rules = Rules::new();
    let governing = rules.governing(&format!(
        "[[rule]]\nbind = \"tcp://*:*\"\n{CLIENT}[[rule]]\nconnect = \"tcp://*:*\"\n{SERVER}"
    ));
    let (client, server) = (
        socket(&governing, SocketType::Pull),
        socket(&governing, SocketType::Push),
    );
    server
        .connect(&bound(&client, "tcp://127.0.0.1:*"))
        .unwrap();
    passes(&server, &client);
}

#[test]
fn a_rule_can_say_curve() {
    let rules = Rules::new();
    let [server_rule, client_rule] = [SERVER, CLIENT].map(|rule| rule.replace("blake3", "curve"));
    let governing = rules.governing(&format!(
        "[[rule]]\nbind = \"tcp://*:*\"\n{server_rule}[[rule]]\nconnect = \"tcp://*:*\"\n{client_rule}"
    ));
    let server = socket(&governing, SocketType::Pull);
    let endpoint = bound(&server, "tcp://127.0.0.1:*");
    assert_eq!(mechanism(&server), 2);
    let security = Security::curve_client(rules.server.public(), rules.client.clone());
    let client = native(SocketType::Push, security);
    client.connect(&*endpoint).unwrap();
    arrives(&client, &server);
    assert!(is_refused(&endpoint, Security::plain_text()));

    let native_server = native(
        SocketType::Pull,
        Security::curve_server(rules.server.clone(), allowed(&rules)),
    );
    let endpoint = native_server.bind("tcp://127.0.0.1:0").unwrap();
    let client = socket(&governing, SocketType::Push);
    client.connect(&endpoint.to_string()).unwrap();
    assert_eq!(
        leaves(&client, &native_server).peer().unwrap().user_id(),
        Some("alice")
    );
}

#[test]
fn clients_that_know_the_old_key_of_a_server_come_in_too() {
    let rules = Rules::new();
    let governing = rules.governing(&format!(
        "[[rule]]\nbind = \"tcp://*:*\"\n{SERVER}additional_secret_key_file = \"old.key\"\n"
    ));
    let server = socket(&governing, SocketType::Pull);
    let endpoint = bound(&server, "tcp://127.0.0.1:*");
    for keys in [&rules.server, &rules.old] {
        let security = Security::blake3_client_with_keys(keys.public(), rules.client.clone());
        let client = native(SocketType::Push, security);
        client.connect(&*endpoint).unwrap();
        arrives(&client, &server);
    }
}

#[test]
fn a_list_is_read_again_while_the_program_runs() {
    let rules = Rules::new();
    let server = socket(&rules.server("tcp://*:*"), SocketType::Pull);
    let endpoint = bound(&server, "tcp://127.0.0.1:*");
    let late = KeyPair::generate();
    let security = || Security::blake3_client_with_keys(rules.server.public(), late.clone());
    assert!(is_refused(&endpoint, security()));
    let old = fs::read_to_string(rules.path("clients")).unwrap();
    fs::write(rules.path("new"), format!("{old}{}\n", late.public())).unwrap();
    fs::rename(rules.path("new"), rules.path("clients")).unwrap();
    let client = native(SocketType::Push, security());
    let monitor = client.monitor();
    client.connect(&*endpoint).unwrap();
    arrives(&client, &server);
    // It may have come before the list was read again, and been refused at first.
    while !matches!(next(&monitor), Event::Ready { .. }) {}
    // Off the list again.
    fs::write(rules.path("new"), old).unwrap();
    fs::rename(rules.path("new"), rules.path("clients")).unwrap();
    while !matches!(
        next(&monitor),
        Event::Failed(_) | Event::Disconnected { .. }
    ) {}
    assert!(is_refused(&endpoint, security()));
}

#[test]
fn each_endpoint_of_a_socket_has_its_own_rule_whatever_options_are_set_between() {
    let rules = Rules::new();
    let other = SERVER.replace("server.key", "old.key");
    let governing = rules.governing(&format!(
        "[[rule]]\nbind = \"tcp://127.0.0.1:*\"\n{SERVER}\
         [[rule]]\nbind = \"tcp://localhost:*\"\n{other}\
         [[rule]]\nbind = \"tcp://127.0.0.2:*\"\nmechanism = \"plain-text\"\n"
    ));
    let server = socket(&governing, SocketType::Pull);
    let endpoints = [
        "127.0.0.1",
        "127.0.0.1",
        "localhost",
        "127.0.0.2",
        "127.0.0.1",
    ]
    .map(|host| {
        let endpoint = bound(&server, &format!("tcp://{host}:*"));
        let shown = mechanism(&server);
        // Gives the engine all options again.
        server
            .set(number::SNDHWM, Some(&7_i32.to_ne_bytes()))
            .unwrap();
        (endpoint, shown)
    });
    let with = |keys: &KeyPair| {
        Security::from(Security::blake3_client_with_keys(
            keys.public(),
            rules.client.clone(),
        ))
    };
    let [first, same, second, plain, again] = &endpoints;
    for ((endpoint, shown), security, number) in [
        (first, with(&rules.server), 100),
        (same, with(&rules.server), 100),
        (second, with(&rules.old), 100),
        (plain, Security::plain_text(), 0),
        (again, with(&rules.server), 100),
    ] {
        assert_eq!(*shown, number, "{endpoint}");
        let client = native(SocketType::Push, security);
        client.connect(&**endpoint).unwrap();
        arrives(&client, &server);
    }
    assert!(is_refused(&first.0, with(&rules.old)));
    assert!(is_refused(&same.0, Security::plain_text()));
    assert!(is_refused(&second.0, Security::plain_text()));
}

#[test]
fn an_endpoint_has_the_keys_of_its_rule_right_after_one_of_another() {
    let rules = Rules::new();
    let other = SERVER.replace("server.key", "old.key");
    let governing = rules.governing(&format!(
        "[[rule]]\nbind = \"tcp://127.0.0.1:*\"\n{SERVER}[[rule]]\nbind = \"tcp://localhost:*\"\n{other}"
    ));
    let server = socket(&governing, SocketType::Pull);
    let endpoints =
        ["127.0.0.1", "localhost"].map(|host| bound(&server, &format!("tcp://{host}:*")));
    for (endpoint, keys) in endpoints.iter().zip([&rules.server, &rules.old]) {
        let security = Security::blake3_client_with_keys(keys.public(), rules.client.clone());
        let client = native(SocketType::Push, security);
        client.connect(&**endpoint).unwrap();
        arrives(&client, &server);
    }
}

#[test]
fn ipc_is_plain_text_unless_a_rule_names_it_and_inproc_has_no_rules() {
    let rules = Rules::new();
    let governing = rules.server("ipc:///nowhere/*");
    let server = socket(&governing, SocketType::Pull);
    let endpoint = bound(&server, "ipc://*");
    assert_eq!(mechanism(&server), 0);
    let client = native(SocketType::Push, Security::plain_text());
    client.connect(&*endpoint).unwrap();
    arrives(&client, &server);

    let context = Arc::new(Context::new(governing));
    let [pull, push] = [SocketType::Pull, SocketType::Push].map(|one| context.open_briefly(one));
    pull.bind("inproc://here").unwrap();
    push.connect("inproc://here").unwrap();
    passes(&push, &pull);
}

#[test]
fn a_rule_overrides_the_mechanism_of_a_program_only_where_it_says_so() {
    let rules = Rules::new();
    let governing = rules.governing(&format!(
        "[[rule]]\nbind = \"tcp://127.0.0.1:*\"\n{SERVER}override = true\n\
         [[rule]]\nbind = \"tcp://127.0.0.2:*\"\nmechanism = \"curve\"\n"
    ));
    let own = KeyPair::generate();
    let server = socket(&governing, SocketType::Pull);
    server
        .set(number::CURVE_SERVER, Some(&1_i32.to_ne_bytes()))
        .unwrap();
    server
        .set(number::CURVE_SECRETKEY, Some(own.secret().as_bytes()))
        .unwrap();
    let ruled = bound(&server, "tcp://127.0.0.1:*");
    assert_eq!(mechanism(&server), 100);
    let kept = bound(&server, "tcp://127.0.0.2:*");
    assert_eq!(mechanism(&server), 2);
    for (endpoint, security) in [
        (ruled, blake3_client(&rules)),
        (
            kept,
            Security::curve_client(own.public(), rules.client.clone()),
        ),
    ] {
        let client = native(SocketType::Push, security);
        client.connect(&*endpoint).unwrap();
        arrives(&client, &server);
    }
}

#[test]
fn without_rules_a_program_is_as_with_libzmq_and_warned_once_of_plain_text() {
    let governing = Arc::new(Governing::new(Ok(None)));
    let server = socket(&governing, SocketType::Pull);
    for endpoint in ["tcp://127.0.0.1:*", "ipc://*"] {
        let endpoint = bound(&server, endpoint);
        let client = native(SocketType::Push, Security::plain_text());
        client.connect(&*endpoint).unwrap();
        arrives(&client, &server);
    }
    assert_eq!(governing.told(), [] as [&str; 0]);
    // CURVE of the program's own is not plain text.
    let curve = socket(&governing, SocketType::Pull);
    curve
        .set(number::CURVE_SERVER, Some(&1_i32.to_ne_bytes()))
        .unwrap();
    bound(&curve, "tcp://*:*");
    assert_eq!(governing.told(), [] as [&str; 0]);
    // Whatever was told before, once.
    governing.tell("another line".into());
    governing.tell("another line".into());
    let any = bound(&server, "tcp://*:*");
    let client = native(SocketType::Push, Security::plain_text());
    client.connect(&*any).unwrap();
    arrives(&client, &server);
    server.connect("tcp://192.0.2.1:1").unwrap();
    let told = governing.told();
    let [_, warning] = &told[..] else {
        panic!("{told:?}")
    };
    assert!(
        warning.starts_with("tcp://*:0 is plain text and leaves this machine"),
        "{warning}"
    );
    assert!(warning.contains("SEALWIRE_CONFIG"), "{warning}");
}

#[test]
fn the_plain_of_a_program_is_plain_text_too() {
    let governing = Arc::new(Governing::new(Ok(None)));
    let server = socket(&governing, SocketType::Pull);
    let on = 1_i32.to_ne_bytes();
    server.set(number::PLAIN_SERVER, Some(&on)).unwrap();
    bound(&server, "tcp://*:*");
    let told = governing.told();
    assert!(
        told.len() == 1 && told[0].contains("is plain text and leaves this machine"),
        "{told:?}"
    );
}

#[test]
fn a_server_that_lets_anyone_in_by_the_program_is_no_server_of_a_rule() {
    // A client of a rule does not talk to a server without the key.
    let rules = Rules::new();
    let governing = rules.governing(&format!("[[rule]]\nconnect = \"tcp://*:*\"\n{CLIENT}"));
    let other = KeyPair::generate();
    for security in [
        Security::blake3_server(other, AllowAnyone).into(),
        Security::plain_text(),
    ] {
        let server = native(SocketType::Pull, security);
        let monitor = server.monitor();
        let endpoint = server.bind("tcp://127.0.0.1:0").unwrap();
        let client = socket(&governing, SocketType::Push);
        client.connect(&endpoint.to_string()).unwrap();
        loop {
            match next(&monitor) {
                Event::Failed(_) => break,
                Event::Ready { .. } => panic!("a server without the key was taken"),
                _ => {}
            }
        }
    }
}
