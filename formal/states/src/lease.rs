//! The lease: who reads a socket's only connection while threads wait for its messages.
//!
//! ```text
//!   thread   Start ──▶ Begin ──▶ Lease ──▶ Park ──▶ Attempt ──▶ Poll ──▶ Unpark ──▶ Read
//!              │         │         │        ▲          │        bytes,              │
//!              │ shared  │ taken   │ gone   │          │        waker               │
//!              ▼         ▼         ▼        └──────────┼─────────────────────────────┘
//!            Listen ──▶ Retry ──▶ Sleep                │ a message, or no more time
//!              ▲                    │                  ▼
//!              └─────── told ───────┘                Leave ──▶ Start, Done
//!
//!   engine   commands, the timer, bytes that nobody else reads, peers that come and go
//! ```
//!
//! The steps of the lease are the library's own (`waiting/lease_state.rs`). The model has what is
//! around them, as far as threads can see it in different orders: `core/readable` and
//! `core/blocking.rs` (the threads), `core/links.rs` (delivery and its signals),
//! `direct.rs` and `leasing.rs` of `engine/session` and `engine/shared.rs` (the connection), the engine's commands and timer.
//!
//! Each step that others can come between is an action. What follows a step without its lock (a signal,
//! the waker's descriptor, a command) is an errand of the same actor, done before its next step.
//!
//! Left out: spinning, signal handlers, sending, high-water marks, time. A timer may be due at once or
//! after everything else. Memory is sequentially consistent here: orderings are loom's part
//! (`crates/sealwire/tests/suite/orders/lease.rs`). The fields of [`LeaseModel`] are its bounds.

use stateright::{Model, Property};

use crate::check::{Checked, Table};

mod state;
mod steps;

#[path = "../../../crates/sealwire/src/waiting/lease_state.rs"]
mod lease_state;

pub(crate) use state::{Action, State};
use state::{At, Second, Waiter};

/// What a control takes away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Without {
    /// A thread parks before it looks for a message again.
    ParkingFirst,
    /// A delivery wakes the thread that reads.
    Wake,
    /// A thread that leaves without a timer has the engine start one.
    Watch,
    /// The timer of the last connection is not taken for the next one's.
    NewConnection,
    /// A thread asks whether it was told to stop before it sleeps.
    AskingFirst,
    /// The end of a lease wakes the thread that reads.
    WakingTheEnded,
    /// The engine is told to read what a thread gave up.
    EndLease,
    /// A thread that finds its connection gone has the engine read all others.
    EndAllLeases,
    /// A wake-up that is not used is handed on.
    HandingOn,
    /// One thread reads.
    OneReader,
    /// Messages are taken under a lock.
    Lock,
}

/// The bounds, and what is taken away.
#[derive(Debug, Clone)]
pub(crate) struct LeaseModel {
    /// How many messages each thread wants.
    wants: Vec<u8>,
    /// An async task wants one more.
    task: bool,
    /// Messages of the first peer, in all its connections.
    sends: u8,
    /// Another peer comes and sends a message.
    second: bool,
    /// How often the first connection is cut, and made again.
    cuts: u8,
    /// How often a thread gives up waiting.
    timeouts: u8,
    without: Option<Without>,
}

impl LeaseModel {
    fn lacks(&self, protection: Without) -> bool {
        self.without == Some(protection)
    }
}

impl Model for LeaseModel {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        vec![State::new(self)]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        state.actions(self, actions);
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        state.take(self, action)?;
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(ONE_READER, |_, state: &State| {
                let readers = state.waiters.iter().filter(|it| it.reads()).count();
                readers == usize::from(state.lease.is_held())
            }),
            Property::always(EACH_ONCE, |model: &Self, state: &State| {
                let second = u8::from(model.second && state.second == Second::Sent);
                state.to_send + state.arrived + state.queue + state.taken == model.sends + second
            }),
            Property::always(NOBODY_SLEEPS, |model: &Self, state: &State| {
                let waits = state.waiters.iter().any(Waiter::sleeps);
                !waits || state.queue == 0 || !model.is_over(state)
            }),
            Property::always(ALL_IS_READ, |model: &Self, state: &State| {
                state.arrived == 0 || !model.is_over(state)
            }),
            Property::always(EVERYBODY_GETS, |model: &Self, state: &State| {
                state.waiters.iter().all(|it| it.at == At::Done) || !model.is_over(state)
            }),
            Property::always(LEASES_END, |model: &Self, state: &State| {
                let leased = state.session.as_ref().is_some_and(|it| it.leased);
                !leased || state.waiters.iter().any(Waiter::reads) || !model.is_over(state)
            }),
        ]
    }
}

