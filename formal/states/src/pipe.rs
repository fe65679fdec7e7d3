//! The pipe: the queues between a socket that sends, a connection, and a socket that receives.
//!
//! ```text
//!   senders ─▶ backlog ─▶ outbound ─▶ protocol ─▶ wire ─▶ protocol ─▶ inbound ─▶ receiver
//!      ▲                     │            A                  B           │
//!      └──── half is free ───┘                               ▲           │
//!                                                 paused ◀───┴── half ───┘
//!
//!   sender     Try ▶ Listen ▶ Push ▶ Retry ▶ Sleep ▶ Listen ...    Done once it has sent all
//!   session A  Idle ▶ Take ▶ Stage ▶ Write ▶ Take ...              driven by the engine or by a sender
//!   session B  Idle ▶ Deliver ▶ Settle ▶ Idle                      paused while the inbound queue is full
//!   connection open ▶ cut ▶ ended at A, ended at B, in any order ▶ another one
//! ```
//!
//! Abstracts `pattern/pipe.rs`, `pattern/pipes.rs` with `pipes/inbound.rs`, `pattern/round_robin.rs`, `core/links.rs`,
//! `core/blocking.rs`, `engine/shared.rs`, and `pipe_end.rs`, `mod.rs` and `ending.rs` of
//! `engine/session`. How much a queue admits, has room for and when half of it is free is the library's
//! own (`pattern/high_water_mark.rs`).
//!
//! Each section under the socket's lock is an action; signals go out behind it, one by one. A session is
//! driven by one at a time, and others come between its calls of the socket.
//!
//! Left out: subscriptions, framed messages and their ranges, conflating, `inproc`, several pipes at once,
//! direct reading (the model `lease`), confirmation (the model `session`: here all that was written counts
//! as unconfirmed). Messages have a byte or two. The fields of [`PipeModel`] are its bounds.

use stateright::{Model, Property};

use crate::check::{Checked, Table};

mod connection;
mod receiving;
mod sending;
mod state;

#[allow(dead_code, reason = "the options of a socket are not in the model")]
#[path = "../../../crates/sealwire/src/pattern/high_water_mark.rs"]
mod high_water_mark;

use high_water_mark::QueueLimit;
pub(crate) use state::{Action, State};

/// What a control takes away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Without {
    /// A queue that is swapped away counts as empty.
    ClearedCount,
    /// Finding the queue empty has the next message signal again.
    SignallingAgain,
    /// What a thread cannot do itself goes to the mailbox.
    Mailbox,
    /// A sender that drives the session tells the engine of what is left.
    Revisit,
    /// Senders are told when half of the queue is free.
    TellingOfRoom,
    /// A sender attempts again after it listens.
    Retry,
    /// The receiver has the session told when half of the queue is free.
    TellingOfInput,
    /// A pipe remembers that it is full.
    PausedPipe,
    /// A receiver is told of what comes.
    TellingOfMessages,
    /// Messages that a connection holds as it ends are counted.
    Counting,
    /// A message that was given to a connection is not sent on the next one.
    SentOnce,
    /// An ended pipe goes with its last message.
    Release,
}

/// The bounds, and what is taken away.
#[derive(Debug, Clone)]
pub(crate) struct PipeModel {
    /// Messages of each sender.
    sends: Vec<u8>,
    send: QueueLimit,
    receive: QueueLimit,
    /// Messages that the protocol takes before it has written, and that the wire holds.
    budget: usize,
    wire: usize,
    /// Every second message has two bytes.
    large: bool,
    cuts: u8,
    /// The receiver closes after this number of messages, if they come.
    receives: u8,
    without: Option<Without>,
}

impl PipeModel {
    fn lacks(&self, protection: Without) -> bool {
        self.without == Some(protection)
    }

    fn bytes(&self, message: u8) -> usize {
        1 + usize::from(self.large && message % 2 == 1)
    }
}

const ONCE: &str = "none is delivered twice, or out of order";
const COUNTED: &str = "none is lost and not counted";
const SENDERS: &str = "no sender sleeps beside room";
const OUTPUT: &str = "whatever is queued goes out";
const PAUSED: &str = "no session stays paused beside room";
const RECEIVER: &str = "no receiver sleeps beside a message";
const EMPTY: &str = "both come to their end, and nothing is left";

