//! Workers that leave in good order, while their sender goes on.

use super::everything::wait;
use super::*;

const MESSAGES: u64 = 600;
/// Long enough to connect.
const MINUTE: Duration = Duration::from_secs(60);
/// The last one stays.
const WORKERS: usize = 3;

/// A worker, and where it is on its way out.
struct Worker {
    _context: Context,
    pull: Socket,
    received: Vec<u64>,
    /// Once it was drained, how many of its connections were cut off.
    cut_off: Option<usize>,
}

impl Worker {
    fn receive(&mut self) {
        while self.cut_off.is_none() {
            match self.pull.try_recv() {
                Ok(message) => {
                    let [number] = numbers(message.as_bytes());
                    self.received.push(number);
                }
                Err(Error::WouldBlock) => break,
                Err(Error::Drained { cut_off }) => self.cut_off = Some(cut_off),
                Err(error) => panic!("{error}"),
            }
        }
    }
}

/// The messages that the workers received, how many connections were cut off, and what the sender counted. All but the last worker leave while
/// messages are sent, within `limit`. The sender closes meanwhile, or once they have left.
fn run(
    seed: u64,
    trouble: Trouble,
    limit: Duration,
    meanwhile: bool,
) -> (Vec<u64>, usize, Account) {
    let mut scene = scene(seed, trouble);
    let (context, securities) = (scene.context(1), Securities::new(seed));
    let push = builder(&context, SocketType::Push, &scene, securities.server());
    let push = push.build().unwrap();
    let endpoint = push.bind(format!("tcp://{}:0", address(1))).unwrap();
    let mut workers: Vec<_> = (0..WORKERS)
        .map(|index| {
            let context = scene.context(10 + index as u8);
            let pull = builder(&context, SocketType::Pull, &scene, securities.client());
            let pull = pull.build().unwrap();
            pull.connect(endpoint.clone()).unwrap();
            Worker {
                _context: context,
                pull,
                received: Vec::new(),
                cut_off: None,
            }
        })
        .collect();
    let sender = push.core().unwrap().clone();
    let pulls = workers.iter().map(|worker| worker.pull.core().unwrap());
    let receivers: Vec<_> = pulls.cloned().collect();
    let (mut push, mut sent) = (Ending::Open(push), 0);
    // A worker that stays must be there, or messages wait for ever.
    while workers[WORKERS - 1].pull.peers().is_empty() {
        scene.step();
    }
    let drained = |workers: &[Worker]| {
        let mut leaving = workers[..WORKERS - 1].iter();
        leaving.all(|worker| worker.cut_off.is_some())
    };
    // Those that have not noticed a cut hold messages that nobody has counted.
    let alone = |workers: &[Worker]| workers.iter().all(|worker| worker.pull.peers().is_empty());
    while push.unsent().is_none() || !alone(&workers) || !drained(&workers) {
        if sent == MESSAGES {
            scene.calm();
        }
        let index = scene.below(WORKERS as u64) as usize;
        let leaves = sent > MESSAGES / 4 * (1 + index as u64) && index < WORKERS - 1;
        match scene.below(6) {
            0 => match push.open().filter(|_| sent < MESSAGES) {
                None if meanwhile || drained(&workers) => push.close(),
                None => scene.step(),
                Some(push) => {
                    let burst = MESSAGES.min(sent + (1 << scene.below(6)));
                    while sent < burst {
                        let done = push.try_send(message(&[sent], &scene));
                        if at_once(done.map_err(Error::from)).is_none() {
                            break;
                        }
                        sent += 1;
                    }
                }
            },
            1 => workers[index].receive(),
            2 if leaves => workers[index].pull.drain(limit).unwrap(),
            _ => scene.step(),
        }
    }
    workers.iter_mut().for_each(Worker::receive);
    let mut received: Vec<_> = workers
        .iter_mut()
        .flat_map(|worker| worker.received.drain(..))
        .collect();
    let cut_off = workers.iter().filter_map(|worker| worker.cut_off).sum();
    let account = Account::of(&sender);
    account.check(sent, received.len(), &receivers, seed);
    received.sort_unstable();
    drop((push, context, sender, workers, receivers));
    scene.end();
    (received, cut_off, account)
}

#[test]
fn nothing_is_lost_with_workers_that_leave() {
    for seed in seeds(100) {
        let (received, cut_off, _) = run(seed, Trouble::DELAYS, HOUR, false);
        assert_eq!(cut_off, 0, "seed {seed}");
        let expected: Vec<_> = (0..MESSAGES).collect();
        assert!(received == expected, "seed {seed}: {received:?}");
    }
}

