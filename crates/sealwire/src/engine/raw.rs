//! A STREAM connection: bytes are messages of one frame, as they come, in both directions. No
//! handshake, no framing, no clock.

use std::collections::VecDeque;

use bytes::{Buf as _, Bytes, BytesMut};
use sealwire_zmtp::connection::OutputProgress;
use sealwire_zmtp::{Frame, Frames};

/// Part of the buffer's size from which on a message is a slice of it instead of a copy.
const SLICE_FRACTION: usize = 16;

#[derive(Default)]
pub(super) struct Raw {
    received: Option<Frames>,
    outgoing: VecDeque<Bytes>,
    pending: usize,
    /// Bytes written since the connection began.
    written: u64,
}

impl Raw {
    /// Takes all of the input as one message, unless the last one is still there.
    pub(super) fn receive(&mut self, input: &mut BytesMut) {
        if self.received.is_none() && !input.is_empty() {
            // A few bytes must not keep a whole buffer in memory.
            let slice = input.len() >= input.capacity() / SLICE_FRACTION;
            let received = if slice {
                input.split().freeze()
            } else {
                Bytes::copy_from_slice(input)
            };
            input.clear();
            self.received = Some(Frames::single(Frame::from(received)));
        }
    }

    pub(super) fn has_message(&self) -> bool {
        self.received.is_some()
    }

    pub(super) fn next_message(&mut self) -> Option<Frames> {
        self.received.take()
    }

    pub(super) fn send(&mut self, mut frames: Frames) {
        while let Some(frame) = frames.pop_front() {
            self.pending += frame.len();
            self.outgoing.push_back(frame.into_bytes());
        }
    }

    /// Nothing proves to a STREAM socket what arrived.
    pub(super) fn output_progress(&self) -> OutputProgress {
        let mut progress = OutputProgress::default();
        progress.taken = self.written;
        progress.staged = self.written + self.pending as u64;
        progress
    }

    pub(super) fn pending_bytes(&self) -> usize {
        self.pending
    }

    /// The bytes to write, in order.
    pub(super) fn chunks(&self) -> impl Iterator<Item = &[u8]> {
        self.outgoing.iter().map(|chunk| &chunk[..])
    }

    /// Notes that `written` of these bytes have been written.
    pub(super) fn advance(&mut self, mut written: usize) {
        self.pending -= written;
        self.written += written as u64;
        while let Some(first) = self.outgoing.front_mut()
            && written > 0
        {
            let step = written.min(first.len());
            first.advance(step);
            written -= step;
            if first.is_empty() {
                self.outgoing.pop_front();
            }
        }
    }
}