const ONE_READER: &str = "one thread reads, which has the lease";
const EACH_ONCE: &str = "each message is somewhere, once";
const NOBODY_SLEEPS: &str = "nobody sleeps beside a message";
const ALL_IS_READ: &str = "whatever arrives is read";
const EVERYBODY_GETS: &str = "everybody gets what it waits for";
const LEASES_END: &str = "a lease that nobody uses ends";

impl Checked for LeaseModel {
    const NAME: &'static str = "lease";

    type Protection = Without;

    fn without(&self, protection: Without) -> Self {
        LeaseModel {
            without: Some(protection),
            ..self.clone()
        }
    }

    fn fill(table: &mut Table<Self>) {
        let least = LeaseModel {
            wants: vec![1, 1],
            task: false,
            sends: 3,
            second: false,
            cuts: 0,
            timeouts: 0,
            without: None,
        };
        let with = |wants: &[u8], sends| LeaseModel {
            wants: wants.to_vec(),
            sends,
            ..least.clone()
        };
        let second = |model| LeaseModel {
            second: true,
            ..model
        };
        let cut = |model| LeaseModel { cuts: 1, ..model };
        let task = |model| LeaseModel {
            task: true,
            ..model
        };
        let may_give_up = |model| LeaseModel {
            timeouts: 1,
            ..model
        };
        table.claim(
            "two threads, one may give up",
            may_give_up(with(&[2, 1], 4)),
        );
        table.claim("another peer comes", second(with(&[1, 1], 2)));
        table.claim("a cut, and back", cut(with(&[1, 1], 3)));
        table.claim("a task beside them", task(with(&[1, 1], 3)));

        table.long_claim("another peer, and more messages", second(with(&[2, 1], 3)));
        table.long_claim("a cut, and more messages", cut(with(&[2, 1], 4)));
        table.long_claim("a cut, another peer", second(cut(with(&[1, 1], 2))));
        table.long_claim(
            "a cut, another peer, a task",
            second(cut(task(with(&[1], 2)))),
        );
        table.long_claim("three threads", with(&[1, 1, 1], 4));
        let (one, pair) = (with(&[1], 2), with(&[1, 1], 3));
        let (other, back) = (second(with(&[1, 1], 2)), cut(with(&[1, 1], 3)));
        table.control(
            "looks before it parks",
            &other,
            Without::ParkingFirst,
            NOBODY_SLEEPS,
        );
        table.control("no wake", &other, Without::Wake, NOBODY_SLEEPS);
        table.control("no timer", &one, Without::Watch, LEASES_END);
        table.control("no timer, more arrives", &one, Without::Watch, ALL_IS_READ);
        table.control(
            "the last connection's timer",
            &cut(with(&[2], 3)),
            Without::NewConnection,
            LEASES_END,
        );
        table.control(
            "does not ask before it sleeps",
            &other,
            Without::AskingFirst,
            EVERYBODY_GETS,
        );
        table.control(
            "ends a lease and does not wake",
            &other,
            Without::WakingTheEnded,
            EVERYBODY_GETS,
        );
        table.control(
            "gives up and does not tell",
            &other,
            Without::EndLease,
            LEASES_END,
        );
        table.control(
            "tells the connection that is gone",
            &back,
            Without::EndAllLeases,
            ALL_IS_READ,
        );
        table.control(
            "wake-ups are kept",
            &may_give_up(task(with(&[1], 1))),
            Without::HandingOn,
            NOBODY_SLEEPS,
        );
        table.control("two read", &pair, Without::OneReader, ONE_READER);
        table.control("no lock", &pair, Without::Lock, EACH_ONCE);
    }
}
