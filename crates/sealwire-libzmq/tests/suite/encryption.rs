//! A program that knows nothing of encryption, under rules, beside peers that are written for Sealwire.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::process::Command;

use sealwire::auth::AllowedKeys;
use sealwire::blocking::Socket;
use sealwire::{Event, Generate as _, KeyPair, Mechanism, Security, SocketType, keys};

use crate::support::{Folder, LIMIT, Relay, Talker, contains};

const PAYLOAD: &str = "nobody on the way reads this";

struct Scene {
    folder: Folder,
    server: KeyPair,
    client: KeyPair,
}

impl Scene {
    fn new() -> Self {
        let folder = Folder::new();
        let source = include_str!("talker.c");
        folder.write("talker.c", source);
        folder.compile(&[
            "-std=c99",
            "-D_GNU_SOURCE",
            "-o",
            "talker",
            "talker.c",
            "-lzmq",
        ]);
        let [server, client] = [(); 2].map(|()| KeyPair::generate());
        keys::write_key_pair(folder.path("server"), &server).unwrap();
        keys::write_key_pair(folder.path("client"), &client).unwrap();
        Scene {
            folder,
            server,
            client,
        }
    }

    fn command(&self) -> Command {
        self.folder.command("talker")
    }

    /// The program with a file of rules for both of its roles.
    fn with_rules(&self) -> Command {
        let rules = self.folder.write(
            "rules.conf",
            "version = 1\n\
             [[rule]]\nbind = \"tcp://127.0.0.1:*\"\ntypes = [\"REP\"]\nmechanism = \"blake3\"\n\
             secret_key_file = \"server.key\"\nallow = \"client.pub\"\n\
             [[rule]]\nconnect = \"tcp://127.0.0.1:*\"\nmechanism = \"blake3\"\n\
             server_key_file = \"server.pub\"\nsecret_key_file = \"client.key\"\n",
        );
        let mut command = self.command();
        command.env("SEALWIRE_CONFIG", rules);
        command
    }

    /// The same by variables.
    fn with_variables(&self) -> Command {
        let mut command = self.command();
        command
            .env("SEALWIRE_SERVER_KEY", self.server.public().to_string())
            .env("SEALWIRE_SECRET_KEY_FILE", "client.key");
        command
    }

    /// A server that lets the client of the scene in, and its endpoint.
    fn served(&self) -> (Socket, String) {
        let allowed = AllowedKeys::new().allow(self.client.public());
        let security = Security::blake3_server(self.server.clone(), allowed);
        let server = native(SocketType::Rep, security);
        let endpoint = server.bind("tcp://127.0.0.1:0").unwrap().to_string();
        (server, endpoint)
    }
}

fn native(socket_type: SocketType, security: impl Into<Security>) -> Socket {
    Socket::builder(socket_type)
        .security(security)
        .send_timeout(LIMIT)
        .receive_timeout(LIMIT)
        .build_blocking()
        .unwrap()
}

/// Asks a program that answers, over a relay. Gives its mechanism and the bytes that passed.
fn ask(
    command: &mut Command,
    transport: &str,
    security: impl Into<Security>,
) -> (String, [Vec<u8>; 2]) {
    let any = format!("{transport}://127.0.0.1:*");
    let mut program = Talker::start(command, &["rep", &any]);
    let first = program.line();
    let (endpoint, rest) = first.split_once(' ').unwrap();
    let (_, address) = endpoint.split_once("://").unwrap();
    let address = address.split('/').next().unwrap();
    let relay = Relay::to(&format!("tcp://{address}"));
    let client = native(SocketType::Req, security);
    let near = relay.endpoint.replacen("tcp", transport, 1);
    client.connect(&*near).unwrap();
    client.send(PAYLOAD).unwrap();
    assert_eq!(client.recv().unwrap().as_bytes(), PAYLOAD.as_bytes());
    assert_eq!(program.line(), PAYLOAD);
    let (done, errors) = program.end();
    assert!(done, "{errors}");
    assert_eq!(errors, "");
    (rest.to_owned(), relay.recorded())
}

