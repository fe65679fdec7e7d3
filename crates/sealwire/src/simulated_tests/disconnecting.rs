//! Sockets that leave a peer and go on with another.

use super::*;

const MESSAGES: u64 = 400;

/// What a sender came to that left its first receiver for the second.
struct Outcome {
    received: [Vec<u64>; 2],
    /// The first message that was sent after it had left.
    left_at: u64,
    /// It had no other receiver until then, and that one was there.
    was_alone: bool,
}

impl Outcome {
    fn all(&self) -> Vec<u64> {
        let mut all = self.received.concat();
        all.sort_unstable();
        all
    }
}

/// Sends all messages, in bursts, and leaves in the middle of one. It has the second receiver from the start, or connects to
/// it then.
fn run(seed: u64, trouble: Trouble) -> Outcome {
    let mut scene = scene(seed, trouble);
    let contexts = [1, 2, 3].map(|host| scene.context(host));
    let securities = Securities::new(seed);
    let push = builder(&contexts[0], SocketType::Push, &scene, securities.client());
    let push = push.build().unwrap();
    let pulls = [1, 2].map(|host| {
        let pull = builder(
            &contexts[host],
            SocketType::Pull,
            &scene,
            securities.server(),
        );
        pull.build().unwrap()
    });
    let [first, second] = [0, 1].map(|index| {
        let pull: &Socket = &pulls[index];
        pull.bind(format!("tcp://{}:0", address(2 + index as u8)))
            .unwrap()
    });
    push.connect(first.clone()).unwrap();
    let has_both = scene.below(2) == 1;
    if has_both {
        push.connect(second.clone()).unwrap();
    }
    // In an eighth of all runs while it connects.
    let left_at = scene.below(8).min(1) * scene.below(MESSAGES);
    let core = push.core().unwrap().clone();
    let receivers = [0, 1].map(|index: usize| pulls[index].core().unwrap().clone());
    let (mut push, mut sent, mut was_alone) = (Ending::Open(push), 0, None);
    let mut received = [Vec::new(), Vec::new()];
    let receive = |received: &mut [Vec<u64>; 2], index: usize| {
        while let Some(message) = at_once(pulls[index].try_recv()) {
            let [number] = numbers(message.as_bytes());
            received[index].push(number);
        }
    };
    while push.unsent().is_none() || scene.network.connections() > 0 {
        if sent > MESSAGES / 4 * 3 {
            scene.calm();
        }
        match scene.below(5) {
            0 => match push.open().filter(|_| sent < MESSAGES) {
                None => push.close(),
                Some(push) => {
                    let burst = MESSAGES.min(sent + (1 << scene.below(7)));
                    while sent < burst {
                        if sent == left_at && was_alone.is_none() {
                            was_alone = Some(!has_both && push.peers().len() == 1);
                            push.disconnect(first.clone()).unwrap();
                            if !has_both {
                                assert!(push.peers().is_empty(), "seed {seed}");
                                push.connect(second.clone()).unwrap();
                            }
                        }
                        let done = push.try_send(message(&[sent], &scene));
                        if at_once(done.map_err(Error::from)).is_none() {
                            break;
                        }
                        sent += 1;
                    }
                }
            },
            1 => receive(&mut received, scene.below(2) as usize),
            _ => scene.step(),
        }
    }
    for index in [0, 1] {
        receive(&mut received, index);
    }
    let account = Account::of(&core);
    account.check(sent, received.concat().len(), &receivers, seed);
    drop((push, pulls, core, receivers, contexts));
    scene.end();
    Outcome {
        received,
        left_at,
        was_alone: was_alone.unwrap(),
    }
}

