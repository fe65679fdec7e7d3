//! The sender of a message, and the authenticator that decides about it.

use std::fs;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::support::{self, await_event, options};
use sealwire::auth::{AllowedKeys, AllowedKeysFile, Client, Decision};
use sealwire::blocking::Socket;
use sealwire::options::ReconnectStop;
use sealwire::{Event, Generate as _, KeyPair, Mechanism, PeerAddress, Security, SocketType};

fn server(keys: &KeyPair, security: impl Into<Security>) -> (Socket, sealwire::Endpoint) {
    let socket = options(SocketType::Pull)
        .security(security)
        .build_blocking()
        .unwrap();
    let endpoint = socket.bind("tcp://127.0.0.1:*").unwrap();
    assert_eq!(socket.socket_type(), SocketType::Pull);
    assert_ne!(keys.public().as_bytes(), &[0; 32]);
    (socket, endpoint)
}

fn client(server: &KeyPair, keys: &KeyPair, endpoint: &sealwire::Endpoint) -> Socket {
    let security = Security::blake3_client_with_keys(server.public(), keys.clone());
    let socket = options(SocketType::Push)
        .security(security)
        .build_blocking()
        .unwrap();
    socket.connect(endpoint).unwrap();
    socket
}

#[test]
fn every_message_tells_who_sent_it() {
    let (keys, alice, bob) = (
        KeyPair::generate(),
        KeyPair::generate(),
        KeyPair::generate(),
    );
    let allowed = AllowedKeys::new()
        .allow_as(alice.public(), "alice")
        .allow_as(bob.public(), "bob");
    let (pull, endpoint) = server(&keys, Security::blake3_server(keys.clone(), allowed));
    let clients = [
        (client(&keys, &alice, &endpoint), &alice, "alice"),
        (client(&keys, &bob, &endpoint), &bob, "bob"),
    ];
    for (socket, keys, name) in &clients {
        socket.send(*name).unwrap();
        let message = pull.recv().unwrap();
        let peer = message.peer().unwrap();
        assert_eq!(message.as_str(), Ok(*name));
        assert_eq!(peer.public_key(), Some(keys.public()));
        assert_eq!(peer.user_id(), Some(*name));
        assert_eq!(peer.mechanism(), Some(Mechanism::Blake3));
        assert_eq!(peer.socket_type(), SocketType::Push);
        assert!(matches!(peer.address(), PeerAddress::Tcp(address) if address.ip().is_loopback()));
    }
    let seen = clients[0].0.peers().remove(0);
    assert_eq!(
        seen.public_key(),
        Some(keys.public()),
        "the client knows the server too"
    );
}

#[test]
fn a_routing_id_is_no_proof_and_cannot_be_taken_over() {
    let (keys, alice, mallory) = (
        KeyPair::generate(),
        KeyPair::generate(),
        KeyPair::generate(),
    );
    let router = options(SocketType::Router)
        .security(Security::blake3_server(
            keys.clone(),
            AllowedKeys::from_iter([alice.public(), mallory.public()]),
        ))
        .build_blocking()
        .unwrap();
    let endpoint = router.bind("tcp://127.0.0.1:*").unwrap();
    let dealer = |pair: &KeyPair| {
        let security = Security::blake3_client_with_keys(keys.public(), pair.clone());
        let options = options(SocketType::Dealer)
            .security(security)
            // Two that come back would go on replacing each other.
            .reconnect_stop(ReconnectStop::ALWAYS)
            .routing_id("alice");
        let socket = options.build_blocking().unwrap();
        let monitor = socket.monitor();
        socket.connect(&endpoint).unwrap();
        (socket, monitor)
    };
    let (first, _) = dealer(&alice);
    first.send("it is me").unwrap();
    assert_eq!(
        router.recv().unwrap().peer().unwrap().public_key(),
        Some(alice.public())
    );

    let monitor = router.monitor();
    let (impostor, theirs) = dealer(&mallory);
    let refused = |event: &Event| match event {
        Event::Failed(failure) => Some(failure.to_string()),
        _ => None,
    };
    assert!(await_event(&monitor, "refused", refused).contains("routing id is in use"));
    assert!(await_event(&theirs, "told why", refused).contains("routing id is in use"));
    impostor.close().unwrap();

    // The owner of the key may come back under its name, even before the old connection is gone.
    let (second, _) = dealer(&alice);
    second.send("me again").unwrap();
    let mut message = router.recv().unwrap();
    assert_eq!(message.pop_front().unwrap(), b"alice"[..]);
    router
        .send(sealwire::Message::multipart(["alice", "welcome back"]))
        .unwrap();
    assert_eq!(second.recv().unwrap().as_bytes(), b"welcome back");
}

#[test]
fn a_closure_decides_and_may_take_its_time() {
    let (keys, slow, quick) = (
        KeyPair::generate(),
        KeyPair::generate(),
        KeyPair::generate(),
    );
    let (release, gate) = mpsc::channel::<()>();
    let gate = std::sync::Mutex::new(gate);
    let slow_key = slow.public();
    let decide = move |client: &Client<'_>| {
        if client.public_key() == slow_key {
            gate.lock().unwrap().recv().unwrap();
        }
        let kind = client.metadata("Socket-Type").unwrap_or_default();
        Decision::allow_as(format!("a {}", String::from_utf8_lossy(kind)))
    };
    let (pull, endpoint) = server(&keys, Security::blake3_server(keys.clone(), decide));
    let waiting = client(&keys, &slow, &endpoint);
    waiting.send("late").unwrap();
    let other = client(&keys, &quick, &endpoint);
    other.send("early").unwrap();
    let message = pull.recv().unwrap();
    assert_eq!(
        message.as_bytes(),
        b"early",
        "only the client in question waits"
    );
    assert_eq!(message.peer().unwrap().user_id(), Some("a PUSH"));
    release.send(()).unwrap();
    assert_eq!(pull.recv().unwrap().as_bytes(), b"late");
}

