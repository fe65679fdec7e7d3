//! A session driven by a thread of the application, and the lease under which that thread reads.

use std::io;
use std::time::Duration;

use bytes::BytesMut;
use mio::{Registry, Token};

use super::{End, Session};
use crate::transport::Polled;
use crate::waiting::Use;

/// How long nobody may have waited for a session's bytes before the I/O thread reads again.
const LEASE: Duration = Duration::from_millis(10);

/// Whether reading is left to a thread of the application that waits for a message.
#[derive(Default)]
pub(super) struct Lease {
    active: bool,
    /// When the I/O thread looks whether it is still in use.
    pub(super) check_at: Option<Duration>,
    /// Made the first time; a poll may still use it when the session is gone.
    pub(super) polled: Option<Polled>,
}

impl Session {
    /// No thread of the application may drive it from now on.
    pub(in crate::engine) fn mark_over(&mut self) {
        self.phase.over();
    }

    /// Whether a thread of the application may drive this session.
    pub(in crate::engine) fn is_usable(&self) -> bool {
        self.standing.is_attached() && self.phase.is_open()
    }

    /// Whether something is left that only the I/O thread does.
    pub(in crate::engine) fn needs_io_thread(&self) -> bool {
        let sooner = match (self.protocol.next_timeout(), self.timer) {
            (Some(next), Some(timer)) => next < timer,
            (next, None) => next.is_some(),
            (None, Some(_)) => false,
        };
        let unwritten =
            self.transport.writable && (self.outbound.waiting || self.protocol.pending_bytes() > 0);
        sooner || unwritten || self.phase.has_ended()
    }

    /// Reads once, unless there was something left to deliver. The caller found the pipe empty, so it has
    /// room.
    pub(in crate::engine) fn read_directly(&mut self, spare: &mut BytesMut, now: Duration) {
        if self.inbound.paused {
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

    /// Writes up to `limit` times.
    pub(in crate::engine) fn write_directly(&mut self, limit: usize) {
        if self.phase.is_open()
            && let Err(end) = self.write(limit)
        {
            self.phase.end(end);
        }
    }

    pub(in crate::engine) fn lease(&mut self, registry: &Registry) -> io::Result<Polled> {
        let polled = match &self.lease.polled {
            Some(polled) => polled.clone(),
            None => self.lease.polled.insert(self.stream.polled()?).clone(),
        };
        if !self.lease.active {
            self.stream.watch_writing(registry, Token(self.key.slot))?;
            self.lease.active = true;
        }
        Ok(polled)
    }

    pub(in crate::engine) fn is_leased(&self) -> bool {
        self.lease.active
    }

    pub(in crate::engine) fn watch_lease(&mut self, now: Duration) {
        if self.lease.active {
            self.lease.check_at = Some(now + LEASE);
        }
    }

    pub(in crate::engine) fn check_lease(
        &mut self,
        registry: &Registry,
        now: Duration,
    ) -> Result<(), End> {
        if self.lease.check_at.is_none_or(|at| at > now) {
            return Ok(());
        }
        self.lease.check_at = None;
        match self.core.lease().check() {
            Use::Now => Ok(()),
            Use::Lately => {
                self.watch_lease(now);
                Ok(())
            }
            Use::Over => self.end_lease(registry),
        }
    }

    pub(in crate::engine) fn end_lease(&mut self, registry: &Registry) -> Result<(), End> {
        self.lease.check_at = None;
        if std::mem::take(&mut self.lease.active) {
            // The poll has not reported bytes that arrived meanwhile.
            self.transport.readable = true;
            self.stream
                .reregister(registry, Token(self.key.slot))
                .map_err(|error| self.transport_failed(error))?;
        }
        Ok(())
    }
}
