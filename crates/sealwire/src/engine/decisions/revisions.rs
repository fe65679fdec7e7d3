//! Threads that ask sockets' authenticators whether they have changed their mind. They answer no
//! other questions, so that a flood of those cannot keep a removed client connected.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use super::super::world::World;
use crate::account::LogGate;
use crate::core::SocketCore;
use crate::guard;

#[derive(Default)]
pub(super) struct Revisions(Arc<Inner>);

#[derive(Default)]
struct Inner {
    state: Mutex<State>,
    more: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<(u64, Weak<SocketCore>)>,
    /// Sockets that wait, or have a thread.
    sockets: HashSet<u64>,
    threads: usize,
    closed: bool,
}

impl Revisions {
    /// Lets these sockets look after their clients, those excepted that still do. A socket whose
    /// authenticator is slow keeps one thread: where a period was too short for those there are,
    /// there is one more from then on.
    pub(super) fn revise(&self, world: &dyn World, sockets: &[Weak<SocketCore>]) {
        let mut state = self.0.lock();
        let held_up = !state.waiting.is_empty();
        for core in sockets.iter().filter_map(Weak::upgrade) {
            if state.sockets.insert(core.id()) {
                state.waiting.push_back((core.id(), Arc::downgrade(&core)));
            }
        }
        let mut failure = None;
        if state.threads == 0 || (held_up && state.threads <= sockets.len()) {
            let (shared, idle) = (self.0.clone(), world.idle_time());
            let work = Box::new(move || shared.serve(idle));
            match world.spawn_blocking("sealwire-revise", work) {
                Ok(()) => state.threads += 1,
                // The next period will do.
                Err(error) => failure = Some(error),
            }
        }
        drop(state);
        if let Some(error) = failure {
            static LINES: LogGate = LogGate::new();
            guard::log_seldom(&LINES, |times| {
                tracing::error!(target: "sealwire", %error, times, "cannot start a thread for revisions");
            });
        }
        self.0.more.notify_all();
    }
}

impl Drop for Revisions {
    fn drop(&mut self) {
        self.0.lock().closed = true;
        self.0.more.notify_all();
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a thread does. Without work it ends after this time.
    fn serve(&self, idle: Duration) {
        let mut state = self.lock();
        while !state.closed {
            let Some((id, core)) = state.waiting.pop_front() else {
                let (again, waited) = self
                    .more
                    .wait_timeout(state, idle)
                    .unwrap_or_else(PoisonError::into_inner);
                state = again;
                if waited.timed_out() && state.waiting.is_empty() {
                    state.threads -= 1;
                    return;
                }
                continue;
            };
            drop(state);
            // The last handle of a socket may be this one, and its authenticator end here.
            guard::contain("deciding about clients again", move || {
                if let Some(core) = core.upgrade() {
                    core.revise_clients();
                }
            });
            state = self.lock();
            state.sockets.remove(&id);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use sealwire_zmtp::{KeyPair, SocketType};

    use super::*;
    use crate::auth::{Authenticator, Client, Decision};
    use crate::{Generate as _, Security, Socket};

    /// The thread that asks here.
    const ASKING: &str = "asking";

    /// Waits until the thread that asks it is the last one to have its socket, and panics as that goes.
    #[derive(Default)]
    struct Parting {
        socket: Arc<Mutex<Weak<SocketCore>>>,
        asked: Arc<AtomicBool>,
    }

    impl Authenticator for Parting {
        fn authenticate(&self, _: &Client<'_>) -> Decision {
            true.into()
        }

        fn revision(&self) -> Option<u64> {
            let core = self.socket.lock().unwrap().clone();
            if thread::current().name() == Some(ASKING) {
                self.asked.store(true, Ordering::SeqCst);
                while core.strong_count() > 1 {
                    thread::yield_now();
                }
            }
            Some(7)
        }
    }

    impl Drop for Parting {
        fn drop(&mut self) {
            panic!("an authenticator's end");
        }
    }

    #[test]
    fn an_authenticator_that_panics_as_it_is_dropped_costs_no_thread() {
        let parting = Parting::default();
        let (socket, asked) = (parting.socket.clone(), parting.asked.clone());
        let security = Security::blake3_server(KeyPair::generate(), parting);
        let server = Socket::builder(SocketType::Pull)
            .security(security)
            .linger(Duration::ZERO);
        let server = server.build().unwrap();
        let core = server.core().unwrap().clone();
        *socket.lock().unwrap() = Arc::downgrade(&core);
        let inner = Inner::default();
        {
            let mut state = inner.lock();
            state.waiting.push_back((core.id(), Arc::downgrade(&core)));
            state.sockets.insert(core.id());
            state.threads = 1;
        }
        thread::scope(|scope| {
            let thread = thread::Builder::new().name(ASKING.into());
            let serve = || inner.serve(Duration::ZERO);
            let thread = thread.spawn_scoped(scope, serve).unwrap();
            while !asked.load(Ordering::SeqCst) {
                thread::yield_now();
            }
            drop((server, core));
            assert!(thread.join().is_ok());
        });
        let state = inner.lock();
        assert!(state.sockets.is_empty());
        assert_eq!(state.threads, 0);
    }
}
