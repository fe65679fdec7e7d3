//! Ends sessions, and reports it to the socket and the monitor.

use std::io;
use std::time::Duration;

use mio::Registry;
use sealwire_zmtp::Error as ProtocolError;
use sealwire_zmtp::error::CloseKind;

use super::Session;
use super::end::End;
use super::standing::Standing;
use crate::engine::timers::Timers;
use crate::failure::FailureCause;
use crate::monitor::add;

impl Session {
    /// An ERROR for the peer, if there is one and the transport takes it at once.
    pub(super) fn flush_error(&mut self) {
        self.transport
            .write_last(&mut *self.protocol, self.standing.account());
    }

    pub(super) fn fail(&mut self, error: ProtocolError) -> End {
        self.flush_error();
        error.into()
    }

    pub(super) fn end_of_stream(&mut self) -> End {
        if self.phase.is_finished() {
            return End::Clean;
        }
        match self.protocol.end_of_stream() {
            Some(ProtocolError::Closed(CloseKind::Clean)) if self.transport.is_consumed() => {
                End::Clean
            }
            Some(error) => error.into(),
            None => End::Clean,
        }
    }

    pub(super) fn transport_failed(&self, error: io::Error) -> End {
        if self.phase.is_finished() {
            return End::Clean;
        }
        End::Failed(FailureCause::of_transport(error))
    }

    /// Sends what is queued, then ends the connection; within the linger time.
    pub(in crate::engine) fn finish(&mut self, now: Duration) {
        self.phase.finish(now + self.identity.core.options().linger);
    }

    /// No thread of the application may drive it from now on.
    pub(in crate::engine) fn mark_over(&mut self) {
        self.phase.over();
    }

    /// Takes it out of the poll and the timers. Returns how long the connection was of use, if it was.
    pub(in crate::engine) fn withdraw(
        &mut self,
        registry: &Registry,
        timers: &mut Timers,
        now: Duration,
    ) -> Option<Duration> {
        self.transport.deregister(registry);
        self.move_timer(timers, None);
        self.standing.attached().map(|attached| attached.age(now))
    }

    /// Lets the socket know that the connection is over, and everybody else why.
    pub(in crate::engine) fn ended(self, end: End) {
        let Session {
            identity,
            transport,
            mut protocol,
            standing,
            ..
        } = self;
        transport.close();
        let peer = match standing {
            Standing::Attached(attached) => {
                Some(attached.close(&identity.core, &mut *protocol, &end))
            }
            Standing::Reviewed(_) => {
                add(&identity.core.counters.handshakes_failed, 1);
                None
            }
        };
        identity.tell_end(end, peer);
    }
}
