//! What a peer with an allowed key can try.

use super::*;

const ONE_WAY: u8 = 2;
const REQUEST: u8 = 3;
const OPEN: u8 = 4;
const REPLY: u8 = 5;
const CANCEL: u8 = 7;
const ITEM: u8 = 8;
const END: u8 = 9;
const CREDIT: u8 = 10;
const GO_AWAY: u8 = 11;

fn message(kind: u8, number: u32, body: &[u8]) -> Frame {
    [&[kind, 0][..], &number.to_be_bytes(), body]
        .concat()
        .into()
}

/// A server with these settings, which keeps `answers` bytes of answers.
fn server(change: impl FnOnce(&mut Settings), answers: usize) -> Protocol {
    let mut local = SETTINGS;
    change(&mut local);
    let mut peer = SETTINGS;
    peer.max_body = u32::MAX;
    Protocol::new(Side::Server, local, peer, answers)
}

impl Protocol {
    fn get(&mut self, kind: u8, number: u32, body: &[u8]) -> Result<CallEvent, Violation> {
        self.receive(message(kind, number, body), Duration::ZERO)
    }

    /// A request that goes to the handler.
    fn asked(&mut self, number: u32, body: &[u8]) -> ServedKey {
        match self.get(REQUEST, number, body) {
            Ok(CallEvent::Request(asked)) => asked.key,
            other => panic!("{other:?}"),
        }
    }

    /// All that is to be sent has been.
    fn sent(&mut self) -> Vec<Frame> {
        let mut frames = VecDeque::new();
        self.take_outbox(&mut frames);
        self.put_back(&mut VecDeque::new());
        frames.into()
    }
}

#[test]
fn a_body_has_the_size_that_is_allowed_and_not_a_byte_more() {
    let (largest, too_large) = ([0; 1_000], [0; 1_001]);
    for (kind, number) in [(ONE_WAY, 0), (REQUEST, 1), (OPEN, 1), (ITEM, 1)] {
        let mut server = server(|_| {}, ANSWERS);
        assert_eq!(
            server.get(kind, number, &too_large).unwrap_err(),
            Violation::TooLarge
        );
        assert!(server.get(kind, number, &largest).is_ok());
    }
    for kind in [CANCEL, END, GO_AWAY] {
        let number = u32::from(kind != GO_AWAY);
        let mut server = server(|_| {}, ANSWERS);
        let violation = server.get(kind, number, b"!").unwrap_err();
        assert_eq!(violation, Violation::UnexpectedBody);
    }
    for (number, right) in [(0, 8), (1, 4)] {
        let mut server = server(|_| {}, ANSWERS);
        for size in 0..20 {
            let outcome = server.get(CREDIT, number, &vec![0; size]);
            assert_eq!(outcome.is_ok(), size == right, "{number} {size}");
        }
    }
}

#[test]
fn an_empty_message_is_a_violation() {
    let mut server = server(|_| {}, ANSWERS);
    let empty = server.receive(Frame::new(), Duration::ZERO);
    assert_eq!(empty.unwrap_err(), Violation::Truncated);
}

#[test]
fn open_calls_are_bounded_in_number_and_in_bytes() {
    let mut few = server(|local| local.max_calls = 3, ANSWERS);
    for number in [1, 3, 5] {
        few.asked(number, b"");
    }
    assert_eq!(
        few.get(REQUEST, 7, b"").unwrap_err(),
        Violation::BeyondCalls
    );

    let mut small = server(|local| local.request_budget = 2_000, ANSWERS);
    small.asked(1, &[0; 900]);
    let second = small.asked(3, &[0; 900]);
    // A cancelled call is held until its handler lets go of it, though the peer cannot know.
    small.get(CANCEL, 3, b"").unwrap();
    assert!(matches!(
        small.get(REQUEST, 5, &[0; 900]),
        Ok(CallEvent::Refused)
    ));
    assert!(small.held().requests <= 2_000);
    small.release(second);
    small.asked(7, &[0; 900]);
    let beyond = small.get(REQUEST, 9, &[0; 900]);
    assert_eq!(beyond.unwrap_err(), Violation::BeyondCalls);
}

#[test]
fn messages_and_items_are_bounded_in_bytes() {
    let change = |local: &mut Settings| {
        local.message_budget = 2_000;
        local.stream_window = 1_000;
    };
    let mut server = server(change, ANSWERS);
    let Ok(CallEvent::Request(stream)) = server.get(OPEN, 1, b"") else {
        panic!("no request")
    };
    server.get(ITEM, 1, &[0; 900]).unwrap();
    let Ok(CallEvent::OneWay(message)) = server.get(ONE_WAY, 0, &[0; 900]) else {
        panic!("no message")
    };
    assert_eq!(server.held().unhandled, 2 * 964);
    let beyond = server.get(ITEM, 1, &[0; 900]);
    assert_eq!(beyond.unwrap_err(), Violation::BeyondCredit);
    // Empty ones take room as well.
    server.get(ITEM, 1, b"").unwrap();
    let beyond = server.get(ITEM, 1, b"");
    assert_eq!(beyond.unwrap_err(), Violation::BeyondCredit);
    server.one_way_done(&message);
    server.fail(stream.key, &Code::ABORTED.into());
    server.release(stream.key);
    assert_eq!(server.held().unhandled, 0);
}

