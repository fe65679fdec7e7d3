//! Senders with a queue for each endpoint, and receivers that come later.

use super::*;

const MESSAGES: u64 = 400;

/// How the sender says for whom a message is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sends {
    /// PUSH: to all in turn.
    InTurn,
    /// ROUTER: by routing ids that it chose.
    ByName,
}

const NAMES: [&str; 2] = ["first", "second"];

/// Sends all messages, in bursts, to two receivers that are bound at a moment of the seed's. Gives what each has received.
fn run(seed: u64, trouble: Trouble, sends: Sends) -> [Vec<u64>; 2] {
    let mut scene = scene(seed, trouble);
    let contexts = [1, 2, 3].map(|host| scene.context(host));
    let securities = Securities::new(seed);
    let types = match sends {
        Sends::InTurn => (SocketType::Push, SocketType::Pull),
        Sends::ByName => (SocketType::Router, SocketType::Dealer),
    };
    let sender = builder(&contexts[0], types.0, &scene, securities.client());
    // Nothing but the order of endpoints decides.
    let sender = sender.send_high_water_mark(0).queue_per_endpoint(true);
    let sender = sender.build().unwrap();
    let receivers = [1, 2].map(|host| {
        let receiver = builder(&contexts[host], types.1, &scene, securities.server());
        receiver.build().unwrap()
    });
    let endpoints = [0, 1].map(|index: usize| format!("tcp://{}:5555", address(2 + index as u8)));
    for (endpoint, name) in endpoints.iter().zip(NAMES) {
        match sends {
            Sends::InTurn => sender.connect(&**endpoint).unwrap(),
            Sends::ByName => sender.connect_with_routing_id(&**endpoint, name).unwrap(),
        }
    }
    let mut bound = [0, 1].map(|_| scene.below(MESSAGES));
    let cores = [0, 1].map(|index: usize| receivers[index].core().unwrap().clone());
    let core = sender.core().unwrap().clone();
    let (mut sender, mut sent) = (Ending::Open(sender), 0);
    let mut received = [Vec::new(), Vec::new()];
    let receive = |received: &mut [Vec<u64>; 2], index: usize| {
        while let Some(message) = at_once(receivers[index].try_recv()) {
            let [number] = numbers(message.as_bytes());
            received[index].push(number);
        }
    };
    while sender.unsent().is_none() || scene.network.connections() > 0 {
        if sent > MESSAGES / 4 * 3 {
            scene.calm();
        }
        for index in [0, 1] {
            if sent > bound[index] {
                receivers[index].bind(&*endpoints[index]).unwrap();
                bound[index] = u64::MAX;
            }
        }
        match scene.below(5) {
            0 => match sender.open().filter(|_| sent < MESSAGES) {
                None => sender.close(),
                Some(sender) => {
                    let burst = MESSAGES.min(sent + (1 << scene.below(7)));
                    for number in sent..burst {
                        let body = message(&[number], &scene);
                        let message = match sends {
                            Sends::InTurn => Message::from(body),
                            Sends::ByName => {
                                let name = NAMES[number as usize % 2].as_bytes().to_vec();
                                Message::multipart([name, body])
                            }
                        };
                        let done = sender.try_send(message).map_err(Error::from);
                        assert!(at_once(done).is_some(), "seed {seed}");
                    }
                    sent = burst;
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
    account.check(sent, received.concat().len(), &cores, seed);
    drop((sender, receivers, core, cores, contexts));
    scene.end();
    received
}

#[test]
fn each_receiver_gets_the_messages_of_its_turn_whenever_it_comes() {
    for seed in seeds(100) {
        for sends in [Sends::InTurn, Sends::ByName] {
            let received = run(seed, Trouble::DELAYS, sends);
            // The order in turn begins with either.
            let swapped = received[0].first() == Some(&1);
            let starts = if swapped { [1, 0] } else { [0, 1] };
            for (received, start) in received.iter().zip(starts) {
                let expected = Vec::from_iter((start..MESSAGES).step_by(2));
                assert!(*received == expected, "seed {seed}: {received:?}");
            }
            assert!(sends == Sends::InTurn || !swapped, "seed {seed}");
        }
    }
}

#[test]
fn every_message_is_accounted_for_over_a_network_that_fails() {
    for seed in seeds(100) {
        for sends in [Sends::InTurn, Sends::ByName] {
            let received = run(seed, Trouble::CUTS, sends);
            let mut all = received.concat();
            all.sort_unstable();
            let once = all.windows(2).all(|two| two[0] < two[1]);
            assert!(once, "seed {seed}: {all:?}");
            if sends == Sends::ByName {
                for (received, start) in received.iter().zip([0, 1]) {
                    let own = received.iter().all(|it| it % 2 == start);
                    assert!(own, "seed {seed}: {received:?}");
                }
            }
        }
    }
}
