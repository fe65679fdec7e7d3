//! The reader of a socket's only connection, as one state in one atomic: each step of
//! [`State`] is a compare-and-exchange.
//!
//! A thread parks, then checks for a message once more, then polls. A thread that brings a message first
//! queues it, and then calls [`wake`](Lease::wake). Both do so under the same lock, so the waiting thread
//! either finds the message or is woken.

use super::lease_state::{State, Step};
use super::sync::{AtomicU8, Ordering};

pub(crate) use super::lease_state::{Begun, Ended, Leaving, Use};

/// One of [`State`], packed.
pub(crate) struct Lease(AtomicU8);

use State::{Engine, Left, Parked, Reading, Revoked, Shared, Sharing};

/// In the order of their packed values.
const STATES: [State; 10] = [
    Engine,
    Reading { timed: false },
    Reading { timed: true },
    Parked { timed: false },
    Parked { timed: true },
    Left { lately: false },
    Left { lately: true },
    Revoked,
    Sharing,
    Shared,
];

impl State {
    const fn packed(self) -> u8 {
        match self {
            Engine => 0,
            Reading { timed } => 1 + timed as u8,
            Parked { timed } => 3 + timed as u8,
            Left { lately } => 5 + lately as u8,
            Revoked => 7,
            Sharing => 8,
            Shared => 9,
        }
    }

    const fn unpacked(packed: u8) -> Self {
        STATES[packed as usize]
    }
}

impl Default for Lease {
    fn default() -> Self {
        Lease(AtomicU8::new(Engine.packed()))
    }
}

impl Lease {
    fn state(&self) -> State {
        State::unpacked(self.0.load(Ordering::Acquire))
    }

    /// Takes a step, and returns what it was for who took it.
    fn take<R>(&self, step: impl Fn(State) -> Step<R>) -> R {
        let mut before = self.0.load(Ordering::Acquire);
        loop {
            let (next, outcome) = step(State::unpacked(before));
            let Some(next) = next else {
                return outcome;
            };
            let (success, failure) = (Ordering::AcqRel, Ordering::Acquire);
            match self
                .0
                .compare_exchange_weak(before, next.packed(), success, failure)
            {
                Ok(_) => return outcome,
                Err(now) => before = now,
            }
        }
    }

    // By threads that wait for a message.

    /// See [`State::is_shared`].
    pub(crate) fn is_shared(&self) -> bool {
        self.state().is_shared()
    }

    /// See [`State::begin`].
    pub(crate) fn begin(&self) -> Begun {
        self.take(State::begin)
    }

    /// See [`State::is_new`].
    pub(crate) fn is_new(&self) {
        self.take(State::is_new)
    }

    /// See [`State::park`].
    pub(crate) fn park(&self) {
        self.take(State::park);
    }

    /// See [`State::is_ended`].
    pub(crate) fn is_ended(&self) -> bool {
        self.state().is_ended()
    }

    /// See [`State::unpark`].
    pub(crate) fn unpark(&self) -> bool {
        self.take(State::unpark)
    }

    /// See [`State::leave`].
    pub(crate) fn leave(&self, over: bool) -> Leaving {
        self.take(|state| state.leave(over))
    }

    // By those who have news for it.

    /// See [`State::is_parked`].
    pub(crate) fn is_parked(&self) -> bool {
        self.state().is_parked()
    }

    /// See [`State::wake`].
    pub(crate) fn wake(&self) -> bool {
        self.is_parked() && self.take(State::wake)
    }

    /// See [`State::revoke`].
    pub(crate) fn revoke(&self) -> Ended {
        self.take(State::revoke)
    }

    /// See [`State::share`].
    pub(crate) fn share(&self) -> Ended {
        self.take(State::share)
    }

    // By the engine, and by those who do without a wait.

    /// See [`State::may_be_leased`].
    pub(crate) fn may_be_leased(&self) -> bool {
        self.state().may_be_leased()
    }

    /// See [`State::is_held`].
    pub(crate) fn is_held(&self) -> bool {
        self.state().is_held()
    }

    /// See [`State::check`].
    pub(crate) fn check(&self) -> Use {
        self.take(State::check)
    }
}
