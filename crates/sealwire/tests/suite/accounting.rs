//! What became of messages that did not arrive, or may not have: each is counted.

use sealwire::SocketType;

use crate::support::{Path, eventually};

/// Those where a connection carries the messages.
fn over_connections() -> Vec<Path> {
    let all = Path::all().into_iter();
    all.filter(|path| path.transport != "inproc").collect()
}

#[test]
fn messages_that_nobody_read_are_counted_as_the_socket_ends() {
    for path in over_connections() {
        let (pull, push) = path.pair(SocketType::Pull, SocketType::Push);
        for _ in 0..10 {
            push.send("message").unwrap();
        }
        eventually("arrived", || pull.counters().messages_received == 10);
        for _ in 0..3 {
            pull.recv().unwrap();
        }
        let ended = pull.clone();
        pull.close().unwrap();
        assert_eq!(ended.counters().dropped_unread, 7, "{}", path.name());
    }
}

#[test]
fn what_was_written_before_a_connection_ended_is_unconfirmed_and_not_unsent() {
    for path in over_connections() {
        let (pull, push) = path.pair(SocketType::Pull, SocketType::Push);
        for _ in 0..10 {
            push.send("message").unwrap();
        }
        for _ in 0..10 {
            pull.recv().unwrap();
        }
        assert_eq!(push.counters().unconfirmed, 0, "the connection is there");
        pull.close().unwrap();
        eventually("ended", || push.counters().disconnects == 1);
        let counters = push.counters();
        let counted = (counters.unconfirmed, counters.dropped_unsent);
        assert_eq!(counted, (10, 0), "{}", path.name());
    }
}