#[test]
fn nothing_that_is_sent_after_goes_to_the_receiver_that_was_left_and_nothing_is_lost() {
    let mut alone = 0;
    for seed in seeds(200) {
        let outcome = run(seed, Trouble::DELAYS);
        let [first, second] = &outcome.received;
        let left_at = outcome.left_at;
        assert!(first.iter().all(|it| *it < left_at), "seed {seed}");
        for received in &outcome.received {
            let increasing = received.windows(2).all(|two| two[0] < two[1]);
            assert!(increasing, "seed {seed}: {received:?}");
        }
        assert!(outcome.all() == Vec::from_iter(0..MESSAGES), "seed {seed}");
        if outcome.was_alone {
            alone += 1;
            assert!(first.len() as u64 == left_at, "seed {seed}: {left_at}");
            assert!(second.first() == Some(&left_at), "seed {seed}");
        }
    }
    // Else nothing was tried.
    assert!(alone > 0);
}

#[test]
fn nothing_goes_there_over_a_network_that_fails_either_and_every_message_is_accounted_for() {
    for seed in seeds(200) {
        let outcome = run(seed, Trouble::CUTS);
        let left_at = outcome.left_at;
        let first = &outcome.received[0];
        assert!(first.iter().all(|it| *it < left_at), "seed {seed}");
        let all = outcome.all();
        let once = all.windows(2).all(|two| two[0] < two[1]);
        assert!(once, "seed {seed}: {all:?}");
    }
}

/// A receiver that leaves one of two senders: what it has of that one by then is all.
#[test]
fn nothing_is_received_of_a_sender_that_was_left() {
    let mut late = 0;
    for seed in seeds(200) {
        let mut scene = scene(seed, Trouble::DELAYS);
        let contexts = [1, 2, 3].map(|host| scene.context(host));
        let securities = Securities::new(seed);
        let pull = builder(&contexts[0], SocketType::Pull, &scene, securities.client());
        let pull = pull.build().unwrap();
        let pushes = [1, 2].map(|host| {
            let context = &contexts[host];
            let push = builder(context, SocketType::Push, &scene, securities.server());
            push.linger(Duration::ZERO).build().unwrap()
        });
        let endpoints = [0, 1].map(|index: usize| {
            let endpoint = format!("tcp://{}:0", address(2 + index as u8));
            pushes[index].bind(endpoint).unwrap()
        });
        for endpoint in &endpoints {
            pull.connect(endpoint.clone()).unwrap();
        }
        let left_after = scene.below(MESSAGES);
        let (mut sent, mut received, mut left) = ([0, 0], [0, 0], None);
        while received[1] < MESSAGES || left.is_none() {
            match scene.below(4) {
                0 => {
                    let index = scene.below(2) as usize;
                    for _ in 0..1 << scene.below(6) {
                        // The first goes on for ever.
                        if index == 1 && sent[1] == MESSAGES {
                            break;
                        }
                        let message = message(&[index as u64, sent[index]], &scene);
                        let done = pushes[index].try_send(message);
                        if at_once(done.map_err(Error::from)).is_none() {
                            break;
                        }
                        sent[index] += 1;
                    }
                }
                1 => {
                    while let Some(message) = at_once(pull.try_recv()) {
                        let [index, number] = numbers(message.as_bytes());
                        assert!(index == 1 || left.is_none(), "seed {seed}");
                        assert_eq!(number, received[index as usize], "seed {seed}");
                        received[index as usize] += 1;
                    }
                    if left.is_none() && received[0] + received[1] >= left_after {
                        // Nothing is left to be read.
                        pull.disconnect(endpoints[0].clone()).unwrap();
                        left = Some(received[0]);
                    }
                }
                _ => scene.step(),
            }
        }
        assert_eq!(left, Some(received[0]), "seed {seed}");
        let counters = pull.counters();
        assert_eq!(
            counters.messages_received,
            received.iter().sum::<u64>(),
            "seed {seed}"
        );
        late += counters.dropped_at_receive;
        drop((pull, pushes, contexts));
        scene.end();
    }
    // Else nothing was tried.
    assert!(late > 0);
}
