//! Sockets that are closing, until their linger time is over.

use std::sync::{Arc, Weak};
use std::time::Duration;

use crate::core::SocketCore;
use crate::engine::timers::{Timer, Timers};

/// Those sockets, each with a deadline among the timers.
#[derive(Default)]
pub(super) struct Lingering {
    sockets: Vec<LingeringSocket>,
}

struct LingeringSocket {
    id: u64,
    core: Weak<SocketCore>,
    until: Duration,
}

impl Lingering {
    /// Lets a socket linger until then.
    pub(super) fn add(&mut self, core: &Arc<SocketCore>, until: Duration, timers: &mut Timers) {
        self.forget_ended(timers);
        timers.set(until, Timer::Linger { socket: core.id() });
        self.sockets.push(LingeringSocket {
            id: core.id(),
            core: Arc::downgrade(core),
            until,
        });
    }

    /// Lets a socket linger no longer than until then.
    pub(super) fn bring_forward(&mut self, id: u64, until: Duration, timers: &mut Timers) {
        let mut sockets = self.sockets.iter_mut();
        let socket = sockets.find(|socket| socket.id == id && until < socket.until);
        if let Some(socket) = socket {
            socket.until = until;
            timers.set(until, Timer::Linger { socket: id });
        }
    }

    /// Takes the socket whose deadline has come, if it is still there.
    pub(super) fn take(&mut self, socket: u64) -> Option<Arc<SocketCore>> {
        let mut sockets = self.sockets.iter();
        let place = sockets.position(|lingering| lingering.id == socket)?;
        self.sockets.swap_remove(place).core.upgrade()
    }

    /// Forgets sockets that ended before their deadline.
    fn forget_ended(&mut self, timers: &mut Timers) {
        self.sockets.retain(|socket| {
            let core = socket.core.upgrade();
            let ended = core.is_none_or(|core| core.has_ended());
            if ended {
                timers.clear(Timer::Linger { socket: socket.id });
            }
            !ended
        });
    }
}
