//! The state that all sockets of a context share: the source of their numbers, and the way to the
//! threads that do their I/O.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use sealwire_fork::Birth;

use super::SocketCore;
use super::cookies::ServerCookies;
use crate::pattern::Clock;
use crate::routing_ids::RoutingIds;

/// What a socket asks of the threads that do its I/O, a few times in its life: the engine stands
/// above the core and is given to it. Messages do not pass here, but through the
/// [`Link`](crate::pattern::Link) of each connection.
pub(crate) trait Engine: Send + Sync {
    /// Notes a socket that the thread with this number works for. `false` when that has ended.
    fn enroll(&self, thread: usize, core: &Arc<SocketCore>) -> bool;
    /// Has the thread with this number end all that works for a socket.
    fn abandon(&self, thread: usize, core: Arc<SocketCore>);
    /// Replaces these cookie keys by the clock, for as long as their socket lives.
    fn rotate_cookies(&self, cookies: Weak<ServerCookies>);
    /// Asks this socket's authenticator now and then whether it still allows the clients.
    fn revise_clients(&self, core: Weak<SocketCore>);
    /// Ends the threads.
    fn shut_down(&self);
    /// The time since the context began.
    fn now(&self) -> Duration;
    /// Fills it with bytes that nobody can foresee.
    fn fill_random(&self, bytes: &mut [u8]);
}

/// What the handles and the sockets of a context share. The threads end when all of them are gone.
pub(crate) struct ContextCore {
    birth: Birth,
    engine: Arc<dyn Engine>,
    numbers: AtomicU64,
    routing_ids: Arc<RoutingIds>,
}

impl ContextCore {
    pub(crate) fn new(engine: Arc<dyn Engine>) -> Arc<Self> {
        Arc::new(ContextCore {
            birth: Birth::now(),
            engine,
            numbers: AtomicU64::new(1),
            routing_ids: Arc::default(),
        })
    }

    /// Whether it was made in this process, and not before a fork.
    pub(crate) fn is_here(&self) -> bool {
        self.birth.is_here()
    }

    pub(super) fn engine(&self) -> &dyn Engine {
        &*self.engine
    }

    /// Tells the time since the context began.
    pub(super) fn clock(&self) -> Clock {
        let engine = self.engine.clone();
        Arc::new(move || engine.now())
    }

    /// A number that no socket, endpoint or connection of this context has had.
    pub(crate) fn next_number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// The numbers of peers.
    pub(crate) fn routing_ids(&self) -> &Arc<RoutingIds> {
        &self.routing_ids
    }
}

impl Drop for ContextCore {
    fn drop(&mut self) {
        if self.birth.is_here() {
            self.engine.shut_down();
        }
    }
}