/// What a worker leaves behind finds nobody, where the sender has ended its other connections: it had nothing for them.
#[test]
fn a_sender_that_closes_counts_what_comes_back_to_it() {
    for seed in seeds(100).chain([568]) {
        let (received, _, account) = run(seed, Trouble::DELAYS, HOUR, true);
        assert_eq!(
            received.len() as u64 + account.lost,
            MESSAGES,
            "seed {seed}"
        );
    }
}

#[test]
fn workers_leave_over_a_network_that_fails_and_every_message_is_accounted_for() {
    for seed in seeds(100) {
        let (received, ..) = run(seed, Trouble::CUTS, Duration::from_secs(10), true);
        let once = received.windows(2).all(|two| two[0] < two[1]);
        assert!(once, "seed {seed}: {received:?}");
    }
}

#[test]
fn a_peer_whose_end_does_not_come_is_cut_off_when_the_time_is_up() {
    for seed in seeds(10) {
        let mut scene = scene(seed, Trouble::NONE);
        let contexts = [1, 2].map(|host| scene.context(host));
        let securities = Securities::new(seed);
        let push = builder(&contexts[0], SocketType::Push, &scene, securities.server());
        let push = push.build().unwrap();
        let pull = builder(&contexts[1], SocketType::Pull, &scene, securities.client());
        let pull = pull.build().unwrap();
        pull.connect(push.bind(format!("tcp://{}:0", address(1))).unwrap())
            .unwrap();
        while pull.peers().is_empty() || push.peers().is_empty() {
            scene.step();
        }
        scene.network.partition(HOUR);
        let limit = Duration::from_secs(5);
        let began = scene.network.now();
        pull.drain(limit).unwrap();
        let drained = loop {
            match pull.try_recv() {
                Err(Error::WouldBlock) => scene.step(),
                drained => break drained,
            }
        };
        assert!(
            matches!(drained, Err(Error::Drained { cut_off: 1 })),
            "seed {seed}: {drained:?}"
        );
        assert!(scene.network.now() >= began + limit, "seed {seed}");
        drop((push, pull, contexts));
        scene.end();
    }
}

/// A socket that connects has one connection at most, beside the present one, to a peer that has left and is written
/// to. A peer that leaves again and again, and reads nothing, cannot have it hold more.
#[test]
fn a_peer_that_leaves_without_reading_is_not_connected_to_without_end() {
    // These networks hold less than the messages.
    for seed in 0..4 {
        let mut scene = scene(seed, Trouble::NONE);
        let contexts = [1, 2].map(|host| scene.context(host));
        let securities = Securities::new(seed);
        let build = |context: &Context, socket_type, security| {
            let builder = Socket::builder(socket_type).context(context);
            let builder = builder.security(security).linger(Duration::ZERO);
            builder.receive_high_water_mark(1).build().unwrap()
        };
        let push = build(&contexts[0], SocketType::Push, securities.client());
        let endpoint = format!("tcp://{}:5555", address(2));
        push.connect(endpoint.clone()).unwrap();
        let bound = |scene: &mut Scene| {
            let pull = build(&contexts[1], SocketType::Pull, securities.server());
            pull.bind(endpoint.clone()).unwrap();
            wait(scene, MINUTE, |_| ());
            pull
        };
        let mut left = Vec::new();
        for _ in 0..2 {
            let pull = bound(&mut scene);
            assert_eq!(
                (push.peers().len(), pull.peers().len()),
                (1, 1),
                "seed {seed}"
            );
            while at_once(push.try_send(vec![0; 30_000]).map_err(Error::from)).is_some() {
                scene.pass(PAUSE);
            }
            pull.drain(100 * HOUR).unwrap();
            wait(&mut scene, MINUTE, |_| ());
            assert!(push.peers().is_empty(), "seed {seed}");
            left.push(pull);
        }
        let next = bound(&mut scene);
        assert!(
            next.peers().is_empty(),
            "seed {seed}: it holds what three have left"
        );
        let last = left.pop().unwrap();
        while !matches!(last.try_recv(), Err(Error::Drained { cut_off: 0 })) {
            scene.pass(PAUSE);
        }
        wait(&mut scene, MINUTE, |_| ());
        assert_eq!(next.peers().len(), 1, "seed {seed}");
        drop((push, left, last, next, contexts));
        scene.end();
    }
}
