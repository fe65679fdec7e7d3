//! The lease that decides who reads a socket's only connection: the engine, or a thread that waits for a
//! message of it.
//!
//! A hand-over from the I/O thread to a waiting thread costs more than the message, so a thread that
//! blocks leases the connection and reads it on its own. When it has its message it leaves, and the
//! engine leaves the reading alone for some milliseconds longer, as the thread mostly comes back.
//!
//! ```text
//!                 begin                       park
//!    Engine ────────────────▶ Reading ◀───────────────▶ Parked
//!      ▲                       │   ▲     unpark, wake      │
//!      │ check (twice)         │   └──────── begin ───┐    │
//!      └───────────── Left ◀───┴────────── leave ─────┼────┘
//!                      └──────────────────────────────┘
//!
//!    Reading, Parked ── revoke ──▶ Revoked ── leave ──▶ Engine      another peer came
//!    Reading, Parked ── share ───▶ Sharing ── leave ──▶ Shared      somebody else waits too
//!    Engine, Left ───── share ────────────────────────▶ Shared      for good
//! ```
//!
//! The engine ends a lease that nobody used between two checks. It checks by a timer, which runs while
//! the thread comes and goes and stops while it stays: then the thread, as it leaves, has the engine
//! start it (`timed`).
//!
//! A thread parks, then checks for a message once more, then polls. A thread that brings a message queues it
//! first and calls [`wake`](Lease::wake) then. Both do so under the same lock, so the thread either finds the
//! message or is woken.

use super::atomic::{AtomicU8, Ordering};

/// One of [`State`], packed.
pub(crate) struct Lease(AtomicU8);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The engine reads.
    Engine,
    /// A thread reads, and is awake.
    Reading { timed: bool },
    /// That thread polls, or is about to: who has news wakes it.
    Parked { timed: bool },
    /// Nobody waits, and the engine does not read yet. `lately`: somebody has waited since it looked.
    Left { lately: bool },
    /// A thread reads and has to stop.
    Revoked,
    /// The same, and nobody is to follow it.
    Sharing,
    /// The engine reads, for good: several wait.
    Shared,
}

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

/// What a thread is told that wants to read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Begun {
    /// It reads.
    Reads,
    /// Another reads, which is to be woken if it `sleeps`; from now on nobody does.
    Taken { sleeps: bool },
    /// Nobody does, for good.
    Shared,
}

/// The duty of the thread that ended a lease.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    /// The connection may be leased: the engine has to be told to read it.
    pub(crate) leased: bool,
    /// The thread that reads sleeps.
    pub(crate) sleeps: bool,
}

/// The duty of a thread that leaves.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Leaving {
    /// Nothing: the engine looks after the lease.
    Watched,
    /// The engine is to be told to look after the lease from now on.
    Unwatched,
    /// The engine is to be told to read.
    Over,
}

