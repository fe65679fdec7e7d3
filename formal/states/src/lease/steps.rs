//! The steps of the model `lease`.

use std::collections::VecDeque;

use super::lease_state::{Begun, Ended, Leaving, State as Lease, Use};
use super::state::{Action, At, Command, Errand, Polled, Second, Session, State};
use super::{LeaseModel, Without};

impl State {
    pub(super) fn session(&mut self, connection: u8) -> Option<&mut Session> {
        self.session
            .as_mut()
            .filter(|session| session.connection == connection)
    }

    /// The connection of the only peer there is.
    pub(super) fn sole(&self) -> Option<u8> {
        let session = self.session.as_ref()?;
        matches!(self.second, Second::Away | Second::Coming).then_some(session.connection)
    }

    /// A descriptor of a connection says that there is something to read, or that it is gone.
    pub(super) fn is_readable(&self, connection: u8) -> bool {
        let current = self.session.as_ref();
        current.is_none_or(|it| it.connection != connection) || self.arrived > 0 || self.cut
    }

    pub(super) fn advance<R>(&mut self, (next, outcome): (Option<Lease>, R)) -> R {
        self.lease = next.unwrap_or(self.lease);
        outcome
    }

    /// What follows the end of a lease.
    pub(super) fn after_end(&self, model: &LeaseModel, ended: &Ended) -> Vec<Errand> {
        let wakes = ended.sleeps && !model.lacks(Without::WakingTheEnded);
        let tells = self.sole().filter(|_| ended.leased);
        let tells = tells.map(|connection| Errand::Post(Command::EndLease(connection)));
        wakes
            .then_some(Errand::WriteWaker)
            .into_iter()
            .chain(tells)
            .collect()
    }

    pub(super) fn notify(&mut self, count: u8, more: bool) {
        let told = self
            .waiters
            .iter()
            .filter(|it| it.listens && it.told)
            .count();
        let count = if more {
            count.into()
        } else {
            usize::from(count).saturating_sub(told)
        };
        let untold = self.waiters.iter_mut().filter(|it| it.listens && !it.told);
        untold.take(count).for_each(|it| it.told = true);
    }

    /// Does an errand, and says what it leads to.
    pub(super) fn run(&mut self, errand: Errand) -> Option<Errand> {
        match errand {
            Errand::Notify { count, more } => self.notify(count, more),
            Errand::Wake => {
                let step = self.lease.wake();
                return self.advance(step).then_some(Errand::WriteWaker);
            }
            Errand::WriteWaker => self.waker = true,
            Errand::Post(command) => self.mailbox.push_back(command),
        }
        None
    }

    /// Messages were put into the queue. The lock is released; whom to tell is left.
    pub(super) fn delivered(model: &LeaseModel, count: u8, errands: &mut VecDeque<Errand>) {
        errands.push_back(Errand::Notify { count, more: true });
        if !model.lacks(Without::Wake) {
            errands.push_back(Errand::Wake);
        }
    }

    /// The engine acts on the first connection: reads it unless a thread does, and ends it.
    pub(super) fn drive(&mut self, model: &LeaseModel) {
        let Some(session) = &mut self.session else {
            return;
        };
        let left_to_others = session.leased && !session.ended;
        if session.readable && !left_to_others && !session.ended {
            session.readable = false;
            session.ended = self.cut;
            let count = std::mem::take(&mut self.arrived);
            if count > 0 {
                self.queue += count;
                Self::delivered(model, count, &mut self.engine);
            }
        }
        if session.ended {
            // What the connection still held is lost with it; here the peer sends it again.
            self.to_send += std::mem::take(&mut self.arrived);
            (self.session, self.cut) = (None, false);
            self.engine.push_back(Errand::Wake);
        }
    }

    pub(super) fn end_lease(&mut self) {
        if let Some(session) = &mut self.session {
            session.timer = false;
            if std::mem::take(&mut session.leased) {
                session.readable = true;
            }
        }
    }

    pub(super) fn command(&mut self, model: &LeaseModel, command: Command) {
        let (Command::Watch(number) | Command::EndLease(number) | Command::Revisit(number)) =
            command;
        let Some(session) = self.session(number) else {
            return;
        };
        match command {
            Command::Watch(_) => session.timer = session.leased,
            Command::EndLease(_) => self.end_lease(),
            Command::Revisit(_) => {}
        }
        self.drive(model);
    }

    pub(super) fn timer(&mut self, model: &LeaseModel) {
        let step = self.lease.check();
        let outcome = self.advance(step);
        let Some(session) = &mut self.session else {
            return;
        };
        match outcome {
            Use::Now => session.timer = false,
            Use::Lately => {}
            Use::Over => self.end_lease(),
        }
        self.drive(model);
    }

