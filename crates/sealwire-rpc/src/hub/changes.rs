//! Changes that tasks and threads wait for: a connection came or went, is to come no more, or has become
//! idle while it shuts down.

use std::sync::Mutex;
use std::time::Duration;

use sealwire::waits::{Listening, Signal};

use crate::lock::lock;

#[derive(Default)]
pub(crate) struct Changes {
    signal: Signal,
    /// Those who wait have time limits; the earliest.
    limit: Mutex<Option<Duration>>,
}

impl Changes {
    /// Listens from now on, for one change.
    pub(crate) fn listen(&self) -> Listening {
        self.signal.listen()
    }

    /// Wakes all who listen.
    pub(crate) fn tell(&self) {
        self.signal.notify_all();
    }

    /// Somebody who listens is to be woken at this time.
    pub(super) fn limit(&self, until: Duration) {
        let mut limit = lock(&self.limit);
        *limit = Some(limit.map_or(until, |limit| limit.min(until)));
    }

    /// Wakes all who listen if the time of one is over: the others ask again. Returns when to check next.
    pub(super) fn check_limit(&self, now: Duration) -> Option<Duration> {
        let mut limit = lock(&self.limit);
        let overdue = limit.take_if(|limit| *limit <= now).is_some();
        let next = *limit;
        drop(limit);
        if overdue {
            self.tell();
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Waker};

    use super::*;

    fn is_told(listener: Listening) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        pin!(listener).poll(&mut context).is_ready()
    }

    #[test]
    fn all_who_listen_are_told_and_nobody_who_comes_later() {
        let changes = Changes::default();
        let listeners = [changes.listen(), changes.listen()];
        changes.tell();
        assert!(!is_told(changes.listen()));
        assert!(listeners.into_iter().all(is_told));
    }

    #[test]
    fn the_earliest_limit_wakes_all_once() {
        let changes = Changes::default();
        let [early, late] = [1, 2].map(Duration::from_secs);
        assert_eq!(changes.check_limit(early), None);
        changes.limit(late);
        changes.limit(early);
        changes.limit(late);
        assert_eq!(changes.check_limit(Duration::ZERO), Some(early));
        let listener = changes.listen();
        assert_eq!(changes.check_limit(early), None);
        assert!(is_told(listener));
        // Those who still wait say so again.
        let listener = changes.listen();
        assert_eq!(changes.check_limit(late), None);
        assert!(!is_told(listener));
    }
}
