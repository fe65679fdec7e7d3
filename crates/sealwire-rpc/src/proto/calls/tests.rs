//! The table of calls, without a connection.

use std::collections::VecDeque;

use sealwire::Frame;

use super::super::wire::HEADER;
use super::*;

const PEER: Settings = Settings {
    max_calls: 3,
    one_way_window: 1,
    stream_window: 2,
    max_body: 100,
    request_budget: 1_000,
    message_budget: 0,
};

struct Scene {
    calls: Calls,
    outbox: Outbox,
    wakeups: Wakeups,
}

impl Scene {
    fn new() -> Self {
        Scene {
            calls: Calls::new(Side::Client, &PEER),
            outbox: Outbox::new(1_000, &PEER),
            wakeups: Wakeups::default(),
        }
    }

    fn begin(&mut self, due: Option<u64>) -> Option<(CallKey, u32)> {
        let due = due.map(Duration::from_secs);
        let position = self.outbox.next_position();
        let has_room = self.calls.find_room(0);
        has_room.then(|| self.calls.begin(0, position, due, None))
    }

    fn end(&mut self, number: u32) -> Result<u64, Violation> {
        let body = Body::of(Frame::copy_from_slice(&[0; HEADER]));
        self.calls.end(number, Ok(body), &mut self.wakeups)
    }

    fn poll(&mut self, key: CallKey) -> Poll<Result<Body, Error>> {
        self.calls.poll(key, Waker::noop())
    }

    fn let_go(&mut self, key: CallKey) {
        assert_eq!(self.calls.let_go(key, &mut self.outbox), 0);
    }

    /// Numbers of CANCEL since the last time.
    fn cancelled(&mut self) -> Vec<u8> {
        let mut frames = VecDeque::new();
        self.outbox.take(&mut frames);
        let cancels = frames.iter().filter(|frame| frame[0] == Kind::Cancel as u8);
        cancels.map(|frame| frame[HEADER - 1]).collect()
    }
}

#[test]
fn a_slot_has_another_number_each_time() {
    let mut scene = Scene::new();
    let (first, number) = scene.begin(None).unwrap();
    assert!(number % 2 == 1 && scene.poll(first).is_pending());
    scene.end(number).unwrap();
    assert!(scene.wakeups.has_tasks());
    assert!(matches!(scene.poll(first), Poll::Ready(Ok(_))));
    assert_eq!((scene.calls.open(), scene.calls.in_use()), (0, 1));
    scene.let_go(first);
    let (second, other) = scene.begin(None).unwrap();
    assert!(second == first && other != number);
    // An answer to the one before, and one to a call of the other side.
    for number in [number, other + 1] {
        assert_eq!(scene.end(number), Err(Violation::NothingAsked));
    }
    assert_eq!(scene.calls.open(), 1);
}

#[test]
fn a_call_given_up_keeps_its_number_until_it_is_answered() {
    let mut scene = Scene::new();
    let calls = [(); 3].map(|()| scene.begin(None).unwrap());
    assert!(scene.begin(None).is_none());
    for (key, _) in calls {
        assert!(!scene.calls.is_stuck());
        scene.let_go(key);
    }
    assert_eq!(scene.cancelled().len(), 3);
    assert!(scene.calls.is_stuck() && scene.begin(None).is_none());
    scene.end(calls[1].1).unwrap();
    assert!(!scene.calls.is_stuck() && scene.begin(None).is_some());
    assert!(scene.begin(None).is_none());
    assert!(!scene.calls.is_stuck(), "one of the three is waited for");
}

#[test]
fn time_ends_a_call_once_for_its_caller_and_for_the_peer() {
    let mut scene = Scene::new();
    let (key, number) = scene.begin(Some(1)).unwrap();
    for seconds in [2, 3] {
        let now = Duration::from_secs(seconds);
        scene
            .calls
            .expire(now, &mut scene.outbox, &mut scene.wakeups);
    }
    assert_eq!(scene.cancelled(), [number as u8]);
    let expected = Error::DeadlineExceeded {
        may_have_run: false,
    };
    assert!(matches!(scene.poll(key), Poll::Ready(Err(error)) if error == expected));
    scene.let_go(key);
    assert!(scene.cancelled().is_empty());
    // The peer owes an answer still, and nobody hears it.
    assert_eq!((scene.calls.open(), scene.calls.in_use()), (1, 1));
    scene.end(number).unwrap();
    assert_eq!((scene.calls.open(), scene.calls.in_use()), (0, 0));
}

#[test]
fn an_answer_that_comes_too_late_does_not_change_the_outcome() {
    let mut scene = Scene::new();
    let (key, number) = scene.begin(Some(1)).unwrap();
    let now = Duration::from_secs(2);
    scene
        .calls
        .expire(now, &mut scene.outbox, &mut scene.wakeups);
    scene.end(number).unwrap();
    let outcome = scene.poll(key);
    assert!(matches!(
        outcome,
        Poll::Ready(Err(Error::DeadlineExceeded { .. }))
    ));
    scene.let_go(key);
    assert_eq!(scene.calls.in_use(), 0);
}

#[test]
fn a_close_ends_what_is_waited_for_and_frees_the_rest() {
    let mut scene = Scene::new();
    let (waits, _) = scene.begin(Some(1)).unwrap();
    let (gone, _) = scene.begin(None).unwrap();
    scene.let_go(gone);
    assert!(scene.poll(waits).is_pending());
    scene.calls.close(&scene.outbox, &mut scene.wakeups);
    assert!(scene.wakeups.has_tasks());
    assert_eq!((scene.calls.open(), scene.calls.in_use()), (0, 1));
    assert_eq!(scene.calls.next_timeout(), None);
    assert!(matches!(
        scene.poll(waits),
        Poll::Ready(Err(Error::ConnectionLost { .. }))
    ));
    scene.let_go(waits);
    assert_eq!(scene.calls.in_use(), 0);
}
