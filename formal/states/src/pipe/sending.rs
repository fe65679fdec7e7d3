//! Steps of the sending socket and of the session behind it.

use std::collections::VecDeque;
use std::mem;

use super::connection::{Connection, Driving, Errand};
use super::state::{Receiving, Sending, State};
use super::{PipeModel, Without};

impl State {
    pub(super) fn send(&mut self, model: &PipeModel, who: usize, direct: bool) {
        if let Some(errand) = self.senders[who].errands.pop_front() {
            let direct = direct && self.drive_as(who, errand);
            return if !direct {
                self.run(model, errand)
            };
        }
        let sends = |state: &mut Self| state.push(model, who);
        let at = self.senders[who].at;
        self.senders[who].at = match at {
            Sending::Try if sends(self) => self.after_sending(who),
            Sending::Try => Sending::Listen,
            Sending::Listen if model.lacks(Without::Retry) => {
                self.senders[who].told = false;
                Sending::Sleep
            }
            Sending::Listen => {
                self.senders[who].told = false;
                Sending::Push
            }
            Sending::Push => {
                if let Some(number) = self.open() {
                    self.drive_as(who, Errand::Output(number as u8));
                }
                Sending::Retry
            }
            Sending::Retry if sends(self) => self.after_sending(who),
            Sending::Retry => Sending::Sleep,
            Sending::Sleep => Sending::Listen,
            Sending::Done => Sending::Done,
        };
    }

    pub(super) fn after_sending(&mut self, who: usize) -> Sending {
        let sender = &mut self.senders[who];
        sender.left -= 1;
        match sender.left {
            0 => Sending::Done,
            _ => Sending::Try,
        }
    }

    /// A thread drives the session itself, unless somebody else does.
    pub(super) fn drive_as(&mut self, who: usize, errand: Errand) -> bool {
        let Errand::Output(number) = errand else {
            return false;
        };
        let a = self.connections[usize::from(number)].a.as_mut();
        let Some(a) = a.filter(|a| a.at == Driving::Idle) else {
            return false;
        };
        (a.by, a.waiting, a.at) = (Some(who), true, Driving::Take);
        true
    }

    /// Queues the next message, under the lock. `false` when there is no room.
    pub(super) fn push(&mut self, model: &PipeModel, who: usize) -> bool {
        let message = self.next;
        let mut errands = VecDeque::new();
        match self.open() {
            Some(number) => {
                self.drain_backlog(model, number, &mut errands);
                let a = self.connections[number].a.as_mut();
                let Some(a) = a.filter(|a| self.backlog.is_empty() && a.has_room(model)) else {
                    self.senders[who].errands.append(&mut errands);
                    return false;
                };
                a.push(model, message, number, &mut errands);
            }
            None => {
                let bytes = self.backlog.iter().map(|&it| model.bytes(it)).sum();
                if !model.send.admits(self.backlog.len(), bytes) {
                    return false;
                }
                self.backlog.push_back(message);
            }
        }
        self.next += 1;
        self.senders[who].errands.append(&mut errands);
        true
    }

    pub(super) fn drain_backlog(
        &mut self,
        model: &PipeModel,
        number: usize,
        errands: &mut VecDeque<Errand>,
    ) {
        let Some(a) = &mut self.connections[number].a else {
            return;
        };
        while a.has_room(model)
            && let Some(message) = self.backlog.pop_front()
        {
            a.push(model, message, number, errands);
        }
    }

    pub(super) fn run(&mut self, model: &PipeModel, errand: Errand) {
        match errand {
            Errand::Output(_) if model.lacks(Without::Mailbox) => {}
            Errand::Output(number) => self.connections[usize::from(number)].output = true,
            Errand::Input(number) => self.connections[usize::from(number)].input = true,
            Errand::NotifyWritable => self.senders.iter_mut().for_each(|it| it.told = true),
            Errand::NotifyReadable => {
                if let Receiving::Sleep { told } = &mut self.receiver {
                    *told = true;
                }
            }
        }
    }

    // Session A.

    pub(super) fn drive(&mut self, model: &PipeModel, number: usize) {
        let Some(a) = &mut self.connections[number].a else {
            return;
        };
        if let Some(errand) = a.errands.pop_front() {
            return self.run(model, errand);
        }
        match a.at {
            Driving::Idle => {}
            Driving::Take if !a.waiting || a.protocol.len() >= model.budget => {
                a.at = Driving::Write
            }
            Driving::Take => {
                let freed = a.take_outbound(model);
                a.at = Driving::Stage;
                let mut errands = VecDeque::new();
                if !a.taken.is_empty() {
                    self.drain_backlog(model, number, &mut errands);
                }
                if freed && !model.lacks(Without::TellingOfRoom) {
                    errands.push_back(Errand::NotifyWritable);
                }
                if let Some(a) = &mut self.connections[number].a {
                    a.errands = errands;
                }
            }
            Driving::Stage => {
                a.waiting = !a.taken.is_empty();
                a.protocol.append(&mut a.taken);
                a.at = Driving::Take;
            }
            Driving::Write => self.write(model, number),
        }
    }

    pub(super) fn write(&mut self, model: &PipeModel, number: usize) {
        let Connection {
            a,
            wire,
            cut,
            output,
            ..
        } = &mut self.connections[number];
        let Some(a) = a else { return };
        let room = match *cut {
            true => 0,
            false => model.wire - wire.len(),
        };
        let count = room.min(a.protocol.len());
        wire.extend(a.protocol.drain(..count));
        a.written += count as u8;
        a.writable = a.protocol.is_empty();
        let by = a.by.take();
        a.at = match (by, a.writable && a.waiting) {
            (None, true) => Driving::Take,
            _ => Driving::Idle,
        };
        // What the engine has to do after a thread of the application.
        if by.is_some() && a.writable && a.waiting && !model.lacks(Without::Revisit) {
            *output = true;
        }
    }

    pub(super) fn end_a(&mut self, model: &PipeModel, number: usize) {
        let Some(mut a) = self.connections[number].a.take() else {
            return;
        };
        (
            self.connections[number].output,
            self.connections[number].cut,
        ) = (false, true);
        let counts = !model.lacks(Without::Counting);
        let staged = a.protocol.len() as u8;
        self.unconfirmed += a.written;
        match counts {
            true => self.unsent += staged,
            false => self.lost += staged,
        }
        if model.lacks(Without::SentOnce) {
            // Those before the next one were given to it.
            let given = self.next - (a.outbound.len() + self.backlog.len()) as u8;
            let again = (given - staged - a.written..given).rev();
            again.for_each(|message| a.outbound.push_front(message));
        }
        while let Some(message) = a.outbound.pop_back() {
            self.backlog.push_front(message);
        }
        self.senders.iter_mut().for_each(|it| it.told = true);
        if self.sender_closed {
            self.unsent += mem::take(&mut self.backlog).len() as u8;
        }
    }
}
