//! From the transport through the protocol to the pipe.

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use bytes::BytesMut;
use sealwire_zmtp::connection::Warning;
use sealwire_zmtp::{Event as ProtocolEvent, Frames};

use super::input::Input;
use super::{End, Progress, Session};
use crate::engine::reactor::Reactor;
use crate::engine::wire::Wire;
use crate::limits::READS_PER_TIME_SLICE;
use crate::pattern::{Arrivals, FromPeer, Room};

/// The side of the peer's bytes.
#[derive(Default)]
pub(super) struct Inbound {
    pub(super) input: Input,
    /// The pipe is full; it will say when it is not.
    pub(super) paused: bool,
}

impl Session {
    pub(super) fn read(&mut self, reactor: &mut Reactor) -> Result<Progress, End> {
        for _ in 0..READS_PER_TIME_SLICE {
            self.take_events(reactor)?;
            // The holder of a lease reads, or it ends before long.
            let left_to_others = self.is_leased() && self.is_usable();
            if left_to_others || !self.wants_to_read() {
                return Ok(Progress::Idle);
            }
            let now = reactor.now();
            let Some(received) = self.receive(&mut reactor.spare, now)? else {
                return Ok(Progress::Idle);
            };
            self.take_events(reactor)?;
            received.map_err(|error| self.fail(error))?;
        }
        Ok(if self.wants_to_read() {
            Progress::Again
        } else {
            Progress::Idle
        })
    }

    /// One read, which the protocol is given. `None` when the transport was empty; else what the
    /// protocol says, which may have events beside an error.
    pub(super) fn receive(
        &mut self,
        spare: &mut BytesMut,
        now: Duration,
    ) -> Result<Option<Result<(), sealwire_zmtp::Error>>, End> {
        // Writing may have waited for the bytes that were read.
        self.transport.writable |= self.stream.buffers();
        let wanted = self.protocol.wanted();
        let outcome = self.inbound.input.read(&mut self.stream, wanted, spare);
        let received = match outcome {
            Ok((0, _)) => Err(self.end_of_stream()),
            Ok((_, emptied)) => {
                self.transport.was_read(emptied, self.stream.buffers());
                // Once everything was sent and said, only the end of the stream is still of
                // interest.
                Ok(Some(match self.phase.is_finished() {
                    true => {
                        self.inbound.input.bytes().clear();
                        self.phase.heard(self.heard_until(now));
                        Ok(())
                    }
                    false => self.protocol.receive(self.inbound.input.bytes(), now),
                }))
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.transport.readable = false;
                Ok(None)
            }
            // Nothing in it was for ZMTP, and more may be behind it.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                self.transport.readable = true;
                Ok(Some(Ok(())))
            }
            Err(error) => Err(self.transport_failed(error)),
        };
        self.inbound.input.settle(self.protocol.wanted(), spare);
        self.note_arriving();
        received
    }

    /// Charges the peer with what is here of an unfinished message.
    fn note_arriving(&mut self) {
        let Some(attached) = self.standing.attached_mut() else {
            return;
        };
        let in_protocol = self.protocol.arriving();
        self.stream.leave_room_for(in_protocol);
        attached.charge_arriving(in_protocol + self.stream.arriving());
    }

    /// A full pipe stops the reading, except for the end of the stream.
    pub(in crate::engine) fn wants_to_read(&self) -> bool {
        self.transport.readable && (self.phase.is_finished() || !self.inbound.paused)
    }

    /// Hands over what the protocol has for the socket.
    pub(super) fn deliver(&mut self, now: Duration) {
        let Some(pipe) = self.standing.attached().map(|attached| attached.pipe) else {
            return;
        };
        if !self.protocol.has_events() {
            return;
        }
        let mut received = Received {
            protocol: &mut *self.protocol,
            warnings: Vec::new(),
        };
        let delivered = self.core.deliver(pipe, &mut received);
        let warnings = received.warnings;
        warnings.into_iter().for_each(|warning| self.warn(warning));
        self.bursts.received();
        if delivered.full != self.inbound.paused {
            self.inbound.paused = delivered.full;
            self.protocol.set_reading(!delivered.full, now);
        }
    }
}

/// What the protocol has for the socket, and what it has beside that.
struct Received<'a> {
    protocol: &'a mut dyn Wire,
    warnings: Vec<Warning>,
}

impl Arrivals for Received<'_> {
    fn next(&mut self) -> Option<FromPeer> {
        let warnings = &mut self.warnings;
        self.protocol.next_from_peer(&mut |event| {
            if let ProtocolEvent::Warning(warning) = event {
                warnings.push(warning);
            }
        })
    }

    fn take_messages(&mut self, into: &mut VecDeque<Frames>, room: Room) -> usize {
        self.protocol.take_messages(into, room)
    }
}
