//! The I/O thread's `udp` endpoints.

use super::IoThread;
use super::closing::accept_panicked;
use super::sources::{EventSource, SourceEvent};
use crate::engine::datagrams::{Datagrams, Progress};
use crate::engine::session_key::SessionKey;
use crate::engine::timers::Timer;
use crate::monitor::Event;

impl IoThread {
    pub(super) fn serve_datagrams(&mut self, slot: usize, event: SourceEvent) {
        match event {
            SourceEvent::Polled(_) | SourceEvent::TimeSlice => self.exchange(slot),
            SourceEvent::Withdrawn { .. } | SourceEvent::SocketClosing { .. } => {
                self.finish_datagrams(slot);
            }
            SourceEvent::Draining { .. } => {
                self.exchange(slot);
                self.remove_endpoint(slot);
            }
            SourceEvent::Due(_) | SourceEvent::LingerOver => self.remove_endpoint(slot),
            SourceEvent::Panicked => {
                if let Some(datagrams) = self.sources.datagrams(slot) {
                    let (core, id) = (datagrams.core.clone(), datagrams.id);
                    let event = accept_panicked(&datagrams.endpoint);
                    self.endpoint_panicked(slot, &core, id, event);
                }
            }
        }
    }

    pub(super) fn add_datagrams(&mut self, mut datagrams: Box<Datagrams>) {
        let slot = self.sources.vacant_slot();
        if let Err(error) = datagrams.register(self.reactor.world.registry(), slot) {
            datagrams.core.hub.emit(Event::AcceptFailed {
                endpoint: datagrams.endpoint.clone(),
                reason: error.to_string(),
                os_error: error.raw_os_error(),
                count: 1,
            });
            datagrams.end(self.reactor.world.registry());
            return;
        }
        let (closing, draining) = (datagrams.core.is_closing(), datagrams.core.is_draining());
        self.sources.insert(EventSource::Datagrams(datagrams));
        if closing {
            self.finish_datagrams(slot);
        } else {
            self.exchange(slot);
        }
        if draining {
            self.remove_endpoint(slot);
        }
    }

    pub(super) fn has_datagrams(&mut self, key: SessionKey) -> bool {
        let datagrams = self.sources.datagrams(key.slot);
        datagrams.is_some_and(|datagrams| datagrams.id == key.connection)
    }

    /// Sends and receives what can be at once.
    pub(super) fn exchange(&mut self, slot: usize) {
        let now = self.reactor.now();
        let Some(datagrams) = self.sources.datagrams(slot) else {
            return;
        };
        match datagrams.exchange(&mut self.reactor.datagram, now) {
            Progress::Idle => {}
            Progress::Again => {
                self.time_slices.ask(slot);
            }
            Progress::Done => self.remove_endpoint(slot),
        }
    }

    /// Ends once what is queued has been sent, within the linger time.
    pub(super) fn finish_datagrams(&mut self, slot: usize) {
        let now = self.reactor.now();
        let Some(datagrams) = self.sources.datagrams(slot) else {
            return;
        };
        if datagrams.finish() {
            let (number, linger) = (datagrams.id, datagrams.core.linger());
            let timer = Timer::EventSource { slot, number };
            self.reactor.timers.set(now + linger, timer);
        }
        self.exchange(slot);
    }
}
