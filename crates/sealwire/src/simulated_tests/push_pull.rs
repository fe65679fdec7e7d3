//! PUSH to PULL, one to one.

use super::*;

const MESSAGES: u64 = 1_000;

/// What a run came to. Two runs of a seed have the same in all.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    /// The messages that were received, and when.
    received: Vec<(Duration, u64)>,
    /// Messages that the sender says it could not send as it closed.
    unsent: usize,
    account: Account,
    steps: usize,
    ended_at: Duration,
}

impl Outcome {
    fn numbers(&self) -> Vec<u64> {
        self.received.iter().map(|(_, number)| *number).collect()
    }
}

/// Sends all messages, in bursts. What disturbs the network does so in the first quarter.
fn run(seed: u64, trouble: Trouble) -> Outcome {
    let mut scene = scene(seed, trouble);
    let contexts = [1, 2].map(|host| scene.context(host));
    let securities = Securities::new(seed);
    let push = builder(&contexts[0], SocketType::Push, &scene, securities.client());
    let push = push.build().unwrap();
    let pull = builder(&contexts[1], SocketType::Pull, &scene, securities.server());
    let pull = pull.build().unwrap();
    push.connect(pull.bind(format!("tcp://{}:0", address(2))).unwrap())
        .unwrap();

    let cores = [&push, &pull].map(|socket| socket.core().unwrap().clone());
    let (mut push, mut sent, mut received) = (Ending::Open(push), 0, Vec::new());
    let receive = |scene: &Scene, received: &mut Vec<_>| {
        while let Some(message) = at_once(pull.try_recv()) {
            let [number] = numbers(message.as_bytes());
            received.push((scene.network.now(), number));
        }
    };
    while push.unsent().is_none() || scene.network.connections() > 0 {
        if sent > MESSAGES / 4 {
            scene.calm();
        }
        match scene.below(4) {
            0 => match push.open().filter(|_| sent < MESSAGES) {
                None => push.close(),
                Some(push) => {
                    for _ in 0..1 << scene.below(8) {
                        if sent == MESSAGES {
                            break;
                        }
                        let done = push.try_send(message(&[sent], &scene));
                        if at_once(done.map_err(Error::from)).is_none() {
                            break;
                        }
                        sent += 1;
                    }
                }
            },
            1 => receive(&scene, &mut received),
            _ => scene.step(),
        }
    }
    receive(&scene, &mut received);
    let (steps, unsent) = (scene.steps, push.unsent().unwrap_or(0));
    let account = Account::of(&cores[0]);
    account.check(sent, received.len(), &cores[1..], seed);
    drop((pull, contexts, cores));
    Outcome {
        received,
        unsent,
        account,
        steps,
        ended_at: scene.end(),
    }
}

#[test]
fn everything_arrives_in_order_however_slow_the_network_is() {
    for seed in seeds(200) {
        let outcome = run(seed, Trouble::DELAYS);
        let expected: Vec<_> = (0..MESSAGES).collect();
        assert!(outcome.numbers() == expected, "seed {seed}");
        assert_eq!(outcome.unsent, 0, "seed {seed}");
    }
}

#[test]
fn cuts_lose_messages_and_neither_repeat_nor_reorder_them() {
    let (mut lost, mut unconfirmed) = (0, [0; 2]);
    for seed in seeds(200) {
        let outcome = run(seed, Trouble::CUTS);
        let numbers = outcome.numbers();
        let increasing = numbers.windows(2).all(|two| two[0] < two[1]);
        assert!(increasing, "seed {seed}: {numbers:?}");
        // A cut loses what is queued, which is less than what is sent after the last one.
        assert_eq!(numbers.last(), Some(&(MESSAGES - 1)), "seed {seed}");
        lost += MESSAGES as usize - numbers.len();
        unconfirmed[usize::from(has_heartbeats(seed))] += outcome.account.unconfirmed;
    }
    // Else nothing was tried.
    assert!(lost > 0);
    // What an answered heartbeat confirms is not doubted later.
    let [silent, beating] = unconfirmed;
    assert!(beating < silent / 2, "{unconfirmed:?}");
}

#[test]
fn a_seed_gives_the_same_run_again() {
    for seed in 1_000..1_010 {
        let first = run(seed, Trouble::CUTS);
        assert_eq!(first, run(seed, Trouble::CUTS), "seed {seed}");
        assert_ne!(first.received, run(seed + 1, Trouble::CUTS).received);
    }
}
