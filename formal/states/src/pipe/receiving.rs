//! Steps of the receiving socket and of the session before it.

use std::mem;

use super::connection::{Connection, Errand, Reading};
use super::state::{Receiving, State};
use super::{PipeModel, Without};

impl State {
    pub(super) fn deliver(&mut self, model: &PipeModel, number: usize) {
        let Connection { b, inbound, .. } = &mut self.connections[number];
        let (Some(b), Some(inbound)) = (b, inbound) else {
            return;
        };
        if let Some(errand) = b.errands.pop_front() {
            return self.run(model, errand);
        }
        match b.at {
            Reading::Idle => {}
            Reading::Deliver => {
                let (full, queued) = inbound.fill(model, &mut b.protocol);
                b.at = Reading::Settle { full };
                if queued && !model.lacks(Without::TellingOfMessages) {
                    b.errands.push_back(Errand::NotifyReadable);
                }
            }
            Reading::Settle { full } => {
                b.paused = full;
                b.at = Reading::Idle;
            }
        }
    }

    pub(super) fn receive(&mut self, model: &PipeModel) {
        if let Some(errand) = self.errands.pop_front() {
            return self.run(model, errand);
        }
        if self.received.count_ones() >= u32::from(model.receives) {
            return self.close_receiver(model);
        }
        let took = match self.receiver {
            Receiving::Try | Receiving::Retry => self.pop(model),
            Receiving::Sleep { .. } | Receiving::Closed => false,
        };
        self.receiver = match self.receiver {
            _ if took => Receiving::Try,
            // It listens as it falls asleep, and attempts again before.
            Receiving::Try => Receiving::Retry,
            Receiving::Retry => Receiving::Sleep { told: false },
            Receiving::Sleep { .. } => Receiving::Try,
            Receiving::Closed => Receiving::Closed,
        };
    }

    /// Takes a message of the pipe that has one, the oldest pipe first.
    pub(super) fn pop(&mut self, model: &PipeModel) -> bool {
        let pipes = self.connections.iter_mut().enumerate();
        let mut pipes = pipes.filter_map(|(number, it)| Some((number, it.inbound.as_mut()?)));
        let Some((number, inbound)) = pipes.find(|(_, it)| !it.queue.is_empty()) else {
            return false;
        };
        let Some(message) = inbound.queue.pop_front() else {
            return false;
        };
        self.wrong |= self.received & (1 << message) != 0;
        self.wrong |= inbound
            .last
            .replace(message)
            .is_some_and(|last| last >= message);
        self.received |= 1 << message;
        let bytes = inbound.bytes(model);
        if inbound.paused && model.receive.half_free(inbound.queue.len(), bytes) {
            inbound.paused = false;
            if !model.lacks(Without::TellingOfInput) {
                self.errands.push_back(Errand::Input(number as u8));
            }
        }
        self.release(model, number);
        true
    }

    /// Removes an ended pipe once it is read.
    pub(super) fn release(&mut self, model: &PipeModel, number: usize) {
        let inbound = &mut self.connections[number].inbound;
        let over = inbound
            .as_ref()
            .is_some_and(|it| it.ended && it.queue.is_empty());
        if over && !model.lacks(Without::Release) {
            *inbound = None;
        }
    }

    pub(super) fn close_receiver(&mut self, model: &PipeModel) {
        self.receiver = Receiving::Closed;
        for number in 0..self.connections.len() {
            if let Some(inbound) = &mut self.connections[number].inbound {
                self.unread += mem::take(&mut inbound.queue).len() as u8;
            }
            self.connections[number].cut = true;
            self.release(model, number);
        }
    }

    pub(super) fn end_b(&mut self, model: &PipeModel, number: usize) {
        let closed = self.receiver == Receiving::Closed;
        let Connection {
            b,
            wire,
            inbound,
            input,
            ..
        } = &mut self.connections[number];
        let Some(b) = b.take() else { return };
        *input = false;
        self.lost += mem::take(wire).len() as u8;
        match model.lacks(Without::Counting) {
            true => self.lost += b.protocol.len() as u8,
            false => self.unread += b.protocol.len() as u8,
        }
        if let Some(inbound) = inbound {
            inbound.ended = true;
            if closed {
                self.unread += mem::take(&mut inbound.queue).len() as u8;
            }
        }
        self.release(model, number);
    }
}
