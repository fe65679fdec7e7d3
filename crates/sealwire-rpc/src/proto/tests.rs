//! Two connections in memory, on a clock that only moves when told.

mod attacks;
mod metadata;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Poll, Wake};

use super::*;
use crate::status::{Code, Error, Status};

const SETTINGS: Settings = Settings {
    max_calls: 4,
    one_way_window: 4,
    stream_window: 2,
    max_body: 1_000,
    request_budget: 1 << 20,
    message_budget: 1 << 20,
};

/// Bytes of answers that may wait.
const ANSWERS: usize = 10_000;

#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

fn waker() -> Waker {
    Arc::new(Count::default()).into()
}

struct Pair {
    client: Protocol,
    server: Protocol,
    now: Duration,
}

impl Pair {
    fn new() -> Self {
        Pair {
            client: Protocol::new(Side::Client, SETTINGS, SETTINGS, ANSWERS),
            server: Protocol::new(Side::Server, SETTINGS, SETTINGS, ANSWERS),
            now: Duration::from_secs(1),
        }
    }

    /// Moves all messages one way; gives what the receiver has to do.
    fn carry(from: &mut Protocol, to: &mut Protocol, now: Duration) -> Vec<CallEvent> {
        let mut frames = VecDeque::new();
        from.take_outbox(&mut frames);
        from.put_back(&mut VecDeque::new());
        let received = frames
            .into_iter()
            .map(|frame| to.receive(frame, now).unwrap());
        received
            .filter(|event| !matches!(event, CallEvent::Nothing))
            .collect()
    }

    fn carry_to_server(&mut self) -> Vec<CallEvent> {
        Self::carry(&mut self.client, &mut self.server, self.now)
    }

    fn carry_to_client(&mut self) -> Vec<CallEvent> {
        Self::carry(&mut self.server, &mut self.client, self.now)
    }

    fn call(&mut self, body: &[u8]) -> Result<CallKey, NotSent> {
        let due = self.now + Duration::from_secs(1);
        self.client
            .call(Content::plain(body), self.now, Some(due), false)
    }

    fn outcome(&mut self, key: CallKey) -> Poll<Result<Body, Error>> {
        let outcome = self.client.poll_call(key, &waker());
        if outcome.is_ready() {
            self.client.drop_call(key);
        }
        outcome
    }

    fn assert_empty(&self) {
        assert_eq!(self.server.entries(), 0);
        assert!(self.server.is_idle());
        self.assert_empty_client();
    }

    fn assert_empty_client(&self) {
        assert_eq!(self.client.entries(), 0);
        assert!(self.client.is_idle());
        assert_eq!(self.client.next_timeout(), None);
    }
}

fn request(events: Vec<CallEvent>) -> (ServedKey, Body, Option<Duration>) {
    match <[CallEvent; 1]>::try_from(events) {
        Ok([CallEvent::Request(Asked { key, body, due, .. })]) => (key, body, due),
        other => panic!("not one request: {other:?}"),
    }
}

#[test]
fn a_call_gets_its_answer_and_leaves_nothing_behind() {
    let mut pair = Pair::new();
    let key = pair.call(b"question").unwrap();
    let (served, body, due) = request(pair.carry_to_server());
    assert_eq!(&body[..], b"question");
    let left = due.unwrap() - pair.now;
    assert!(left >= Duration::from_secs(1) && left <= Duration::from_millis(1_125));
    assert!(pair.outcome(key).is_pending());
    assert_eq!(pair.server.reply(served, b"answer"), Answered::Sent);
    pair.server.release(served);
    pair.carry_to_client();
    assert!(matches!(pair.outcome(key), Poll::Ready(Ok(body)) if &body[..] == b"answer"));
    pair.assert_empty();
}

#[test]
fn answers_in_any_order_find_their_calls_and_slots_are_used_again() {
    let mut pair = Pair::new();
    for round in 0..5_000_u32 {
        let keys: Vec<_> = (0..4).map(|n| pair.call(&[n]).unwrap()).collect();
        assert_eq!(pair.call(b"one more"), Err(NotSent::Full));
        let mut events = pair.carry_to_server();
        if round % 2 == 0 {
            events.reverse();
        }
        for event in events {
            let (served, body, _) = request(vec![event]);
            pair.server.reply(served, &body);
            pair.server.release(served);
        }
        pair.carry_to_client();
        for (n, key) in keys.into_iter().enumerate() {
            let outcome = pair.outcome(key);
            assert!(matches!(outcome, Poll::Ready(Ok(body)) if body[..] == [n as u8]));
        }
    }
    pair.assert_empty();
}

