//! Waiting for something to receive: any number of waiters for a signal, or one thread that polls
//! its peer's connection itself.
//!
//! A hand-over from the I/O thread to a waiting thread costs more than the message. So a thread
//! that blocks on a socket with one peer leases that peer's connection: it polls, reads, opens and
//! delivers on its own, while the I/O thread keeps to the clock and to what is written. Everything
//! else that may happen meanwhile (another peer, a closing socket) wakes it through a descriptor
//! beside the connection's.
//!
//! As soon as a second thread or an async task waits on the same socket, all of them wait for the
//! signal, for good.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use super::SocketCore;
use crate::pattern::DirectReader;
use crate::transport::Polled;
use crate::waiting::{Listening, Signal, Spinning};

/// Who is told that there is something to receive.
#[derive(Default)]
pub(crate) struct Readable {
    pub(super) signal: Signal,
    direct: Direct,
}

#[derive(Default)]
struct Direct {
    /// A thread reads its peer directly.
    taken: AtomicBool,
    /// That thread polls, or is about to.
    parked: AtomicBool,
    /// There are other waiters.
    refused: AtomicBool,
    /// Some connection may be leased.
    used: AtomicBool,
    spinning: Spinning,
    waker: waker::Waker,
}

impl Readable {
    /// Tells up to `count` waiters.
    pub(crate) fn notify(&self, count: usize) {
        self.signal.notify(count);
        self.wake_direct_reader();
    }

    /// Tells up to `count` waiters that were not told yet, so that whoever takes one of several
    /// messages need not tell of the others.
    pub(crate) fn notify_more(&self, count: usize) {
        self.signal.notify_more(count);
        self.wake_direct_reader();
    }

    /// Whether anybody waits for something to receive.
    pub(crate) fn is_waited_for(&self) -> bool {
        self.direct.parked.load(Ordering::SeqCst) || self.signal.waiters() > 0
    }

    pub(crate) fn wake_direct_reader(&self) {
        if self.direct.parked.load(Ordering::SeqCst)
            && self.direct.parked.swap(false, Ordering::SeqCst)
        {
            self.direct.waker.wake();
        }
    }
}

impl SocketCore {
    /// Starts to wait for the signal beside others. From now on nobody reads directly.
    pub(crate) fn share_readable(&self) -> Listening {
        self.end_direct_reading();
        Listening::to(&self.readable.signal)
    }

    /// From now on nobody reads directly: all wait for the signal.
    pub(crate) fn end_direct_reading(&self) {
        let direct = &self.readable.direct;
        direct.refused.store(true, Ordering::SeqCst);
        if direct.used.load(Ordering::SeqCst) {
            self.readable.wake_direct_reader();
        }
        self.end_lease();
    }

    /// Gives the reading back to the engine, which then learns at once what has arrived. While
    /// nobody waits, the end of a leased connection goes unnoticed for some milliseconds; when
    /// another peer comes that is too long, as messages would go to the one that is gone.
    pub(crate) fn end_lease(&self) {
        if self.readable.direct.used.swap(false, Ordering::SeqCst)
            && let Some(reader) = self.sole_link().and_then(|link| link.direct_reader())
        {
            reader.end_lease();
        }
    }

    /// Reads what a leased connection holds, for those who do not want to wait.
    pub(crate) fn read_leased(&self) {
        if self.readable.direct.used.load(Ordering::Relaxed)
            && let Some(reader) = self.sole_link().and_then(|link| link.direct_reader())
        {
            reader.read_if_free();
        }
    }

    /// Takes the place of the thread that reads directly, if that can be and is free.
    pub(super) fn read_directly(&self) -> Option<Reading<'_>> {
        let direct = &self.readable.direct;
        if direct.refused.load(Ordering::SeqCst) {
            return None;
        }
        if direct.taken.swap(true, Ordering::SeqCst) {
            direct.refused.store(true, Ordering::SeqCst);
            self.readable.wake_direct_reader();
            return None;
        }
        let mut reading = Reading {
            core: self,
            reader: None,
            polled: None,
            more: false,
            over: false,
        };
        if !direct.waker.prepare() {
            return None;
        }
        let reader = self.sole_link()?.direct_reader()?;
        reading.polled = Some(reader.enter()?);
        reading.reader = Some(reader);
        direct.used.store(true, Ordering::SeqCst);
        // Someone who began to wait a moment ago did not see that yet.
        (!direct.refused.load(Ordering::SeqCst)).then_some(reading)
    }
}

impl SocketCore {
    /// Waits for bytes or a signal: looks again and again for a moment if that has paid lately,
    /// then sleeps.
    fn poll_or_spin(&self, polled: &Polled, deadline: Option<Instant>) -> waker::Polled {
        let direct = &self.readable.direct;
        let limit = self.options().spin;
        if limit.is_zero() {
            return direct.waker.poll(polled, deadline);
        }
        let began = Instant::now();
        if direct.spinning.pays() {
            let end = began + limit;
            let end = deadline.map_or(end, |deadline| end.min(deadline));
            loop {
                let found = direct.waker.poll(polled, Some(began));
                let late = Instant::now() >= end;
                if late {
                    direct.spinning.failed();
                }
                if !matches!(found, waker::Polled::TimedOut) {
                    if !late {
                        direct.spinning.paid();
                    }
                    return found;
                }
                if late {
                    break;
                }
                // Whoever is to send may need this core for it.
                thread::yield_now();
            }
        }
        let found = direct.waker.poll(polled, deadline);
        direct.spinning.slept(began.elapsed(), limit);
        found
    }
}

