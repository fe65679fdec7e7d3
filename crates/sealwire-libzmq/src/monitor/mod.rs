//! The events of a socket as messages of two parts for a socket of the program's: number and value, and the
//! address.

mod failures;
#[cfg(test)]
mod tests;
mod told;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use sealwire::{Frame, Message, Monitor, SocketType, embed, signals};

pub(crate) use self::told::Told;
use self::told::{STOPPED, told};
use crate::errno::Errno;
use crate::socket::errno_of;

/// The monitor of one socket: a thread reads its events as long as the socket lives, and tells of them where the
/// program last said.
pub(crate) struct Observer {
    events: Arc<Events>,
}

struct Events {
    monitor: Monitor,
    target: Mutex<Option<Target>>,
    /// Those for which the program's socket had no room.
    dropped: AtomicU64,
}

/// Where events are told.
struct Target {
    socket: sealwire::Socket,
    wanted: u16,
}

impl Target {
    /// Events that nobody reads are dropped at the high-water marks, as peers cause any number of them, and counted.
    fn tell(&self, told: &Told, dropped: &AtomicU64) {
        let Told {
            number,
            value,
            address,
        } = told;
        if self.wanted & number == 0 {
            return;
        }
        let mut head = [0; 6];
        head[..2].copy_from_slice(&number.to_ne_bytes());
        head[2..].copy_from_slice(&value.to_ne_bytes());
        let parts = [&head[..], address.as_bytes()];
        let message = Message::multipart(parts.map(Frame::copy_from_slice));
        if self.socket.try_send(message).is_err() {
            dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Events {
    fn target(&self) -> MutexGuard<'_, Option<Target>> {
        self.target.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells of what has happened until now. The lock is held meanwhile: what came before the program said where
    /// to tell, and after it said to stop, is not told.
    fn tell_all(&self, target: Option<&Target>) {
        while let Some(event) = self.monitor.try_next() {
            if let Some(target) = target {
                told(&event)
                    .iter()
                    .for_each(|it| target.tell(it, &self.dropped));
            }
        }
    }

    /// Tells of all that has happened, and that nothing more will be told.
    fn stop(&self) {
        let mut target = self.target();
        self.tell_all(target.as_ref());
        if let Some(target) = target.take() {
            let stopped = Told {
                number: STOPPED,
                value: 0,
                address: String::new(),
            };
            target.tell(&stopped, &self.dropped);
        }
    }
}

impl Observer {
    /// # Errors
    ///
    /// `EMTHREAD` where there is no thread.
    pub(crate) fn begin(monitor: Monitor) -> Result<Self, Errno> {
        let target = Mutex::default();
        let dropped = AtomicU64::new(0);
        let events = Arc::new(Events {
            monitor,
            target,
            dropped,
        });
        let of_thread = events.clone();
        let tell = move || {
            while embed::wait_for_event(&of_thread.monitor) {
                let target = of_thread.target();
                of_thread.tell_all(target.as_ref());
            }
            of_thread.stop();
        };
        let thread = thread::Builder::new().name("sealwire-monitor".into());
        // Signals are the program's: its handlers do not run on this thread.
        signals::held_back(|| thread.spawn(tell)).map_err(|_| Errno::MTHREAD)?;
        Ok(Observer { events })
    }

    /// Binds a socket of its own there, and tells of the events from now on.
    ///
    /// # Errors
    ///
    /// `EADDRINUSE`, `EMFILE`.
    pub(crate) fn tell_at(
        &self,
        endpoint: &str,
        wanted: u16,
        engine: &sealwire::Context,
    ) -> Result<(), Errno> {
        let builder = sealwire::Socket::builder(SocketType::Pair)
            .context(engine)
            .linger(Duration::ZERO);
        let socket = builder.build().map_err(|error| errno_of(&error))?;
        socket.bind(endpoint).map_err(|error| errno_of(&error))?;
        let mut target = self.events.target();
        self.events.tell_all(None);
        *target = Some(Target { socket, wanted });
        Ok(())
    }

    /// Tells of what the engine has no event for.
    pub(crate) fn tell(&self, told: &Told) {
        let target = self.events.target();
        self.events.tell_all(target.as_ref());
        if let Some(target) = &*target {
            target.tell(told, &self.events.dropped);
        }
    }

    /// Events that were dropped, as nobody read those before.
    pub(crate) fn dropped(&self) -> u64 {
        self.events.dropped.load(Ordering::Relaxed)
    }

    /// Tells of nothing more, and of that.
    pub(crate) fn stop(&self) {
        self.events.stop();
    }
}
