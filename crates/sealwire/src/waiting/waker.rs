//! A descriptor that becomes readable to wake the thread that polls it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::poll::{PollFd, PollFlags};
#[cfg(any(target_os = "linux", target_os = "android"))]
use rustix::event::{EventfdFlags, eventfd};
use rustix::io::{Errno, read, write};

use super::until::Until;
use crate::signals;

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

    /// Sleeps until `connection` or this is readable, or the wait is over; and clears this.
    pub(crate) fn poll(&self, connection: &OwnedFd, until: Until<'_>) -> PollEnd {
        let mut polled =
            [connection.as_fd(), self.as_fd()].map(|fd| PollFd::new(fd, PollFlags::POLLIN));
        let mut is_due = until
            .interrupt
            .map(|interrupt| |handler_ran| interrupt.is_due(handler_ran));
        let interrupted = is_due
            .as_mut()
            .map(|is_due| is_due as &mut dyn FnMut(bool) -> bool);
        let found = signals::poll(&mut polled, until.deadline, interrupted);
        let [readable, woken] = polled.map(|polled| polled.any().unwrap_or(true));
        if woken {
            self.clear();
        }
        match found {
            Ok(None) => PollEnd::Interrupted,
            Ok(Some(0)) => PollEnd::TimedOut,
            Ok(Some(_)) if readable => PollEnd::Readable,
            // An error is want of memory: the descriptors are ours. An attempt is better than sleeping for ever.
            Ok(Some(_)) | Err(_) => PollEnd::Woken,
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
    use std::time::{Duration, Instant};

    const FOR_EVER: Until<'static> = Until {
        deadline: None,
        interrupt: None,
    };

    fn now() -> Until<'static> {
        Until {
            deadline: Some(Instant::now()),
            ..FOR_EVER
        }
    }

    #[test]
    fn a_wake_is_seen_once_however_often_it_was_written() {
        let (waker, connection) = (Waker::new().unwrap(), Waker::new().unwrap());
        assert_eq!(waker.poll(&connection.polled, now()), PollEnd::TimedOut);
        for _ in 0..100 {
            waker.wake();
        }
        assert_eq!(waker.poll(&connection.polled, FOR_EVER), PollEnd::Woken);
        assert_eq!(waker.poll(&connection.polled, now()), PollEnd::TimedOut);
    }

    #[test]
    fn the_connection_comes_first() {
        let (waker, connection) = (Waker::new().unwrap(), Waker::new().unwrap());
        waker.wake();
        connection.wake();
        assert_eq!(waker.poll(&connection.polled, FOR_EVER), PollEnd::Readable);
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
            assert_eq!(waker.poll(&connection.polled, FOR_EVER), PollEnd::Woken);
        });
    }
}