    pub(super) fn connect(&mut self) {
        self.connections += 1;
        self.session = Some(Session {
            connection: self.connections,
            leased: false,
            timer: false,
            readable: false,
            ended: false,
        });
    }

    /// A connection is accepted: no thread is to read another's any longer.
    pub(super) fn revoke(&mut self, model: &LeaseModel) {
        let step = self.lease.revoke();
        let ended = self.advance(step);
        let errands = self.after_end(model, &ended);
        self.engine.extend(errands);
    }

    /// Takes a message and says where it goes on; `None` when there is none.
    pub(super) fn take_message(
        &mut self,
        model: &LeaseModel,
        who: usize,
        directly: Option<u8>,
    ) -> Option<At> {
        if self.queue == 0 {
            return None;
        }
        if model.lacks(Without::Lock) && !matches!(self.waiters[who].at, At::Take { .. }) {
            return Some(At::Take { directly });
        }
        Some(self.took(model, who, directly))
    }

    pub(super) fn took(&mut self, model: &LeaseModel, who: usize, directly: Option<u8>) -> At {
        self.queue = self.queue.saturating_sub(1);
        self.taken += 1;
        let left = self.queue > 0;
        let waiter = &mut self.waiters[who];
        waiter.wants -= 1;
        if left {
            waiter.errands.push_back(Errand::Notify {
                count: 1,
                more: false,
            });
            waiter.errands.push_back(Errand::Wake);
        }
        self.unlisten(model, who);
        match directly {
            Some(connection) => At::Leave {
                connection,
                over: false,
                gives_up: false,
            },
            None => self.waiters[who].next(),
        }
    }

    /// It does not wait any more. What it was told is for somebody else then.
    pub(super) fn unlisten(&mut self, model: &LeaseModel, who: usize) {
        let waiter = &mut self.waiters[who];
        waiter.listens = false;
        if std::mem::take(&mut waiter.told) && !model.lacks(Without::HandingOn) {
            self.notify(1, true);
        }
    }

    pub(super) fn step(&mut self, model: &LeaseModel, who: usize) {
        if let Some(errand) = self.waiters[who].errands.pop_front() {
            if let Some(next) = self.run(errand) {
                self.waiters[who].errands.push_front(next);
            }
            return;
        }
        let over = |connection| At::Leave {
            connection,
            over: true,
            gives_up: false,
        };
        let at = match self.waiters[who].at {
            At::Share => {
                let step = self.lease.share();
                let ended = self.advance(step);
                let errands = self.after_end(model, &ended);
                self.waiters[who].errands.extend(errands);
                At::Listen
            }
            At::Start => match self.take_message(model, who, None) {
                Some(at) => at,
                None => match self.sole().filter(|_| !self.lease.is_shared()) {
                    Some(connection) => At::Begin(connection),
                    None => At::Listen,
                },
            },
            At::Begin(connection) => {
                let step = self.lease.begin();
                match self.advance(step) {
                    Begun::Reads => At::Lease(connection),
                    Begun::Taken { .. } if model.lacks(Without::OneReader) => At::Lease(connection),
                    Begun::Taken { sleeps } => {
                        let wakes = sleeps && !model.lacks(Without::WakingTheEnded);
                        let errand = wakes.then_some(Errand::WriteWaker);
                        self.waiters[who].errands.extend(errand);
                        At::Listen
                    }
                    Begun::Shared => At::Listen,
                }
            }
            At::Lease(connection) => match self.session(connection) {
                Some(session) if !session.ended => {
                    if !std::mem::replace(&mut session.leased, true)
                        && !model.lacks(Without::NewConnection)
                    {
                        let step = self.lease.is_new();
                        self.advance(step);
                    }
                    self.looks_or_parks(model, connection)
                }
                _ => At::Gone(connection),
            },
            At::Gone(connection) => {
                let step = self.lease.leave(true);
                self.advance(step);
                let current = self.session.as_ref().map(|session| session.connection);
                let ends = match model.lacks(Without::EndAllLeases) {
                    true => Some(connection),
                    false => current,
                };
                let errands = ends.map(|it| Errand::Post(Command::EndLease(it)));
                self.waiters[who].errands.extend(errands);
                At::Listen
            }
            At::Park(connection) => {
                let step = self.lease.park();
                self.advance(step);
                match model.lacks(Without::ParkingFirst) {
                    true => At::Poll(connection),
                    false => At::Attempt(connection),
                }
            }
            At::Attempt(connection) => match self.take_message(model, who, Some(connection)) {
                Some(at) => at,
                None if model.lacks(Without::ParkingFirst) => At::Park(connection),
                None if self.lease.is_ended() && !model.lacks(Without::AskingFirst) => {
                    over(connection)
                }
                None => At::Poll(connection),
            },
            At::Unpark(connection, polled) => {
                let step = self.lease.unpark();
                match (self.advance(step), polled) {
                    (false, _) => over(connection),
                    (true, Polled::Readable) => At::Read(connection),
                    (true, Polled::Woken) if self.sole().is_none() => over(connection),
                    (true, Polled::Woken) => self.looks_or_parks(model, connection),
                    (true, Polled::TimedOut) => At::Leave {
                        connection,
                        over: false,
                        gives_up: true,
                    },
                }
            }
            At::Read(connection) => self
                .read(model, who, connection)
                .unwrap_or(over(connection)),
            At::Leave {
                connection,
                over,
                gives_up,
            } => {
                let step = self.lease.leave(over);
                let command = match self.advance(step) {
                    Leaving::Watched => None,
                    Leaving::Unwatched => {
                        (!model.lacks(Without::Watch)).then_some(Command::Watch(connection))
                    }
                    Leaving::Over => {
                        (!model.lacks(Without::EndLease)).then_some(Command::EndLease(connection))
                    }
                };
                let waiter = &mut self.waiters[who];
                waiter.errands.extend(command.map(Errand::Post));
                match (over, gives_up) {
                    (true, _) => At::Listen,
                    (false, true) => At::Done,
                    (false, false) => waiter.next(),
                }
            }
            At::Listen => {
                self.waiters[who].listens = true;
                At::Retry
            }
            At::Retry => self.take_message(model, who, None).unwrap_or(At::Sleep),
            At::Sleep => {
                let waiter = &mut self.waiters[who];
                (waiter.told, waiter.listens) = (false, false);
                At::Listen
            }
            At::Take { directly } => self.took(model, who, directly),
            at @ (At::Poll(_) | At::Done) => at,
        };
        self.waiters[who].at = at;
    }