#[test]
fn a_status_arrives_whole() {
    let mut pair = Pair::new();
    let status = Status::new(Code(4_711), "no \u{1f980} here")
        .with_details([1, 2, 3])
        .not_started();
    let key = pair.call(b"").unwrap();
    let (served, ..) = request(pair.carry_to_server());
    pair.server.fail(served, &status);
    pair.server.release(served);
    pair.carry_to_client();
    let Poll::Ready(Err(error)) = pair.outcome(key) else {
        panic!("no error")
    };
    assert_eq!(error, Error::Remote(status));
    assert!(!error.may_have_run());
    pair.assert_empty();
}

#[test]
fn a_dropped_call_is_cancelled_at_the_other_side() {
    let mut pair = Pair::new();
    let key = pair.call(b"").unwrap();
    let (served, ..) = request(pair.carry_to_server());
    pair.client.drop_call(key);
    // Its number stays taken until the peer has answered.
    assert_eq!(pair.client.open_calls(), 1);
    assert!(!pair.server.is_cancelled(served));
    let noticed = Arc::new(Count::default());
    let watcher = Waker::from(noticed.clone());
    assert!(pair.server.poll_cancelled(served, &watcher).is_pending());
    pair.carry_to_server();
    let mut wakers = Vec::new();
    pair.server.take_wakers(&mut wakers);
    wakers.drain(..).for_each(Waker::wake);
    assert_eq!(noticed.0.load(Ordering::SeqCst), 1);
    assert!(pair.server.is_cancelled(served));
    pair.carry_to_client();
    assert_eq!(pair.client.open_calls(), 0);
    assert_eq!(pair.server.reply(served, b"late"), Answered::TooLate);
    pair.server.release(served);
    pair.assert_empty();
}

#[test]
fn answer_and_cancellation_may_cross() {
    let mut pair = Pair::new();
    let key = pair.call(b"").unwrap();
    let (served, ..) = request(pair.carry_to_server());
    pair.server.reply(served, b"answer");
    pair.server.release(served);
    pair.client.drop_call(key);
    pair.carry_to_server();
    pair.carry_to_client();
    pair.assert_empty();
}

#[test]
fn a_deadline_ends_the_call_once_and_says_whether_it_left() {
    let mut pair = Pair::new();
    let left = pair.call(b"").unwrap();
    pair.carry_to_server();
    let stayed = pair.call(b"").unwrap();
    pair.now += Duration::from_secs(2);
    pair.client.handle_timeout(pair.now);
    for (key, may_have_run) in [(left, true), (stayed, false)] {
        let outcome = pair.outcome(key);
        let expected = Error::DeadlineExceeded { may_have_run };
        assert!(matches!(outcome, Poll::Ready(Err(error)) if error == expected));
    }
    let events = pair.carry_to_server();
    assert_eq!(events.len(), 1);
    let (served, ..) = request(events);
    assert!(pair.server.is_cancelled(served));
    pair.server.release(served);
    pair.carry_to_client();
    assert_eq!(pair.client.entries(), 0);
}

#[test]
fn a_lost_connection_ends_every_call_once() {
    let mut pair = Pair::new();
    let left = pair.call(b"").unwrap();
    let (served, ..) = request(pair.carry_to_server());
    let stayed = pair.call(b"").unwrap();
    drop(pair.client.close());
    drop(pair.client.close());
    for (key, may_have_run) in [(left, true), (stayed, false)] {
        let outcome = pair.outcome(key);
        let expected = Error::ConnectionLost { may_have_run };
        assert!(matches!(outcome, Poll::Ready(Err(error)) if error == expected));
    }
    assert_eq!(pair.call(b""), Err(NotSent::Closed));
    drop(pair.server.close());
    assert!(pair.server.is_cancelled(served));
    pair.server.release(served);
    pair.assert_empty();
}

