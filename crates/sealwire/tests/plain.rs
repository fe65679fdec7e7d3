//! PLAIN says when it shows a password to whoever listens.

mod support;

use sealwire::auth::PasswordTable;
use sealwire::{Event, Monitor, Security, SocketType, Warning};
use support::{await_event, options};

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
