//! A queue that many threads fill and one thread empties all at once.

use std::mem;
use std::sync::{PoisonError, Weak};

use super::guard;
use super::sync::{Mutex, MutexGuard};

/// Commands for a thread, and the sockets that it has to tell of its end.
pub(super) struct Inbox<C, S> {
    state: Mutex<State<C, S>>,
}

struct State<C, S> {
    commands: Vec<C>,
    sockets: Vec<Weak<S>>,
    /// How many there were when those that are gone were last taken out.
    sockets_kept: usize,
    /// The thread has ended: nothing is carried out any more.
    closed: bool,
}

impl<C, S> Default for Inbox<C, S> {
    fn default() -> Self {
        Inbox {
            state: Mutex::new(State {
                commands: Vec::new(),
                sockets: Vec::new(),
                sockets_kept: 0,
                closed: false,
            }),
        }
    }
}

impl<C, S> Inbox<C, S> {
    fn lock(&self) -> MutexGuard<'_, State<C, S>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Leaves a command. The thread takes all of them each time it wakes: only the first has to `wake` it.
    pub(super) fn post(&self, command: C, wake: impl FnOnce()) {
        let mut state = self.lock();
        if state.closed {
            // Dropped without the lock: it may post another as it is.
            drop(state);
            guard::contain("dropping a command", || drop(command));
            return;
        }
        let first = state.commands.is_empty();
        state.commands.push(command);
        drop(state);
        if first {
            wake();
        }
    }

    /// Swaps the waiting commands for an empty list.
    pub(super) fn take(&self, into: &mut Vec<C>) {
        mem::swap(&mut self.lock().commands, into);
    }

    /// Notes a socket to be told. `false` when the thread has ended.
    pub(super) fn enroll(&self, socket: Weak<S>) -> bool {
        let mut state = self.lock();
        if state.closed {
            return false;
        }
        if state.sockets.len() > 2 * state.sockets_kept {
            state.sockets.retain(|socket| socket.strong_count() > 0);
            state.sockets_kept = state.sockets.len() + 8;
        }
        state.sockets.push(socket);
        true
    }

    /// The sockets to be told.
    pub(super) fn sockets(&self) -> Vec<Weak<S>> {
        self.lock().sockets.clone()
    }

    /// Whether it takes no more commands.
    pub(super) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Takes no more commands, and gives the sockets that are to be told.
    pub(super) fn close(&self) -> Vec<Weak<S>> {
        let mut state = self.lock();
        state.closed = true;
        let commands = mem::take(&mut state.commands);
        let sockets = mem::take(&mut state.sockets);
        drop(state);
        // One by one: of two panics in one drop the second would end the process.
        for command in commands {
            guard::contain("dropping a command", || drop(command));
        }
        sockets
    }
}