/// What became of the waiting.
pub(super) enum Waited {
    /// There may be something to receive.
    Retry,
    TimedOut,
    /// Reading directly is over.
    Over,
}

/// A thread that reads its only peer directly.
pub(super) struct Reading<'a> {
    core: &'a SocketCore,
    reader: Option<Arc<dyn DirectReader>>,
    polled: Option<Polled>,
    /// More can be read without polling first.
    more: bool,
    /// Reading directly has come to an end.
    over: bool,
}

impl Reading<'_> {
    /// From now on a signal ends the waiting. To be called before looking for a message.
    pub(super) fn park(&self) {
        self.core
            .readable
            .direct
            .parked
            .store(true, Ordering::SeqCst);
    }

    /// Waits for bytes or a signal and reads.
    pub(super) fn wait(&mut self, deadline: Option<Instant>) -> Waited {
        let waited = self.wait_once(deadline);
        self.over = matches!(waited, Waited::Over);
        waited
    }

    fn wait_once(&mut self, deadline: Option<Instant>) -> Waited {
        let direct = &self.core.readable.direct;
        let (Some(reader), Some(polled)) = (&self.reader, &self.polled) else {
            return Waited::Over;
        };
        if direct.refused.load(Ordering::SeqCst) {
            return Waited::Over;
        }
        let readable = if self.more {
            waker::Polled::Readable
        } else {
            self.core.poll_or_spin(polled, deadline)
        };
        direct.parked.store(false, Ordering::SeqCst);
        match readable {
            waker::Polled::Readable => match reader.read() {
                Some(more) => {
                    self.more = more;
                    Waited::Retry
                }
                None => Waited::Over,
            },
            waker::Polled::Woken => match self.core.sole_link() {
                Some(_) => Waited::Retry,
                None => Waited::Over,
            },
            waker::Polled::TimedOut => Waited::TimedOut,
        }
    }
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        let direct = &self.core.readable.direct;
        direct.parked.store(false, Ordering::SeqCst);
        direct.taken.store(false, Ordering::SeqCst);
        if let Some(reader) = &self.reader {
            reader.leave();
            if self.over || direct.refused.load(Ordering::SeqCst) {
                reader.end_lease();
            }
        }
    }
}

#[cfg(unix)]
mod waker {
    //! A descriptor that becomes readable when the polling thread has to look up.

    use std::io::{ErrorKind, Read as _, Write as _};
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;
    use std::sync::OnceLock;
    use std::time::Instant;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    pub(super) enum Polled {
        Readable,
        Woken,
        TimedOut,
    }

    #[derive(Default)]
    pub(super) struct Waker {
        /// The end to write to and the end to poll; `None` when there are no descriptors to be had.
        ends: OnceLock<Option<(UnixStream, UnixStream)>>,
    }

    impl Waker {
        /// `false` when it cannot be used.
        pub(super) fn prepare(&self) -> bool {
            let make = || {
                let (write, read) = UnixStream::pair().ok()?;
                write.set_nonblocking(true).ok()?;
                read.set_nonblocking(true).ok()?;
                Some((write, read))
            };
            self.ends.get_or_init(make).is_some()
        }

        pub(super) fn wake(&self) {
            if let Some(Some((write, _))) = self.ends.get() {
                // Full means that enough is in it to wake.
                while let Err(error) = (&*write).write(&[1])
                    && error.kind() == ErrorKind::Interrupted
                {}
            }
        }

        pub(super) fn poll(&self, connection: &OwnedFd, deadline: Option<Instant>) -> Polled {
            let Some(Some((_, wakes))) = self.ends.get() else {
                return Polled::Woken;
            };
            loop {
                let left = deadline.map(|at| at.saturating_duration_since(Instant::now()));
                let left = left.map(|left| Timespec {
                    tv_sec: left.as_secs().min(86_400) as i64,
                    tv_nsec: left.subsec_nanos().into(),
                });
                let mut polled = [
                    PollFd::new(connection, PollFlags::IN),
                    PollFd::new(wakes, PollFlags::IN),
                ];
                let count = poll(&mut polled, left.as_ref());
                let [connection, wake] = polled.map(|polled| !polled.revents().is_empty());
                if wake {
                    let _ = (&*wakes).read(&mut [0; 16]);
                }
                match count {
                    Ok(0) if deadline.is_some_and(|at| at <= Instant::now()) => {
                        return Polled::TimedOut;
                    }
                    Ok(_) if connection => return Polled::Readable,
                    Ok(_) if wake => return Polled::Woken,
                    // Interrupted, or a wait of more than a day.
                    Ok(_) | Err(rustix::io::Errno::INTR) => {}
                    Err(_) => return Polled::Woken,
                }
            }
        }
    }
}

#[cfg(not(unix))]
mod waker {
    //! Without descriptors to poll nobody reads directly.

    use std::convert::Infallible;
    use std::time::Instant;

    pub(super) enum Polled {
        Readable,
        Woken,
        TimedOut,
    }

    #[derive(Default)]
    pub(super) struct Waker;

    impl Waker {
        pub(super) fn prepare(&self) -> bool {
            false
        }

        pub(super) fn wake(&self) {}

        pub(super) fn poll(&self, connection: &Infallible, _: Option<Instant>) -> Polled {
            match *connection {}
        }
    }
}
