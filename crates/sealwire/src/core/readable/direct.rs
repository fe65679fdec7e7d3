//! The thread that reads its only peer directly.

use std::sync::Arc;
use std::thread;
use std::time::Instant;

use super::super::SocketCore;
use crate::guard;
use crate::pattern::{DirectReader, More};
use crate::transport;
use crate::waiting::{Begun, Leaving, PollEnd, Until, Waker};

/// What became of the waiting.
pub(in crate::core) enum Waited {
    /// There may be something to receive.
    Retry,
    TimedOut,
    /// A signal handler ended it.
    Interrupted,
    /// Reading directly is over.
    Over,
}

/// A thread that reads its only peer directly.
pub(in crate::core) struct Reading<'a> {
    core: &'a SocketCore,
    reader: Arc<dyn DirectReader>,
    waker: &'a Waker,
    connection: transport::Polled,
    more: More,
    /// The engine shall read from now on.
    over: bool,
}

impl<'a> Reading<'a> {
    /// Takes the place of the thread that reads directly, if that can be and is free.
    pub(in crate::core) fn begin(core: &'a SocketCore) -> Option<Self> {
        let readable = &core.readable;
        if readable.lease.is_shared() || guard::must_not_wait() {
            return None;
        }
        let waker = readable.waker.get_or_init(|| Waker::new().ok()).as_ref()?;
        let reader = core.sole_reader()?;
        match readable.lease.begin() {
            Begun::Reads => {}
            Begun::Taken { sleeps } => {
                if sleeps {
                    waker.wake();
                }
                return None;
            }
            Begun::Shared => return None,
        }
        let Some(connection) = reader.lease() else {
            core.give_up_lease();
            return None;
        };
        Some(Reading {
            core,
            reader,
            waker,
            connection,
            more: More::Unknown,
            over: false,
        })
    }

    /// From now on a signal ends the waiting. To be called before looking for a message.
    pub(in crate::core) fn park(&self) {
        self.core.readable.lease.park();
    }

    /// Waits for bytes or a signal and reads.
    pub(in crate::core) fn wait(&mut self, until: Until<'_>) -> Waited {
        let waited = self.wait_once(until);
        self.over = matches!(waited, Waited::Over);
        waited
    }

    fn wait_once(&mut self, until: Until<'_>) -> Waited {
        let lease = &self.core.readable.lease;
        let polled = match self.more {
            More::AtOnce => PollEnd::Readable,
            // Asked for before it sleeps: who ended it before this thread parked did not wake it.
            _ if !lease.is_ended() => self.poll(until),
            _ => return Waited::Over,
        };
        match polled {
            // Whatever became of the lease: the handler is told of nowhere else.
            PollEnd::Interrupted => Waited::Interrupted,
            _ if !lease.unpark() => Waited::Over,
            PollEnd::Readable => match self.reader.read() {
                Some(more) => {
                    self.more = more;
                    Waited::Retry
                }
                None => Waited::Over,
            },
            PollEnd::Woken => match self.core.sole_link() {
                Some(_) => Waited::Retry,
                None => Waited::Over,
            },
            PollEnd::TimedOut => Waited::TimedOut,
        }
    }

    /// Polls again and again for a moment if that has paid lately, then sleeps.
    fn poll(&self, until: Until<'_>) -> PollEnd {
        let connection = &self.connection;
        let readable = &self.core.readable;
        let spinning = match self.more {
            More::Soon => &readable.within_frames,
            More::AtOnce | More::Unknown => &readable.spinning,
        };
        let at_once = Until {
            deadline: Some(Instant::now()),
            interrupt: None,
        };
        let attempt = || match self.waker.poll(connection, at_once) {
            PollEnd::TimedOut => None,
            polled => Some(polled),
        };
        // The sender may need this core.
        let spun = spinning.spin(until.deadline, |_| thread::yield_now(), attempt);
        spun.unwrap_or_else(|| spinning.sleep(|| self.waker.poll(connection, until)))
    }
}

impl SocketCore {
    /// Ends a lease that was begun for a connection which is gone. Another may have come before it began, and
    /// have been leased and left; then the engine may have stopped to look after that, since somebody
    /// reads. It is not known which, so all are told.
    fn give_up_lease(&self) {
        self.readable.lease.leave(true);
        let links = self.lock().queues.pipes.links();
        for reader in links.into_iter().filter_map(|link| link.direct_reader()) {
            reader.end_lease();
        }
    }
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        match self.core.readable.lease.leave(self.over) {
            Leaving::Watched => {}
            Leaving::Unwatched => self.reader.watch_lease(),
            Leaving::Over => self.reader.end_lease(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Weak;
    use std::sync::atomic::{AtomicBool, Ordering};

    use sealwire_zmtp::SocketType;

    use super::*;
    use crate::pattern::{Dismissal, Link, Provenance};
    use crate::peer::Peer;
    use crate::routing_ids::RoutingId;
    use crate::socket::Socket;
    use crate::waiting::Use;

    /// A connection that notes whether the engine is told to read it.
    #[derive(Default)]
    struct Connected {
        core: Weak<SocketCore>,
        /// What takes its place as a thread comes to lease it.
        successor: Option<Arc<Connected>>,
        told: AtomicBool,
    }

    impl Connected {
        fn attach(self: &Arc<Self>, core: &SocketCore) {
            let peer = Peer::inproc(
                "connected",
                1,
                false,
                RoutingId::none(),
                SocketType::Push,
                Vec::new(),
            );
            core.attach(Arc::new(peer), self.clone(), Provenance::default())
                .unwrap();
        }
    }

    impl Link for Connected {
        fn output_ready(&self, _alone: bool) {}
        fn input_wanted(&self) {}
        fn disconnect(&self, _reason: Dismissal) {}
        fn finish(&self) {}
        fn direct_reader(self: Arc<Self>) -> Option<Arc<dyn DirectReader>> {
            Some(self)
        }
    }

    impl DirectReader for Connected {
        fn lease(&self) -> Option<transport::Polled> {
            let core = self.core.upgrade()?;
            core.detach(0);
            self.successor.as_ref()?.attach(&core);
            // The engine looks after the lease of the successor, and finds this thread.
            assert_eq!(core.lease().check(), Use::Now);
            None
        }
        fn read(&self) -> Option<More> {
            None
        }
        fn read_if_free(&self) {}
        fn watch_lease(&self) {}
        fn end_lease(&self) {
            self.told.store(true, Ordering::Relaxed);
        }
    }

    /// Found by the model `lease` of `formal/states`.
    #[test]
    fn a_thread_whose_connection_is_gone_leaves_no_other_unread() {
        let socket = Socket::new(SocketType::Pull).unwrap();
        let core = socket.core().unwrap();
        let successor = Arc::new(Connected::default());
        let first = Arc::new(Connected {
            core: Arc::downgrade(core),
            successor: Some(successor.clone()),
            ..Connected::default()
        });
        first.attach(core);
        // Somebody has read the successor and left.
        core.lease().begin();
        core.lease().leave(false);
        assert!(Reading::begin(core).is_none());
        assert!(successor.told.load(Ordering::Relaxed), "nobody reads it");
        assert!(!core.lease().may_be_leased());
    }
}
