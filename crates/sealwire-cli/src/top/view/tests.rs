use ratatui::Terminal;
use ratatui::backend::TestBackend;
use sealwire::text::is_printable;

use super::*;
use crate::snapshot::{Endpoint, Failures, Peer, Queue, RecentFailure, Socket, Traffic};
use crate::top::state::Order;

fn traffic(messages: u64) -> Traffic {
    Traffic {
        messages_received: messages,
        bytes_received: 1_000 * messages,
        ..Traffic::default()
    }
}

fn peer(connection: u64, name: &str, messages: u64) -> Peer {
    Peer {
        connection,
        address: format!("tcp://192.0.2.{connection}:4711"),
        user_id: Some(name.to_owned()),
        age: 65.0,
        traffic: traffic(messages),
        round_trip: Some(0.001_5),
        inbound: Queue {
            messages: 100 - connection,
            ..Queue::default()
        },
        dropped: connection % 3,
        ..Peer::default()
    }
}

/// A PULL with three peers, `seconds` after its beginning, that received so much.
fn snapshot(seconds: f64, messages: u64) -> Snapshot {
    let failed = |count| {
        vec![Failures {
            stage: "handshake".to_owned(),
            cause: "refused".to_owned(),
            count,
        }]
    };
    let socket = Socket {
        socket: 1,
        socket_type: "PULL".to_owned(),
        traffic: traffic(messages),
        inbound: Queue {
            messages: 42,
            ..Queue::default()
        },
        connected: 3,
        dropped: [("unread".to_owned(), 7)].into(),
        failures: failed(messages / 100),
        recent_failures: vec![RecentFailure {
            ago: 3.0,
            message: "tcp://192.0.2.9:1: handshake: this key is not allowed here".to_owned(),
            ..RecentFailure::default()
        }],
        endpoints: vec![Endpoint {
            endpoint: "tcp://127.0.0.1:5555".to_owned(),
            role: "bound".to_owned(),
            peers: 3,
            traffic: traffic(messages),
            failures: failed(messages / 100),
            ..Endpoint::default()
        }],
        peers: vec![
            peer(1, "carol", messages),
            peer(2, "alice", 3 * messages),
            peer(3, "bob", 2 * messages),
        ],
        ..Socket::default()
    };
    Snapshot {
        command: "pull".to_owned(),
        process: 4_711,
        age: seconds,
        busy: vec![seconds / 4.0],
        sockets: vec![socket],
        numbers: [("sealwire_work_done_total".to_owned(), messages as f64)].into(),
        ..Snapshot::default()
    }
}

fn lines(shown: &Shown<'_>, width: u16, height: u16) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, shown)).unwrap();
    let buffer = terminal.backend().buffer();
    let cells = buffer.content().chunks(usize::from(width));
    cells
        .map(|line| line.iter().map(|cell| cell.symbol()).collect::<String>())
        .map(|line| line.trim_end().to_owned())
        .collect()
}

/// The words of the line that begins so.
#[track_caller]
fn words<'a>(lines: &'a [String], beginning: &str) -> Vec<&'a str> {
    let line = lines.iter().find(|line| line.trim().starts_with(beginning));
    let line = line.unwrap_or_else(|| panic!("{beginning} in {lines:#?}"));
    line.split_whitespace().collect()
}

fn shown<'a>(before: &'a Snapshot, now: &'a Snapshot, state: State) -> Shown<'a> {
    Shown {
        before: Some(before),
        now: Some(now),
        problem: None,
        state,
    }
}

fn on(tab: Tab) -> State {
    State {
        tab,
        ..State::default()
    }
}

#[test]
fn a_socket_has_its_rates_queues_drops_and_failures() {
    let (before, now) = (snapshot(10.0, 1_000), snapshot(12.0, 2_000));
    let lines = lines(&shown(&before, &now, on(Tab::Sockets)), 80, 24);
    assert_eq!(lines[0], "pull, process 4711, up 12s, I/O busy 25%");
    let socket = words(&lines, "1 PULL");
    assert_eq!(socket[2..], ["3", "500", "0", "42", "0", "7", "20"]);
    let endpoint = words(&lines, "bound tcp");
    assert_eq!(endpoint[1..4], ["tcp://127.0.0.1:5555", "3", "500"]);
    assert_eq!(lines.len(), 24);
    assert!(lines[23].starts_with("q quit"));
}

