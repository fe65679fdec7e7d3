//! What a rule gives an endpoint is decided by where it is, stays with it, and is not softened by what else decides.

use std::io;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::{IntoRawFd as _, OwnedFd};
use std::os::unix::net::UnixListener;
use std::thread;

use sealwire::auth::AllowedKeys;
use sealwire::{FailureCause, Mechanism};

use super::*;
use crate::errno::Errno;
use crate::socket::SNDMORE;

fn as_client(rules: &Rules) -> Security {
    Security::blake3_client_with_keys(rules.server.public(), rules.client.clone()).into()
}

/// Gives the descriptor away: the next bind has it.
fn give(socket: &Socket, listener: impl Into<OwnedFd>) -> c_int {
    let descriptor = listener.into().into_raw_fd();
    let value = descriptor.to_ne_bytes();
    socket.set(number::USE_FD, Some(&value)).unwrap();
    descriptor
}

/// The program's text names another endpoint, for which there is plain text.
#[test]
fn a_rule_for_where_a_descriptor_listens_counts_whatever_the_program_calls_it() {
    let rules = Rules::new();
    let file = rules.path("socket");
    let governing = rules.governing(&format!(
        "[[rule]]\nbind = \"tcp://127.0.0.1:*\"\n{SERVER}\
         [[rule]]\nbind = \"ipc://{}\"\n{SERVER}\
         [[rule]]\nbind = \"tcp://192.0.2.1:*\"\nmechanism = \"plain-text\"\n\
         [[rule]]\nbind = \"ipc:///nowhere/*\"\nmechanism = \"plain-text\"\n",
        file.display()
    ));
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = format!("tcp://{}", tcp.local_addr().unwrap());
    let ipc = UnixListener::bind(&file).unwrap();
    for (listener, called, at) in [
        (OwnedFd::from(tcp), "tcp://192.0.2.1:7", at),
        (
            ipc.into(),
            "ipc:///nowhere/else",
            format!("ipc://{}", file.display()),
        ),
    ] {
        let server = socket(&governing, SocketType::Pull);
        give(&server, listener);
        server.bind(called).unwrap();
        assert_eq!(text(&server, number::LAST_ENDPOINT), at);
        assert_eq!(mechanism(&server), 100, "{at}");
        let client = native(SocketType::Push, as_client(&rules));
        client.connect(&*at).unwrap();
        arrives(&client, &server);
        assert!(is_refused(&at, Security::plain_text()), "{at}");
    }
}

#[test]
fn a_rule_for_what_the_program_calls_a_descriptor_counts_for_nothing() {
    let rules = Rules::new();
    let plain = "[[rule]]\nbind = \"tcp://192.0.2.1:*\"\nmechanism = \"plain-text\"\n";
    for (rule, called) in [
        (plain.to_owned(), "tcp://192.0.2.1:7"),
        // Nor one with keys.
        (
            format!("[[rule]]\nbind = \"tcp://192.0.2.1:7\"\n{SERVER}"),
            "tcp://192.0.2.1:7",
        ),
    ] {
        let governing = rules.governing(&rule);
        let server = socket(&governing, SocketType::Pull);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        let descriptor = give(&server, listener);
        assert_eq!(server.bind(called), Err(Errno::ACCES), "{rule}");
        // It is the program's still.
        assert_eq!(int(&server, number::USE_FD), descriptor);
        let told = governing.told();
        let names = told.len() == 1 && told[0].contains(&format!("tcp://{at}"));
        assert!(names && told[0].contains("no rule of"), "{told:?}");
    }
}

