//! Credit of a publisher that drops nothing, as libzmq gives it.
//!
//! A connection may take messages as fast as they are sent, so that their queue never fills, and they fill the
//! buffers of the system and of the peer instead. libzmq's sender learns only every millisecond or so how many were
//! taken, unless it waits. So it is told to wait once it has sent what the high-water mark says, and programs for
//! libzmq rely on that to go and read.

use std::cell::Cell;
use std::time::Duration;

/// After this time libzmq's sender has learned how many were taken.
const RENEWED_AFTER: Duration = Duration::from_millis(10);

/// What a peer may be sent until the sender waits, or learns how much room there is.
#[derive(Default)]
pub(super) struct Credit {
    spent: Cell<usize>,
    since: Cell<Duration>,
}

impl Credit {
    /// A message was sent.
    pub(super) fn spend(&self) {
        self.spent.set(self.spent.get() + 1);
    }

    /// Renews it where as many were sent as the queue may hold. Returns whether they were sent too soon for the
    /// sender to have learned of room.
    pub(super) fn ran_out(&self, limit: usize, clock: impl Fn() -> Duration) -> bool {
        if limit == 0 || self.spent.get() < limit {
            return false;
        }
        let now = clock();
        let took = now.saturating_sub(self.since.get());
        self.renew_at(now);
        took < RENEWED_AFTER
    }

    /// The sender has learned how much room there is.
    pub(super) fn renew(&self, clock: impl Fn() -> Duration) {
        if self.spent.get() > 0 {
            self.renew_at(clock());
        }
    }

    fn renew_at(&self, now: Duration) {
        self.spent.set(0);
        self.since.set(now);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use bytes::Bytes;
    use sealwire_zmtp::{Frames, SocketType};

    use crate::options::{Behaviour, SocketOptions};
    use crate::pattern::item::FromPeer;
    use crate::pattern::publish::{Publish, Upstream};
    use crate::pattern::silent::{End, Scene};
    use crate::pattern::{Pattern, SendFailure};

    const MARK: usize = 3;

    /// A publisher whose connections take each message at once.
    struct Publisher {
        scene: Scene,
        publish: Publish,
        ends: Vec<End>,
    }

    impl Publisher {
        fn new(as_libzmq: bool, publish_no_drop: bool, mark: usize) -> Self {
            let behaviour = Behaviour {
                publish_no_drop,
                ..Behaviour::default()
            };
            let options = SocketOptions {
                as_libzmq,
                behaviour,
                send_high_water_mark: mark,
                ..SocketOptions::new(SocketType::XPub)
            };
            let publish = Publish::new(Upstream::Hidden, &options);
            let mut publisher = Publisher {
                scene: Scene::new(options),
                publish,
                ends: Vec::new(),
            };
            publisher.subscribe("192.0.2.1:1");
            publisher
        }

        /// Another peer wants everything.
        fn subscribe(&mut self, address: &str) {
            let end = self.scene.attach(&mut self.publish, address);
            let all = FromPeer::Subscribe(Bytes::new());
            let _ = (self.publish).delivered(&mut self.scene.pipes, end.id, all);
            self.ends.push(end);
        }

        /// Whether it is not told to wait.
        fn sends(&mut self) -> bool {
            let sent = (self.publish).send(&mut self.scene.pipes, &mut Frames::from("message"));
            let all_took = (self.ends.iter()).all(|end| self.scene.take(end).len() == 1);
            match sent {
                Ok(dropped) => dropped == 0 && all_took,
                Err(SendFailure::WouldBlock) => false,
                Err(SendFailure::Failed(error)) => panic!("{error}"),
            }
        }

        /// How many it sends before it is told to wait, of twenty.
        fn spends(&mut self) -> usize {
            (0..20).take_while(|_| self.sends()).count()
        }
    }

    #[test]
    fn a_sender_is_told_to_wait_once_for_as_many_messages_as_the_mark_says() {
        let mut publisher = Publisher::new(true, true, MARK);
        for _ in 0..3 {
            assert_eq!(publisher.spends(), MARK);
        }
        assert_eq!(Publisher::new(false, true, MARK).spends(), 20);
        assert_eq!(Publisher::new(true, false, MARK).spends(), 20);
    }

    #[test]
    fn a_sender_that_polls_or_takes_its_time_is_not_told_to_wait() {
        let mut publisher = Publisher::new(true, true, MARK);
        for _ in 0..3 * MARK {
            assert!(publisher.sends() && publisher.publish.writable(&publisher.scene.pipes));
        }
        assert_eq!(publisher.spends(), MARK);
        for _ in 0..3 * MARK {
            publisher.scene.now.fetch_add(1, Ordering::Relaxed);
            assert!(publisher.sends());
        }
    }

    #[test]
    fn a_sender_is_told_once_for_peers_whose_credit_runs_out_together() {
        let mut publisher = Publisher::new(true, true, MARK);
        publisher.subscribe("192.0.2.2:1");
        for _ in 0..3 {
            assert_eq!(publisher.spends(), MARK);
        }
        // One that comes later has all of its credit.
        assert!(publisher.sends());
        publisher.subscribe("192.0.2.3:1");
        for told in [false, false, true, false, true] {
            assert_eq!(!publisher.sends(), told);
        }
    }

    #[test]
    fn a_peer_without_a_limit_has_credit_without_end() {
        assert_eq!(Publisher::new(true, true, 0).spends(), 20);
    }
}
