//! The state of the model `lease`, and what can happen in it.

use std::collections::VecDeque;

use super::LeaseModel;
use super::lease_state::State as Lease;

/// Where a thread or task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum At {
    /// A task, which ends direct reading for good.
    Share,
    Start,
    /// Before the lease of this connection.
    Begin(u8),
    Lease(u8),
    /// The connection went before it was leased.
    Gone(u8),
    Park(u8),
    Attempt(u8),
    Poll(u8),
    Unpark(u8, Polled),
    Read(u8),
    Leave {
        connection: u8,
        over: bool,
        gives_up: bool,
    },
    Listen,
    Retry,
    Sleep,
    /// It has seen a message and has not taken it: only without the lock.
    Take {
        directly: Option<u8>,
    },
    Done,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Polled {
    Readable,
    Woken,
    TimedOut,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Waiter {
    pub(super) at: At,
    pub(super) wants: u8,
    /// It listens to the signal.
    pub(super) listens: bool,
    /// The signal told it.
    pub(super) told: bool,
    pub(super) errands: VecDeque<Errand>,
}

/// The work that is left to an actor before its next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Errand {
    Notify { count: u8, more: bool },
    Wake,
    WriteWaker,
    Post(Command),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Command {
    Watch(u8),
    EndLease(u8),
    Revisit(u8),
}

/// The first peer's connection as the engine has it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Session {
    pub(super) connection: u8,
    pub(super) leased: bool,
    pub(super) timer: bool,
    /// The engine was told that there is something to read.
    pub(super) readable: bool,
    /// A thread found its end.
    pub(super) ended: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Second {
    Away,
    Coming,
    Attached,
    Sent,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct State {
    pub(super) lease: Lease,
    pub(super) waiters: Vec<Waiter>,
    pub(super) queue: u8,
    pub(super) taken: u8,
    /// The descriptor beside the connection's.
    pub(super) waker: bool,
    pub(super) session: Option<Session>,
    pub(super) connections: u8,
    /// Messages in the transport.
    pub(super) arrived: u8,
    /// The peer ended the connection behind them.
    pub(super) cut: bool,
    pub(super) to_send: u8,
    pub(super) cuts: u8,
    pub(super) timeouts: u8,
    pub(super) second: Second,
    pub(super) mailbox: VecDeque<Command>,
    pub(super) engine: VecDeque<Errand>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// A thread or task takes its next step.
    Step(usize),
    /// It finds bytes, or its end, where it polls.
    Readable(usize),
    Woken(usize),
    GiveUp(usize),
    /// The engine does what it left behind.
    Errand,
    Command,
    Timer,
    /// It reads the first connection.
    Read,
    Send,
    Cut,
    /// The first peer comes back, and the engine accepts it, or has connected to it itself.
    Back {
        accepted: bool,
    },
    SecondComes {
        accepted: bool,
    },
    SecondAttaches,
    SecondSends,
}

impl Waiter {
    /// Whether it is the one that reads directly.
    pub(super) fn reads(&self) -> bool {
        matches!(
            self.at,
            At::Lease(_)
                | At::Gone(_)
                | At::Park(_)
                | At::Attempt(_)
                | At::Poll(_)
                | At::Unpark(..)
                | At::Read(_)
                | At::Leave { .. }
                | At::Take { directly: Some(_) }
        )
    }

    /// One that waits and whom nobody but others can help.
    pub(super) fn sleeps(&self) -> bool {
        matches!(self.at, At::Poll(_) | At::Sleep)
    }

    /// Where it goes on once it has a message.
    pub(super) fn next(&self) -> At {
        match self.wants {
            0 => At::Done,
            _ => At::Start,
        }
    }
}

impl State {
    pub(super) fn new(model: &LeaseModel) -> Self {
        let waiter = |at, wants| Waiter {
            at,
            wants,
            listens: false,
            told: false,
            errands: VecDeque::new(),
        };
        let threads = model.wants.iter().map(|&wants| waiter(At::Start, wants));
        let mut state = State {
            lease: Lease::Engine,
            waiters: threads
                .chain(model.task.then(|| waiter(At::Share, 1)))
                .collect(),
            queue: 0,
            taken: 0,
            waker: false,
            session: None,
            connections: 0,
            arrived: 0,
            cut: false,
            to_send: model.sends,
            cuts: model.cuts,
            timeouts: model.timeouts,
            second: Second::Away,
            mailbox: VecDeque::new(),
            engine: VecDeque::new(),
        };
        state.connect();
        state
    }

    pub(super) fn actions(&self, model: &LeaseModel, actions: &mut Vec<Action>) {
        for (who, waiter) in self.waiters.iter().enumerate() {
            if !waiter.errands.is_empty() {
                actions.push(Action::Step(who));
                continue;
            }
            match waiter.at {
                At::Done => {}
                At::Poll(connection) => {
                    if self.is_readable(connection) {
                        actions.push(Action::Readable(who));
                    } else if self.waker {
                        actions.push(Action::Woken(who));
                    }
                }
                At::Sleep if !waiter.told => {}
                _ => actions.push(Action::Step(who)),
            }
            if waiter.sleeps() && self.timeouts > 0 {
                actions.push(Action::GiveUp(who));
            }
        }
        let connected = self.session.as_ref();
        if connected.is_some() && !self.cut {
            if self.to_send > 0 {
                actions.push(Action::Send);
            }
            if self.cuts > 0 {
                actions.push(Action::Cut);
            }
        }
        if !self.engine.is_empty() {
            return actions.push(Action::Errand);
        }
        if !self.mailbox.is_empty() {
            actions.push(Action::Command);
        }
        if let Some(session) = connected {
            if session.timer {
                actions.push(Action::Timer);
            }
            if session.readable && !session.leased {
                actions.push(Action::Read);
            }
        } else {
            actions.push(Action::Back { accepted: true });
            actions.push(Action::Back { accepted: false });
        }
        match self.second {
            Second::Away if model.second => {
                actions.push(Action::SecondComes { accepted: true });
                actions.push(Action::SecondComes { accepted: false });
            }
            Second::Coming => actions.push(Action::SecondAttaches),
            Second::Attached => actions.push(Action::SecondSends),
            Second::Away | Second::Sent => {}
        }
    }
}