#[test]
fn one_way_messages_wait_for_those_before_them() {
    let mut pair = Pair::new();
    for _ in 0..100 {
        for _ in 0..4 {
            pair.client.one_way(Content::plain(b"note")).unwrap();
        }
        assert_eq!(
            pair.client.one_way(Content::plain(b"note")),
            Err(NotSent::Full)
        );
        let arrived = pair.carry_to_server();
        assert_eq!(arrived.len(), 4);
        for event in arrived {
            match event {
                CallEvent::OneWay(body) => pair.server.one_way_done(&body),
                other => panic!("{other:?}"),
            }
        }
        pair.carry_to_client();
    }
}

#[test]
fn what_goes_beyond_a_window_or_a_size_is_a_violation() {
    let mut pair = Pair::new();
    let note = || Frame::copy_from_slice(&[2, 0, 0, 0, 0, 0]);
    for _ in 0..4 {
        assert!(pair.server.receive(note(), pair.now).is_ok());
    }
    let beyond = pair.server.receive(note(), pair.now);
    assert_eq!(beyond.unwrap_err(), Violation::BeyondCredit);
    let mut large = vec![0; 2_000];
    large[..6].copy_from_slice(&[3, 0, 0, 0, 0, 1]);
    let large = pair.server.receive(large.into(), pair.now);
    assert_eq!(large.unwrap_err(), Violation::TooLarge);
    let unasked = Frame::copy_from_slice(&[5, 0, 0, 0, 0, 2]);
    let unasked = pair.server.receive(unasked, pair.now);
    assert_eq!(unasked.unwrap_err(), Violation::NothingAsked);
    let ours = Frame::copy_from_slice(&[3, 0, 0, 0, 0, 2]);
    let ours = pair.server.receive(ours, pair.now);
    assert_eq!(ours.unwrap_err(), Violation::NotItsNumber);
    let too_large = pair.client.one_way(Content::plain(&[0; 1_001]));
    assert_eq!(
        too_large,
        Err(NotSent::TooLarge {
            size: 1_001,
            limit: 1_000
        })
    );
}

#[test]
fn after_going_away_requests_are_turned_away_as_not_started() {
    let mut pair = Pair::new();
    let crossing = pair.call(b"").unwrap();
    pair.server.go_away();
    assert!(pair.carry_to_server().is_empty());
    assert!(matches!(pair.carry_to_client()[..], [CallEvent::GoingAway]));
    assert!(pair.server.is_idle() && !pair.server.is_finished());
    assert!(pair.carry_to_server().is_empty());
    assert!(pair.server.is_finished());
    let Poll::Ready(Err(Error::Remote(status))) = pair.outcome(crossing) else {
        panic!("no status")
    };
    assert!(status.is_not_started() && status.code == Code::UNAVAILABLE);
    assert_eq!(pair.call(b""), Err(NotSent::GoingAway));
    pair.assert_empty();
}

#[test]
fn items_flow_both_ways_within_their_windows() {
    let mut pair = Pair::new();
    let waker = waker();
    let key = pair
        .client
        .call(Content::plain(b"open"), pair.now, None, true)
        .unwrap();
    let (served, ..) = request(pair.carry_to_server());
    for round in 0..50_u8 {
        for n in 0..2 {
            let item = [round, n];
            assert!(pair.client.send_call_item(key, &item, &waker).is_ready());
            assert!(
                pair.server
                    .send_served_item(served, &item, &waker)
                    .is_ready()
            );
        }
        assert!(pair.client.send_call_item(key, b"", &waker).is_pending());
        assert!(
            pair.server
                .send_served_item(served, b"", &waker)
                .is_pending()
        );
        pair.carry_to_server();
        pair.carry_to_client();
        for n in 0..2 {
            let expected = [round, n];
            let at_server = pair.server.poll_served_item(served, &waker);
            assert!(matches!(at_server, Poll::Ready(Item::One(item)) if item[..] == expected));
            let at_client = pair.client.poll_call_item(key, &waker);
            assert!(matches!(at_client, Poll::Ready(Item::One(item)) if item[..] == expected));
        }
        pair.carry_to_server();
        pair.carry_to_client();
    }
    pair.client.finish_call_items(key);
    pair.carry_to_server();
    let end = pair.server.poll_served_item(served, &waker);
    assert!(matches!(end, Poll::Ready(Item::End)));
    pair.server.reply(served, b"sum");
    pair.server.release(served);
    pair.carry_to_client();
    let end = pair.client.poll_call_item(key, &waker);
    assert!(matches!(end, Poll::Ready(Item::End)));
    assert!(matches!(pair.outcome(key), Poll::Ready(Ok(body)) if &body[..] == b"sum"));
    pair.assert_empty();
}

