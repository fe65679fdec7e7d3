//! Sockets that are closing, until their linger time is over.

use std::sync::{Arc, Weak};
use std::time::Duration;

use crate::core::SocketCore;
use crate::engine::timers::{Timer, Timers};

/// Those sockets, each with a deadline among the timers.
#[derive(Default)]
pub(super) struct Lingering {
    sockets: Vec<(u64, Weak<SocketCore>)>,
}

impl Lingering {
    /// Lets a socket linger until then.
    pub(super) fn add(&mut self, core: &Arc<SocketCore>, until: Duration, timers: &mut Timers) {
        self.forget_ended(timers);
        timers.set(until, Timer::Linger { socket: core.id() });
        self.sockets.push((core.id(), Arc::downgrade(core)));
    }

    /// Takes the socket whose deadline has come, if it is still there.
    pub(super) fn take(&mut self, socket: u64) -> Option<Arc<SocketCore>> {
        let place = self.sockets.iter().position(|(id, _)| *id == socket)?;
        self.sockets.swap_remove(place).1.upgrade()
    }

    /// Forgets sockets that ended before their deadline.
    fn forget_ended(&mut self, timers: &mut Timers) {
        self.sockets.retain(|(socket, core)| {
            let ended = core.upgrade().is_none_or(|core| core.has_ended());
            if ended {
                timers.clear(Timer::Linger { socket: *socket });
            }
            !ended
        });
    }
}
