//! Bursts of a publisher that drops nothing, as libzmq counts them.
//!
//! A connection may take messages as fast as they are sent, so that their queue never fills, and they fill the
//! buffers of the system and of the peer instead. libzmq's sender learns only every millisecond or so how many were
//! taken, unless it waits. So it is told to wait once it has sent what the high-water mark says, and programs for
//! libzmq rely on that to go and read.

use std::cell::Cell;
use std::time::Duration;

use super::{PipeId, Pipes};

/// Messages that take longer are no burst.
const LONGEST: Duration = Duration::from_millis(10);

/// What a peer was sent since the sender last waited, or learned how much room there is.
#[derive(Default)]
pub(in crate::pattern) struct Burst {
    messages: Cell<usize>,
    begin: Cell<Duration>,
}

impl Burst {
    fn end(&self, now: Duration) {
        self.messages.set(0);
        self.begin.set(now);
    }
}

impl Pipes {
    /// A message goes to these peers.
    pub(in crate::pattern) fn note_burst(&self, ids: &[PipeId]) {
        for pipe in ids.iter().filter_map(|id| self.slab.get(*id)) {
            pipe.burst.messages.set(pipe.burst.messages.get() + 1);
        }
    }

    /// Whether one of these peers was sent as many messages as its queue may hold, in a burst. That ends
    /// with the answer: nobody is told twice.
    pub(in crate::pattern) fn ends_burst(&self, ids: &[PipeId]) -> bool {
        let mut any = false;
        for pipe in ids.iter().filter_map(|id| self.slab.get(*id)) {
            let limit = pipe.high_water_marks.send.messages;
            if limit > 0 && pipe.burst.messages.get() >= limit {
                let now = (pipe.clock)();
                any |= now.saturating_sub(pipe.burst.begin.get()) < LONGEST;
                pipe.burst.end(now);
            }
        }
        any
    }

    /// The sender has learned how much room there is.
    pub(in crate::pattern) fn end_bursts(&self) {
        for (_, pipe) in &self.slab {
            if pipe.burst.messages.get() > 0 {
                pipe.burst.end((pipe.clock)());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use bytes::Bytes;
    use sealwire_zmtp::{Frames, SocketType};

    use super::*;
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
