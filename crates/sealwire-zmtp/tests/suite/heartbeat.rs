//! Deadlines on a clock that is a number: the handshake's and those of heartbeats.

use std::time::Duration;

use sealwire_zmtp::bytes::{Buf, BufMut};
use sealwire_zmtp::connection::Heartbeat;
use sealwire_zmtp::error::{Error, Step, WireError};
use sealwire_zmtp::limits::MAX_OWED_PONGS;
use sealwire_zmtp::{Config, SocketType};

use crate::support::{Cookies, Pair, START, Side, client, frame, null, provider, server};

const SECOND: Duration = Duration::from_secs(1);

fn beating() -> Config {
    let mut config = null(SocketType::Pair);
    config.heartbeat = Some(Heartbeat {
        interval: 5 * SECOND,
        timeout: 3 * SECOND,
        ttl: 10 * SECOND,
    });
    config
}

impl Side {
    /// Lets time pass up to `now` without anything arriving.
    fn pass(&mut self, now: Duration) {
        self.now = now;
        let result = self.connection.handle_timeout(now);
        self.note(result);
    }
}

#[test]
fn the_handshake_has_a_deadline_that_names_what_was_missing() {
    let mut side = Side::new(null(SocketType::Pair), provider(), 1);
    let deadline = START + 15 * SECOND;
    assert_eq!(side.connection.next_timeout(), Some(deadline));
    side.pass(deadline - Duration::from_nanos(1));
    assert_eq!(side.error, None);
    // Bytes that trickle in do not move it.
    side.feed(b"\xff");
    assert_eq!(side.connection.next_timeout(), Some(deadline));
    side.pass(deadline);
    assert_eq!(
        side.error,
        Some(Error::HandshakeTimeout {
            step: Step::Greeting
        })
    );
    assert_eq!(side.connection.next_timeout(), None);

    let mut pair = Pair::new(
        client(SocketType::Pair, Default::default()),
        server(SocketType::Pair, Default::default(), Cookies::new(1)),
        &provider(),
    );
    pair.b.decision = None;
    pair.settle();
    pair.a.pass(deadline);
    assert_eq!(
        pair.a.error,
        Some(Error::HandshakeTimeout { step: Step::Ready })
    );
    pair.b.pass(deadline);
    assert_eq!(
        pair.b.error,
        Some(Error::HandshakeTimeout {
            step: Step::Authorization
        })
    );
}

#[test]
fn without_heartbeats_a_ready_connection_has_no_deadline() {
    let pair = Pair::ready(null(SocketType::Pair), null(SocketType::Pair), &provider());
    assert_eq!(pair.a.connection.next_timeout(), None);
}

#[test]
fn ping_goes_out_at_every_interval_and_its_answer_keeps_the_connection() {
    let mut pair = Pair::ready(beating(), null(SocketType::Pair), &provider());
    let mut now = START;
    for _ in 0..3 {
        now += 5 * SECOND;
        assert_eq!(pair.a.connection.next_timeout(), Some(now));
        let before = pair.a.connection.output_progress();
        pair.a.pass(now);
        let ping = pair.a.output();
        let body = [&b"\x04PING\x00\x64"[..], &before.staged.to_be_bytes()];
        assert_eq!(ping, frame(4, &body.concat()));
        assert_eq!(pair.a.connection.next_timeout(), Some(now + 3 * SECOND));
        pair.b.now = now;
        pair.b.feed(&ping);
        let pong = pair.b.output();
        assert_eq!(pong, frame(4, &[b"\x04PONG", body[1]].concat()));
        pair.a.now = now + SECOND;
        pair.a.feed(&pong);
        // All bytes before the PING have arrived.
        assert_eq!(pair.a.connection.output_progress().confirmed, before.staged);
        pair.a.pass(now + 3 * SECOND);
        assert_eq!(pair.a.error, None);
    }
    // The peer honours the ttl: 10 s after the last PING.
    assert_eq!(pair.b.connection.next_timeout(), Some(now + 10 * SECOND));
    pair.b.pass(now + 10 * SECOND);
    assert_eq!(pair.b.error, Some(Error::HeartbeatTimeout));
}