impl Model for PipeModel {
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
        state.take(self, action);
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(ONCE, |_, state: &State| state.is_in_order()),
            Property::always(COUNTED, |model: &Self, state: &State| {
                let lost = state.lost_and_not_counted();
                state.adds_up() && (lost == 0 || !model.is_over(state))
            }),
            Property::always(SENDERS, |model: &Self, state: &State| {
                !state.sender_sleeps_beside_room(model) || !model.is_over(state)
            }),
            Property::always(OUTPUT, |model: &Self, state: &State| {
                !state.output_waits(model) || !model.is_over(state)
            }),
            Property::always(PAUSED, |model: &Self, state: &State| {
                !state.is_paused_beside_room(model) || !model.is_over(state)
            }),
            Property::always(RECEIVER, |model: &Self, state: &State| {
                !state.receiver_sleeps_beside_message() || !model.is_over(state)
            }),
            Property::always(EMPTY, |model: &Self, state: &State| {
                state.is_closed_and_empty() || !model.is_over(state)
            }),
        ]
    }
}

impl Checked for PipeModel {
    const NAME: &'static str = "pipe";

    type Protection = Without;

    fn without(&self, protection: Without) -> Self {
        PipeModel {
            without: Some(protection),
            ..self.clone()
        }
    }

    fn fill(table: &mut Table<Self>) {
        let messages = |messages| QueueLimit { messages, bytes: 0 };
        let one = PipeModel {
            sends: vec![4],
            send: messages(2),
            receive: messages(2),
            budget: 1,
            wire: 1,
            large: false,
            cuts: 0,
            receives: 4,
            without: None,
        };
        let two = PipeModel {
            sends: vec![2, 1],
            ..one.clone()
        };
        let cut = PipeModel {
            sends: vec![2],
            cuts: 1,
            ..one.clone()
        };
        let stops = PipeModel {
            sends: vec![5],
            receives: 1,
            ..one.clone()
        };
        let bytes = PipeModel {
            send: QueueLimit {
                messages: 0,
                bytes: 3,
            },
            receive: QueueLimit {
                messages: 0,
                bytes: 2,
            },
            large: true,
            ..one.clone()
        };
        table.claim("one sender", one.clone());
        table.claim("two senders", two.clone());
        table.claim("a cut, and another connection", cut.clone());
        table.claim("the receiver closes early", stops.clone());
        table.claim("budgets of bytes", bytes.clone());
        let wide = |model: &Self| PipeModel {
            send: messages(3),
            receive: messages(3),
            budget: 2,
            wire: 2,
            ..model.clone()
        };

        table.long_claim(
            "two senders, longer queues",
            wide(&PipeModel {
                sends: vec![3, 2],
                receives: 5,
                ..one.clone()
            }),
        );
        table.long_claim(
            "two cuts, longer queues",
            wide(&PipeModel {
                sends: vec![3],
                cuts: 2,
                receives: 3,
                ..one.clone()
            }),
        );
        table.long_claim(
            "two senders, a cut",
            PipeModel {
                sends: vec![2, 1],
                cuts: 1,
                ..one.clone()
            },
        );
        table.long_claim(
            "a cut, closes early",
            PipeModel {
                sends: vec![3],
                cuts: 1,
                receives: 1,
                ..one.clone()
            },
        );
        let swap = PipeModel {
            budget: 4,
            wire: 4,
            ..one.clone()
        };
        table.control(
            "a swap leaves the count",
            &swap,
            Without::ClearedCount,
            SENDERS,
        );
        table.control(
            "signals once for ever",
            &one,
            Without::SignallingAgain,
            OUTPUT,
        );
        table.control(
            "a lock that is taken ends it",
            &one,
            Without::Mailbox,
            OUTPUT,
        );
        table.control("what is left is not told", &one, Without::Revisit, OUTPUT);
        table.control("room is not told", &one, Without::TellingOfRoom, SENDERS);
        table.control(
            "sleeps without another attempt",
            &one,
            Without::Retry,
            SENDERS,
        );
        table.control(
            "half a queue is not told",
            &one,
            Without::TellingOfInput,
            PAUSED,
        );
        table.control(
            "a pipe forgets that it is full",
            &one,
            Without::PausedPipe,
            PAUSED,
        );
        table.control(
            "messages are not told",
            &one,
            Without::TellingOfMessages,
            RECEIVER,
        );
        table.control(
            "a connection's are not counted",
            &cut,
            Without::Counting,
            COUNTED,
        );
        table.control("sends again what was sent", &cut, Without::SentOnce, ONCE);
        table.control("ended pipes stay", &cut, Without::Release, EMPTY);
    }
}
