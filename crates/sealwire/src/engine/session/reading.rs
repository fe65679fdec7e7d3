//! From the transport through the protocol to the pipe.

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use sealwire_zmtp::connection::Warning;
use sealwire_zmtp::{Event as ProtocolEvent, Message as Frames};

use super::{End, Session, Turn};
use crate::engine::io_thread::Reactor;
use crate::engine::wire::Wire;
use crate::pattern::{Item, Room, Source};

/// Reads in a row before other connections get their turn.
const READS_PER_TURN: usize = 8;

impl Session {
    pub(super) fn read(&mut self, reactor: &mut Reactor) -> Result<Turn, End> {
        for _ in 0..READS_PER_TURN {
            self.take_events(reactor)?;
            // Whoever holds a lease reads, or it ends before long.
            let left_to_others = self.is_leased() && self.is_usable();
            if left_to_others || !self.wants_to_read() {
                return Ok(Turn::Idle);
            }
            if !self.fill(&mut reactor.read_buffer)? {
                return Ok(Turn::Idle);
            }
            let received = self.protocol.receive(&mut self.input, reactor.now());
            self.take_events(reactor)?;
            received.map_err(|error| self.fail(error))?;
        }
        Ok(if self.wants_to_read() {
            Turn::Again
        } else {
            Turn::Idle
        })
    }

    /// One read. `false` when the transport was empty.
    pub(super) fn fill(&mut self, buffer: &mut [u8]) -> Result<bool, End> {
        // What was read may be what writing had to wait for.
        self.writable |= self.stream.buffers();
        let length = match self.stream.read(buffer) {
            Ok(0) => return Err(self.end_of_stream()),
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.readable = false;
                return Ok(false);
            }
            // Nothing in it was for ZMTP, and more may be behind it.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                self.readable = true;
                return Ok(true);
            }
            Err(error) => return Err(self.transport_failed(error)),
        };
        // A read that does not fill the buffer has emptied the transport, unless the end of the
        // stream is behind it.
        self.readable = length == buffer.len() || self.hung_up || self.stream.buffers();
        // Once everything was sent and said, only the end of the stream is still of interest.
        if !self.finished {
            self.input.extend_from_slice(&buffer[..length]);
        }
        Ok(true)
    }

    /// A full pipe stops the reading, except for the end of the stream.
    pub(in crate::engine) fn wants_to_read(&self) -> bool {
        self.readable && (self.finished || !self.paused)
    }

    /// Hands over what the protocol has for the socket.
    pub(super) fn deliver(&mut self, now: Duration) {
        let Some((pipe, _)) = self.attached else {
            return;
        };
        if !self.protocol.has_events() {
            return;
        }
        let mut received = Received {
            protocol: &mut self.protocol,
            warnings: Vec::new(),
        };
        let delivered = self.core.deliver(pipe, &mut received);
        let warnings = received.warnings;
        warnings.into_iter().for_each(|warning| self.warn(warning));
        self.pace.received();
        if delivered.full != self.paused {
            self.paused = delivered.full;
            self.protocol.set_reading(!delivered.full, now);
        }
    }
}

/// What the protocol has for the socket, and what it has beside that.
struct Received<'a> {
    protocol: &'a mut Wire,
    warnings: Vec<Warning>,
}

impl Source for Received<'_> {
    fn next(&mut self) -> Option<Item> {
        let warnings = &mut self.warnings;
        self.protocol.next_item(&mut |event| {
            if let ProtocolEvent::Warning(warning) = event {
                warnings.push(warning);
            }
        })
    }

    fn take_messages(&mut self, into: &mut VecDeque<Frames>, room: Room) -> usize {
        self.protocol.take_messages(into, room)
    }
}