/// It may be another file for the program that was passed it.
#[test]
fn a_relative_path_of_a_passed_socket_is_refused_where_there_are_rules() {
    let rules = Rules::new();
    let here = std::env::current_dir().unwrap();
    let up = here.components().skip(1).map(|_| "..").collect::<PathBuf>();
    let bind = |name: &str| {
        let file = rules.path(name);
        let relative = up.join(file.strip_prefix("/").unwrap());
        UnixListener::bind(relative).unwrap()
    };
    let everywhere = "[[rule]]\nbind = \"ipc:///*\"\nmechanism = \"plain-text\"\n";
    let governing = rules.governing(everywhere);
    let server = socket(&governing, SocketType::Pull);
    let descriptor = give(&server, bind("refused"));
    assert_eq!(server.bind("ipc:///any"), Err(Errno::ACCES));
    assert_eq!(int(&server, number::USE_FD), descriptor);
    let told = governing.told();
    let says = told.len() == 1 && told[0].contains("bind it by an absolute one");
    assert!(says, "{told:?}");
    // Without rules it is what it is.
    let without = Context::without_rules();
    let server = without.open_briefly(SocketType::Pull);
    give(&server, bind("taken"));
    server.bind("ipc:///any").unwrap();
}

/// Waits for the peer of the next connection, and passes over those that broke off, but not over one that was refused.
fn next_peer(monitor: &Monitor) -> Arc<sealwire::Peer> {
    loop {
        match next(monitor) {
            Event::Ready { peer } => return peer,
            Event::Failed(failure) if !matches!(failure.cause(), FailureCause::Transport(_)) => {
                panic!("refused: {failure}")
            }
            _ => {}
        }
    }
}

/// Passes on the next connection to a listener, until one of its sides ends.
fn pass_on(listener: &TcpListener, to: &str) {
    let (near, _) = listener.accept().unwrap();
    let far = TcpStream::connect(to.strip_prefix("tcp://").unwrap()).unwrap();
    let ways = [
        (near.try_clone().unwrap(), far.try_clone().unwrap()),
        (far, near),
    ];
    for (mut from, mut to) in ways {
        thread::spawn(move || {
            let _ = io::copy(&mut from, &mut to);
            let _ = to.shutdown(Shutdown::Both);
        });
    }
}

#[test]
fn a_connection_that_is_made_again_has_its_rule_still_whatever_came_since() {
    let rules = Rules::new();
    let governing = rules.governing(&format!(
        "[[rule]]\nconnect = \"tcp://127.0.0.1:*\"\n{CLIENT}\
         [[rule]]\nconnect = \"tcp://localhost:*\"\nmechanism = \"plain-text\"\n"
    ));
    // Where both servers are found, one after the other: nobody else can have the port between them, and who comes
    // back meets none that is closing.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = format!("tcp://{}", listener.local_addr().unwrap());
    let serve = || {
        let allowed = AllowedKeys::new().allow_as(rules.client.public(), "alice");
        let security = Security::blake3_server(rules.server.clone(), allowed);
        let server = native(SocketType::Push, security);
        let monitor = server.monitor();
        let endpoint = server.bind("tcp://127.0.0.1:0").unwrap();
        pass_on(&listener, &endpoint.to_string());
        let peer = next_peer(&monitor);
        assert_eq!(peer.mechanism(), Some(Mechanism::Blake3));
        assert_eq!(peer.user_id(), Some("alice"));
        server
    };
    let client = socket(&governing, SocketType::Pull);
    client.connect(&at).unwrap();
    let first = serve();
    arrives(&first, &client);

    // Options that the engine is given anew, and an endpoint in plain text after that.
    let seven = 7_i32.to_ne_bytes();
    client.set(number::RCVHWM, Some(&seven)).unwrap();
    let plain = native(SocketType::Push, Security::plain_text());
    let endpoint = plain.bind("tcp://127.0.0.1:0").unwrap().to_string();
    let endpoint = endpoint.replace("127.0.0.1", "localhost");
    client.connect(&endpoint).unwrap();
    assert_eq!(mechanism(&client), 0);
    arrives(&plain, &client);
    client.set(number::RCVHWM, Some(&seven)).unwrap();

    drop(first);
    let second = serve();
    arrives(&second, &client);
}