#[test]
fn a_round_trip_is_told_once_and_only_for_the_answer_to_the_latest_ping() {
    let mut pair = Pair::ready(beating(), null(SocketType::Pair), &provider());
    let pong = |context: &[u8]| frame(4, &[b"\x04PONG", context].concat());
    let mut last = None;
    for (number, takes) in [(1, 1), (2, 2)] {
        let now = START + 5 * number * SECOND;
        let before = pair.a.connection.output_progress().staged.to_be_bytes();
        pair.a.pass(now);
        pair.a.output();
        pair.a.now = now + takes * SECOND / 4;
        // Of the one before, of none, and one that nobody asked for.
        for other in last
            .iter()
            .map(|it: &[u8; 8]| &it[..])
            .chain([&[][..], &[255; 8]])
        {
            pair.a.feed(&pong(other));
            assert_eq!(pair.a.connection.take_round_trip(), None);
        }
        for _ in 0..2 {
            pair.a.feed(&pong(&before));
        }
        let time = pair.a.connection.take_round_trip();
        assert_eq!(time, Some(takes * SECOND / 4));
        pair.a.feed(&pong(&before));
        assert_eq!(pair.a.connection.take_round_trip(), None);
        last = Some(before);
    }
}

/// A peer may answer what it likes: it confirms what was sent and no more, and takes nothing back.
#[test]
fn a_pong_confirms_no_more_than_was_sent() {
    let mut pair = Pair::ready(beating(), null(SocketType::Pair), &provider());
    let sent = pair.a.connection.output_progress().taken;
    let confirmed = |pair: &Pair| pair.a.connection.output_progress().confirmed;
    let pong = |context: &[u8]| frame(4, &[b"\x04PONG", context].concat());
    for context in [&[][..], &[0; 7], &[0; 9], &[255; 8], &[255; 16]] {
        pair.a.feed(&pong(context));
        assert_eq!((confirmed(&pair), pair.a.error.clone()), (0, None));
    }
    pair.a.feed(&pong(&(sent + 1).to_be_bytes()));
    assert_eq!(confirmed(&pair), 0);
    pair.a.feed(&pong(&sent.to_be_bytes()));
    assert_eq!(confirmed(&pair), sent);
    pair.a.feed(&pong(&1_u64.to_be_bytes()));
    assert_eq!(confirmed(&pair), sent);
}

#[test]
fn silence_after_ping_ends_the_connection() {
    let mut pair = Pair::ready(beating(), null(SocketType::Pair), &provider());
    pair.a.pass(START + 5 * SECOND);
    pair.a.pass(START + 8 * SECOND - Duration::from_nanos(1));
    assert_eq!(pair.a.error, None);
    pair.a.pass(START + 8 * SECOND);
    assert_eq!(pair.a.error, Some(Error::HeartbeatTimeout));
}

/// PING stands behind a large frame on a slow way. As long as the output moves, the peer has not
/// failed to answer what it could not have seen.
#[test]
fn a_large_frame_before_ping_is_no_silence() {
    const SIZE: usize = 4 << 20;
    let mut pair = Pair::ready(beating(), null(SocketType::Pair), &provider());
    pair.a.send(vec![7; SIZE]);
    let mut now = START;
    let mut stream = Vec::new();
    while stream.len() + SIZE / 50 < SIZE {
        now += SECOND;
        stream.put((&mut pair.a.connection.transmit()).take(SIZE / 50));
        pair.a.pass(now);
        assert_eq!(pair.a.error, None, "after {:?}", now - START);
    }
    let mut rest = pair.a.output();
    let pings = rest.windows(5).filter(|bytes| bytes == b"\x04PING");
    assert_eq!(pings.count(), 1, "one PING is enough");
    // Now it is out, and an answer is due.
    let late = pair.a.connection.next_timeout().unwrap();
    pair.a.pass(late);
    stream.append(&mut rest);
    pair.b.feed(&stream);
    pair.a.now = late + SECOND;
    pair.a.feed(&pair.b.output());
    pair.a.pass(late + 3 * SECOND);
    assert_eq!(pair.a.error, None);
}

#[test]
fn output_that_stands_still_is_silence() {
    let mut pair = Pair::ready(beating(), null(SocketType::Pair), &provider());
    pair.a.send(vec![7; 4 << 20]);
    let mut now = START;
    // It moves for a minute, then no more.
    while now < START + 60 * SECOND {
        now += SECOND;
        pair.a.connection.transmit().advance(1_000);
        pair.a.pass(now);
        assert_eq!(pair.a.error, None);
    }
    while pair.a.error.is_none() {
        now += SECOND;
        assert!(
            now <= START + 66 * SECOND,
            "two timeouts are enough to see it"
        );
        pair.a.pass(now);
    }
    assert_eq!(pair.a.error, Some(Error::HeartbeatTimeout));
}

