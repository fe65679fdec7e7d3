//! Round robin over the peers that have room, with a backlog for the time before the first one
//! is connected (RFC 28, 30 and 31: "SHALL route outgoing messages to available peers using a
//! round-robin strategy").
//!
//! libzmq queues early messages per endpoint, so that they stay behind on an endpoint that never
//! answers. Here they wait in one backlog and go to the peer that connects first. Messages that were
//! queued for a peer that left return to its front.

use std::collections::VecDeque;
use std::mem;

use sealwire_zmtp::Frames;

use super::high_water_mark::{HighWaterMarks, QueueLimit};
use super::item::Item;
use super::pipes::{PipeId, Pipes};
use crate::options::SocketOptions;

pub(crate) struct RoundRobin {
    order: VecDeque<PipeId>,
    backlog: VecDeque<Frames>,
    backlog_bytes: usize,
    backlog_limit: QueueLimit,
    /// Only the latest message waits.
    conflate: bool,
    /// Whether an endpoint is being connected to, so that a peer can be expected.
    expecting: bool,
}

impl RoundRobin {
    pub(crate) fn new(options: &SocketOptions) -> Self {
        let marks = HighWaterMarks::of(options);
        RoundRobin {
            order: VecDeque::new(),
            backlog: VecDeque::new(),
            backlog_bytes: 0,
            backlog_limit: marks.send,
            conflate: marks.conflate,
            expecting: false,
        }
    }

    /// Changes how much may wait for a peer.
    pub(crate) fn limit(&mut self, marks: HighWaterMarks) {
        self.backlog_limit = marks.send;
        self.conflate = marks.conflate;
    }

    pub(crate) fn expect_peers(&mut self, expecting: bool) {
        self.expecting = expecting;
    }

    /// A peer is there: it takes what the backlog holds, as far as its queue has room.
    pub(crate) fn attach(&mut self, pipes: &mut Pipes, id: PipeId) {
        self.order.push_back(id);
        self.drain_backlog(pipes);
    }

    /// A peer is gone, with these messages still unsent.
    pub(crate) fn detach(&mut self, pipes: &mut Pipes, id: PipeId, unsent: &mut Vec<Frames>) {
        self.order.retain(|&other| other != id);
        self.take_back(pipes, unsent);
    }

    /// Takes messages back that were queued for a peer and not sent.
    pub(crate) fn take_back(&mut self, pipes: &mut Pipes, unsent: &mut Vec<Frames>) {
        if self.conflate && !self.backlog.is_empty() {
            // A later one waits.
            pipes.replace_all(mem::take(unsent));
        }
        for frames in unsent.drain(..).rev() {
            self.backlog_bytes += frames.size();
            self.backlog.push_front(frames);
        }
        self.drain_backlog(pipes);
    }

    /// Routes one message to a peer, and says to which. Leaves it when no peer has room.
    pub(crate) fn send_to_peer(
        &mut self,
        pipes: &mut Pipes,
        frames: &mut Frames,
    ) -> Option<PipeId> {
        let sent = self.route(pipes, frames);
        if sent.is_none() {
            self.note_full(pipes);
        }
        sent
    }

    /// Routes one message to a peer, or to the backlog where one is expected. Leaves it, and gives `false`,
    /// when there is no room anywhere.
    pub(crate) fn send(&mut self, pipes: &mut Pipes, frames: &mut Frames) -> bool {
        if self.route(pipes, frames).is_some() {
            return true;
        }
        let waits = self.order.is_empty() && self.expecting;
        if waits && self.conflate {
            pipes.replace_all(self.take_backlog());
        }
        let (messages, bytes) = (self.backlog.len(), self.backlog_bytes);
        if waits && self.backlog_limit.admits(messages, bytes) {
            self.backlog_bytes += frames.size();
            self.backlog.push_back(mem::take(frames));
            return true;
        }
        self.note_full(pipes);
        false
    }

    fn route(&mut self, pipes: &mut Pipes, frames: &mut Frames) -> Option<PipeId> {
        // What waits in the backlog was sent earlier and goes first.
        self.drain_backlog(pipes);
        if !self.backlog.is_empty() {
            return None;
        }
        let id = self.next_with_room(pipes)?;
        pipes.push(id, Item::Message(mem::take(frames)));
        Some(id)
    }

    fn note_full(&self, pipes: &mut Pipes) {
        for &id in &self.order {
            pipes.note_full(id);
        }
    }

    /// Whether [`RoundRobin::send`] takes a message now.
    pub(crate) fn has_room(&self, pipes: &Pipes) -> bool {
        if self.order.is_empty() && self.expecting {
            let (messages, bytes) = (self.backlog.len(), self.backlog_bytes);
            return self.conflate || self.backlog_limit.admits(messages, bytes);
        }
        self.backlog.is_empty() && self.order.iter().any(|&id| pipes.has_room(id))
    }

    /// Moves the backlog on; called whenever a queue may have got room.
    pub(crate) fn drain_backlog(&mut self, pipes: &mut Pipes) {
        while !self.backlog.is_empty() {
            let Some(id) = self.next_with_room(pipes) else {
                break;
            };
            if let Some(frames) = self.backlog.pop_front() {
                self.backlog_bytes -= frames.size();
                pipes.push(id, Item::Message(frames));
            }
        }
        let backlog = !self.backlog.is_empty();
        pipes.sole.note_targets(&self.order, backlog);
    }

    pub(crate) fn backlog_len(&self) -> usize {
        self.backlog.len()
    }

    #[must_use]
    pub(crate) fn take_backlog(&mut self) -> Vec<Frames> {
        self.backlog_bytes = 0;
        mem::take(&mut self.backlog).into()
    }

    fn next_with_room(&mut self, pipes: &Pipes) -> Option<PipeId> {
        for _ in 0..self.order.len() {
            self.order.rotate_left(1);
            let id = *self.order.back()?;
            if pipes.has_room(id) {
                return Some(id);
            }
        }
        None
    }
}
