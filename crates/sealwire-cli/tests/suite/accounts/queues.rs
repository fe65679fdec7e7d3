//! Messages in the queues of a socket, on both sides.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use sealwire::account::{Excess, Kind};
use sealwire::{Error, Event, FailureCause, Frame, Message, SocketType};

use super::bystander::{
    Ending, LIMIT, Server, answer_the_bystander, eventually, peer_named, within_bound,
};

/// The high-water mark, in messages, and their size in bytes.
const HIGH_WATER_MARK: usize = 10;
const SIZE: usize = 10_000;
/// What a full queue costs: each message counts with 16 bytes more.
const BOUND: usize = HIGH_WATER_MARK * (SIZE + 16);

/// A peer that sends faster than the application reads is not read from.
pub(crate) fn received() {
    assert_eq!(Kind::Received.excess(), Excess::Paused);
    let server = Server::new();
    let router = server
        .socket(SocketType::Router)
        .receive_high_water_mark(HIGH_WATER_MARK);
    let router = router.build_blocking().unwrap();
    let endpoint = router.bind("tcp://127.0.0.1:0").unwrap();
    let mut bystander = server.bystander(&endpoint);
    bystander.works(|| drop(answer_the_bystander(&router)));

    let attacker = server.peer(SocketType::Dealer).routing_id("attacker");
    let attacker = attacker
        .send_high_water_mark(HIGH_WATER_MARK)
        .build_blocking()
        .unwrap();
    attacker.connect(endpoint).unwrap();
    let (over, refused) = (AtomicBool::new(false), AtomicBool::new(false));
    let (sent, mut received) = thread::scope(|scope| {
        let sending = scope.spawn(|| {
            let mut sent = 0;
            while !over.load(Ordering::Relaxed) {
                match attacker.try_send(vec![0; SIZE]) {
                    Ok(()) => sent += 1,
                    Err(error) => {
                        assert!(matches!(error.error(), Error::WouldBlock), "{error}");
                        refused.store(true, Ordering::Relaxed);
                        thread::yield_now();
                    }
                }
            }
            sent
        });
        let ending = Ending(&over);
        // It is paused, and the pause reaches its own queue.
        eventually("paused", || router.counters().exceeded(Kind::Received) > 0);
        eventually("no room to send", || refused.load(Ordering::Relaxed));
        let attacks = peer_named(&router, "attacker");
        let works = peer_named(&router, "bystander");
        let mut received = 0;
        bystander.works(|| {
            eventually("its message is there", || {
                router.accounts();
                works.account().held(Kind::Received) > 0
            });
            within_bound(attacks.account(), Kind::Received, BOUND);
            let others = answer_the_bystander(&router).len();
            assert!(
                others <= 1,
                "{others} messages before the bystander's, which is next"
            );
            received += others;
        });
        assert!(attacks.account().exceeded(Kind::Received) > 0);
        drop(ending);
        (sending.join().unwrap(), received)
    });
    // Nothing was lost.
    while received < sent {
        assert_eq!(router.recv().unwrap().size(), "attacker".len() + SIZE);
        received += 1;
    }
    bystander.works(|| assert!(answer_the_bystander(&router).is_empty()));
}

