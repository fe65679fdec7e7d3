//! The reader of a socket's only connection: the engine, or a thread that waits for its messages. This module
//! has the states and the steps between them, as values; [`Lease`](super::lease::Lease) takes the steps.
//!
//! A hand-over from the I/O thread to a waiting thread costs more than the message, so a thread that
//! blocks leases the connection and reads it on its own. When it has its message it leaves. The
//! engine does not read for some milliseconds longer, as the thread mostly comes back.
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum State {
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

/// The state after a step, `None` where it stays, and what the step was for who took it.
pub(super) type Step<R> = (Option<State>, R);

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

/// The work that is left to the thread that ended a lease.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    /// The connection may be leased: the engine has to be told to read it.
    pub(crate) leased: bool,
    /// The thread that reads sleeps.
    pub(crate) sleeps: bool,
}

/// The work that is left to a thread that leaves.
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

impl State {
    // By threads that wait for a message.

    /// Whether nobody reads directly any more.
    pub(super) fn is_shared(self) -> bool {
        matches!(self, Sharing | Shared)
    }

    /// A thread wants to read. If another does, from now on nobody will.
    pub(super) fn begin(self) -> Step<Begun> {
        match self {
            Engine => (Some(Reading { timed: false }), Begun::Reads),
            Left { .. } => (Some(Reading { timed: true }), Begun::Reads),
            Reading { .. } | Parked { .. } | Revoked => {
                let sleeps = self.is_parked();
                (Some(Sharing), Begun::Taken { sleeps })
            }
            Sharing | Shared => (None, Begun::Shared),
        }
    }

    /// The connection that is to be read was not leased: its engine has no timer for it.
    pub(super) fn is_new(self) -> Step<()> {
        let next = match self {
            Reading { timed: true } => Some(Reading { timed: false }),
            _ => None,
        };
        (next, ())
    }

    /// The thread that reads is about to poll, once it has looked for a message again.
    pub(super) fn park(self) -> Step<()> {
        let next = match self {
            Reading { timed } => Some(Parked { timed }),
            _ => None,
        };
        (next, ())
    }

    /// Whether the thread that reads has to stop.
    pub(super) fn is_ended(self) -> bool {
        matches!(self, Revoked | Sharing)
    }

    /// It has polled. `false` when it has to stop.
    pub(super) fn unpark(self) -> Step<bool> {
        match self {
            Parked { timed } => (Some(Reading { timed }), true),
            Reading { .. } => (None, true),
            _ => (None, false),
        }
    }

    /// It stops. `over`: the engine shall read from now on.
    pub(super) fn leave(self, over: bool) -> Step<Leaving> {
        match self {
            Reading { .. } | Parked { .. } if over => (Some(Engine), Leaving::Over),
            Reading { timed } | Parked { timed } => {
                let leaving = match timed {
                    true => Leaving::Watched,
                    false => Leaving::Unwatched,
                };
                (Some(Left { lately: true }), leaving)
            }
            Revoked => (Some(Engine), Leaving::Over),
            Sharing => (Some(Shared), Leaving::Over),
            Engine | Left { .. } | Shared => (None, Leaving::Over),
        }
    }

    // By those who have news for it.

    /// Whether the thread that reads sleeps, or is about to.
    pub(super) fn is_parked(self) -> bool {
        matches!(self, Parked { .. })
    }

    /// Whether the thread that reads sleeps and is to be woken by the caller.
    pub(super) fn wake(self) -> Step<bool> {
        match self {
            Parked { timed } => (Some(Reading { timed }), true),
            _ => (None, false),
        }
    }

    /// Another peer came: the engine shall read both.
    pub(super) fn revoke(self) -> Step<Ended> {
        let next = match self {
            Reading { .. } | Parked { .. } => Some(Revoked),
            Left { .. } => Some(Engine),
            Engine | Revoked | Sharing | Shared => None,
        };
        (next, self.ended())
    }

    /// Somebody waits who cannot read: from now on nobody reads directly.
    pub(super) fn share(self) -> Step<Ended> {
        let next = match self {
            Engine | Left { .. } => Some(Shared),
            Reading { .. } | Parked { .. } | Revoked => Some(Sharing),
            Sharing | Shared => None,
        };
        (next, self.ended())
    }

    fn ended(self) -> Ended {
        Ended {
            leased: self.may_be_leased(),
            sleeps: self.is_parked(),
        }
    }

    // By the engine, and by those who do without a wait.

    /// Whether the engine may have left the reading to a thread, which may be gone.
    pub(super) fn may_be_leased(self) -> bool {
        matches!(self, Reading { .. } | Parked { .. } | Left { .. })
    }

    /// Whether a thread reads.
    pub(super) fn is_held(self) -> bool {
        matches!(self, Reading { .. } | Parked { .. } | Revoked | Sharing)
    }

    /// The engine looks by its timer, which goes on only after [`Use::Lately`].
    pub(super) fn check(self) -> Step<Use> {
        match self {
            Reading { .. } => (Some(Reading { timed: false }), Use::Now),
            Parked { .. } => (Some(Parked { timed: false }), Use::Now),
            Left { lately: true } => (Some(Left { lately: false }), Use::Lately),
            Left { lately: false } => (Some(Engine), Use::Over),
            Engine | Revoked | Sharing | Shared => (None, Use::Over),
        }
    }
}
