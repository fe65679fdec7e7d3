//! The session: a connection from its first byte to its end, at a socket that connects and sends (A) and at
//! one that listens and receives (B).
//!
//! ```text
//!   A   Waiting ▶ Greeting ────────────────────────▶ Ready ─┐
//!        ▲ again after a tick, while A is open              │ finish ▶ Finishing ▶ Finished ▶ Over
//!   B           Greeting ▶ Asked ▶ (decided) ▶ Ready ───────┘      all is sent    end of stream, or time
//!   link        open ▶ cut (both are told) or half open (neither is) ▶ gone
//!   socket      Open ▶ Closing (linger) ▶ Ended, once nothing works for it
//! ```
//!
//! Three parts are the library's own files: the phases (`engine/session/phase.rs`), the count of messages that
//! have not arrived (`engine/session/ledger.rs`), and all deadlines of a connection (`connection/liveness.rs` of
//! `sealwire-zmtp`). Around them the model abstracts `engine/session` (`mod.rs`, `handshake.rs`, `ending.rs`,
//! `leasing.rs`, and the parts of a session beside these), `engine/io_thread` (`sessions.rs`, `closing.rs`, `lingering.rs`),
//! `engine/connector.rs`, `engine/decisions`, `core/lifecycle.rs` and the permits of accepted connections.
//!
//! Time goes by in ticks. Before the next tick, due timers fire and writable bytes are written;
//! bytes under way may take any time. Frames have one byte.
//!
//! Left out: mechanisms (a handshake is one command each way), a transport that is full, several peers,
//! queues and their limits (the model `pipe`), threads that read directly (`lease`) but for the end that
//! one finds, a receiver that is drained but for what its sender does then. The fields of [`SessionModel`] are the bounds.

use std::time::Duration;

use stateright::{Model, Property};

use crate::check::{Checked, Table};

mod side;
mod state;
mod steps;

#[path = "../../../crates/sealwire/src/engine/session/ledger.rs"]
mod ledger;
#[allow(dead_code, reason = "heartbeats of a transport are not in the model")]
#[path = "../../../crates/sealwire-zmtp/src/connection/liveness.rs"]
mod liveness;
#[allow(
    dead_code,
    reason = "no socket of the model is drained or told who ended it"
)]
#[path = "../../../crates/sealwire/src/engine/session/phase.rs"]
mod phase;

pub(crate) use state::{Action, State};

/// How a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum End {
    #[allow(dead_code, reason = "the tests of phases name it")]
    Clean,
    Failed,
}

/// What deadlines are made of.
struct Config {
    handshake_timeout: Duration,
    heartbeat: Option<Heartbeat>,
    heartbeats_to_zmtp_3_0: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Heartbeat {
    interval: Duration,
    timeout: Duration,
    ttl: Duration,
}

/// Ticks for a handshake, between heartbeats and for an answer to one, for closing.
const HANDSHAKE: u8 = 2;
const INTERVAL: u8 = 1;
const ANSWER: u8 = 1;
const LINGER: u8 = 3;
/// Nobody stays longer with a connection of which nothing is heard: a handshake, a PING and its answer, and
/// closing meanwhile.
const SILENCE: u8 = HANDSHAKE + INTERVAL + 2 * ANSWER;

fn ticks(ticks: u8) -> Duration {
    Duration::from_secs(ticks.into())
}

/// What a control takes away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Without {
    /// Messages that were written are not counted as unsent.
    WrittenApart,
    /// A PING's context says what was sent before it, and no more.
    Context,
    /// Messages that were staged and not written are counted.
    Counting,
    /// A verdict names its connection by its id as well as its slot.
    ConnectionId,
    /// The end of a session takes it away.
    Taking,
    /// A connection that never was ready gives back what it counts among.
    Permit,
    /// Heartbeats run.
    Heartbeats,
    /// The linger time has an end.
    LingerEnds,
    /// A peer that is heard of while its end is awaited is not held to PINGs that it is not sent.
    HeardWhileAwaited,
}

/// The bounds, and what is taken away.
#[derive(Debug, Clone)]
pub(crate) struct SessionModel {
    sends: u8,
    /// Until when the applications and the network act.
    ticks: u8,
    cuts: u8,
    half_opens: u8,
    /// How often B's application stops to read for some time.
    pauses: u8,
    refusals: u8,
    /// Bytes under way arrive before the next tick; else they may take any time.
    prompt: bool,
    /// The applications may close at any time; else they do at last.
    closes_early: bool,
    without: Option<Without>,
}

impl SessionModel {
    fn lacks(&self, protection: Without) -> bool {
        self.without == Some(protection)
    }

