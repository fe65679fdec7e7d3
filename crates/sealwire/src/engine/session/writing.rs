//! From the pipe through the protocol to the transport.

use std::collections::VecDeque;
use std::io;

use super::ledger::Ledger;
use super::{End, Session};
use crate::limits::WRITE_BUDGET;
use crate::pattern::{Item, Room};

/// The side of the bytes for the peer.
#[derive(Default)]
pub(super) struct Outbound {
    /// The pipe said that it has something to send.
    pub(super) waiting: bool,
    pub(super) ledger: Ledger,
    taken: VecDeque<Item>,
}

impl Session {
    /// Writes up to `limit` times. Returns whether it could go on at once.
    pub(super) fn write(&mut self, limit: usize) -> Result<bool, End> {
        for _ in 0..limit {
            if !self.transport.writable || self.phase.is_finished() {
                return Ok(false);
            }
            self.take_outbound();
            match self.write_once() {
                Ok(true) => {}
                Ok(false) => match self.stream.flush() {
                    Ok(()) => return Ok(false),
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                        self.transport.writable = false;
                    }
                    Err(error) => return Err(self.transport_failed(error)),
                },
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.transport.writable = false
                }
                Err(error) => return Err(self.transport_failed(error)),
            }
        }
        Ok(self.transport.writable && !self.phase.is_finished())
    }

    /// Gives the protocol as many messages as one or two writes can carry.
    fn take_outbound(&mut self) {
        let Some(pipe) = self.standing.attached().map(|attached| attached.pipe) else {
            return;
        };
        let outbound = &mut self.outbound;
        while outbound.waiting && self.protocol.pending_bytes() < WRITE_BUDGET {
            let room = Room::of_bytes(WRITE_BUDGET);
            let begin = self.protocol.output_progress().staged;
            let messages = self.core.take_outbound(pipe, &mut outbound.taken, room);
            outbound.waiting = !outbound.taken.is_empty();
            self.protocol.stage(&mut outbound.taken);
            let output = self.protocol.output_progress();
            outbound.ledger.staged(messages, begin, output);
        }
    }

    /// `false` when there was nothing to write.
    pub(super) fn write_once(&mut self) -> io::Result<bool> {
        let (stream, attached) = (&mut self.stream, self.standing.attached());
        self.protocol
            .write_with(stream.write_size(), &mut |slices| {
                let written = stream.write_vectored(slices)?;
                if let Some(attached) = attached {
                    attached.peer.account().note_written(written);
                }
                Ok(written)
            })
    }

    pub(super) fn nothing_to_send(&self) -> bool {
        // A handshake under way may still bring a peer for the backlog.
        let settled = self.standing.is_attached() || self.core.backlog() == 0;
        settled
            && !self.outbound.waiting
            && self.protocol.pending_bytes() == 0
            && !self.stream.holds_output()
    }
}