#[test]
fn items_that_nobody_reads_are_given_back_with_their_call() {
    let mut pair = Pair::new();
    let limit = SETTINGS.message_budget as usize / 1_064 * 10;
    for _ in 0..limit {
        let key = pair
            .client
            .call(Content::plain(b""), pair.now, None, true)
            .unwrap();
        let (served, ..) = request(pair.carry_to_server());
        let item = [0; 1_000];
        let sent = pair.client.send_call_item(key, &item, &waker());
        assert!(matches!(sent, Poll::Ready(Ok(()))), "{sent:?}");
        let sent = pair.server.send_served_item(served, &item, &waker());
        assert!(matches!(sent, Poll::Ready(Ok(()))), "{sent:?}");
        pair.carry_to_server();
        pair.carry_to_client();
        pair.server.reply(served, b"");
        pair.server.release(served);
        pair.client.drop_call(key);
        pair.carry_to_client();
        pair.carry_to_server();
        assert_eq!(
            pair.server.held().unhandled + pair.client.held().unhandled,
            0
        );
    }
    pair.assert_empty();
}

#[test]
fn items_that_came_before_the_answer_are_given_back_with_their_call() {
    let mut pair = Pair::new();
    let limit = SETTINGS.message_budget as usize / 1_064 * 10;
    for _ in 0..limit {
        let key = pair
            .client
            .call(Content::plain(b""), pair.now, None, true)
            .unwrap();
        let (served, ..) = request(pair.carry_to_server());
        let sent = pair.server.send_served_item(served, &[0; 1_000], &waker());
        assert!(matches!(sent, Poll::Ready(Ok(()))), "{sent:?}");
        pair.server.reply(served, b"");
        pair.server.release(served);
        pair.carry_to_client();
        // The call is over, and its item still to be read.
        assert_eq!(pair.client.open_calls(), 0);
        assert_eq!(pair.client.held().unhandled, 1_064);
        pair.client.drop_call(key);
        assert_eq!(pair.client.held().unhandled, 0);
        pair.carry_to_server();
    }
    pair.assert_empty();
}

#[test]
fn requests_wait_while_their_peer_does_not_read() {
    let mut server = server(|local| local.max_calls = 100, 1_000);
    let first = server.asked(1, b"");
    server.reply(first, &[0; 2_000]);
    server.release(first);
    for number in [3, 5, 7] {
        let deferred = server.get(REQUEST, number, &[0; 500]);
        assert!(matches!(deferred, Ok(CallEvent::Deferred)));
    }
    assert_eq!(server.held().requests, 3 * 564);
    assert!(server.next_request(Duration::ZERO).is_none());
    // One is taken back: it is held no longer, and answered.
    server.get(CANCEL, 5, b"").unwrap();
    assert_eq!(server.held().requests, 2 * 564);
    assert_eq!(server.sent().len(), 2);
    // Once the peer has read they go on, in their order.
    let bodies: Vec<_> = std::iter::from_fn(|| server.next_request(Duration::ZERO)).collect();
    assert_eq!(bodies.len(), 2);
    assert!(!server.has_deferred());
    for asked in bodies {
        server.reply(asked.key, b"");
        server.release(asked.key);
    }
    let answers = server.sent();
    let numbers: Vec<_> = answers.iter().map(|frame| frame[5]).collect();
    assert_eq!(numbers, [3, 7]);
    assert_eq!((server.entries(), server.held()), (0, Held::default()));
}

#[test]
fn a_request_whose_time_is_over_before_its_peer_has_read_is_not_started() {
    let mut server = server(|_| {}, 1_000);
    let first = server.asked(1, b"");
    server.reply(first, &[0; 2_000]);
    server.release(first);
    let mut late = message(REQUEST, 3, b"").to_vec();
    late[1] = 1;
    let deferred = server.receive(late.into(), Duration::ZERO);
    assert!(matches!(deferred, Ok(CallEvent::Deferred)));
    server.sent();
    assert!(server.next_request(Duration::from_secs(1)).is_none());
    let answers = server.sent();
    assert_eq!(answers.len(), 1);
    // ERROR 4, not started.
    assert_eq!(answers[0][..8], [6, 1, 0, 0, 0, 3, 0, 4]);
    assert_eq!(server.entries(), 0);
}

