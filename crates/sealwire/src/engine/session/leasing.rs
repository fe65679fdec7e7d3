//! A session under a lease: a thread of the application drives it, and the I/O thread checks that
//! it still does.

use std::io;
use std::time::Duration;

use bytes::BytesMut;
use mio::Registry;

use super::Session;
use super::end::End;
use super::pauses::Pauses;
use super::transport::Pieces;
use crate::limits::LONG_FRAME;
use crate::pattern::More;
use crate::transport::Polled;
use crate::waiting::Use;

/// What a thread of the application writes of a message behind the first write, in bytes.
const LONE_MESSAGE: usize = 3 << 19;

impl Session {
    /// Whether a thread of the application may drive this session. Not on the way to its end: a thread that
    /// leases it then finds out as bytes come, and gives it back.
    pub(in crate::engine) fn is_usable(&self) -> bool {
        self.standing.is_attached() && self.phase.is_open()
    }

    /// Whether something is left that only the I/O thread does.
    pub(in crate::engine) fn needs_io_thread(&self) -> bool {
        let unwritten = self.is_waiting() || self.protocol.pending_bytes() > 0;
        let unwritten = unwritten && self.transport.is_writable();
        let flushes = self.phase.is_flushing();
        flushes
            || unwritten
            || self.deadline.is_behind(self.protocol.next_timeout())
            || self.phase.has_ended()
    }

    /// Reads once, unless there was something left to deliver. The caller found the pipe empty, so it has
    /// room.
    pub(in crate::engine) fn read_directly(&mut self, spare: &mut BytesMut, now: Duration) {
        self.transport.is_read_directly(now);
        if self.standing.is_paused() {
            self.input_wanted(now);
        }
        if self.protocol.has_events() {
            return self.deliver(now);
        }
        let outcome = self.receive(spare, now).and_then(|received| {
            let Some(received) = received else {
                return Ok(());
            };
            self.deliver(now);
            received.map_err(|error| self.fail(error))
        });
        if let Err(end) = outcome {
            self.phase.end(end);
        }
    }

    /// When a thread of the application can read more.
    pub(in crate::engine) fn more_to_read(&self) -> More {
        match self.wants_to_read() {
            true => More::AtOnce,
            false => beyond(self.transport.unparsed(), self.protocol.wanted()),
        }
    }

    /// Writes up to `limit` times.
    pub(in crate::engine) fn write_directly(&mut self, limit: usize) {
        if self.phase.is_open()
            && let Err(end) = self.write(limit, Pieces::Short, Pauses::NONE)
        {
            self.phase.end(end);
        }
    }

    /// Writes up to `limit` times, and of a long message 1.5 MiB: the reader copies each piece while this thread writes the
    /// next, and the I/O thread would have to be woken first (decision 31).
    pub(in crate::engine) fn write_lone_message(&mut self, limit: usize) {
        self.write_directly(1);
        let rest = self.protocol.pending_bytes().min(LONE_MESSAGE);
        self.write_directly(self.transport.writes_of(rest) + limit - 1);
    }

    /// Leaves reading to a thread of the application, and gives what that polls.
    pub(in crate::engine) fn lease(&mut self, registry: &Registry) -> io::Result<Polled> {
        self.transport.lease(registry, self.identity.key)
    }

    pub(in crate::engine) fn is_leased(&self) -> bool {
        self.transport.is_leased()
    }

    /// Whether the peer has ended its side of the stream, and it was left to a thread of the application to find that.
    pub(in crate::engine) fn peer_has_ended_unseen(&self, now: Duration) -> bool {
        self.transport.peer_has_ended_unseen(now)
    }

    pub(in crate::engine) fn watch_lease(&mut self, now: Duration) {
        self.transport.watch_lease(now);
    }

    pub(in crate::engine) fn check_lease(
        &mut self,
        registry: &Registry,
        now: Duration,
    ) -> Result<(), End> {
        if !self.transport.is_lease_check_due(now) {
            return Ok(());
        }
        match self.identity.core.lease().check() {
            Use::Now => Ok(()),
            Use::Lately => {
                self.watch_lease(now);
                Ok(())
            }
            Use::Over => self.end_lease(registry),
        }
    }

    /// The peer has ended its side of the stream: what is before that is read by the I/O thread, and nothing more is taken
    /// for it.
    pub(super) fn see_end(&mut self, registry: &Registry) -> Result<(), End> {
        self.transport.hang_up();
        self.end_lease(registry)
    }

    pub(in crate::engine) fn end_lease(&mut self, registry: &Registry) -> Result<(), End> {
        self.transport
            .end_lease(registry, self.identity.key)
            .map_err(|error| self.transport_failed(error))
    }
}

/// When there is more of a frame of which so much is here, and so much is known to be missing.
fn beyond(here: usize, missing: usize) -> More {
    if missing > 0 && here + missing >= LONG_FRAME {
        More::Soon
    } else {
        More::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_a_long_frame_is_expected_soon_and_nothing_else_is() {
        assert_eq!(beyond(LONG_FRAME - 1, 1), More::Soon);
        assert_eq!(beyond(0, LONG_FRAME), More::Soon);
        assert_eq!(beyond(LONG_FRAME - 2, 1), More::Unknown);
        assert_eq!(beyond(LONG_FRAME, 0), More::Unknown);
        assert_eq!(beyond(0, 9), More::Unknown);
    }
}