#[test]
fn any_traffic_is_a_sign_of_life_even_part_of_a_frame() {
    let mut pair = Pair::ready(beating(), null(SocketType::Pair), &provider());
    pair.a.pass(START + 5 * SECOND);
    pair.a.now = START + 6 * SECOND;
    pair.a.feed(&frame(0, b"a message")[..4]);
    pair.a.pass(START + 9 * SECOND);
    assert_eq!(pair.a.error, None);
    // The same bytes again change nothing.
    pair.a.pass(START + 10 * SECOND);
    pair.a.now = START + 12 * SECOND;
    pair.a.feed(b"");
    pair.a.pass(START + 13 * SECOND);
    assert_eq!(pair.a.error, Some(Error::HeartbeatTimeout));
}

#[test]
fn a_side_that_does_not_read_blames_nobody_for_silence() {
    let mut pair = Pair::ready(beating(), null(SocketType::Pair), &provider());
    pair.a.pass(START + 5 * SECOND);
    pair.a.output();
    pair.a.connection.set_reading(false, START + 6 * SECOND);
    pair.a.pass(START + 10 * SECOND);
    let pong = frame(4, b"\x04PONG");
    let output = pair.a.output();
    assert!(output.starts_with(&pong), "its own sign of life");
    assert_eq!(output[pong.len() + 2..][..5], *b"\x04PING", "PING goes on");
    pair.a.pass(START + 60 * SECOND);
    assert_eq!(pair.a.error, None);
    pair.a.connection.set_reading(true, START + 60 * SECOND);
    pair.a.pass(START + 60 * SECOND);
    assert_eq!(pair.a.error, None);
}

#[test]
fn older_peers_get_no_ping() {
    let mut old = Side::new(null(SocketType::Pair), provider(), 1);
    let mut side = Side::new(beating(), provider(), 2);
    let mut greeting = old.output();
    greeting[11] = 0;
    old.feed(&side.output());
    side.feed(&[greeting, old.output()].concat());
    assert!(side.connection.is_ready());
    assert_eq!(side.connection.next_timeout(), None);
}

#[test]
fn each_of_several_pings_is_answered() {
    let mut pair = Pair::ready(null(SocketType::Pair), null(SocketType::Pair), &provider());
    let contexts = [&b"a"[..], b"", b"0123456789abcdef", b"b"];
    assert_eq!(contexts.len(), MAX_OWED_PONGS);
    let of_all = |name: &[u8]| {
        let frames = contexts.map(|context| frame(4, &[name, context].concat()));
        frames.concat()
    };
    pair.b.feed(&of_all(b"\x04PING\0\0"));
    let pongs = of_all(b"\x04PONG");
    assert_eq!(pair.b.connection.pending_bytes(), pongs.len());
    assert_eq!(pair.b.output(), pongs);
    assert_eq!(pair.b.output(), b"", "once");
}

#[test]
fn a_long_context_is_cut_off_where_that_is_asked_for() {
    for cuts in [true, false] {
        let mut config = null(SocketType::Pair);
        config.cuts_heartbeat_contexts = cuts;
        let mut pair = Pair::ready(null(SocketType::Pair), config, &provider());
        pair.b.feed(&frame(4, b"\x04PING\0\x010123456789abcdefg"));
        let malformed = |command| (!cuts).then_some(WireError::MalformedCommand { command }.into());
        assert_eq!(pair.b.error, malformed("PING"));
        if cuts {
            // The ttl is before what was cut off.
            let ttl = pair.b.now + SECOND / 10;
            assert_eq!(pair.b.connection.next_timeout(), Some(ttl));
            assert_eq!(pair.b.output(), frame(4, b"\x04PONG0123456789abcdef"));
            pair.b.feed(&frame(4, b"\x04PONG0123456789abcdefg"));
            assert_eq!(pair.b.error, None);
        }
    }
}

