//! REQ to REP, one request at a time for each client.

use super::*;
use crate::StateError;

const CLIENTS: usize = 4;
const REQUESTS: u64 = 50;

/// A client that asks, and waits for the answer.
struct Asking {
    _context: Context,
    req: Socket,
    number: u64,
    waits: bool,
    lost: usize,
}

impl Asking {
    fn ask(&mut self, client: u64, scene: &Scene) {
        let request = message(&[self.number, client], scene);
        let done = self.req.try_send(request).map_err(Error::from);
        self.waits = at_once(done).is_some();
    }

    fn receive(&mut self, client: u64, seed: u64) {
        match self.req.try_recv() {
            Ok(answer) => {
                assert_eq!(
                    numbers(answer.as_bytes()),
                    [self.number, client],
                    "seed {seed}"
                );
                (self.waits, self.number) = (false, self.number + 1);
            }
            Err(Error::WouldBlock) => {}
            // Asked again under the same number.
            Err(Error::RequestLost) => (self.waits, self.lost) = (false, self.lost + 1),
            Err(error) => panic!("seed {seed}: {error}"),
        }
    }
}

/// Lets each client ask until it has all answers, and tells how many requests were lost.
fn run(seed: u64, trouble: Trouble) -> usize {
    let mut scene = scene(seed, trouble);
    let (context, securities) = (scene.context(1), Securities::new(seed));
    let rep = builder(&context, SocketType::Rep, &scene, securities.server());
    let rep = rep.build().unwrap();
    let endpoint = rep.bind(format!("tcp://{}:0", address(1))).unwrap();
    let mut clients: Vec<Asking> = (0..CLIENTS)
        .map(|index| {
            let context = scene.context(10 + index as u8);
            let req = builder(&context, SocketType::Req, &scene, securities.client());
            let req = req.build().unwrap();
            req.connect(endpoint.clone()).unwrap();
            Asking {
                _context: context,
                req,
                number: 0,
                waits: false,
                lost: 0,
            }
        })
        .collect();
    let mut answer = None;
    while clients.iter().any(|client| client.number < REQUESTS) {
        if clients.iter().all(|client| client.number > REQUESTS / 2) {
            scene.calm();
        }
        match scene.below(4) {
            0 => {
                let index = scene.below(CLIENTS as u64);
                let client = &mut clients[index as usize];
                if client.waits {
                    client.receive(index, seed);
                } else if client.number < REQUESTS {
                    client.ask(index, &scene);
                }
            }
            1 => {
                answer = answer.or_else(|| at_once(rep.try_recv()));
                if let Some(message) = answer.take()
                    && let Err(error) = rep.try_send(message)
                {
                    match error.error() {
                        Error::WouldBlock => answer = Some(error.into_message()),
                        // The client that asked is gone.
                        Error::State(StateError::NothingToAnswer) => {}
                        other => panic!("seed {seed}: {other}"),
                    }
                }
            }
            _ => scene.step(),
        }
    }
    let lost = clients.iter().map(|client| client.lost).sum();
    drop((rep, context, clients));
    scene.end();
    lost
}

#[test]
fn every_request_is_answered_where_no_connection_is_cut() {
    for seed in seeds(100) {
        assert_eq!(run(seed, Trouble::DELAYS), 0, "seed {seed}");
    }
}

#[test]
fn a_cut_request_is_told_as_lost_and_can_be_asked_again() {
    let lost: usize = seeds(100).map(|seed| run(seed, Trouble::CUTS)).sum();
    assert!(lost > 0, "nothing was tried");
}
