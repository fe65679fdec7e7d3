//! Questions on their way to threads that answer them. No socket's questions hold up those of
//! another: each socket that asks has a thread for itself, and all share a few more.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::super::world::World;
use crate::account::LogGate;
use crate::guard;
use crate::limits::MAX_WAITING_QUESTIONS;

/// Threads beyond the first of each socket, shared by all sockets of a context.
pub(super) const EXTRA: usize = 3;

/// A question.
pub(super) trait Ask: Send + 'static {
    /// Answers, on a thread that may block. Does not panic.
    fn answer(self);

    /// Whether somebody still wants to know.
    fn is_wanted(&self) -> bool;
}

pub(super) struct Desk<Q: Ask>(Arc<Inner<Q>>);

struct Inner<Q> {
    state: Mutex<State<Q>>,
    more: Condvar,
}

struct State<Q> {
    sockets: HashMap<u64, Share<Q>>,
    /// Sockets with questions that wait, the next to be served first.
    order: VecDeque<u64>,
    /// Questions that have a thread, or are about to.
    assigned: VecDeque<(u64, Q)>,
    running: usize,
    /// Of the shared threads, those in use.
    extra: usize,
    threads: usize,
    closed: bool,
}

/// What one socket asks.
struct Share<Q> {
    waiting: VecDeque<Q>,
    /// Threads that it has.
    busy: usize,
}

/// There is no thread, or there are too many questions already.
#[derive(Debug)]
pub(super) struct Busy;

impl<Q: Ask> Desk<Q> {
    pub(super) fn new() -> Self {
        Desk(Arc::new(Inner {
            state: Mutex::new(State::new()),
            more: Condvar::new(),
        }))
    }

    /// Puts a question of a socket to a thread, or lets it wait for one.
    pub(super) fn ask(&self, world: &dyn World, socket: u64, question: Q) -> Result<(), Busy> {
        let mut state = self.0.lock();
        state.put(socket, question)?;
        while state.threads < state.running + state.assigned.len() {
            let (shared, idle) = (self.0.clone(), world.idle_time());
            let spawned =
                world.spawn_blocking("sealwire-auth", Box::new(move || shared.serve(idle)));
            if let Err(error) = spawned {
                let unserved = if state.threads == 0 {
                    state.assigned.pop_back()
                } else {
                    None
                };
                if let Some((socket, _)) = &unserved {
                    state.release(*socket);
                }
                drop(state);
                static LINES: LogGate = LogGate::new();
                guard::log_seldom(&LINES, |times| {
                    tracing::error!(target: "sealwire", %error, times, "cannot start an authenticator thread");
                });
                self.0.more.notify_one();
                return unserved.map_or(Ok(()), |_| Err(Busy));
            }
            state.threads += 1;
        }
        drop(state);
        self.0.more.notify_one();
        Ok(())
    }
}

impl<Q: Ask> Drop for Desk<Q> {
    fn drop(&mut self) {
        self.0.lock().closed = true;
        self.0.more.notify_all();
    }
}

impl<Q: Ask> Inner<Q> {
    fn lock(&self) -> MutexGuard<'_, State<Q>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a thread does. Without work it ends after this time.
    fn serve(&self, idle: Duration) {
        let mut state = self.lock();
        loop {
            if state.closed {
                return;
            }
            if let Some((socket, question)) = state.assigned.pop_front() {
                state.running += 1;
                drop(state);
                if question.is_wanted() {
                    question.answer();
                }
                state = self.lock();
                state.running -= 1;
                state.release(socket);
                continue;
            }
            let (again, waited) = self
                .more
                .wait_timeout(state, idle)
                .unwrap_or_else(PoisonError::into_inner);
            state = again;
            if waited.timed_out() && state.assigned.is_empty() {
                state.threads -= 1;
                return;
            }
        }
    }
}

impl<Q: Ask> State<Q> {
    fn new() -> Self {
        State {
            sockets: HashMap::new(),
            order: VecDeque::new(),
            assigned: VecDeque::new(),
            running: 0,
            extra: 0,
            threads: 0,
            closed: false,
        }
    }