#[test]
fn a_program_that_answers_is_encrypted_by_a_file_of_rules() {
    let scene = Scene::new();
    let security = Security::blake3_client_with_keys(scene.server.public(), scene.client.clone());
    let (told, ways) = ask(&mut scene.with_rules(), "tcp", security);
    assert_eq!(told, "mechanism 100 secure 0");
    for way in &ways {
        // The mechanism of the greeting has a place of 20 octets.
        assert_eq!(&way[12..32], b"BLAKE3\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
        assert!(way.len() > 64 + PAYLOAD.len());
        assert!(!contains(way, PAYLOAD.as_bytes()));
        assert!(!contains(way, &PAYLOAD.as_bytes()[..8]));
    }
    // The same program without rules, which the search would find.
    let (told, ways) = ask(&mut scene.command(), "tcp", Security::plain_text());
    assert_eq!(told, "mechanism 0 secure 0");
    for way in &ways {
        assert_eq!(&way[12..32], b"NULL\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
        assert!(contains(way, PAYLOAD.as_bytes()));
    }
}

#[test]
fn a_program_that_asks_is_encrypted_by_a_file_or_by_variables() {
    let scene = Scene::new();
    let allowed = AllowedKeys::new().allow_as(scene.client.public(), "alice");
    for mut command in [scene.with_rules(), scene.with_variables()] {
        let security = Security::blake3_server(scene.server.clone(), allowed.clone());
        let server = native(SocketType::Rep, security);
        let endpoint = server.bind("tcp://127.0.0.1:0").unwrap();
        let relay = Relay::to(&endpoint.to_string());
        let mut program = Talker::start(&mut command, &["req", &relay.endpoint, PAYLOAD]);
        let request = server.recv().unwrap();
        assert_eq!(request.as_bytes(), PAYLOAD.as_bytes());
        let peer = request.peer().unwrap();
        assert_eq!(peer.mechanism(), Some(Mechanism::Blake3));
        assert_eq!(peer.user_id(), Some("alice"));
        server.send("an answer").unwrap();
        assert!(program.line().ends_with("mechanism 100 secure 0"));
        assert_eq!(program.line(), "an answer");
        let (done, errors) = program.end();
        assert!(done && errors.is_empty(), "{errors}");
        for way in relay.recorded() {
            assert_eq!(&way[12..18], b"BLAKE3");
            assert!(!contains(&way, PAYLOAD.as_bytes()) && !contains(&way, b"an answer"));
        }
    }
}

#[test]
fn a_program_is_refused_by_a_file_with_a_fault_and_one_that_is_missing() {
    let scene = Scene::new();
    let broken = scene
        .folder
        .write("broken", "version = 1\n\ndefaults = 1\n");
    let missing = scene.folder.path("missing");
    let refused = format!("errno {}", libc::EACCES);
    for (path, says) in [(broken, ", line 3: unknown key"), (missing, "no such file")] {
        for arguments in [
            &["rep", "tcp://127.0.0.1:*"][..],
            &["req", "tcp://127.0.0.1:1", ""],
        ] {
            let mut command = scene.command();
            command.env("SEALWIRE_CONFIG", &path);
            let mut program = Talker::start(&mut command, arguments);
            assert_eq!(program.line(), refused);
            let (done, errors) = program.end();
            assert!(!done);
            assert_eq!(errors.lines().count(), 1, "{errors}");
            let place = path.display().to_string();
            assert!(errors.contains(&place) && errors.contains(says), "{errors}");
        }
    }
}

#[test]
fn a_program_that_a_rule_does_not_name_is_refused() {
    let scene = Scene::new();
    let refused = format!("errno {}", libc::EACCES);
    // The server of its variables is for what connects.
    let mut program = Talker::start(&mut scene.with_variables(), &["rep", "tcp://127.0.0.1:*"]);
    assert_eq!(program.line(), refused);
    let (_, errors) = program.end();
    assert!(
        errors.contains("no rule of SEALWIRE_SERVER_KEY names it"),
        "{errors}"
    );
    let mut program = Talker::start(&mut scene.with_rules(), &["rep", "tcp://*:*"]);
    assert_eq!(program.line(), refused);
    let (_, errors) = program.end();
    assert!(
        errors.contains("no rule of ") && errors.contains("rules.conf"),
        "{errors}"
    );
}

#[test]
fn a_program_without_rules_is_told_once_that_plain_text_leaves_the_machine() {
    let scene = Scene::new();
    let mut program = Talker::start(&mut scene.command(), &["rep", "tcp://*:*"]);
    let first = program.line();
    let endpoint = first
        .split(' ')
        .next()
        .unwrap()
        .replace("0.0.0.0", "127.0.0.1");
    let client = native(SocketType::Req, Security::plain_text());
    client.connect(&*endpoint).unwrap();
    client.send(PAYLOAD).unwrap();
    assert_eq!(client.recv().unwrap().as_bytes(), PAYLOAD.as_bytes());
    assert_eq!(program.line(), PAYLOAD);
    let (done, errors) = program.end();
    assert!(done, "{errors}");
    assert!(
        errors.contains("is plain text and leaves this machine"),
        "{errors}"
    );
    assert_eq!(errors.lines().count(), 1, "{errors}");
}

#[test]
fn a_log_says_of_each_connection_who_is_there_and_how_it_is_protected() {
    let scene = Scene::new();
    let (server, endpoint) = scene.served();
    let mut command = scene.with_rules();
    command.env("SEALWIRE_LOG", "info");
    let mut program = Talker::start(&mut command, &["req", &endpoint, PAYLOAD]);
    let ready = program.error_line();
    let key = scene.server.public();
    let expected = format!(" ready: REP {endpoint} ({key}), mechanism BLAKE3");
    let begins = ready.starts_with("sealwire: connection ");
    assert!(begins && ready.ends_with(&expected), "{ready}");
    assert_eq!(server.recv().unwrap().as_bytes(), PAYLOAD.as_bytes());
    server.send("an answer").unwrap();
    assert!(program.end().0);

    // What fails is told at any detail, and a word that is none is told of.
    let stranger = KeyPair::generate();
    let wrong = scene.folder.path("stranger");
    keys::write_key_pair(&wrong, &stranger).unwrap();
    for (detail, says) in [
        (
            "warning",
            "this key is not allowed here cause=\"refused_by_peer\"",
        ),
        ("loud", "SEALWIRE_LOG is \"loud\", and nothing is logged"),
    ] {
        let mut command = scene.command();
        command
            .env("SEALWIRE_SERVER_KEY", scene.server.public().to_string())
            .env("SEALWIRE_SECRET_KEY_FILE", "stranger.key")
            .env("SEALWIRE_LOG", detail);
        let mut program = Talker::start(&mut command, &["req", &endpoint, PAYLOAD]);
        let line = program.error_line();
        assert!(line.contains(says), "{line}");
    }
}

/// Needs a user who may give files away; elsewhere it tests nothing.
#[test]
fn a_program_with_rights_of_others_is_not_told_anything_by_its_environment() {
    let scene = Scene::new();
    let [library, program] = ["libzmq.so.5", "talker"].map(|name| scene.folder.path(name));
    if fs::metadata(&program).unwrap().uid() != 0 || fs::exists("/etc/sealwire").unwrap() {
        return;
    }
    // Its loader does not read the environment either.
    let folder = library.parent().unwrap().display().to_string();
    let path = format!("-Wl,-rpath,{folder}");
    let arguments = [
        "-std=c99",
        "-D_GNU_SOURCE",
        "-o",
        "secure",
        "talker.c",
        "-lzmq",
        &path,
    ];
    scene.folder.compile(&arguments);
    let secure = scene.folder.path("secure");
    chown(&secure, Some(65_534), None).unwrap();
    fs::set_permissions(&secure, fs::Permissions::from_mode(0o4755)).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    for (name, bound) in [("talker", false), ("secure", true)] {
        let mut command = scene.folder.command(name);
        command
            .env("SEALWIRE_CONFIG", "/nowhere")
            .env("SEALWIRE_LOG", "loud");
        let mut program = Talker::start(&mut command, &["rep", "tcp://127.0.0.1:*"]);
        let first = program.line();
        if bound && first.ends_with("secure 0") {
            // The file system gives no rights.
            return;
        }
        assert_eq!(first.ends_with("mechanism 0 secure 1"), bound, "{first}");
        assert_eq!(
            first == format!("errno {}", libc::EACCES),
            !bound,
            "{first}"
        );
        if bound {
            let client = native(SocketType::Req, Security::plain_text());
            client.connect(first.split(' ').next().unwrap()).unwrap();
            client.send(PAYLOAD).unwrap();
            assert_eq!(client.recv().unwrap().as_bytes(), PAYLOAD.as_bytes());
        }
        let (_, errors) = program.end();
        assert_eq!(errors.contains("SEALWIRE_LOG"), !bound, "{errors}");
        // It says so of what was to give it rules.
        let says = "SEALWIRE_CONFIG is not believed in a process with rights that its user has not";
        assert_eq!(errors.contains(says), bound, "{errors}");
    }
}

/// The connection id in a line of the log, and what follows it.
fn connection_id(line: &str) -> (u64, &str) {
    let rest = line.strip_prefix("sealwire: connection ").expect(line);
    let (number, rest) = rest.split_once(' ').expect(line);
    (number.parse().expect(line), rest)
}

#[test]
fn a_log_says_of_each_connection_when_it_has_ended() {
    let scene = Scene::new();
    // Of those that a program accepts, and goes on without.
    let mut command = scene.with_rules();
    command.env("SEALWIRE_LOG", "info");
    let mut program = Talker::start(&mut command, &["rep", "tcp://127.0.0.1:*"]);
    let first = program.line();
    let endpoint = first.split(' ').next().unwrap();
    // Known by the file of its key.
    let known = "(client)";
    for _ in 0..2 {
        let security =
            Security::blake3_client_with_keys(scene.server.public(), scene.client.clone());
        let client = native(SocketType::Req, security);
        let monitor = client.monitor();
        client.connect(endpoint).unwrap();
        let ready = program.error_line();
        // One that ends before it has read all that came breaks, which is a failure.
        while !matches!(
            monitor.wait_next_timeout(LIMIT).expect("an event"),
            Event::Ready { .. }
        ) {}
        drop(client);
        let ended = program.error_line();
        let (number, rest) = connection_id(&ready);
        assert!(
            rest.starts_with("ready: REQ ") && rest.contains(known),
            "{ready}"
        );
        let (of_end, rest) = connection_id(&ended);
        assert_eq!(of_end, number, "{ended}");
        let says = rest.starts_with("with ") && rest.contains(known) && rest.contains(" ended");
        assert!(says, "{ended}");
    }

    // And of one that it made.
    let (server, endpoint) = scene.served();
    let mut command = scene.with_rules();
    command.env("SEALWIRE_LOG", "info");
    let mut program = Talker::start(&mut command, &["req", &endpoint, PAYLOAD]);
    let ready = program.error_line();
    assert_eq!(server.recv().unwrap().as_bytes(), PAYLOAD.as_bytes());
    drop(server);
    let ended = program.error_line();
    let (number, rest) = connection_id(&ready);
    assert!(rest.starts_with("ready: REP "), "{ready}");
    let (of_end, rest) = connection_id(&ended);
    assert_eq!(of_end, number, "{ended}");
    let says = rest.starts_with(&format!("with {endpoint} ")) && rest.contains(" ended");
    assert!(says, "{ended}");
}

/// The same of one that has this rule.
fn ask_by_rule(
    scene: &Scene,
    transport: &str,
    rule: &str,
    security: impl Into<Security>,
) -> (String, [Vec<u8>; 2]) {
    let text = format!("version = 1\n[[rule]]\nbind = \"{transport}://127.0.0.1:*\"\n{rule}");
    let rules = scene.folder.write("rules.conf", &text);
    let mut command = scene.command();
    command.env("SEALWIRE_CONFIG", rules);
    ask(&mut command, transport, security)
}

const KEYS: &str = "secret_key_file = \"server.key\"\nallow = \"client.pub\"\n";

#[test]
fn a_rule_for_curve_encrypts_what_passes() {
    let scene = Scene::new();
    let security = Security::curve_client(scene.server.public(), scene.client.clone());
    let keys = format!("mechanism = \"curve\"\n{KEYS}");
    let (told, ways) = ask_by_rule(&scene, "tcp", &keys, security);
    assert_eq!(told, "mechanism 2 secure 0");
    for way in &ways {
        assert_eq!(&way[12..32], b"CURVE\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
        assert!(way.len() > 64 + PAYLOAD.len());
        assert!(!contains(way, &PAYLOAD.as_bytes()[..8]));
    }
}

/// The head of HTTP, and what the frames of the WebSocket carry: a client masks its own (RFC 6455), so that a search would
/// find nothing there.
fn head_and_payloads(way: &[u8]) -> (String, Vec<u8>) {
    let end = way.windows(4).position(|four| four == b"\r\n\r\n");
    let (head, mut rest) = way.split_at(end.expect("a head") + 4);
    let mut payloads = Vec::new();
    while let [_, second, after @ ..] = rest {
        let size_of_length = match second & 0x7f {
            126 => 2,
            127 => 8,
            _ => 0,
        };
        // The last frame may not have passed as a whole.
        let Some((long, after)) = after.split_at_checked(size_of_length) else {
            break;
        };
        let length = match size_of_length {
            0 => usize::from(second & 0x7f),
            _ => long
                .iter()
                .fold(0, |length, octet| length << 8 | usize::from(*octet)),
        };
        let Some((mask, after)) = after.split_at_checked(if second & 0x80 != 0 { 4 } else { 0 })
        else {
            break;
        };
        let (payload, after) = after.split_at(length.min(after.len()));
        let unmasked = payload
            .iter()
            .enumerate()
            .map(|(index, octet)| octet ^ mask.get(index % 4).copied().unwrap_or_default());
        payloads.extend(unmasked);
        rest = after;
    }
    (String::from_utf8(head.to_vec()).unwrap(), payloads)
}

#[test]
fn a_rule_for_a_websocket_encrypts_what_passes() {
    let scene = Scene::new();
    let security = Security::blake3_client_with_keys(scene.server.public(), scene.client.clone());
    let keys = format!("mechanism = \"blake3\"\n{KEYS}");
    let (told, ways) = ask_by_rule(&scene, "ws", &keys, security);
    assert_eq!(told, "mechanism 100 secure 0");
    for way in &ways {
        let (head, payloads) = head_and_payloads(way);
        assert!(head.contains("ZWS2.0/BLAKE3"), "{head}");
        assert!(payloads.len() > PAYLOAD.len());
        for bytes in [way, &payloads] {
            assert!(!contains(bytes, &PAYLOAD.as_bytes()[..8]));
        }
    }
    // The search would find it in plain text.
    let plain = "mechanism = \"plain-text\"\n";
    let (told, ways) = ask_by_rule(&scene, "ws", plain, Security::plain_text());
    assert_eq!(told, "mechanism 0 secure 0");
    for way in &ways {
        let (head, payloads) = head_and_payloads(way);
        assert!(head.contains("ZWS2.0/NULL"), "{head}");
        assert!(contains(&payloads, PAYLOAD.as_bytes()));
    }
}
