//! Events and counters of a socket's connections.
//!
//! Every failure of a connection is reported here, with the peer's address and the reason, and in the
//! log (`tracing`, target `sealwire`), with one line a second for each cause. A peer's fault is never
//! an error of a socket operation.

mod counters;
mod event;
mod failures;
#[cfg(unix)]
mod lines;
mod log;
mod standard_error;

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use sealwire_fork::Birth;

#[cfg(unix)]
use self::failures::{LiveFailures, LiveRecent};
use self::log::Log;
use crate::account::Excesses;
#[cfg(unix)]
use crate::error::Error;
use crate::failure::ConnectionFailure;
pub use crate::limits::MONITOR_CAPACITY;
use crate::options::from_now;
use crate::waiting::{Listening, Signal, Until};
#[cfg(unix)]
use crate::waiting::{Pollable, Pollers, Readiness, Ready};
pub use counters::Counters;
pub(crate) use counters::{LiveCounters, add};
pub use event::Event;
pub use failures::{Failures, RecentFailure};
#[cfg(unix)]
pub use lines::{LogLines, log_to};
#[cfg(unix)]
pub use log::CONNECTIONS;

/// Where a socket's events come from; shared by its monitors.
pub(crate) struct Hub {
    log: Log,
    monitors: Mutex<Vec<Weak<Queue>>>,
    last_failure: Mutex<Option<ConnectionFailure>>,
    failures: LiveFailures,
    recent: LiveRecent,
}

struct Queue {
    birth: Birth,
    state: Mutex<QueueState>,
    readable: Signal,
    #[cfg(unix)]
    pollers: Pollers,
}

#[derive(Default)]
struct QueueState {
    events: VecDeque<Event>,
    lost: u64,
    ended: bool,
}

impl Default for Queue {
    fn default() -> Self {
        Queue {
            birth: Birth::now(),
            state: Mutex::default(),
            readable: Signal::default(),
            #[cfg(unix)]
            pollers: Pollers::default(),
        }
    }
}

impl Queue {
    /// Tells up to `count` waiters that there is an event, or no more will come.
    fn notify(&self, count: usize) {
        self.readable.notify(count);
        #[cfg(unix)]
        self.pollers.signal();
    }

    /// Takes an event, and wakes the next poller if more are left.
    fn next(&self) -> Poll {
        if !self.birth.is_here() {
            return Poll::Ended;
        }
        let mut state = lock(&self.state);
        let next = match state.events.pop_front() {
            Some(event) => Poll::Event(Box::new(event)),
            None if state.ended => Poll::Ended,
            None => Poll::Nothing,
        };
        #[cfg(unix)]
        if !state.events.is_empty() {
            drop(state);
            self.pollers.signal();
        }
        next
    }
}

