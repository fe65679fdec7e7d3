//! Time limits of tasks, by the clock of the world.

use std::pin::pin;

use super::*;
use crate::error::{Operation, Presence};

const LIMIT: Duration = Duration::from_secs(10);

#[test]
fn a_limit_runs_out_when_its_time_has_come_and_not_before() {
    let mut scene = Scene::new(0, Trouble::NONE);
    let context = scene.context(1);
    let pull = Socket::builder(SocketType::Pull).context(&context);
    let pull = pull.security(Security::plain_text()).build().unwrap();
    pull.bind(format!("tcp://{}:5555", address(1))).unwrap();
    let mut task = TaskContext::from_waker(Waker::noop());
    {
        let mut receiving = pin!(pull.recv_timeout(LIMIT));
        let began = scene.network.now();
        loop {
            let over = receiving.as_mut().poll(&mut task);
            let passed = scene.network.now() - began;
            let Poll::Ready(outcome) = over else {
                assert!(passed <= LIMIT, "it still waits after {passed:?}");
                scene.pass(LIMIT / 7);
                continue;
            };
            assert!(passed >= LIMIT, "over after {passed:?}");
            let Err(Error::TimedOut {
                operation: Operation::Receive,
                limit: LIMIT,
                presence: Presence::Nobody,
                last_failure: None,
            }) = outcome
            else {
                panic!("{outcome:?}");
            };
            break;
        }
    }
    drop((pull, context));
    scene.end();
}