#[test]
fn rates_need_two_snapshots_of_one_process() {
    let (mut before, now) = (snapshot(10.0, 1_000), snapshot(12.0, 2_000));
    let alone = Shown {
        before: None,
        ..shown(&before, &now, on(Tab::Sockets))
    };
    assert_eq!(words(&lines(&alone, 80, 24), "1 PULL")[3], "-");
    before.process = 1;
    let of_two = lines(&shown(&before, &now, on(Tab::Sockets)), 80, 24);
    assert_eq!(words(&of_two, "1 PULL")[3], "-");
    assert_eq!(of_two[0], "pull, process 4711, up 12s");
    // One that came between the two has no rate yet.
    before.process = now.process;
    before.sockets[0].peers.remove(0);
    let lines = lines(&shown(&before, &now, on(Tab::Peers)), 80, 24);
    assert_eq!(words(&lines, "carol")[2], "-");
    assert_eq!(words(&lines, "alice")[2], "1500");
}

#[test]
fn peers_come_in_the_order_that_was_chosen() {
    let (before, now) = (snapshot(10.0, 1_000), snapshot(12.0, 2_000));
    for (order, expected) in [
        (Order::Given, ["carol", "alice", "bob"]),
        (Order::Rate, ["alice", "bob", "carol"]),
        (Order::Queued, ["carol", "alice", "bob"]),
        (Order::Lost, ["alice", "carol", "bob"]),
        (Order::Name, ["alice", "bob", "carol"]),
    ] {
        let state = State {
            order,
            ..on(Tab::Peers)
        };
        let lines = lines(&shown(&before, &now, state), 100, 24);
        let names: Vec<_> = lines[3..6]
            .iter()
            .map(|line| line.split(' ').next().unwrap())
            .collect();
        assert_eq!(names, expected, "{order:?}");
        assert!(lines[1].ends_with(order.title()));
    }
    let lines = lines(&shown(&before, &now, on(Tab::Peers)), 100, 24);
    let alice = words(&lines, "alice");
    let expected = [
        "tcp://192.0.2.2:4711",
        "1500",
        "0",
        "98",
        "0",
        "2",
        "1.5ms",
        "65s",
        "1.5M",
        "0",
    ];
    assert_eq!(alice[1..], expected);
}

#[test]
fn a_peer_without_a_name_has_the_beginning_of_its_key_or_its_address() {
    let mut now = snapshot(12.0, 2_000);
    let peers = &mut now.sockets[0].peers;
    for peer in peers.iter_mut() {
        peer.user_id = None;
    }
    peers[0].public_key = Some("0123456789abcdef".to_owned());
    let lines = lines(&shown(&now, &now, on(Tab::Peers)), 100, 24);
    let first = words(&lines, "0123456789ab..");
    assert_eq!(first[1], "tcp://192.0.2.1:4711");
    assert_eq!(words(&lines, "tcp://192.0.2.2:4711")[1], "-");
}

#[test]
fn failures_have_their_causes_and_the_last_ones() {
    let (before, now) = (snapshot(10.0, 1_000), snapshot(12.0, 2_000));
    let lines = lines(&shown(&before, &now, on(Tab::Failures)), 80, 24);
    let refused = words(&lines, "refused of 1 PULL, handshake");
    assert_eq!(refused[5..], ["20", "5"]);
    let last = " 3.0s ago  tcp://192.0.2.9:1: handshake: this key is not allowed here";
    assert!(lines.iter().any(|line| line == last), "{lines:#?}");
}

#[test]
fn a_command_has_numbers_of_its_own() {
    let (before, now) = (snapshot(10.0, 1_000), snapshot(12.0, 2_000));
    let lines = lines(&shown(&before, &now, on(Tab::Numbers)), 80, 24);
    let done = words(&lines, "sealwire_work_done_total");
    assert_eq!(done[1..], ["2000", "500"]);
}