/// A peer that connects again and again while nobody reads leaves no more behind than one connection
/// may hold, and the next.
pub(crate) fn left_behind() {
    assert_eq!(Kind::LeftBehind.excess(), Excess::Refused);
    let server = Server::new();
    let router = server.socket(SocketType::Router).receive_byte_budget(BOUND);
    let router = router.build_blocking().unwrap();
    let monitor = router.monitor();
    let endpoint = router.bind("tcp://127.0.0.1:0").unwrap();
    let mut bystander = server.bystander(&endpoint);
    bystander.works(|| drop(answer_the_bystander(&router)));

    let refused = || router.counters().exceeded(Kind::LeftBehind) > 0;
    let mut received = router.counters().messages_received;
    let (mut left, mut connections) = (0, 0);
    while !refused() {
        connections += 1;
        assert!(
            connections <= 20,
            "{connections} connections left {left} messages"
        );
        let attacker = server.peer(SocketType::Dealer).build_blocking().unwrap();
        attacker.connect(endpoint.clone()).unwrap();
        for _ in 0..3 {
            attacker.send(vec![0; SIZE]).unwrap();
        }
        eventually("it has arrived, or is refused", || {
            router.counters().messages_received == received + 3 || refused()
        });
        let ended = router.counters().disconnects;
        left += router.counters().messages_received - received;
        received = router.counters().messages_received;
        drop(attacker);
        eventually("it has left, or is refused", || {
            router.counters().disconnects > ended || refused()
        });
    }
    eventually("the cause is told", || {
        let event = monitor.wait_next_timeout(LIMIT).unwrap();
        matches!(event, Event::Failed(failure) if matches!(
            failure.cause(),
            FailureCause::LimitExceeded(exceeded) if exceeded.kind == Kind::LeftBehind
        ))
    });
    let held = router.accounts().into_iter();
    let held: usize = held.map(|peer| peer.account().held(Kind::Received)).sum();
    assert!(
        held > 0 && held <= 2 * BOUND + SIZE + 16,
        "{held} bytes held"
    );

    // The earlier client works on, and once all was read everybody is let in again.
    let mut others = 0;
    bystander.works(|| others += answer_the_bystander(&router).len() as u64);
    assert_eq!(others, left, "what was left behind is delivered");
    drop(bystander);
    let mut late = server.bystander(&endpoint);
    late.works(|| drop(answer_the_bystander(&router)));
}

/// A peer that does not read what it is sent misses what does not fit into its queue.
pub(crate) fn queued() {
    assert_eq!(Kind::Queued.excess(), Excess::Refused);
    let server = Server::new();
    let (router, endpoint, mut bystander) =
        server.router(|socket| socket.send_high_water_mark(HIGH_WATER_MARK));

    let attacker = server.peer(SocketType::Dealer).routing_id("attacker");
    let attacker = attacker
        .receive_high_water_mark(1)
        .build_blocking()
        .unwrap();
    attacker.connect(endpoint).unwrap();
    attacker.send("send me what I do not read").unwrap();
    router.recv().unwrap();
    let attacks = peer_named(&router, "attacker");
    let send = || {
        let message: Message = ["attacker".into(), vec![0; SIZE]]
            .map(Frame::from)
            .into_iter()
            .collect();
        router.send(message).unwrap();
    };
    let mut most = 0;
    eventually("no room", || {
        send();
        router.accounts();
        within_bound(attacks.account(), Kind::Queued, BOUND);
        most = most.max(attacks.account().held(Kind::Queued));
        attacks.account().exceeded(Kind::Queued) > 0
    });
    assert_eq!(most, BOUND, "the queue was full");
    let dropped = router.counters().dropped_at_send;
    bystander.works(|| {
        send();
        assert!(answer_the_bystander(&router).is_empty());
        router.accounts();
        within_bound(attacks.account(), Kind::Queued, BOUND);
    });
    assert!(router.counters().dropped_at_send > dropped);
    assert!(router.counters().exceeded(Kind::Queued) > 0);

    drop(attacker);
    eventually("gone", || router.peers().len() == 1);
    assert_eq!(attacks.account().held(Kind::Queued), 0);
    bystander.works(|| assert!(answer_the_bystander(&router).is_empty()));
}

/// A message that grows over the limit ends the connection of who sends it.
pub(crate) fn arriving() {
    const LIMIT: usize = 100_000;
    assert_eq!(Kind::Arriving.excess(), Excess::Disconnected);
    let server = Server::new();
    let (router, endpoint, mut bystander) = server.router(|socket| socket.max_message_size(LIMIT));

    let attacker = server.peer(SocketType::Dealer).routing_id("attacker");
    let attacker = attacker.build_blocking().unwrap();
    attacker.connect(endpoint).unwrap();
    attacker.send("before").unwrap();
    router.recv().unwrap();
    let attacks = peer_named(&router, "attacker");
    // Each part fits, all of them do not.
    let parts = (0..3).map(|_| Frame::from(vec![0; LIMIT / 2 - 1]));
    attacker.send(parts.collect::<Message>()).unwrap();
    eventually("it is disconnected", || {
        within_bound(attacks.account(), Kind::Arriving, LIMIT + 64);
        attacks.account().exceeded(Kind::Arriving) > 0
    });
    assert_eq!(attacks.account().held(Kind::Arriving), 0);
    assert!(router.counters().exceeded(Kind::Arriving) > 0);
    bystander.works(|| assert!(answer_the_bystander(&router).is_empty()));
}
