//! What happens on a socket's connections, as events and as counters.
//!
//! Every failure of a connection ends up here, with the peer's address and the reason; also in
//! the log (`tracing`, target `sealwire`), with one line a second for each cause. Nothing a peer does
//! wrong is an error of a socket operation.

mod counters;
mod log;

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use sealwire_fork::Birth;
use sealwire_zmtp::Mechanism;
use sealwire_zmtp::connection::Warning;

pub use counters::Counters;
pub(crate) use counters::{LiveCounters, add};

use self::log::Log;
use crate::account::Excesses;
use crate::endpoint::Endpoint;
#[cfg(unix)]
use crate::error::Error;
use crate::failure::{ConnectionFailure, DatagramDrop};
pub use crate::limits::MONITOR_CAPACITY;
use crate::options::from_now;
use crate::peer::{Peer, PeerAddress};
use crate::waiting::{Listening, Signal, Until};
#[cfg(unix)]
use crate::waiting::{Pollable, Pollers, Readiness, Ready};

/// Something happened to an endpoint or a connection of a socket. Connections have numbers, the
/// same in all their events and in [`Peer::connection`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Event {
    /// The socket is bound; the endpoint has the port that was chosen.
    Listening {
        /// Where.
        endpoint: Endpoint,
    },
    /// A peer connected to us; the handshake begins.
    Accepted {
        /// The connection id.
        connection: u64,
        /// The address that connected.
        address: PeerAddress,
    },
    /// Accepting failed, for example for want of file descriptors. It is tried again. There is one
    /// such event a second at most.
    AcceptFailed {
        /// Where.
        endpoint: Endpoint,
        /// What the system said.
        reason: String,
        /// How often since the last such event.
        count: u64,
    },
    /// We connected to a peer; the handshake begins.
    Connected {
        /// The connection id.
        connection: u64,
        /// Where.
        endpoint: Endpoint,
        /// The address behind the endpoint.
        address: PeerAddress,
    },
    /// The handshake is done: messages flow.
    Ready {
        /// The peer that is connected.
        peer: Arc<Peer>,
    },
    /// PUB, XPUB, RADIO: the first topic or group that the peer asks for. Once for a connection.
    Subscribed {
        /// The peer that is connected.
        peer: Arc<Peer>,
    },
    /// A connection failed: it could not be made, its handshake failed, or it broke later.
    Failed(ConnectionFailure),
    /// A connection ended as it should: the peer closed it between two messages, or we did.
    Disconnected {
        /// The peer that was connected.
        peer: Arc<Peer>,
    },
    /// Another attempt to connect follows.
    Retrying {
        /// Where.
        endpoint: Endpoint,
        /// Number of the attempt that follows: 1 after a connection that had been of use, one more for each
        /// attempt in a row that failed.
        attempt: u32,
        /// Wait until the next.
        delay: Duration,
    },
    /// The endpoint is not connected to any more, as
    /// [`ReconnectStop`](crate::options::ReconnectStop) asks for.
    GaveUp {
        /// Where.
        endpoint: Endpoint,
    },
    /// A weakness of a connection that goes on.
    Warning {
        /// The connection id.
        connection: u64,
        /// Where the peer is.
        address: PeerAddress,
        /// What it is.
        warning: Warning,
    },
    /// Datagrams of a `udp` endpoint were dropped: the latest of them, and how many since the last
    /// such event. There is one a second at most, as anyone can send what is none.
    DatagramsDropped {
        /// The endpoint.
        endpoint: Endpoint,
        /// Where the latest came from, or was to go to.
        address: PeerAddress,
        /// How many.
        count: u64,
        /// Why the latest was dropped.
        reason: DatagramDrop,
    },
    /// A server lets everybody in, since it leaves the decision to a ZAP handler
    /// ([`AllowAnyone`](crate::auth::AllowAnyone)), has no
    /// [`zap_domain`](crate::SocketBuilder::zap_domain), and no handler was bound yet. Once for a
    /// socket.
    AnyoneAllowed {
        /// The first endpoint that was bound or connected to like this.
        endpoint: Endpoint,
    },
    /// The endpoint is no longer bound.
    Unbound {
        /// Which.
        endpoint: Endpoint,
    },
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Event::Listening { endpoint } => write!(f, "listening on {endpoint}"),
            Event::Accepted {
                connection,
                address,
            } => {
                write!(f, "connection {connection} accepted from {address}")
            }
            Event::AcceptFailed {
                endpoint,
                reason,
                count,
            } => {
                write!(f, "cannot accept on {endpoint}: {reason}")?;
                match count {
                    0 | 1 => Ok(()),
                    _ => write!(f, " ({count} times)"),
                }
            }
            Event::Connected {
                connection,
                endpoint,
                ..
            } => {
                write!(f, "connection {connection} made to {endpoint}")
            }
            Event::Ready { peer } => write!(
                f,
                "connection {} ready: {} {peer}, mechanism {}",
                peer.connection(),
                peer.socket_type(),
                peer.mechanism().map_or("none", Mechanism::name),
            ),
            Event::Subscribed { peer } => {
                write!(f, "connection {}: {peer} subscribed", peer.connection())
            }
            Event::Failed(failure) => write!(f, "connection failed: {failure}"),
            Event::Disconnected { peer } => {
                write!(f, "connection {} with {peer} ended", peer.connection())
            }
            Event::Retrying {
                endpoint,
                attempt,
                delay,
            } => {
                write!(
                    f,
                    "connecting to {endpoint} again in {delay:.1?} (retry {attempt})"
                )
            }
            Event::GaveUp { endpoint } => write!(f, "not connecting to {endpoint} any more"),
            Event::Warning {
                connection,
                address,
                warning,
            } => {
                write!(
                    f,
                    "warning on connection {connection} with {address}: {warning}"
                )
            }
            Event::DatagramsDropped {
                endpoint,
                address,
                count,
                reason,
            } => {
                write!(
                    f,
                    "datagrams dropped on {endpoint}: {count}, the last with {address}: {reason}"
                )
            }
            Event::AnyoneAllowed { endpoint } => write!(
                f,
                "everybody is let in on {endpoint}: AllowAnyone, and no ZAP handler is bound"
            ),
            Event::Unbound { endpoint } => write!(f, "no longer listening on {endpoint}"),
        }
    }
}

/// Where a socket's events come from; shared by its monitors.
pub(crate) struct Hub {
    log: Log,
    monitors: Mutex<Vec<Weak<Queue>>>,
    last_failure: Mutex<Option<ConnectionFailure>>,
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

    /// Logs the event, and keeps it if it is a failure.
    fn note(&self, event: &Event) {
        self.log.write(event);
        match event {
            Event::Failed(failure) => *lock(&self.last_failure) = Some(failure.clone()),
            Event::Ready { .. } => *lock(&self.last_failure) = None,
            _ => {}
        }
    }

    /// The latest failure, unless a connection has become ready since.
    pub(crate) fn last_failure(&self) -> Option<ConnectionFailure> {
        lock(&self.last_failure).clone()
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