/// What the engine finds when it looks after a lease.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// A thread reads, and tells when it leaves.
    Now,
    /// One has, since the last check.
    Lately,
    /// None has: the engine reads from now on.
    Over,
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

    /// Moves on to what `next` gives, `None` for nothing to do. Returns what there was.
    fn advance(&self, next: impl Fn(State) -> Option<State>) -> State {
        let mut before = self.0.load(Ordering::Acquire);
        loop {
            let state = State::unpacked(before);
            let Some(next) = next(state) else {
                return state;
            };
            let (success, failure) = (Ordering::AcqRel, Ordering::Acquire);
            match self
                .0
                .compare_exchange_weak(before, next.packed(), success, failure)
            {
                Ok(_) => return state,
                Err(now) => before = now,
            }
        }
    }

    // By threads that wait for a message.

    /// Whether nobody reads directly any more.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self.state(), Sharing | Shared)
    }

    /// A thread wants to read. If another does, from now on nobody will.
    pub(crate) fn begin(&self) -> Begun {
        let before = self.advance(|state| match state {
            Engine => Some(Reading { timed: false }),
            Left { .. } => Some(Reading { timed: true }),
            Reading { .. } | Parked { .. } | Revoked => Some(Sharing),
            Sharing | Shared => None,
        });
        match before {
            Engine | Left { .. } => Begun::Reads,
            Reading { .. } | Parked { .. } | Revoked => Begun::Taken {
                sleeps: matches!(before, Parked { .. }),
            },
            Sharing | Shared => Begun::Shared,
        }
    }

    /// The connection that is to be read was not leased: its engine has no timer for it.
    pub(crate) fn is_new(&self) {
        self.advance(|state| match state {
            Reading { timed: true } => Some(Reading { timed: false }),
            _ => None,
        });
    }

    /// The thread that reads is about to poll, once it has looked for a message again.
    pub(crate) fn park(&self) {
        self.advance(|state| match state {
            Reading { timed } => Some(Parked { timed }),
            _ => None,
        });
    }

    /// Whether the thread that reads has to stop.
    pub(crate) fn is_ended(&self) -> bool {
        matches!(self.state(), Revoked | Sharing)
    }

    /// It has polled. `false` when it has to stop.
    pub(crate) fn unpark(&self) -> bool {
        let before = self.advance(|state| match state {
            Parked { timed } => Some(Reading { timed }),
            _ => None,
        });
        matches!(before, Parked { .. } | Reading { .. })
    }

    /// It stops. `over`: the engine shall read from now on.
    pub(crate) fn leave(&self, over: bool) -> Leaving {
        let before = self.advance(|state| match state {
            Reading { .. } | Parked { .. } if over => Some(Engine),
            Reading { .. } | Parked { .. } => Some(Left { lately: true }),
            Revoked => Some(Engine),
            Sharing => Some(Shared),
            Engine | Left { .. } | Shared => None,
        });
        match before {
            Reading { timed } | Parked { timed } if !over => match timed {
                true => Leaving::Watched,
                false => Leaving::Unwatched,
            },
            _ => Leaving::Over,
        }
    }

    // By those who have news for it.

    /// Whether the thread that reads sleeps, or is about to.
    pub(crate) fn is_parked(&self) -> bool {
        matches!(self.state(), Parked { .. })
    }

    /// Whether the thread that reads sleeps and is to be woken by the caller.
    pub(crate) fn wake(&self) -> bool {
        if !self.is_parked() {
            return false;
        }
        let before = self.advance(|state| match state {
            Parked { timed } => Some(Reading { timed }),
            _ => None,
        });
        matches!(before, Parked { .. })
    }

    /// Another peer came: the engine shall read both.
    pub(crate) fn revoke(&self) -> Ended {
        Self::ended(self.advance(|state| match state {
            Reading { .. } | Parked { .. } => Some(Revoked),
            Left { .. } => Some(Engine),
            Engine | Revoked | Sharing | Shared => None,
        }))
    }

    /// Somebody waits who cannot read: from now on nobody reads directly.
    pub(crate) fn share(&self) -> Ended {
        Self::ended(self.advance(|state| match state {
            Engine | Left { .. } => Some(Shared),
            Reading { .. } | Parked { .. } | Revoked => Some(Sharing),
            Sharing | Shared => None,
        }))
    }

    fn ended(before: State) -> Ended {
        Ended {
            leased: matches!(before, Reading { .. } | Parked { .. } | Left { .. }),
            sleeps: matches!(before, Parked { .. }),
        }
    }

    // By the engine, and by those who do without a wait.

    /// Whether the engine may have left the reading to a thread, which may be gone.
    pub(crate) fn may_be_leased(&self) -> bool {
        matches!(self.state(), Reading { .. } | Parked { .. } | Left { .. })
    }

    /// Whether a thread reads.
    pub(crate) fn is_held(&self) -> bool {
        matches!(
            self.state(),
            Reading { .. } | Parked { .. } | Revoked | Sharing
        )
    }

    /// The engine looks by its timer, which goes on only after [`Use::Lately`].
    pub(crate) fn check(&self) -> Use {
        let before = self.advance(|state| match state {
            Reading { .. } => Some(Reading { timed: false }),
            Parked { .. } => Some(Parked { timed: false }),
            Left { lately: true } => Some(Left { lately: false }),
            Left { lately: false } => Some(Engine),
            Engine | Revoked | Sharing | Shared => None,
        });
        match before {
            Reading { .. } | Parked { .. } => Use::Now,
            Left { lately: true } => Use::Lately,
            Left { lately: false } | Engine | Revoked | Sharing | Shared => Use::Over,
        }
    }
}
