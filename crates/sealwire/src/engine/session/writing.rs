//! From the pipe through the protocol to the transport.

use std::io::{self, IoSlice};

use bytes::Buf as _;

use super::{End, Session};
use crate::pattern::Item;

/// Bytes handed to one write call. Loopback gets two to three times slower from 65,536 on.
const WRITE_SIZE: usize = 65_472;
/// The protocol is given more messages while it holds fewer bytes than this.
const WRITE_BUDGET: usize = 128 << 10;
/// Slices handed to one write call.
const SLICES_PER_WRITE: usize = 16;

impl Session {
    pub(super) fn write(&mut self, limit: usize) -> Result<(), End> {
        for _ in 0..limit {
            if !self.writable || self.finished {
                break;
            }
            self.take_outbound();
            match self.write_once() {
                Ok(true) => {}
                Ok(false) => {
                    self.in_flight = 0;
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.writable = false,
                Err(error) => return Err(self.transport_failed(error)),
            }
        }
        Ok(())
    }

    /// Gives the protocol as many messages as one or two writes can carry.
    fn take_outbound(&mut self) {
        let Some((pipe, _)) = self.attached else {
            return;
        };
        while self.output_waiting && self.protocol.pending_bytes() < WRITE_BUDGET {
            self.core.take_outbound(pipe, &mut self.taken, WRITE_BUDGET);
            self.output_waiting = !self.taken.is_empty();
            for item in self.taken.drain(..) {
                match item {
                    Item::Message(frames) | Item::Notice(frames) => {
                        self.in_flight += 1;
                        // Refused only before the handshake is done or after the end.
                        let sent = self.protocol.send(frames);
                        debug_assert!(sent.is_ok(), "an attached protocol takes messages");
                    }
                    Item::Subscribe(topic) => self.protocol.subscribe(&topic),
                    Item::Cancel(topic) => self.protocol.cancel(&topic),
                }
            }
        }
    }

    /// `false` when there was nothing to write.
    pub(super) fn write_once(&mut self) -> io::Result<bool> {
        let mut transmit = self.protocol.transmit();
        if !transmit.has_remaining() {
            return Ok(false);
        }
        let mut slices = [IoSlice::new(&[]); SLICES_PER_WRITE];
        let mut room = WRITE_SIZE;
        let mut count = 0;
        for (slice, chunk) in slices.iter_mut().zip(transmit.chunks()) {
            let length = chunk.len().min(room);
            *slice = IoSlice::new(&chunk[..length]);
            room -= length;
            count += 1;
            if room == 0 {
                break;
            }
        }
        let written = self.stream.write_vectored(&slices[..count])?;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        transmit.advance(written);
        Ok(true)
    }

    pub(super) fn nothing_to_send(&self) -> bool {
        // A handshake under way may still bring a peer for the backlog.
        let settled = self.attached.is_some() || self.core.backlog() == 0;
        settled && !self.output_waiting && self.protocol.pending_bytes() == 0
    }
}
