//! PUB to SUB: subscribers come and go, and change what they subscribe to.

use std::collections::{HashMap, HashSet};

use super::*;

const SUBSCRIBERS: usize = 4;
const MESSAGES: u64 = 300;
const TOPICS: u64 = 4;

/// A subscriber, and what it got.
struct Subscriber {
    _context: Context,
    sub: Socket,
    topics: Vec<bool>,
    /// The newest.
    last: Option<u64>,
    /// The last of each connection: those of an old one that are unread come in turn with those of the next.
    last_of: HashMap<u64, u64>,
    received: HashSet<u64>,
}

impl Subscriber {
    fn receive(&mut self, seed: u64) {
        while let Some(message) = at_once(self.sub.try_recv()) {
            let [_, number] = numbers(message.as_bytes());
            let connection = message.peer().expect("somebody sent it").connection();
            let before = self.last_of.insert(connection, number);
            assert!(
                before < Some(number),
                "seed {seed}: {number} after {before:?}"
            );
            assert!(self.received.insert(number), "seed {seed}: {number} twice");
            self.last = self.last.max(Some(number));
        }
    }

    fn change(&mut self, topic: usize) {
        let subscribed = &mut self.topics[topic];
        let prefix = (topic as u64).to_le_bytes();
        match std::mem::replace(subscribed, !*subscribed) {
            false => self.sub.subscribe(prefix).unwrap(),
            true => self.sub.unsubscribe(prefix).unwrap(),
        }
    }
}

fn run(seed: u64, trouble: Trouble) -> usize {
    let mut scene = scene(seed, trouble);
    let (context, securities) = (scene.context(1), Securities::new(seed));
    let publisher = builder(&context, SocketType::Pub, &scene, securities.server());
    let publisher = publisher.build().unwrap();
    let endpoint = publisher.bind(format!("tcp://{}:0", address(1))).unwrap();
    let mut subscribers: Vec<Subscriber> = (0..SUBSCRIBERS)
        .map(|index| {
            let context = scene.context(10 + index as u8);
            let sub = builder(&context, SocketType::Sub, &scene, securities.client());
            let sub = sub.build().unwrap();
            sub.connect(endpoint.clone()).unwrap();
            Subscriber {
                _context: context,
                sub,
                topics: vec![false; TOPICS as usize],
                last: None,
                last_of: HashMap::new(),
                received: HashSet::new(),
            }
        })
        .collect();
    let mut sent = 0;
    while sent < MESSAGES {
        match scene.below(12) {
            0 => {
                let message = message(&[scene.below(TOPICS), sent], &scene);
                // Never waits: what a subscriber is too slow for is dropped.
                publisher.try_send(message).unwrap();
                sent += 1;
            }
            1 => {
                let index = scene.below(SUBSCRIBERS as u64) as usize;
                subscribers[index].receive(seed);
            }
            2 if scene.below(10) == 0 => {
                let index = scene.below(SUBSCRIBERS as u64) as usize;
                let topic = scene.below(TOPICS) as usize;
                subscribers[index].change(topic);
            }
            _ => scene.step(),
        }
    }
    // Those that go on get what they subscribe to then, and nothing else.
    scene.calm();
    for subscriber in &mut subscribers {
        for topic in 0..TOPICS as usize {
            if subscriber.topics[topic] != (topic == 0) {
                subscriber.change(topic);
            }
        }
    }
    for _ in 0..20_000 {
        scene.step();
        subscribers.iter_mut().for_each(|sub| sub.receive(seed));
    }
    for number in 0..20 {
        let message = message(&[number % 2, MESSAGES + number], &scene);
        publisher.try_send(message).unwrap();
        for _ in 0..2_000 {
            scene.step();
            for subscriber in &mut subscribers {
                subscriber.receive(seed);
                let expected = MESSAGES + number - number % 2;
                assert!(subscriber.last <= Some(expected), "seed {seed}: topic 1");
            }
        }
    }
    for subscriber in &subscribers {
        assert_eq!(subscriber.last, Some(MESSAGES + 18), "seed {seed}");
    }
    let received = subscribers
        .iter()
        .map(|subscriber| subscriber.received.len());
    let received = received.sum();
    drop((publisher, context, subscribers));
    scene.end();
    received
}

#[test]
fn subscribers_get_what_they_subscribe_to_in_order_and_once() {
    let received: usize = seeds(100).map(|seed| run(seed, Trouble::NONE)).sum();
    assert!(received > 0, "nothing was tried");
}

#[test]
fn subscriptions_outlive_cuts() {
    let received: usize = seeds(100).map(|seed| run(seed, Trouble::CUTS)).sum();
    assert!(received > 0, "nothing was tried");
}