#[cfg(unix)]
impl Pollable for Queue {
    fn ready(&self) -> Ready {
        let state = lock(&self.state);
        Ready {
            receive: !state.events.is_empty(),
            send: false,
            closed: state.ended,
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Hub {
    /// What exceeds the log's bound is counted there.
    pub(crate) fn new(excesses: Arc<Excesses>) -> Self {
        Hub {
            log: Log::new(excesses),
            monitors: Mutex::default(),
            last_failure: Mutex::default(),
            failures: LiveFailures::default(),
            recent: LiveRecent::default(),
        }
    }

    pub(crate) fn emit(&self, event: Event) {
        self.note(&event);
        let mut told = Vec::new();
        lock(&self.monitors).retain(|monitor| {
            let Some(queue) = monitor.upgrade() else {
                return false;
            };
            let mut state = lock(&queue.state);
            if state.events.len() == MONITOR_CAPACITY {
                state.events.pop_front();
                state.lost += 1;
            }
            state.events.push_back(event.clone());
            drop(state);
            told.push(queue);
            true
        });
        // Executors are called without the lock.
        told.iter().for_each(|queue| queue.notify(1));
    }

    /// Emits that a connection failed, and remembers it with the time of the context's clock.
    pub(crate) fn fail(&self, failure: ConnectionFailure, now: Duration) {
        self.recent.note(now, failure.clone());
        self.emit(Event::Failed(failure));
    }

    /// The last failures, the oldest first.
    pub(crate) fn recent_failures(&self, now: Duration) -> Vec<RecentFailure> {
        self.recent.snapshot(now)
    }

    /// Logs the event, and keeps it if it is a failure.
    fn note(&self, event: &Event) {
        self.log.write(event);
        match event {
            Event::Failed(failure) => {
                self.failures.note(failure);
                *lock(&self.last_failure) = Some(failure.clone());
            }
            Event::Ready { .. } => *lock(&self.last_failure) = None,
            _ => {}
        }
    }

    /// The latest failure, unless a connection has become ready since.
    pub(crate) fn last_failure(&self) -> Option<ConnectionFailure> {
        lock(&self.last_failure).clone()
    }

    /// All failures so far.
    pub(crate) fn failures(&self) -> Failures {
        self.failures.snapshot()
    }

    pub(crate) fn monitor(&self) -> Monitor {
        let queue = Arc::new(Queue::default());
        lock(&self.monitors).push(Arc::downgrade(&queue));
        Monitor { queue }
    }

    /// No more events will come.
    pub(crate) fn end(&self) {
        let monitors = std::mem::take(&mut *lock(&self.monitors));
        for queue in monitors.iter().filter_map(Weak::upgrade) {
            lock(&queue.state).ended = true;
            queue.notify(usize::MAX);
        }
    }
}

/// Reads the events of one socket, from the moment it was made on. Each monitor sees all events.
/// In a child of a fork there are none, and no more to come.
///
/// The log (`tracing`, target `sealwire`) has them too: failures as warnings, one line a second for each
/// cause. While the process has no subscriber, the first failed handshake of a socket
/// ([`is_handshake_failure`](ConnectionFailure::is_handshake_failure)) is one line on standard error, for up to
/// [`MAX_SOCKETS_ON_STANDARD_ERROR`](crate::limits::MAX_SOCKETS_ON_STANDARD_ERROR) sockets. So a program that
/// waits with a wrong key is not silent. `tracing::subscriber::NoSubscriber` as the global default turns that
/// off. A program that reads `tracing` through the crate `log` has no subscriber, and gets the line as well.
pub struct Monitor {
    queue: Arc<Queue>,
}

impl Monitor {
    /// One without events.
    pub(crate) fn ended() -> Self {
        let queue = Arc::new(Queue::default());
        lock(&queue.state).ended = true;
        Monitor { queue }
    }

    /// The next event, if there is one already.
    pub fn try_next(&self) -> Option<Event> {
        match self.queue.next() {
            Poll::Event(event) => Some(*event),
            Poll::Ended | Poll::Nothing => None,
        }
    }

    /// Waits for the next event; `None` once the socket is closed and all events are read.
    pub async fn next(&self) -> Option<Event> {
        loop {
            if !self.queue.birth.is_here() {
                return None;
            }
            let listener = Listening::to(&self.queue.readable);
            match self.queue.next() {
                Poll::Event(event) => return Some(*event),
                Poll::Ended => return None,
                Poll::Nothing => listener.await,
            }
        }
    }

    /// Blocks until the next event; `None` once the socket is closed and all events are read. No signal
    /// ends it: where one is to, hand [`next`](Monitor::next) to
    /// [`blocking::block_on`](crate::blocking::block_on).
    pub fn wait_next(&self) -> Option<Event> {
        self.wait_until(None)
    }

    /// Blocks until the next event, but no longer than `limit`.
    pub fn wait_next_timeout(&self, limit: Duration) -> Option<Event> {
        self.wait_until(Some(from_now(limit)))
    }

    fn wait_until(&self, deadline: Option<Instant>) -> Option<Event> {
        if !self.queue.birth.is_here() {
            return None;
        }
        let attempt = |_| match self.queue.next() {
            Poll::Event(event) => Ok(Some(*event)),
            Poll::Ended => Err(()),
            Poll::Nothing => Ok(None),
        };
        let until = Until {
            deadline,
            ..Until::default()
        };
        (self.queue.readable.wait(None, until, attempt)).ok()?.ok()
    }

    /// Blocks until there is an event to take; `false` once no more will come and all are taken. Several threads may
    /// take them.
    #[cfg(unix)]
    pub(crate) fn wait_for_one(&self) -> bool {
        if !self.queue.birth.is_here() {
            return false;
        }
        let attempt = |_| {
            let state = lock(&self.queue.state);
            match (state.events.is_empty(), state.ended) {
                (false, _) => Ok(Some(())),
                (true, true) => Err(()),
                (true, false) => Ok(None),
            }
        };
        let waited = self.queue.readable.wait(None, Until::default(), attempt);
        matches!(waited, Ok(Ok(())))
    }

    /// Returns how many events were dropped because nobody read them in time ([`MONITOR_CAPACITY`] are kept).
    pub fn lost(&self) -> u64 {
        if !self.queue.birth.is_here() {
            return 0;
        }
        lock(&self.queue.state).lost
    }

    /// Returns a descriptor to wait for events beside others; see [`Readiness`]. [`Ready::receive`] stands
    /// for an event, and [`Ready::closed`] says that no more will be added.
    ///
    /// # Errors
    ///
    /// An [`io::Error`](std::io::Error) of the system if the process has no descriptors left; it takes one on
    /// Linux, two elsewhere. In a child of a fork an error that holds [`Error::Forked`].
    #[cfg(unix)]
    pub fn readiness(&self) -> std::io::Result<Readiness> {
        if !self.queue.birth.is_here() {
            return Err(std::io::Error::other(Error::Forked));
        }
        Readiness::new(&self.queue.pollers, self.queue.clone())
    }
}

impl fmt::Debug for Monitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.queue.birth.is_here() {
            return f.write_str("Monitor(forked)");
        }
        let state = lock(&self.queue.state);
        f.debug_struct("Monitor")
            .field("waiting", &state.events.len())
            .field("lost", &state.lost)
            .finish()
    }
}

enum Poll {
    Event(Box<Event>),
    Ended,
    Nothing,
}
