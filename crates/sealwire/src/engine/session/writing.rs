//! From the pipe through the protocol to the transport.

use std::io;

use super::{End, Session};
use crate::limits::WRITE_BUDGET;
use crate::pattern::Room;

impl Session {
    /// Writes up to `limit` times. Returns whether it could go on at once.
    pub(super) fn write(&mut self, limit: usize) -> Result<bool, End> {
        for _ in 0..limit {
            if !self.writable || self.finished {
                return Ok(false);
            }
            self.take_outbound();
            match self.write_once() {
                Ok(true) => {}
                Ok(false) => match self.stream.flush() {
                    Ok(()) => {
                        self.in_flight = 0;
                        return Ok(false);
                    }
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                        self.writable = false;
                    }
                    Err(error) => return Err(self.transport_failed(error)),
                },
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.writable = false,
                Err(error) => return Err(self.transport_failed(error)),
            }
        }
        Ok(self.writable && !self.finished)
    }

    /// Gives the protocol as many messages as one or two writes can carry.
    fn take_outbound(&mut self) {
        let Some((pipe, _)) = self.attached else {
            return;
        };
        while self.output_waiting && self.protocol.pending_bytes() < WRITE_BUDGET {
            let room = Room::of_bytes(WRITE_BUDGET);
            self.in_flight += self.core.take_outbound(pipe, &mut self.taken, room);
            self.output_waiting = !self.taken.is_empty();
            for item in self.taken.drain(..) {
                self.protocol.send(item);
            }
        }
    }

    /// `false` when there was nothing to write.
    pub(super) fn write_once(&mut self) -> io::Result<bool> {
        let (stream, attached) = (&mut self.stream, &self.attached);
        self.protocol.write_with(stream.write_size(), |slices| {
            let written = stream.write_vectored(slices)?;
            if let Some((_, peer)) = attached {
                peer.account().note_written(written);
            }
            Ok(written)
        })
    }

    pub(super) fn nothing_to_send(&self) -> bool {
        // A handshake under way may still bring a peer for the backlog.
        let settled = self.attached.is_some() || self.core.backlog() == 0;
        settled
            && !self.output_waiting
            && self.protocol.pending_bytes() == 0
            && !self.stream.holds_output()
    }
}