/// For programs for libzmq too, and whether a file or a directory is the list.
#[test]
fn a_list_that_is_emptied_turns_the_old_client_away() {
    for directory in [false, true] {
        let rules = Rules::new();
        let list = rules.path("clients");
        if directory {
            fs::remove_file(&list).unwrap();
            fs::create_dir(&list).unwrap();
            fs::copy(rules.path("client.pub"), list.join("alice.pub")).unwrap();
        }
        let server = socket(&rules.server("tcp://*:*"), SocketType::Pull);
        let endpoint = bound(&server, "tcp://127.0.0.1:*");
        let client = native(SocketType::Push, as_client(&rules));
        let monitor = client.monitor();
        client.connect(&*endpoint).unwrap();
        arrives(&client, &server);
        match directory {
            true => fs::remove_file(list.join("alice.pub")).unwrap(),
            false => {
                fs::write(rules.path("new"), "").unwrap();
                fs::rename(rules.path("new"), &list).unwrap();
            }
        }
        // Nobody asks again for the one that is connected: its connection ends by itself.
        while !matches!(
            next(&monitor),
            Event::Failed(_) | Event::Disconnected { .. }
        ) {}
        assert!(
            is_refused(&endpoint, as_client(&rules)),
            "directory {directory}"
        );
    }
}

/// All parts of what came.
fn parts(socket: &Socket) -> Vec<Vec<u8>> {
    let mut parts = Vec::new();
    loop {
        parts.push(socket.receive(0).unwrap().as_bytes().to_vec());
        if int(socket, number::RCVMORE) == 0 {
            return parts;
        }
    }
}

/// Connects a client, answers the handler's next request with this status, and returns whether the client came in.
fn comes_in_after(handler: &Socket, status: &'static str, endpoint: &str, rules: &Rules) -> bool {
    let client = native(SocketType::Push, as_client(rules));
    let monitor = client.monitor();
    client.connect(endpoint).unwrap();
    let request = parts(handler);
    let [version, id, .., mechanism, key] = &request[..] else {
        panic!("{} parts", request.len());
    };
    assert_eq!(
        (&version[..], &mechanism[..]),
        (&b"1.0"[..], &b"BLAKE3"[..])
    );
    assert_eq!(key, rules.client.public().as_bytes());
    let answer = [version, id, status.as_bytes(), b"as told", b"somebody", b""];
    for (index, part) in answer.into_iter().enumerate() {
        let flags = if index + 1 < answer.len() { SNDMORE } else { 0 };
        handler.send(&mut Frames::single(part), flags).unwrap();
    }
    loop {
        match next(&monitor) {
            Event::Ready { .. } => return true,
            Event::Failed(_) => return false,
            _ => {}
        }
    }
}

/// It is asked beside a list where the program has set a domain, and beside "anyone" in any case.
#[test]
fn a_zap_handler_that_denies_is_heard_beside_the_keys_of_a_rule() {
    let rules = Rules::new();
    let anyone = SERVER.replace("\"clients\"", "\"anyone\"");
    for (rule, domain) in [
        (SERVER, Some(&b"domain"[..])),
        (&anyone, Some(b"domain")),
        (&anyone, None),
    ] {
        let governing = rules.governing(&format!("[[rule]]\nbind = \"tcp://*:*\"\n{rule}"));
        let context = Arc::new(Context::new(governing));
        let handler = context.open_briefly(SocketType::Rep);
        handler.bind("inproc://zeromq.zap.01").unwrap();
        let server = context.open_briefly(SocketType::Pull);
        if domain.is_some() {
            server.set(number::ZAP_DOMAIN, domain).unwrap();
        }
        let endpoint = bound(&server, "tcp://127.0.0.1:*");
        assert_eq!(mechanism(&server), 100);
        for (status, comes) in [("200", true), ("400", false), ("200", true)] {
            let came = comes_in_after(&handler, status, &endpoint, &rules);
            assert_eq!(came, comes, "{rule} {domain:?} {status}");
        }
    }
}
