//! Bursts of a publisher that drops nothing, as libzmq counts them.
//!
//! A connection may take messages as fast as they are sent, so that their queue never fills, and they fill the
//! buffers of the system and of the peer instead. libzmq's sender learns only every millisecond or so how many were
//! taken, unless it waits. So it is told to wait once it has sent what the high-water mark says, and programs for
//! libzmq rely on that to go and read.

use std::cell::Cell;
use std::time::Duration;

/// Messages that took longer were not sent in a burst.
const LONGEST: Duration = Duration::from_millis(10);

/// What a peer was sent since the sender last waited, or learned how much room there is.
#[derive(Default)]
pub(super) struct Burst {
    messages: Cell<usize>,
    begin: Cell<Duration>,
}

impl Burst {
    /// A message was sent.
    pub(super) fn note(&self) {
        self.messages.set(self.messages.get() + 1);
    }

    /// Whether as many were sent in a burst as the queue may hold, by this clock. A new one begins then.
    pub(super) fn is_full(&self, limit: usize, clock: impl Fn() -> Duration) -> bool {
        if limit == 0 || self.messages.get() < limit {
            return false;
        }
        let now = clock();
        let took = now.saturating_sub(self.begin.get());
        self.begin_at(now);
        took < LONGEST
    }

    /// The sender has learned how much room there is.
    pub(super) fn end(&self, clock: impl Fn() -> Duration) {
        if self.messages.get() > 0 {
            self.begin_at(clock());
        }
    }

    fn begin_at(&self, now: Duration) {
        self.messages.set(0);
        self.begin.set(now);
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

    /// A publisher whose connection takes each message at once.
    struct Publisher {
        scene: Scene,
        publish: Publish,
        end: End,
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
            let mut publish = Publish::new(Upstream::Hidden, &options);
            let mut scene = Scene::new(options);
            let end = scene.attach(&mut publish, "192.0.2.1:1");
            let all = FromPeer::Subscribe(Bytes::new());
            let _ = publish.delivered(&mut scene.pipes, end.id, all);
            Publisher {
                scene,
                publish,
                end,
            }
        }

        /// Whether it is not told to wait.
        fn sends(&mut self) -> bool {
            let sent = (self.publish).send(&mut self.scene.pipes, &mut Frames::from("message"));
            let taken = self.scene.take(&self.end).len();
            match sent {
                Ok(dropped) => dropped == 0 && taken == 1,
                Err(SendFailure::WouldBlock) => false,
                Err(SendFailure::Failed(error)) => panic!("{error}"),
            }
        }

        /// How many it sends before it is told to wait, of twenty.
        fn burst(&mut self) -> usize {
            (0..20).take_while(|_| self.sends()).count()
        }
    }

    #[test]
    fn a_sender_is_told_to_wait_once_for_as_many_messages_as_the_mark_says() {
        let mut publisher = Publisher::new(true, true, MARK);
        for _ in 0..3 {
            assert_eq!(publisher.burst(), MARK);
        }
        assert_eq!(Publisher::new(false, true, MARK).burst(), 20);
        assert_eq!(Publisher::new(true, false, MARK).burst(), 20);
    }

    #[test]
    fn a_sender_that_polls_or_takes_its_time_is_not_told_to_wait() {
        let mut publisher = Publisher::new(true, true, MARK);
        for _ in 0..3 * MARK {
            assert!(publisher.sends() && publisher.publish.writable(&publisher.scene.pipes));
        }
        assert_eq!(publisher.burst(), MARK);
        for _ in 0..3 * MARK {
            publisher.scene.now.fetch_add(1, Ordering::Relaxed);
            assert!(publisher.sends());
        }
    }

    #[test]
    fn a_peer_without_a_limit_has_no_bursts() {
        assert_eq!(Publisher::new(true, true, 0).burst(), 20);
    }
}