#[test]
fn a_flood_of_ping_owes_a_few_pongs() {
    let mut pair = Pair::ready(null(SocketType::Pair), null(SocketType::Pair), &provider());
    for i in 0..10_000_u16 {
        pair.b
            .feed(&frame(4, &[b"\x04PING\0\0", &i.to_be_bytes()[..]].concat()));
    }
    let last = 10_000 - MAX_OWED_PONGS as u16..10_000;
    let pongs: Vec<_> = last
        .flat_map(|i| frame(4, &[b"\x04PONG", &i.to_be_bytes()[..]].concat()))
        .collect();
    assert_eq!(pair.b.output(), pongs);
    // With a backlog that the peer does not read, none is added.
    pair.b.send(vec![0; 5000]);
    for _ in 0..1000 {
        pair.b.feed(&frame(4, b"\x04PING\0\0"));
        let _ = pair.b.connection.transmit();
    }
    let pongs = frame(4, b"\x04PONG").repeat(MAX_OWED_PONGS);
    assert_eq!(pair.b.connection.pending_bytes(), 5009 + pongs.len());
    pair.b.connection.transmit().advance(5009);
    assert_eq!(pair.b.connection.pending_bytes(), pongs.len());
    assert_eq!(pair.b.output(), pongs);
}

/// A slow application is not a dead one: a peer that asks is told so, also one whose PING was not read yet.
#[test]
fn a_side_that_does_not_read_says_that_it_is_there() {
    let mut pair = Pair::ready(beating(), null(SocketType::Pair), &provider());
    let pong = frame(4, b"\x04PONG");
    pair.b.connection.set_reading(false, START);
    assert_eq!(pair.b.connection.next_timeout(), Some(START + SECOND));
    pair.a.pass(START + 5 * SECOND);
    let unread = pair.a.output();
    for second in 1..=7 {
        let now = START + second * SECOND;
        pair.b.pass(now - Duration::from_nanos(1));
        assert_eq!(pair.b.output(), b"");
        // Said again does not begin anew.
        pair.b.connection.set_reading(false, now);
        pair.b.pass(now);
        assert_eq!(pair.b.output(), pong);
    }
    pair.a.now = START + 7 * SECOND;
    pair.a.feed(&pong);
    pair.a.pass(START + 8 * SECOND);
    assert_eq!(pair.a.error, None);
    pair.b.connection.set_reading(true, START + 8 * SECOND);
    assert_eq!(pair.b.connection.next_timeout(), None);

    // What the peer waits, as far as it is known: the time between its PINGs, and how long it lets us wait.
    pair.b.now = START + 8 * SECOND;
    pair.b.feed(&unread);
    pair.b.now = START + 12 * SECOND;
    pair.b.feed(&unread);
    pair.b.output();
    pair.b.connection.set_reading(false, START + 13 * SECOND);
    assert_eq!(pair.b.connection.next_timeout(), Some(START + 15 * SECOND));
    // One that asks without end is answered ten times a second.
    pair.b.connection.set_reading(true, START + 13 * SECOND);
    for _ in 0..3 {
        pair.b.feed(&unread);
    }
    pair.b.output();
    pair.b.connection.set_reading(false, START + 13 * SECOND);
    let first = START + 13 * SECOND + Duration::from_millis(100);
    assert_eq!(pair.b.connection.next_timeout(), Some(first));
    // Nothing is added to what the peer does not read.
    pair.b.send(vec![0; 5000]);
    pair.b.pass(first);
    assert_eq!(pair.b.connection.pending_bytes(), 5009);
}

#[test]
fn older_peers_are_told_nothing_by_a_side_that_does_not_read() {
    let mut old = Side::new(null(SocketType::Pair), provider(), 1);
    let mut side = Side::new(null(SocketType::Pair), provider(), 2);
    let mut greeting = old.output();
    greeting[11] = 0;
    old.feed(&side.output());
    side.feed(&[greeting, old.output()].concat());
    side.connection.set_reading(false, START);
    assert_eq!(side.connection.next_timeout(), None);
}

#[test]
fn a_peer_of_zmtp_3_0_gets_heartbeats_where_that_is_asked_for() {
    for asked in [true, false] {
        let mut config = beating();
        config.heartbeats_to_zmtp_3_0 = asked;
        let mut pair = Pair::new(config, null(SocketType::Pair), &provider());
        let mut greeting = pair.b.output();
        greeting[11] = 0;
        pair.a.feed(&greeting);
        let output = pair.a.output();
        pair.b.feed(&output);
        pair.settle();
        assert_eq!(pair.a.connection.peer().unwrap().zmtp_minor, 0);
        let due = asked.then_some(START + 5 * SECOND);
        assert_eq!(pair.a.connection.next_timeout(), due);
        pair.a.pass(START + 5 * SECOND);
        assert_eq!(pair.a.output().is_empty(), !asked);
    }
}