    pub(super) fn looks_or_parks(&self, model: &LeaseModel, connection: u8) -> At {
        match model.lacks(Without::ParkingFirst) {
            true => At::Attempt(connection),
            false => At::Park(connection),
        }
    }

    /// A thread reads once. `None` when the connection is gone.
    pub(super) fn read(&mut self, model: &LeaseModel, who: usize, connection: u8) -> Option<At> {
        let (arrived, cut) = (self.arrived, self.cut);
        let session = self.session(connection).filter(|session| !session.ended)?;
        session.readable = false;
        session.ended = arrived == 0 && cut;
        let errands = match session.ended {
            true => VecDeque::from([Errand::Post(Command::Revisit(connection))]),
            false => VecDeque::new(),
        };
        self.arrived = 0;
        self.queue += arrived;
        self.waiters[who].errands.extend(errands);
        if arrived > 0 {
            Self::delivered(model, arrived, &mut self.waiters[who].errands);
        }
        Some(self.looks_or_parks(model, connection))
    }

    pub(super) fn take(&mut self, model: &LeaseModel, action: Action) -> Option<()> {
        let polled = |state: &mut State, who: usize, polled| {
            if let At::Poll(connection) = state.waiters[who].at {
                state.waiters[who].at = At::Unpark(connection, polled);
            }
        };
        match action {
            Action::Step(who) => self.step(model, who),
            Action::Readable(who) => {
                self.waker = false;
                polled(self, who, Polled::Readable);
            }
            Action::Woken(who) => {
                self.waker = false;
                polled(self, who, Polled::Woken);
            }
            Action::GiveUp(who) => {
                self.timeouts -= 1;
                polled(self, who, Polled::TimedOut);
                if self.waiters[who].at == At::Sleep {
                    self.waiters[who].at = At::Done;
                    self.unlisten(model, who);
                }
            }
            Action::Errand => {
                let errand = self.engine.pop_front()?;
                if let Some(next) = self.run(errand) {
                    self.engine.push_front(next);
                }
            }
            Action::Command => {
                let command = self.mailbox.pop_front()?;
                self.command(model, command);
            }
            Action::Timer => self.timer(model),
            Action::Read => self.drive(model),
            Action::Send | Action::Cut => {
                match action {
                    Action::Send => {
                        self.to_send -= 1;
                        self.arrived += 1;
                    }
                    _ => {
                        self.cuts -= 1;
                        self.cut = true;
                    }
                }
                let session = self.session.as_mut()?;
                // While a thread reads, the engine's poll does not ask for bytes.
                session.readable |= !session.leased;
            }
            Action::Back { accepted } => {
                if accepted {
                    self.revoke(model);
                }
                self.connect();
            }
            Action::SecondComes { accepted } => {
                if accepted {
                    self.revoke(model);
                }
                self.second = Second::Coming;
            }
            Action::SecondAttaches => self.second = Second::Attached,
            Action::SecondSends => {
                self.second = Second::Sent;
                self.queue += 1;
                State::delivered(model, 1, &mut self.engine);
            }
        }
        Some(())
    }
}
