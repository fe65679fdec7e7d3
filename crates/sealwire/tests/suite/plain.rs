//! PLAIN says when it shows a password in plain text, and ends the connections of users who are
//! taken out of a file of passwords.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use crate::support::{await_event, options};
use sealwire::auth::{PasswordFile, PasswordTable};
use sealwire::blocking::Socket;
use sealwire::keys::KeyFileError;
use sealwire::{Event, FailureCause, Monitor, Security, SocketType, Warning};

/// Whether the next connection of this monitor is warned about before it is ready.
fn warned(monitor: &Monitor) -> bool {
    await_event(
        monitor,
        "a warning or a finished handshake",
        |event| match event {
            Event::Warning {
                warning: Warning::PasswordExposed,
                ..
            } => Some(true),
            Event::Ready { .. } => Some(false),
            _ => None,
        },
    )
}

#[test]
fn a_password_that_may_leave_the_machine_is_warned_about() {
    let mut table = PasswordTable::new();
    table.insert("admin", "s3cret");
    let pull = options(SocketType::Pull).security(Security::plain_server(table));
    let pull = pull.build_blocking().unwrap();
    let endpoint = pull.bind("tcp://127.0.0.1:*").unwrap().to_string();
    // This address leads here as well, but is none of those that never lead elsewhere.
    let elsewhere = endpoint.replace("127.0.0.1", "0.0.0.0");
    for (endpoint, exposed) in [(endpoint, false), (elsewhere, true)] {
        let push = options(SocketType::Push).security(Security::plain_client("admin", "s3cret"));
        let push = push.build_blocking().unwrap();
        let (ours, theirs) = (pull.monitor(), push.monitor());
        push.connect(&*endpoint).unwrap();
        assert_eq!(warned(&theirs), exposed, "{endpoint}");
        // The server sees where it comes from.
        assert!(!warned(&ours));
        push.send("hello").unwrap();
        assert_eq!(pull.recv().unwrap().as_bytes(), b"hello");
    }
}

fn write_passwords(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
}

fn user(endpoint: &str, name: &str, password: &str) -> Socket {
    let push = options(SocketType::Push)
        .security(Security::plain_client(name, password))
        .linger(Duration::ZERO)
        .build_blocking()
        .unwrap();
    push.connect(endpoint).unwrap();
    push
}

#[test]
fn users_who_leave_the_file_or_change_their_password_are_disconnected() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("passwords");
    write_passwords(&path, "alice one\nbob two\ncarol three\n");
    let pull = options(SocketType::Pull)
        .security(Security::plain_server(PasswordFile::open(&path).unwrap()));
    let pull = pull.build_blocking().unwrap();
    let monitor = pull.monitor();
    let endpoint = pull.bind("tcp://127.0.0.1:*").unwrap().to_string();
    let says = |push: &Socket, name: &str| {
        push.send("hello").unwrap();
        let message = pull.recv().unwrap();
        assert_eq!(message.peer().unwrap().user_id(), Some(name));
    };
    let users = [("alice", "one"), ("bob", "two"), ("carol", "three")].map(|(name, password)| {
        let push = user(&endpoint, name, password);
        says(&push, name);
        push
    });
    for (text, gone) in [
        ("alice one\ncarol three\n", "bob"),
        ("alice one\ncarol four\n", "carol"),
    ] {
        write_passwords(&path, text);
        let cut = await_event(&monitor, gone, |event| match event {
            Event::Failed(failure) if failure.was_ready() => Some(failure.clone()),
            _ => None,
        });
        let reason = "this username and password are no longer allowed here";
        assert!(matches!(cut.cause(), FailureCause::Rejected(told) if *told == reason));
        assert!(!pull.peers().iter().any(|peer| peer.user_id() == Some(gone)));
    }
    let [alice, ..] = &users;
    says(alice, "alice");
    assert_eq!(alice.counters().handshakes_completed, 1);
    // A client with the new password gets in.
    says(&user(&endpoint, "carol", "four"), "carol");
}

#[test]
fn a_password_file_that_others_can_read_is_not_opened() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("passwords");
    write_passwords(&path, "alice one\n");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    assert!(matches!(
        PasswordFile::open(&path),
        Err(KeyFileError::Permissions { mode: 0o640, .. })
    ));
}
