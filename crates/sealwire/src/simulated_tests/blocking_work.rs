//! Work that may block, which the simulated world does on its own thread: name look-ups, and decisions about
//! clients.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::Event;
use crate::auth::{Authenticator, Client, Decision};

const NAME: &str = "server.example";

fn push_to(context: &Context, security: Security, endpoint: String) -> Socket {
    let push = Socket::builder(SocketType::Push).context(context);
    let push = push.security(security).linger(HOUR).build().unwrap();
    push.connect(endpoint).unwrap();
    push
}

fn pull_at(context: &Context, security: Security, host: u8) -> Socket {
    let pull = Socket::builder(SocketType::Pull).context(context);
    let pull = pull.security(security).build().unwrap();
    pull.bind(format!("tcp://{}:5555", address(host))).unwrap();
    pull
}

/// Lets the world go on until something is received.
fn received(scene: &mut Scene, pull: &Socket) -> Message {
    loop {
        match at_once(pull.try_recv()) {
            Some(message) => return message,
            None => scene.pass(PAUSE),
        }
    }
}

#[test]
fn a_name_is_looked_up_for_each_attempt() {
    for seed in 0..5 {
        let mut scene = scene(seed, Trouble::NONE);
        let contexts = [1, 2, 3].map(|host| scene.context(host));
        let securities = Securities::new(seed);
        let push = push_to(
            &contexts[0],
            securities.client(),
            format!("tcp://{NAME}:5555"),
        );
        let monitor = push.monitor();
        // Nobody has the name yet.
        let unknown = loop {
            match monitor.try_next() {
                Some(Event::Failed(failure)) => break failure,
                Some(_) => {}
                None => scene.pass(PAUSE),
            }
        };
        assert!(matches!(unknown.cause(), crate::FailureCause::Resolve(_)));
        for (host, text) in [(2, "first"), (3, "second")] {
            scene.network.set_name(NAME, address(host));
            let pull = pull_at(&contexts[usize::from(host) - 1], securities.server(), host);
            at_once(push.try_send(text).map_err(Error::from)).unwrap();
            assert_eq!(received(&mut scene, &pull).as_bytes(), text.as_bytes());
            // It moves to another host.
            drop(pull);
            while !push.peers().is_empty() {
                scene.pass(PAUSE);
            }
        }
        drop((push, contexts));
        scene.end();
    }
}

/// Says yes to the second question about a client, and may block.
struct SecondTime(Arc<AtomicUsize>);

impl Authenticator for SecondTime {
    fn authenticate(&self, _: &Client<'_>) -> Decision {
        let asked = self.0.fetch_add(1, Ordering::Relaxed);
        Decision::from(asked > 0)
    }

    fn revision(&self) -> Option<u64> {
        // Once it has let one in, nothing is decided about clients again.
        Some(0)
    }
}

#[test]
fn a_decision_that_may_block_is_made_beside_the_context_and_a_run_can_be_repeated() {
    let run = |seed: u64| {
        let mut scene = Scene::new(seed, Trouble::NONE);
        let contexts = [1, 2].map(|host| scene.context(host));
        let (keys, asked) = (KeyPair::generate(), Arc::<AtomicUsize>::default());
        let server = Security::blake3_server(keys.clone(), SecondTime(asked.clone()));
        let pull = pull_at(&contexts[1], server.into(), 2);
        let client = Security::blake3_client_with_keys(keys.public(), KeyPair::generate());
        let endpoint = format!("tcp://{}:5555", address(2));
        let push = push_to(&contexts[0], client.into(), endpoint);
        at_once(push.try_send("let in").map_err(Error::from)).unwrap();
        assert_eq!(received(&mut scene, &pull).as_bytes(), b"let in");
        assert_eq!(push.counters().handshakes_failed, 1);
        assert_eq!(asked.load(Ordering::Relaxed), 2);
        let when = scene.network.now();
        drop((push, pull, contexts));
        scene.end();
        when
    };
    for seed in 0..5 {
        assert_eq!(run(seed), run(seed), "seed {seed}");
    }
}
