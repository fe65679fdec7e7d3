//! The I/O thread's `udp` endpoints.

use super::{EventSource, IoThread};
use crate::engine::datagrams::{Datagrams, Progress};
use crate::engine::session::SessionKey;
use crate::engine::timers::Timer;
use crate::monitor::Event;

impl IoThread {
    pub(super) fn add_datagrams(&mut self, mut datagrams: Box<Datagrams>) {
        let entry = self.sources.vacant_entry();
        let slot = entry.key();
        if let Err(error) = datagrams.register(self.reactor.world.registry(), slot) {
            datagrams.core.hub.emit(Event::AcceptFailed {
                endpoint: datagrams.endpoint.clone(),
                reason: error.to_string(),
                count: 1,
            });
            datagrams.end(self.reactor.world.registry());
            return;
        }
        let closing = datagrams.core.is_closing();
        entry.insert(EventSource::Datagrams(datagrams));
        if closing {
            self.finish_datagrams(slot);
        } else {
            self.exchange(slot);
        }
    }

    pub(super) fn has_datagrams(&self, key: SessionKey) -> bool {
        matches!(self.sources.get(key.slot),
            Some(EventSource::Datagrams(datagrams)) if datagrams.id == key.connection)
    }

    /// Sends and receives what can be at once.
    pub(super) fn exchange(&mut self, slot: usize) {
        let now = self.reactor.now();
        let Some(EventSource::Datagrams(datagrams)) = self.sources.get_mut(slot) else {
            return;
        };
        match datagrams.exchange(&mut self.reactor.datagram, now) {
            Progress::Idle => {}
            Progress::Again => {
                self.time_slices.ask(slot);
            }
            Progress::Done => self.remove_source(slot),
        }
    }

    /// Ends once what is queued has been sent, within the linger time.
    pub(super) fn finish_datagrams(&mut self, slot: usize) {
        let now = self.reactor.now();
        let Some(EventSource::Datagrams(datagrams)) = self.sources.get_mut(slot) else {
            return;
        };
        if datagrams.finish() {
            let (number, linger) = (datagrams.id, datagrams.core.options().linger);
            let timer = Timer::Source { slot, number };
            self.reactor.timers.set(now + linger, timer);
        }
        self.exchange(slot);
    }
}