#[test]
fn a_panicking_authenticator_refuses() {
    let (keys, someone) = (KeyPair::generate(), KeyPair::generate());
    let decide = |_: &Client<'_>| -> bool { panic!("a bug in the application") };
    let (pull, endpoint) = server(&keys, Security::blake3_server(keys.clone(), decide));
    let push = options(SocketType::Push)
        .security(Security::blake3_client_with_keys(keys.public(), someone))
        .build_blocking()
        .unwrap();
    let monitor = push.monitor();
    push.connect(&endpoint).unwrap();
    let reason = await_event(&monitor, "refused", |event| match event {
        Event::Failed(failure) => Some(failure.to_string()),
        _ => None,
    });
    assert!(reason.contains("could not decide"), "{reason}");
    assert!(pull.peers().is_empty());
}

#[test]
fn the_list_of_allowed_keys_is_read_again_when_it_changes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("allowed");
    fs::write(&path, "# nobody yet\n").unwrap();
    let (keys, alice) = (KeyPair::generate(), KeyPair::generate());
    let list = AllowedKeysFile::open(&path).unwrap();
    let (pull, endpoint) = server(&keys, Security::blake3_server(keys.clone(), list));
    let monitor = pull.monitor();
    let push = client(&keys, &alice, &endpoint);
    push.send("let me in").unwrap();
    await_event(&monitor, "refused at first", |event| {
        matches!(event, Event::Failed(_)).then_some(())
    });
    fs::write(&path, format!("{} alice\n", alice.public())).unwrap();
    let message = pull.recv().unwrap();
    assert_eq!(message.peer().unwrap().user_id(), Some("alice"));

    // A list that cannot be understood stays what it was.
    fs::write(&path, "garbage\n").unwrap();
    let again = client(&keys, &alice, &endpoint);
    again.send("and again").unwrap();
    assert_eq!(pull.recv().unwrap().as_bytes(), b"and again");
    // One that is emptied allows nobody.
    fs::write(&path, "").unwrap();
    await_event(&monitor, "disconnected", |event| {
        matches!(event, Event::Failed(failure) if failure.was_ready()).then_some(())
    });
    await_event(&monitor, "refused again", |event| {
        matches!(event, Event::Failed(failure) if !failure.was_ready()).then_some(())
    });
    drop((push, again));
}

#[test]
fn a_folder_of_certificates_names_its_clients() {
    let folder = tempfile::tempdir().unwrap();
    let (keys, alice) = (KeyPair::generate(), KeyPair::generate());
    let list = AllowedKeysFile::open(folder.path()).unwrap();
    let (pull, endpoint) = server(&keys, Security::blake3_server(keys.clone(), list));
    let monitor = pull.monitor();
    let push = client(&keys, &alice, &endpoint);
    await_event(&monitor, "refused", |event| {
        matches!(event, Event::Failed(failure) if !failure.was_ready()).then_some(())
    });
    push.send("hello").unwrap();
    // Writes alice.pub and alice.key; the secret one is passed over.
    sealwire::keys::write_key_pair(folder.path().join("alice"), &alice).unwrap();
    assert_eq!(
        pull.recv().unwrap().peer().unwrap().user_id(),
        Some("alice")
    );
}

#[test]
fn sockets_are_shared_between_threads() {
    let keys = KeyPair::generate();
    let pull = options(SocketType::Pull)
        .security(Security::blake3_server(
            keys.clone(),
            sealwire::auth::AllowAnyone,
        ))
        .build_blocking()
        .unwrap();
    let endpoint = pull.bind("tcp://127.0.0.1:*").unwrap();
    let push = options(SocketType::Push)
        .security(Security::blake3_client(keys.public()))
        .build_blocking()
        .unwrap();
    push.connect(&endpoint).unwrap();
    const EACH: usize = 2_000;
    let received: usize = thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..EACH).for_each(|_| push.send("work").unwrap()));
        }
        let workers: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let mut count = 0;
                    while pull.counters().messages_received < 4 * EACH as u64
                        || pull
                            .recv_timeout(Duration::ZERO)
                            .map(|_| count += 1)
                            .is_ok()
                    {
                        count += usize::from(pull.recv_timeout(Duration::from_millis(5)).is_ok());
                    }
                    count
                })
            })
            .collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap())
            .sum()
    });
    assert_eq!(received, 4 * EACH);
}

#[cfg(target_os = "linux")]
#[test]
fn a_peer_on_a_unix_socket_is_known_by_its_process() {
    for (transport, known) in [("ipc", true), ("abstract", true), ("tcp", false)] {
        let path = support::Path {
            transport,
            keys: None,
        };
        let (pull, push) = path.pair(SocketType::Pull, SocketType::Push);
        push.send("hello").unwrap();
        let message = pull.recv().unwrap();
        let process = message.peer().unwrap().process();
        assert_eq!(process.is_some(), known, "{transport}");
        if let Some(process) = process {
            assert_eq!(process.process.unsigned_abs(), std::process::id());
            assert_eq!(process.user, rustix::process::getuid().as_raw());
            assert_eq!(process.group, rustix::process::getgid().as_raw());
        }
    }
}
