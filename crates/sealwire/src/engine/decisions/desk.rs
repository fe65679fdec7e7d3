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
        Desk(Arc::new(Inner::new(State::new())))
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
                let withdrawn = match &unserved {
                    Some((socket, _)) => state.release(*socket),
                    None => Vec::new(),
                };
                drop(state);
                discard(withdrawn);
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
        let mut state = self.0.lock();
        state.closed = true;
        let mut left: Vec<Q> = state.assigned.drain(..).map(|(_, left)| left).collect();
        for share in state.sockets.values_mut() {
            left.extend(share.waiting.drain(..));
        }
        drop(state);
        self.0.more.notify_all();
        discard(left);
    }
}

impl<Q: Ask> Inner<Q> {
    fn new(state: State<Q>) -> Self {
        Inner {
            state: Mutex::new(state),
            more: Condvar::new(),
        }
    }

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
                } else {
                    discard([question]);
                }
                state = self.lock();
                let withdrawn = state.release(socket);
                if !withdrawn.is_empty() {
                    drop(state);
                    discard(withdrawn);
                    state = self.lock();
                }
                state.running -= 1;
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

    /// A thread is done with a question of this socket: the next one gets it. Returns those before it that
    /// nobody wants answered any more.
    fn release(&mut self, socket: u64) -> Vec<Q> {
        if let Some(share) = self.sockets.get_mut(&socket) {
            share.busy -= 1;
            self.extra -= usize::from(share.busy > 0);
            if share.busy == 0 && share.waiting.is_empty() {
                self.sockets.remove(&socket);
            }
        }
        // The asker that gets a thread now is the last to get the next.
        let mut served = VecDeque::new();
        let mut withdrawn = Vec::new();
        for socket in std::mem::take(&mut self.order) {
            let Some(share) = self.sockets.get_mut(&socket) else {
                continue;
            };
            while share.waiting.front().is_some_and(|next| !next.is_wanted()) {
                withdrawn.extend(share.waiting.pop_front());
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
        withdrawn
    }
}

/// Drops questions that get no answer. The last of a closed socket's ends what the socket was given to ask, which may
/// panic or wait: so they are dropped one by one, and not under the lock.
fn discard<Q>(questions: impl IntoIterator<Item = Q>) {
    for question in questions {
        guard::contain("dropping a question", || drop(question));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

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

    /// A withdrawn question that panics as it is dropped.
    struct Parting(Arc<AtomicUsize>);

    impl Ask for Parting {
        fn answer(self) {
            unreachable!("nobody wants to know");
        }

        fn is_wanted(&self) -> bool {
            false
        }
    }

    impl Drop for Parting {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
            // In the middle of another panic it would end the process.
            assert!(thread::panicking(), "an authenticator's end");
        }
    }

    /// Of two sockets, more than there are threads for.
    fn withdrawn() -> (State<Parting>, Arc<AtomicUsize>, usize) {
        const EACH: usize = 1 + EXTRA + 5;
        let (mut state, dropped) = (State::new(), Arc::new(AtomicUsize::new(0)));
        for socket in [1, 2] {
            for _ in 0..EACH {
                state.put(socket, Parting(dropped.clone())).unwrap();
            }
        }
        (state, dropped, 2 * EACH)
    }

    #[test]
    fn withdrawn_questions_that_panic_as_they_are_dropped_cost_no_thread() {
        let (mut state, dropped, all) = withdrawn();
        state.threads = 1;
        let inner = Inner::new(state);
        thread::scope(|scope| {
            let serving = scope.spawn(|| inner.serve(Duration::ZERO));
            assert!(serving.join().is_ok());
        });
        assert_eq!(dropped.load(Ordering::SeqCst), all);
        let state = inner.lock();
        assert!(state.sockets.is_empty());
        assert_eq!((state.threads, state.running), (0, 0));
    }

    #[test]
    fn questions_that_panic_as_the_context_ends_keep_no_others() {
        let (state, dropped, all) = withdrawn();
        let desk = Desk(Arc::new(Inner::new(state)));
        // A thread that is still answering has it too.
        let _shared = desk.0.clone();
        drop(desk);
        assert_eq!(dropped.load(Ordering::SeqCst), all);
    }
}