    fn put(&mut self, socket: u64, question: Q) -> Result<(), Busy> {
        let extra = self.extra < EXTRA;
        let share = self.sockets.entry(socket).or_insert_with(|| Share {
            waiting: VecDeque::new(),
            busy: 0,
        });
        if share.waiting.is_empty() && (share.busy == 0 || extra) {
            self.assign(socket, question);
            return Ok(());
        }
        if share.waiting.len() >= MAX_WAITING_QUESTIONS {
            share.waiting.retain(Ask::is_wanted);
        }
        if share.waiting.len() >= MAX_WAITING_QUESTIONS {
            return Err(Busy);
        }
        if share.waiting.is_empty() {
            self.order.push_back(socket);
        }
        share.waiting.push_back(question);
        Ok(())
    }

    fn assign(&mut self, socket: u64, question: Q) {
        if let Some(share) = self.sockets.get_mut(&socket) {
            self.extra += usize::from(share.busy > 0);
            share.busy += 1;
            self.assigned.push_back((socket, question));
        }
    }

    /// A thread is done with a question of this socket: the next one gets it.
    fn release(&mut self, socket: u64) {
        if let Some(share) = self.sockets.get_mut(&socket) {
            share.busy -= 1;
            self.extra -= usize::from(share.busy > 0);
            if share.busy == 0 && share.waiting.is_empty() {
                self.sockets.remove(&socket);
            }
        }
        // The asker that gets a thread now is the last to get the next.
        let mut served = VecDeque::new();
        for socket in std::mem::take(&mut self.order) {
            let Some(share) = self.sockets.get_mut(&socket) else {
                continue;
            };
            while share.waiting.front().is_some_and(|next| !next.is_wanted()) {
                share.waiting.pop_front();
            }
            let next = if share.busy == 0 || self.extra < EXTRA {
                share.waiting.pop_front()
            } else {
                None
            };
            if !share.waiting.is_empty() {
                let order = match &next {
                    Some(_) => &mut served,
                    None => &mut self.order,
                };
                order.push_back(socket);
            } else if next.is_none() && share.busy == 0 {
                self.sockets.remove(&socket);
            }
            if let Some(question) = next {
                self.assign(socket, question);
            }
        }
        self.order.append(&mut served);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Ask for u32 {
        fn answer(self) {}

        fn is_wanted(&self) -> bool {
            *self != u32::MAX
        }
    }

    #[test]
    fn a_socket_that_asks_without_end_leaves_each_other_socket_a_thread() {
        let mut state = State::<u32>::new();
        for question in 0..(1 + EXTRA + MAX_WAITING_QUESTIONS) as u32 {
            state.put(1, question).unwrap();
        }
        assert_eq!(state.assigned.len(), 1 + EXTRA);
        state.put(1, 9).unwrap_err();
        for socket in 2..10 {
            state.put(socket, 0).unwrap();
            assert_eq!(state.assigned.back(), Some(&(socket, 0)));
            state.put(socket, 1).unwrap();
            assert_eq!(state.assigned.back(), Some(&(socket, 0)), "it waits");
        }
        // What becomes free goes round.
        state.assigned.clear();
        state.release(1);
        assert_eq!(state.assigned.len(), 1);
        for _ in 0..8 {
            state.release(1);
            state.put(1, 0).unwrap_or_default();
        }
        let served: Vec<u64> = state.assigned.iter().map(|(socket, _)| *socket).collect();
        assert!((2..10).any(|socket| served.contains(&socket)), "{served:?}");
    }

    #[test]
    fn withdrawn_questions_make_room_and_get_no_thread() {
        let mut state = State::<u32>::new();
        for _ in 0..1 + EXTRA {
            state.put(1, 0).unwrap();
        }
        for _ in 0..MAX_WAITING_QUESTIONS {
            state.put(1, u32::MAX).unwrap();
        }
        state.put(1, 7).unwrap();
        state.assigned.clear();
        state.release(1);
        assert_eq!(state.assigned, [(1, 7)]);
        for _ in 0..1 + EXTRA {
            state.release(1);
        }
        assert!(state.sockets.is_empty() && state.extra == 0);
    }
}
