//! The state of the model `pipe`, what can happen in it, and what its properties ask.

use std::collections::VecDeque;
use std::mem;

use super::PipeModel;
use super::connection::{Connection, Driving, Errand, Reading, SideA};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Sending {
    Try,
    Listen,
    /// It moves what it can itself, if it gets the session.
    Push,
    Retry,
    Sleep,
    Done,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Sender {
    pub(super) at: Sending,
    pub(super) left: u8,
    pub(super) told: bool,
    pub(super) errands: VecDeque<Errand>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Receiving {
    Try,
    Retry,
    Sleep { told: bool },
    Closed,
}

/// The state of both sockets, and the errands left for when their locks are released.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct State {
    pub(super) senders: Vec<Sender>,
    /// The number of the next message.
    pub(super) next: u8,
    pub(super) backlog: VecDeque<u8>,
    pub(super) sender_closed: bool,
    pub(super) connections: Vec<Connection>,
    pub(super) cuts: u8,
    pub(super) receiver: Receiving,
    pub(super) errands: VecDeque<Errand>,
    /// A bit for each message that was received.
    pub(super) received: u32,
    pub(super) wrong: bool,
    pub(super) unsent: u8,
    pub(super) unread: u8,
    pub(super) unconfirmed: u8,
    /// Messages that went with a wire, or with a connection that did not count them.
    pub(super) lost: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Send {
        who: usize,
        direct: bool,
    },
    Receive,
    /// Engine A handles what it was told of, or what the wire has room for.
    Output(usize),
    Drive(usize),
    /// Engine B handles what it was told of, or reads.
    Input(usize),
    Read(usize),
    Deliver(usize),
    Cut {
        lost: bool,
    },
    EndA(usize),
    EndB(usize),
    Connect,
    CloseSender,
}

impl State {
    pub(super) fn new(model: &PipeModel) -> Self {
        let sender = |&left| Sender {
            at: Sending::Try,
            left,
            told: false,
            errands: VecDeque::new(),
        };
        State {
            senders: model.sends.iter().map(sender).collect(),
            next: 0,
            backlog: VecDeque::new(),
            sender_closed: false,
            connections: Vec::new(),
            cuts: model.cuts,
            receiver: Receiving::Try,
            errands: VecDeque::new(),
            received: 0,
            wrong: false,
            unsent: 0,
            unread: 0,
            unconfirmed: 0,
            lost: 0,
        }
    }

    /// The index of the connection whose pipe messages go to.
    pub(super) fn open(&self) -> Option<usize> {
        self.connections.iter().position(|it| it.a.is_some())
    }

    pub(super) fn actions(&self, model: &PipeModel, actions: &mut Vec<Action>) {
        for (who, sender) in self.senders.iter().enumerate() {
            let drives = |it: &Connection| it.a.as_ref().is_some_and(|a| a.by == Some(who));
            let asleep = sender.at == Sending::Sleep && !sender.told;
            let done = sender.at == Sending::Done && sender.errands.is_empty();
            if !done && !asleep && !self.connections.iter().any(drives) {
                actions.push(Action::Send { who, direct: false });
                if matches!(sender.errands.front(), Some(Errand::Output(_))) {
                    actions.push(Action::Send { who, direct: true });
                }
            }
        }
        let asleep = matches!(
            self.receiver,
            Receiving::Sleep { told: false } | Receiving::Closed
        );
        if !asleep || !self.errands.is_empty() {
            actions.push(Action::Receive);
        }
        for (number, connection) in self.connections.iter().enumerate() {
            connection.actions(model, number, actions);
            connection.ends(number, self.sender_closed, self.receiver, actions);
        }
        match self.open() {
            None if !self.sender_closed && self.receiver != Receiving::Closed => {
                actions.push(Action::Connect)
            }
            Some(number) if !self.connections[number].cut && self.cuts > 0 => {
                actions.push(Action::Cut { lost: true });
                actions.push(Action::Cut { lost: false });
            }
            _ => {}
        }
        // A sender that waits for a receiver which is gone gives up.
        let gone = self.receiver == Receiving::Closed && self.open().is_none();
        let done = |it: &Sender| {
            let gives_up = gone && it.at == Sending::Sleep && !it.told;
            (it.at == Sending::Done || gives_up) && it.errands.is_empty()
        };
        if !self.sender_closed && self.senders.iter().all(done) {
            actions.push(Action::CloseSender);
        }
    }

    pub(super) fn take(&mut self, model: &PipeModel, action: Action) {
        match action {
            Action::Send { who, direct } => self.send(model, who, direct),
            Action::Receive => self.receive(model),
            Action::Output(number) => {
                let connection = &mut self.connections[number];
                let told = mem::take(&mut connection.output);
                if let Some(a) = &mut connection.a {
                    a.waiting |= told;
                    a.writable = true;
                    a.at = Driving::Take;
                }
            }
            Action::Drive(number) => self.drive(model, number),
            Action::Input(number) => {
                let connection = &mut self.connections[number];
                connection.input = false;
                if let Some(b) = &mut connection.b {
                    b.paused = false;
                    b.at = Reading::Deliver;
                }
            }
            Action::Read(number) => {
                let Connection { wire, b, .. } = &mut self.connections[number];
                if let Some(b) = b {
                    b.protocol.append(wire);
                    b.at = Reading::Deliver;
                }
            }
            Action::Deliver(number) => self.deliver(model, number),
            Action::Cut { lost } => {
                self.cuts -= 1;
                if let Some(number) = self.open() {
                    let connection = &mut self.connections[number];
                    connection.cut = true;
                    if lost {
                        self.lost += connection.wire.len() as u8;
                        connection.wire.clear();
                    }
                }
            }
            Action::EndA(number) => self.end_a(model, number),
            Action::EndB(number) => self.end_b(model, number),
            Action::Connect => self.connect(model),
            Action::CloseSender => {
                self.sender_closed = true;
                self.senders.iter_mut().for_each(|it| it.at = Sending::Done);
                if self.open().is_none() {
                    // The linger time is over, and nobody came.
                    self.unsent += mem::take(&mut self.backlog).len() as u8;
                }
            }
        }
    }

    pub(super) fn connect(&mut self, model: &PipeModel) {
        let number = self.connections.len();
        self.connections.push(Connection::new());
        let mut errands = VecDeque::new();
        self.drain_backlog(model, number, &mut errands);
        self.senders.iter_mut().for_each(|it| it.told = true);
    }

    // What the properties ask.

    pub(super) fn is_in_order(&self) -> bool {
        !self.wrong
    }

    /// Every message is in one place.
    pub(super) fn adds_up(&self) -> bool {
        let places = self
            .connections
            .iter()
            .map(Connection::messages)
            .sum::<usize>();
        let counted = self.unsent + self.unread + self.lost;
        let received = self.received.count_ones() as usize;
        places + self.backlog.len() + usize::from(counted) + received == usize::from(self.next)
    }

    pub(super) fn lost_and_not_counted(&self) -> u8 {
        self.lost.saturating_sub(self.unconfirmed)
    }

    pub(super) fn sender_sleeps_beside_room(&self, model: &PipeModel) -> bool {
        let asleep = self.senders.iter().any(|it| it.at == Sending::Sleep);
        let half_free = match self.open() {
            Some(number) => self.connections[number].a.as_ref().is_some_and(|a| {
                let bytes = a.outbound.iter().map(|&it| model.bytes(it)).sum();
                model.send.half_free(a.outbound.len(), bytes)
            }),
            None => self.backlog.is_empty(),
        };
        asleep && half_free
    }

    pub(super) fn output_waits(&self, model: &PipeModel) -> bool {
        self.connections.iter().any(|it| {
            let waits = |a: &SideA| !a.outbound.is_empty() || !a.protocol.is_empty();
            it.a.as_ref().is_some_and(waits) && it.wire.len() < model.wire
        })
    }

    pub(super) fn is_paused_beside_room(&self, model: &PipeModel) -> bool {
        let both = self.connections.iter();
        let mut both = both.filter_map(|it| Some((it.b.as_ref()?, it.inbound.as_ref()?)));
        both.any(|(b, inbound)| {
            b.paused
                && model
                    .receive
                    .half_free(inbound.queue.len(), inbound.bytes(model))
        })
    }

    pub(super) fn receiver_sleeps_beside_message(&self) -> bool {
        let mut pipes = self.connections.iter().filter_map(|it| it.inbound.as_ref());
        matches!(self.receiver, Receiving::Sleep { .. }) && pipes.any(|it| !it.queue.is_empty())
    }

    /// Whether the sender has closed, and neither socket holds anything. A receiver that got less than it wants may
    /// still wait.
    pub(super) fn is_closed_and_empty(&self) -> bool {
        let none = |it: &Connection| it.a.is_none() && it.b.is_none() && it.inbound.is_none();
        self.sender_closed && self.backlog.is_empty() && self.connections.iter().all(none)
    }
}
