//! Linger times that are given with closing.

use super::*;

const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);
const MESSAGES: usize = 100;

/// A socket with more messages than its network holds, for a peer that does not read them or is not there.
struct Unsent {
    scene: Scene,
    contexts: [Context; 2],
    push: Socket,
    pull: Option<Socket>,
    endpoint: String,
    security: Security,
}

impl Unsent {
    fn new(seed: u64, connected: bool, linger: Duration) -> Self {
        let mut scene = scene(seed, Trouble::NONE);
        let contexts = [1, 2].map(|host| scene.context(host));
        let securities = Securities::new(seed);
        let push = Socket::builder(SocketType::Push).context(&contexts[0]);
        let push = push.security(securities.client()).linger(linger);
        let mut unsent = Unsent {
            push: push.build().unwrap(),
            pull: None,
            endpoint: format!("tcp://{}:5555", address(2)),
            security: securities.server(),
            contexts,
            scene,
        };
        unsent.push.connect(unsent.endpoint.clone()).unwrap();
        if connected {
            unsent.bind();
        }
        unsent.pass(10 * SECOND);
        assert_eq!(unsent.push.peers().len(), usize::from(connected));
        for _ in 0..MESSAGES {
            let sent = unsent.push.try_send(vec![0; 30_000]);
            at_once(sent.map_err(Error::from)).expect("room");
        }
        unsent
    }

    fn bind(&mut self) {
        let pull = Socket::builder(SocketType::Pull).context(&self.contexts[1]);
        let pull = pull.security(self.security.clone()).linger(Duration::ZERO);
        let pull = pull.receive_high_water_mark(1).build().unwrap();
        pull.bind(self.endpoint.clone()).unwrap();
        self.pull = Some(pull);
    }

    fn pass(&mut self, time: Duration) {
        let until = self.scene.network.now() + time;
        while self.scene.network.now() < until {
            self.scene.pass(SECOND);
        }
    }

    /// What begins to close it, with this linger time.
    fn closing(&self, linger: Option<Duration>) -> Ending {
        let socket = self.push.clone();
        let mut closing = Ending::Closing(match linger {
            Some(linger) => Box::pin(socket.close_with_linger(linger)),
            None => Box::pin(socket.close()),
        });
        closing.close();
        closing
    }

    /// What the peer receives from now on, until nothing more comes.
    fn received(&mut self) -> usize {
        let (mut received, mut until) = (0, self.scene.network.now() + MINUTE);
        while self.scene.network.now() < until {
            if let Some(pull) = &self.pull {
                while at_once(pull.try_recv()).is_some() {
                    received += 1;
                    until = self.scene.network.now() + MINUTE;
                }
            }
            self.scene.pass(SECOND);
        }
        received
    }

    /// It has ended and given up on messages, which are counted.
    fn assert_given_up(mut self, closings: Vec<Ending>) {
        let counters = self.push.counters();
        let unsent = counters.dropped_unsent as usize;
        assert!(unsent > 0);
        for mut closing in closings {
            closing.close();
            assert_eq!(closing.unsent(), Some(unsent));
        }
        let arrived = self.received();
        assert!(arrived + unsent <= MESSAGES);
        assert!(MESSAGES <= arrived + unsent + counters.unconfirmed as usize);
        self.end();
    }

    fn end(self) {
        drop((self.push, self.pull, self.contexts));
        self.scene.end();
    }
}

#[test]
fn a_linger_time_of_closing_goes_before_that_of_the_options() {
    for (seed, connected) in [(0, false), (1, true), (2, true)] {
        let mut unsent = Unsent::new(seed, connected, HOUR);
        let closing = unsent.closing(Some(SECOND));
        unsent.pass(2 * SECOND);
        unsent.assert_given_up(vec![closing]);

        let mut unsent = Unsent::new(seed, connected, SECOND);
        let mut closing = unsent.closing(Some(HOUR));
        unsent.pass(MINUTE);
        closing.close();
        assert_eq!(closing.unsent(), None, "seed {seed}");
        if !connected {
            unsent.bind();
            unsent.pass(MINUTE);
        }
        assert_eq!(unsent.received(), MESSAGES, "seed {seed}");
        closing.close();
        assert_eq!(closing.unsent(), Some(0), "seed {seed}");
        unsent.end();
    }
}

#[test]
fn a_socket_that_is_closing_takes_a_shorter_linger_time_and_no_longer_one() {
    for (seed, connected) in [(0, false), (1, true), (2, true)] {
        for shorter in [Duration::ZERO, SECOND] {
            let mut unsent = Unsent::new(seed, connected, HOUR);
            let mut closings = vec![unsent.closing(None)];
            unsent.pass(MINUTE);
            closings[0].close();
            assert_eq!(closings[0].unsent(), None, "seed {seed}");
            closings.push(unsent.closing(Some(shorter)));
            closings.push(unsent.closing(Some(HOUR)));
            closings.push(unsent.closing(None));
            unsent.pass(2 * SECOND);
            unsent.assert_given_up(closings);
        }
    }
}
