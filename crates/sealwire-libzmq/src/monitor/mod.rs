//! The events of a socket as messages of two parts for a socket of the program's: number and value, and the
//! address.

mod failures;
#[cfg(draft)]
mod second;
#[cfg(test)]
mod tests;
mod told;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use sealwire::{Event, Frame, Message, Monitor, SocketType, embed, signals};

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

/// The form of what is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Number and value in one part, and one address.
    First,
    #[cfg(draft)]
    Second,
}

/// Where events are told.
struct Target {
    socket: sealwire::Socket,
    wanted: u64,
    form: Form,
}

impl Target {
    /// Tells of an event of the engine.
    fn tell_of(&self, event: &Event, dropped: &AtomicU64) {
        for it in told(event) {
            #[cfg(draft)]
            if self.form == Form::Second {
                self.tell_second(&it, &second::Ends::of(event), dropped);
                continue;
            }
            self.tell_first(&it, dropped);
        }
    }

    /// Tells of what the engine has no event for.
    fn tell(&self, told: &Told, dropped: &AtomicU64) {
        match self.form {
            Form::First => self.tell_first(told, dropped),
            #[cfg(draft)]
            Form::Second => {
                let local = told.address.clone();
                let ends = second::Ends {
                    local,
                    ..Default::default()
                };
                self.tell_second(told, &ends, dropped);
            }
        }
    }

    #[cfg(draft)]
    fn wants_queues(&self) -> bool {
        self.form == Form::Second && self.wanted & second::QUEUES != 0
    }

    #[cfg(draft)]
    fn tell_second(&self, told: &Told, ends: &second::Ends, dropped: &AtomicU64) {
        if self.wanted & u64::from(told.number) != 0
            && self.socket.try_send(second::message(told, ends)).is_err()
        {
            dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Events that nobody reads are dropped at the high-water marks, as peers cause any number of them, and counted.
    fn tell_first(&self, told: &Told, dropped: &AtomicU64) {
        let Told {
            number,
            value,
            address,
        } = told;
        if self.wanted & u64::from(*number) == 0 {
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
                target.tell_of(&event, &self.dropped);
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
        wanted: u64,
        form: Form,
        engine: &sealwire::Context,
        socket_type: SocketType,
    ) -> Result<(), Errno> {
        let builder = sealwire::Socket::builder(socket_type)
            .context(engine)
            .linger(Duration::ZERO);
        let socket = builder.build().map_err(|error| errno_of(&error))?;
        socket.bind(endpoint).map_err(|error| errno_of(&error))?;
        let mut target = self.events.target();
        self.events.tell_all(None);
        *target = Some(Target {
            socket,
            wanted,
            form,
        });
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

    /// Whether the program wants to be told how much waits in queues.
    #[cfg(draft)]
    pub(crate) fn wants_queues(&self) -> bool {
        let target = self.events.target();
        target.as_ref().is_some_and(Target::wants_queues)
    }

    /// Tells of what waits for a peer and from it.
    #[cfg(draft)]
    pub(crate) fn tell_queue(&self, queue: &embed::PeerQueue) {
        let target = self.events.target();
        self.events.tell_all(target.as_ref());
        if let Some(target) = target.as_ref().filter(|target| target.wants_queues())
            && target.socket.try_send(second::of_queue(queue)).is_err()
        {
            self.events.dropped.fetch_add(1, Ordering::Relaxed);
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
