//! A connection of the model `pipe`: its two ends with their pipes, and the wire between.

use std::collections::VecDeque;
use std::mem;

use super::state::{Action, Receiving};
use super::{PipeModel, Without};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Errand {
    /// The link of this connection has output.
    Output(u8),
    NotifyWritable,
    NotifyReadable,
    /// The link of this connection may read again.
    Input(u8),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Driving {
    Idle,
    Take,
    /// The protocol is given what was taken.
    Stage,
    Write,
}

/// The sending end of a connection, with its pipe.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct SideA {
    pub(super) outbound: VecDeque<u8>,
    /// Messages in `outbound`, and their bytes, as the pipe counts them.
    pub(super) count: usize,
    pub(super) bytes: usize,
    pub(super) signalled: bool,
    pub(super) at: Driving,
    /// The sender that drives it; else the engine does.
    pub(super) by: Option<usize>,
    pub(super) errands: VecDeque<Errand>,
    pub(super) waiting: bool,
    pub(super) taken: VecDeque<u8>,
    pub(super) protocol: VecDeque<u8>,
    pub(super) writable: bool,
    /// Messages that were written.
    pub(super) written: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Reading {
    Idle,
    Deliver,
    Settle { full: bool },
}

/// The receiving end.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct SideB {
    pub(super) protocol: VecDeque<u8>,
    pub(super) paused: bool,
    pub(super) at: Reading,
    pub(super) errands: VecDeque<Errand>,
}

/// The pipe of the receiving end, which may outlive it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Inbound {
    pub(super) queue: VecDeque<u8>,
    pub(super) paused: bool,
    pub(super) ended: bool,
    pub(super) last: Option<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Connection {
    pub(super) a: Option<SideA>,
    pub(super) wire: VecDeque<u8>,
    pub(super) cut: bool,
    pub(super) b: Option<SideB>,
    pub(super) inbound: Option<Inbound>,
    /// Commands for its engine threads.
    pub(super) output: bool,
    pub(super) input: bool,
}

impl SideA {
    pub(super) fn has_room(&self, model: &PipeModel) -> bool {
        model.send.admits(self.count, self.bytes)
    }

    pub(super) fn push(
        &mut self,
        model: &PipeModel,
        message: u8,
        number: usize,
        errands: &mut VecDeque<Errand>,
    ) {
        self.outbound.push_back(message);
        self.count += 1;
        self.bytes += model.bytes(message);
        if !mem::replace(&mut self.signalled, true) {
            errands.push_back(Errand::Output(number as u8));
        }
    }

    /// Moves messages to the protocol. Returns whether that made half of the queue free.
    pub(super) fn take_outbound(&mut self, model: &PipeModel) -> bool {
        let before = model.send.half_free(self.count, self.bytes);
        if self.outbound.len() <= model.budget {
            // All of it, without touching a message.
            mem::swap(&mut self.outbound, &mut self.taken);
            if !model.lacks(Without::ClearedCount) {
                (self.count, self.bytes) = (0, 0);
            }
        } else {
            for message in self.outbound.drain(..model.budget) {
                self.count -= 1;
                self.bytes -= model.bytes(message);
                self.taken.push_back(message);
            }
        }
        if !model.lacks(Without::SignallingAgain) {
            self.signalled = !self.taken.is_empty();
        }
        !before && model.send.half_free(self.count, self.bytes)
    }
}

impl Inbound {
    pub(super) fn bytes(&self, model: &PipeModel) -> usize {
        self.queue.iter().map(|&message| model.bytes(message)).sum()
    }

    /// Takes messages until there are no more or the queue is full. Returns whether it is full, and whether
    /// there were any.
    pub(super) fn fill(&mut self, model: &PipeModel, source: &mut VecDeque<u8>) -> (bool, bool) {
        let mut queued = false;
        loop {
            if !model.receive.admits(self.queue.len(), self.bytes(model)) {
                self.paused = !model.lacks(Without::PausedPipe);
                return (true, queued);
            }
            let room = model.receive.room(self.queue.len(), self.bytes(model));
            let (mut messages, mut bytes) = (0, 0);
            while messages < room.messages
                && bytes < room.bytes
                && let Some(message) = source.pop_front()
            {
                messages += 1;
                bytes += model.bytes(message);
                self.queue.push_back(message);
            }
            if messages == 0 {
                return (false, queued);
            }
            queued = true;
        }
    }
}

impl Connection {
    pub(super) fn new() -> Self {
        Connection {
            a: Some(SideA {
                outbound: VecDeque::new(),
                count: 0,
                bytes: 0,
                signalled: false,
                at: Driving::Idle,
                by: None,
                errands: VecDeque::new(),
                waiting: true,
                taken: VecDeque::new(),
                protocol: VecDeque::new(),
                writable: true,
                written: 0,
            }),
            wire: VecDeque::new(),
            cut: false,
            b: Some(SideB {
                protocol: VecDeque::new(),
                paused: false,
                at: Reading::Idle,
                errands: VecDeque::new(),
            }),
            inbound: Some(Inbound {
                queue: VecDeque::new(),
                paused: false,
                ended: false,
                last: None,
            }),
            // The session is driven once it is attached.
            output: true,
            input: false,
        }
    }

    pub(super) fn messages(&self) -> usize {
        let a = self.a.as_ref();
        let a = a.map_or(0, |a| a.outbound.len() + a.taken.len() + a.protocol.len());
        let b = self.b.as_ref().map_or(0, |b| b.protocol.len());
        let inbound = self.inbound.as_ref().map_or(0, |it| it.queue.len());
        a + self.wire.len() + b + inbound
    }

    pub(super) fn actions(&self, model: &PipeModel, number: usize, actions: &mut Vec<Action>) {
        if let Some(a) = &self.a {
            let may_write = !a.writable && self.wire.len() < model.wire && !self.cut;
            if a.at != Driving::Idle {
                actions.push(Action::Drive(number));
            } else if !self.cut && (self.output || may_write) {
                actions.push(Action::Output(number));
            }
        }
        if let Some(b) = &self.b {
            let reads = !b.paused;
            if b.at != Reading::Idle || !b.errands.is_empty() {
                actions.push(Action::Deliver(number));
            } else if self.input {
                actions.push(Action::Input(number));
            } else if reads && !self.wire.is_empty() {
                actions.push(Action::Read(number));
            }
        }
    }
    /// A connection ends at each side: once it is cut, or once all is sent, or with its socket. Its other
    /// end comes behind the messages.
    pub(super) fn ends(
        &self,
        number: usize,
        closes: bool,
        receiver: Receiving,
        actions: &mut Vec<Action>,
    ) {
        if let Some(a) = self.a.as_ref().filter(|a| a.at == Driving::Idle) {
            let sent = a.outbound.is_empty() && a.protocol.is_empty() && !a.waiting && !self.output;
            if self.cut || (closes && sent) {
                actions.push(Action::EndA(number));
            }
        }
        let idle = |b: &&SideB| b.at == Reading::Idle && b.errands.is_empty();
        if let Some(b) = self.b.as_ref().filter(idle) {
            let seen = self.cut && self.wire.is_empty() && !b.paused;
            if seen || receiver == Receiving::Closed {
                actions.push(Action::EndB(number));
            }
        }
    }
}
