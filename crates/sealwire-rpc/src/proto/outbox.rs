//! What waits to be sent, and what it costs.

use std::collections::VecDeque;

use sealwire::Frame;

use super::wire::{HEADER, Kind};
use crate::limits::{MESSAGE_COST, OUTBOX_BYTES, OUTBOX_MESSAGES};

/// The largest message that the protocol makes by itself.
const LARGEST_CONTROL: usize = HEADER + 64;

#[derive(Default)]
pub(super) struct Outbox {
    frames: VecDeque<Frame>,
    cost: usize,
    /// Of this, what the protocol sends by itself because of what the peer sent.
    control: usize,
}

fn cost(frame: &Frame) -> usize {
    frame.len() + MESSAGE_COST
}

/// The cost of a frame that no application makes or answers.
fn control(frame: &Frame) -> usize {
    let by_itself =
        frame.len() <= LARGEST_CONTROL && frame.first().is_some_and(|&kind| Kind::is_control(kind));
    if by_itself { cost(frame) } else { 0 }
}

impl Outbox {
    pub(super) fn push(&mut self, frame: Frame) {
        self.cost += cost(&frame);
        self.control += control(&frame);
        self.frames.push_back(frame);
    }

    /// Whether callers have to wait.
    pub(super) fn is_congested(&self) -> bool {
        self.cost >= OUTBOX_BYTES || self.frames.len() >= OUTBOX_MESSAGES
    }

    /// Bytes held, each message counted with what it takes beside its own.
    pub(super) fn cost(&self) -> usize {
        self.cost
    }

    pub(super) fn control(&self) -> usize {
        self.control
    }

    pub(super) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Swaps what there is with an empty queue.
    pub(super) fn take(&mut self, into: &mut VecDeque<Frame>) {
        debug_assert!(into.is_empty(), "what was taken before is sent first");
        std::mem::swap(&mut self.frames, into);
        (self.cost, self.control) = (0, 0);
    }

    /// Puts in front what was taken and not sent, and leaves an empty queue.
    pub(super) fn put_back(&mut self, left: &mut VecDeque<Frame>) {
        self.cost += left.iter().map(cost).sum::<usize>();
        self.control += left.iter().map(control).sum::<usize>();
        left.append(&mut self.frames);
        std::mem::swap(&mut self.frames, left);
    }

    pub(super) fn clear(&mut self) {
        self.frames = VecDeque::new();
        (self.cost, self.control) = (0, 0);
    }
}
