//! A descriptor that becomes readable to wake the thread that polls it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Instant;

#[cfg(any(target_os = "linux", target_os = "android"))]
use rustix::event::{EventfdFlags, eventfd};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, read, write};

use super::until::Until;
use crate::signals::{self, Slept};

/// An `eventfd(2)`, which takes a third of the time of a pair of sockets; elsewhere such a pair.
///
/// Writing to it is a system call, so it is written only when somebody polls it.
pub(crate) struct Waker {
    polled: OwnedFd,
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    written: OwnedFd,
}

/// What ended a [`Waker::poll`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PollEnd {
    /// The connection is readable, or over.
    Readable,
    Woken,
    TimedOut,
    /// A signal handler ran, and the wait was to end for that.
    Interrupted,
}

impl Waker {
    /// # Errors
    ///
    /// When the process has no descriptors left: it takes one on Linux, two elsewhere.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub(crate) fn new() -> io::Result<Self> {
        let polled = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?;
        Ok(Waker { polled })
    }

    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    pub(crate) fn new() -> io::Result<Self> {
        let (written, polled) = std::os::unix::net::UnixStream::pair()?;
        written.set_nonblocking(true)?;
        polled.set_nonblocking(true)?;
        Ok(Waker {
            polled: polled.into(),
            written: written.into(),
        })
    }

    fn written(&self) -> &OwnedFd {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        return &self.polled;
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        return &self.written;
    }

    /// Makes it readable.
    pub(crate) fn wake(&self) {
        // Full means that it is readable. An eventfd takes eight bytes at a time.
        while write(self.written(), &1_u64.to_ne_bytes()) == Err(Errno::INTR) {}
    }

    /// Makes it unreadable, whatever was written.
    pub(crate) fn clear(&self) {
        let mut bytes = [0; 64];
        loop {
            match read(&self.polled, &mut bytes) {
                // An eventfd gives eight bytes and is empty then.
                Ok(length) if length == bytes.len() => {}
                Err(Errno::INTR) => {}
                _ => return,
            }
        }
    }

    /// As [`poll`](Waker::poll), and until a signal handler ends the wait.
    pub(crate) fn poll_until(&self, connection: &OwnedFd, until: Until<'_>) -> PollEnd {
        let Some(interrupt) = until.interrupt else {
            return self.poll(connection, until.deadline);
        };
        let polled = [connection.as_fd(), self.as_fd()];
        loop {
            let slept = signals::sleep(polled, until.deadline, |ran| interrupt.is_due(ran));
            let [readable, woken] = match slept {
                Slept::Woken(which) => which,
                Slept::TimedOut => return PollEnd::TimedOut,
                Slept::Interrupted => return PollEnd::Interrupted,
            };
            if woken {
                self.clear();
            }
            match (readable, woken) {
                (true, _) => return PollEnd::Readable,
                (false, true) => return PollEnd::Woken,
                // A wait of more than a day.
                (false, false) => {}
            }
        }
    }

    /// Sleeps until `connection` or this is readable, or the deadline; and clears this.
    pub(crate) fn poll(&self, connection: &OwnedFd, deadline: Option<Instant>) -> PollEnd {
        loop {
            let left = deadline.map(|at| at.saturating_duration_since(Instant::now()));
            let left = left.map(|left| Timespec {
                tv_sec: left.as_secs().min(86_400) as i64,
                tv_nsec: left.subsec_nanos().into(),
            });
            let mut polled = [
                PollFd::new(connection, PollFlags::IN),
                PollFd::new(&self.polled, PollFlags::IN),
            ];
            let count = poll(&mut polled, left.as_ref());
            let [readable, woken] = polled.map(|polled| !polled.revents().is_empty());
            if woken {
                self.clear();
            }
            match count {
                Ok(0) if deadline.is_some_and(|at| at <= Instant::now()) => {
                    return PollEnd::TimedOut;
                }
                Ok(_) if readable => return PollEnd::Readable,
                Ok(_) if woken => return PollEnd::Woken,
                // Interrupted, or a wait of more than a day.
                Ok(_) | Err(Errno::INTR) => {}
                Err(_) => return PollEnd::Woken,
            }
        }
    }
}

impl AsFd for Waker {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.polled.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn now() -> Option<Instant> {
        Some(Instant::now())
    }

    #[test]
    fn a_wake_is_seen_once_however_often_it_was_written() {
        let (waker, connection) = (Waker::new().unwrap(), Waker::new().unwrap());
        assert_eq!(waker.poll(&connection.polled, now()), PollEnd::TimedOut);
        for _ in 0..100 {
            waker.wake();
        }
        assert_eq!(waker.poll(&connection.polled, None), PollEnd::Woken);
        assert_eq!(waker.poll(&connection.polled, now()), PollEnd::TimedOut);
    }

    #[test]
    fn the_connection_comes_first() {
        let (waker, connection) = (Waker::new().unwrap(), Waker::new().unwrap());
        waker.wake();
        connection.wake();
        assert_eq!(waker.poll(&connection.polled, None), PollEnd::Readable);
        connection.clear();
        assert_eq!(waker.poll(&connection.polled, now()), PollEnd::TimedOut);
    }

    #[test]
    fn a_sleeping_thread_is_woken() {
        let (waker, connection) = (Waker::new().unwrap(), Waker::new().unwrap());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(5));
                waker.wake();
            });
            assert_eq!(waker.poll(&connection.polled, None), PollEnd::Woken);
        });
    }
}