#[test]
fn settings_are_read_as_written() {
    let message = SETTINGS.message(b"hello");
    assert_eq!(Settings::parse(&message), Ok((SETTINGS, &b"hello"[..])));
    let mut other = message.to_vec();
    other[HEADER] = 9;
    assert_eq!(Settings::parse(&other), Err(Violation::Version(9)));
    for length in 0..HEADER + settings::SETTINGS_BODY {
        assert!(Settings::parse(&message[..length]).is_err());
    }
}

/// Whatever a peer sends is an event or a violation, and what a close leaves is nothing.
#[test]
fn garbage_neither_panics_nor_stays() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as usize % below
    };
    for _ in 0..2_000 {
        let mut pair = Pair::new();
        let (mut served, mut keys) = (Vec::new(), Vec::new());
        for _ in 0..random(60) {
            let number = random(10) as u32;
            let mut message = vec![random(14) as u8, random(256) as u8];
            message.extend_from_slice(&number.to_be_bytes());
            message.extend((0..random(12)).map(|i| (i * 31) as u8));
            message.truncate(message.len() - random(2));
            if random(4) == 0
                && let Ok(key) = pair.call(b"")
            {
                keys.push(key);
            }
            match pair.client.receive(message.into(), pair.now) {
                Ok(CallEvent::Request(asked)) => served.push(asked.key),
                Ok(_) => {}
                Err(_) if random(3) == 0 => break,
                Err(_) => {}
            }
            pair.client.take_outbox(&mut VecDeque::new());
            pair.client.put_back(&mut VecDeque::new());
        }
        drop(pair.client.close());
        for key in served {
            assert_ne!(pair.client.reply(key, b""), Answered::Sent);
            pair.client.release(key);
        }
        for key in keys {
            assert!(pair.outcome(key).is_ready());
        }
        pair.assert_empty_client();
    }
}

#[test]
fn a_sender_that_waits_for_room_is_woken_by_the_end_of_its_call() {
    let mut pair = Pair::new();
    let small = Settings {
        message_budget: 1,
        ..SETTINGS
    };
    pair.client = Protocol::new(Side::Client, SETTINGS, small, ANSWERS);
    let due = pair.now + Duration::from_secs(1);
    let key = pair
        .client
        .call(Content::plain(b""), pair.now, Some(due), true)
        .unwrap();
    let count = Arc::new(Count::default());
    let waker = count.clone().into();
    let send = |client: &mut Protocol| client.send_call_item(key, b"", &waker);
    assert_eq!(send(&mut pair.client), Poll::Ready(Ok(())));
    assert_eq!(send(&mut pair.client), Poll::Ready(Err(NotSent::Full)));
    pair.client.handle_timeout(due + TICK);
    let mut wakers = Vec::new();
    pair.client.take_wakers(&mut wakers);
    wakers.into_iter().for_each(Waker::wake);
    assert_eq!(count.0.load(Ordering::SeqCst), 1);
    assert_eq!(send(&mut pair.client), Poll::Ready(Err(NotSent::Closed)));
}

#[test]
fn all_who_wait_on_one_stream_are_woken() {
    let mut pair = Pair::new();
    let key = pair
        .client
        .call(Content::plain(b""), pair.now, None, true)
        .unwrap();
    let counts = [(); 4].map(|()| Arc::new(Count::default()));
    let wakers = counts.clone().map(Waker::from);
    for waker in &wakers[..2] {
        // A task that asks again is woken once.
        assert!(pair.client.poll_call_item(key, waker).is_pending());
        assert!(pair.client.poll_call_item(key, waker).is_pending());
    }
    while pair.client.send_call_item(key, b"", &wakers[2]).is_ready() {}
    assert!(
        pair.client
            .send_call_item(key, b"", &wakers[3])
            .is_pending()
    );
    drop(pair.client.close());
    let mut woken = Vec::new();
    pair.client.take_wakers(&mut woken);
    woken.into_iter().for_each(Waker::wake);
    assert_eq!(counts.map(|count| count.0.load(Ordering::SeqCst)), [1; 4]);
}