#[test]
fn answers_of_handlers_that_run_are_bounded_too() {
    let mut server = server(|local| local.max_calls = 10_000, 1_000);
    let keys: Vec<_> = (0..5_000).map(|n| server.asked(2 * n + 1, b"")).collect();
    let mut refused = 0;
    for key in keys {
        if server.reply(key, &[0; 1_000]) == Answered::NotRead {
            server.fail(
                key,
                &Status::new(Code::INTERNAL, "much to say".repeat(1_000)),
            );
            refused += 1;
        }
        server.release(key);
    }
    // 64 of the largest, and an error each for the others.
    assert!(refused > 4_900, "{refused}");
    let most = 1_000 + 65 * 1_064 + 5_000 * 100;
    assert!(server.held().answers < most, "{:?}", server.held());
}

#[test]
fn cancelling_without_reading_ends_the_connection_and_leaves_nothing() {
    let mut server = server(|local| local.max_calls = 16, 10_000);
    let (mut most, mut owned) = (0, Vec::new());
    let violation = (0..1_000_000).find_map(|n| {
        let number = 2 * n + 1;
        match server.get(REQUEST, number, &[0; 500]) {
            Ok(CallEvent::Request(asked)) => owned.push(asked.key),
            Ok(_) => {}
            Err(violation) => return Some(violation),
        }
        let violation = server.get(CANCEL, number, b"").err();
        // Its handlers let go, late.
        if owned.len() == 16 {
            owned.drain(..).for_each(|key| server.release(key));
        }
        most = most.max(server.held().answers).max(server.held().requests);
        violation
    });
    assert_eq!(violation, Some(Violation::NotRead));
    assert!(most <= 10_000 + 16 * 512 + 1_000, "{most} bytes held");
    assert!(server.served.deferred() <= 2 * 16 + 17);
}

#[test]
fn what_belongs_to_no_call_is_not_kept() {
    let mut server = server(|_| {}, ANSWERS);
    for n in 0..10_000 {
        let number = 2 * n + 1;
        server.get(CANCEL, number, b"").unwrap();
        server.get(END, number, b"").unwrap();
        server.get(CREDIT, number, &u32::MAX.to_be_bytes()).unwrap();
        server.get(CREDIT, 0, &[0xff; 8]).unwrap();
        server.get(ITEM, number, &[0; 1_000]).unwrap();
        // It is told now and then that there is room, and reads that.
        server.sent();
    }
    assert_eq!((server.entries(), server.held()), (0, Held::default()));
    assert_eq!(
        server.get(REPLY, 2, b"").unwrap_err(),
        Violation::NothingAsked
    );
}

#[test]
fn going_away_is_heard_once() {
    let mut server = server(|_| {}, ANSWERS);
    assert!(matches!(
        server.get(GO_AWAY, 0, b""),
        Ok(CallEvent::GoingAway)
    ));
    for _ in 0..1_000 {
        assert!(matches!(
            server.get(GO_AWAY, 0, b""),
            Ok(CallEvent::Nothing)
        ));
    }
    assert_eq!(server.sent().len(), 1);
}

#[test]
fn nothing_is_looked_at_behind_the_end() {
    let mut server = server(|_| {}, ANSWERS);
    drop(server.close());
    for kind in 0..=255 {
        assert!(matches!(server.get(kind, 1, b"?"), Ok(CallEvent::Nothing)));
    }
    assert_eq!(server.entries(), 0);
}

#[test]
fn calls_that_are_never_answered_are_bounded_and_noticed() {
    let mut pair = Pair::new();
    for _ in 0..SETTINGS.max_calls {
        pair.call(b"").unwrap();
    }
    pair.client.take_outbox(&mut VecDeque::new());
    pair.client.put_back(&mut VecDeque::new());
    assert_eq!(pair.call(b""), Err(NotSent::Full));
    assert!(!pair.client.is_stuck(), "they are waited for");
    pair.now += Duration::from_secs(2);
    pair.client.handle_timeout(pair.now);
    assert!(pair.client.is_stuck());
    assert_eq!(pair.call(b""), Err(NotSent::Full));
    assert_eq!(pair.client.entries(), SETTINGS.max_calls as usize);
    // The server answers one of them after all: ERROR 1.
    let number = pair.client.calls.open_numbers()[0];
    let error = message(6, number, &[0, 1, 0, 0]);
    pair.client.receive(error, pair.now).unwrap();
    assert!(!pair.client.is_stuck());
    pair.call(b"").unwrap();
}

#[test]
fn a_connection_keeps_time_after_hundreds_of_days() {
    for days in [1, 198, 199, 10_000] {
        let mut pair = Pair::new();
        pair.now = Duration::from_secs(days * 24 * 60 * 60);
        pair.client.handle_timeout(pair.now);
        let key = pair.call(b"").unwrap();
        let mut checks = 0;
        while let Some(next) = pair.client.next_timeout() {
            assert!(next > pair.now, "{next:?} has passed after {days} days");
            pair.now = next;
            pair.client.handle_timeout(pair.now);
            checks += 1;
        }
        assert!(checks < 10, "{checks} checks for one timeout");
        assert!(matches!(pair.outcome(key), Poll::Ready(Err(_))));
    }
}