    fn config(&self) -> Config {
        let heartbeat = Heartbeat {
            interval: ticks(INTERVAL),
            timeout: ticks(ANSWER),
            ttl: Duration::ZERO,
        };
        Config {
            handshake_timeout: ticks(HANDSHAKE),
            heartbeat: (!self.lacks(Without::Heartbeats)).then_some(heartbeat),
            heartbeats_to_zmtp_3_0: false,
        }
    }
}

const NO_MORE: &str = "no more is delivered and counted than sent";
const NO_LESS: &str = "no less is delivered, counted and unconfirmed";
const BY_NAME: &str = "a verdict is for whom it was asked about";
const ENDS_ONCE: &str = "every session ends once";
const GIVES_BACK: &str = "nothing is held when all has ended";
const CLOSES: &str = "a socket closes within its linger time";
const SILENT: &str = "nobody waits for a silent peer for ever";
const HEARD: &str = "a peer that is heard of has its time";

impl Model for SessionModel {
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
            Property::always(NO_MORE, |_, state: &State| state.counts_no_more()),
            Property::always(NO_LESS, |model: &Self, state: &State| {
                state.counts_no_less() || !model.is_over(state)
            }),
            Property::always(BY_NAME, |_, state: &State| state.verdicts_fit()),
            Property::always(ENDS_ONCE, |_, state: &State| !state.ended_twice()),
            Property::always(GIVES_BACK, |model: &Self, state: &State| {
                state.holds_nothing() || !model.is_over(state)
            }),
            Property::always(CLOSES, |_, state: &State| state.closes_in_time()),
            Property::always(SILENT, |_, state: &State| state.ends_when_silent()),
            Property::always(HEARD, |_, state: &State| !state.was_cut_short()),
        ]
    }
}

impl Checked for SessionModel {
    const NAME: &'static str = "session";

    type Protection = Without;

    fn without(&self, protection: Without) -> Self {
        SessionModel {
            without: Some(protection),
            ..self.clone()
        }
    }

    fn fill(table: &mut Table<Self>) {
        let none = SessionModel {
            sends: 1,
            ticks: 2,
            cuts: 0,
            half_opens: 0,
            pauses: 0,
            refusals: 0,
            prompt: false,
            closes_early: true,
            without: None,
        };
        let cut = SessionModel {
            cuts: 1,
            ..none.clone()
        };
        let half_open = SessionModel {
            sends: 0,
            half_opens: 1,
            ticks: SILENCE + 1,
            prompt: true,
            closes_early: false,
            ..none.clone()
        };
        let pause = SessionModel {
            pauses: 1,
            ..none.clone()
        };
        let short = |model: &Self| SessionModel {
            ticks: 1,
            ..model.clone()
        };
        let two = |model: &Self| SessionModel {
            sends: 2,
            ..model.clone()
        };
        let refused = SessionModel {
            refusals: 1,
            ..none.clone()
        };
        table.claim("nothing happens to it", short(&none));
        table.claim("a cut", short(&cut));
        table.claim("half open", half_open.clone());
        table.claim("the receiver pauses", short(&pause));
        table.claim("a refusal", short(&refused));

        table.long_claim("nothing happens to it, longer", none.clone());
        table.long_claim("two messages", two(&none));
        table.long_claim(
            "half open, a message",
            SessionModel {
                sends: 1,
                ..half_open.clone()
            },
        );
        table.long_claim("a cut, longer", cut.clone());
        table.long_claim("a cut, two messages", short(&two(&cut)));
        table.long_claim(
            "a cut, half open",
            SessionModel {
                half_opens: 1,
                ..short(&cut)
            },
        );
        table.long_claim("the receiver pauses, longer", pause.clone());
        table.long_claim("a refusal, longer", refused.clone());
        table.control(
            "what was written is unsent",
            &cut,
            Without::WrittenApart,
            NO_MORE,
        );
        table.control(
            "a PING vouches for what follows",
            &cut,
            Without::Context,
            NO_LESS,
        );
        table.control(
            "what was staged is not counted",
            &cut,
            Without::Counting,
            NO_LESS,
        );
        table.control("verdicts by slot", &cut, Without::ConnectionId, BY_NAME);
        table.control("an ended session stays", &none, Without::Taking, ENDS_ONCE);
        table.control("a place is kept", &cut, Without::Permit, GIVES_BACK);
        table.control("no heartbeats", &half_open, Without::Heartbeats, SILENT);
        table.control(
            "lingers without end",
            &half_open,
            Without::LingerEnds,
            CLOSES,
        );
        table.control(
            "heartbeats of one that is finished",
            &pause,
            Without::HeardWhileAwaited,
            HEARD,
        );
    }
}