#[test]
fn a_narrow_screen_keeps_names_and_leaves_columns_out() {
    let (before, now) = (snapshot(10.0, 1_000), snapshot(12.0, 2_000));
    for tab in Tab::ALL {
        for (width, height) in [(40, 10), (21, 5), (20, 4), (5, 3), (1, 1)] {
            let lines = lines(&shown(&before, &now, on(tab)), width, height);
            assert_eq!(lines.len(), usize::from(height));
        }
    }
    let lines = lines(&shown(&before, &now, on(Tab::Peers)), 40, 10);
    assert_eq!(
        words(&lines, "PEER"),
        ["PEER", "IN/s", "OUT/s", "WAIT", "IN"]
    );
    assert_eq!(words(&lines, "bob tcp:")[2..], ["1000", "0", "97"]);
}

#[test]
fn a_table_is_scrolled_to_its_end_and_no_further() {
    let (before, now) = (snapshot(10.0, 1_000), snapshot(12.0, 2_000));
    for (scrolled, first) in [(0, "carol"), (1, "alice"), (2, "bob"), (99, "bob")] {
        let state = State {
            scrolled,
            ..on(Tab::Peers)
        };
        let shown = shown(&before, &now, state);
        assert_eq!(shown.extent(5), (3, 1));
        let lines = lines(&shown, 60, 5);
        assert!(lines[3].starts_with(first), "{lines:#?}");
    }
}

#[test]
fn texts_of_others_command_no_terminal() {
    const EVIL: &str = "\u{1b}[2J\u{9b}31m\r\n\u{202e}\u{7f}";
    let mut now = snapshot(12.0, 2_000);
    now.command = EVIL.to_owned();
    now.numbers.insert(EVIL.to_owned(), 1.0);
    let socket = &mut now.sockets[0];
    socket.socket_type = EVIL.to_owned();
    socket.endpoints[0].endpoint = EVIL.to_owned();
    socket.endpoints[0].role = EVIL.to_owned();
    socket.failures[0].cause = EVIL.to_owned();
    socket.failures[0].stage = EVIL.to_owned();
    socket.recent_failures[0].message = EVIL.to_owned();
    for (number, peer) in socket.peers.iter_mut().enumerate() {
        peer.address = EVIL.to_owned();
        peer.user_id = (number == 0).then(|| EVIL.to_owned());
        peer.public_key = (number == 1).then(|| EVIL.to_owned());
    }
    for tab in Tab::ALL {
        let shown = Shown {
            before: None,
            now: Some(&now),
            problem: Some(EVIL),
            state: on(tab),
        };
        for line in lines(&shown, 200, 24) {
            assert!(line.chars().all(is_printable), "{line:?}");
            // Escaped by us, and not made harmless by who draws.
            let escaped = line.matches(r"\u{1b}[2J").count();
            assert_eq!(line.matches("[2J").count(), escaped, "{line:?}");
        }
        assert!(
            lines(&shown, 200, 24)
                .iter()
                .any(|line| line.contains(r"\u{1b}[2J"))
        );
    }
    let without = Shown {
        before: None,
        now: None,
        problem: Some(EVIL),
        state: State::default(),
    };
    assert!(lines(&without, 80, 24)[0].starts_with(r"\u{1b}[2J"));
}

#[test]
fn a_command_that_does_not_answer_is_shown_as_it_was() {
    let (before, now) = (snapshot(10.0, 1_000), snapshot(12.0, 2_000));
    let mut shown = shown(&before, &now, State::default());
    shown.problem = Some("timed out");
    shown.state.is_paused = true;
    let lines = lines(&shown, 80, 24);
    let title = "NO ANSWER, pull, process 4711, up 12s, I/O busy 25%: timed out";
    assert_eq!(lines[0], title);
    assert!(lines[1].contains("PAUSED"));
    assert_eq!(words(&lines, "1 PULL")[3], "500");
}
