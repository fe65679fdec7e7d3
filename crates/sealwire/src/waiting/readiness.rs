//! A descriptor that becomes readable when a socket may have changed, for event loops.
//!
//! The descriptor is a [`Waker`]; it is readable when the owner should check the socket. A thread that
//! changes something writes it after the change is visible, and only if it is not written yet. A thread that
//! checks clears it first. So no change goes unnoticed, and most cost no system call.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::sync::{Arc, PoisonError, Weak};

use sealwire_fork::Birth;

use super::notifier::Notifier;
use super::sync::{AtomicBool, Mutex, MutexGuard, Ordering};

/// A descriptor for `poll(2)`, `epoll(7)`, `kqueue(2)` or the event loop of any language, for one
/// socket or monitor ([`Socket::readiness`](crate::Socket::readiness),
/// [`Monitor::readiness`](crate::Monitor::readiness)). libzmq's `ZMQ_FD`, with fewer traps.
///
/// The descriptor becomes **readable** whenever, since the last [`take`](Readiness::take),
/// something to receive, room to send or the end of the socket may have come, and after each
/// receive that leaves something. It is readable from the start. It is never to be read or written
/// by the caller, and never becomes readable *because* a message can be sent: that would be always.
/// Room to send after there was none is told once half of the queue is free, or the connection takes no more for now.
///
/// How to use it:
///
/// 1. Wait until the descriptor is readable, level- or edge-triggered.
/// 2. Call [`take`](Readiness::take), which makes it unreadable and says what can be done.
/// 3. Do that: receive once or more often with [`try_recv`](crate::Socket::try_recv), or send with
///    [`try_send`](crate::Socket::try_send). Then wait again.
///
/// To send, try first, and wait after [`Error::WouldBlock`](crate::Error::WouldBlock).
/// A message that was announced and left in its queue is not announced again until another comes or one is
/// received: this way a program that wants to send, and not yet to receive, can sleep.
/// [`rearm`](Readiness::rearm) makes the descriptor readable again for those who want to be told once more.
///
/// A wake-up may be spurious. A `Readiness` is for one waiter, as `take` empties it; several waiters
/// make one each. It does not keep the socket open, and outlives it.
///
/// ```
/// use rustix::event::{PollFd, PollFlags, poll};
/// use sealwire::{SocketType, blocking::Socket};
///
/// let (pull, push) = (Socket::new(SocketType::Pull)?, Socket::new(SocketType::Push)?);
/// push.connect(pull.bind("tcp://127.0.0.1:0")?)?;
/// let readiness = pull.readiness()?;
///
/// push.send("work")?;
/// while !readiness.take().receive {
///     poll(&mut [PollFd::new(&readiness, PollFlags::IN)], None)?;
/// }
/// assert_eq!(pull.try_recv()?.as_bytes(), b"work");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Readiness {
    birth: Birth,
    notifier: Arc<Notifier>,
    source: Arc<dyn Pollable>,
}

/// The operations that would not block now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ready {
    /// A receive gives a message, or an error that is news (a lost request).
    pub receive: bool,
    /// A send takes a message. ROUTER, SERVER, PEER and STREAM always say so, as it depends on whom
    /// the message is for; so do PUB, XPUB and RADIO, which drop what a subscriber has no room for.
    pub send: bool,
    /// The socket is closed: every operation fails. A monitor: no more events will be added.
    pub closed: bool,
}

impl Ready {
    /// Nothing, as every operation fails.
    pub(crate) const CLOSED: Ready = Ready {
        receive: false,
        send: false,
        closed: true,
    };
}

/// What a [`Readiness`] looks at.
pub(crate) trait Pollable: Send + Sync {
    fn ready(&self) -> Ready;
}

/// Those who want to know when to look at something.
#[derive(Default)]
pub(crate) struct Pollers {
    any: AtomicBool,
    /// One of them wants to know of each arrival, also where there is something to receive already.
    each_arrival: AtomicBool,
    notifiers: Mutex<Vec<Weak<Notifier>>>,
}

impl Pollers {
    /// To be called after every change, once it can be seen.
    #[inline]
    pub(crate) fn signal(&self) {
        // Changes are made under the lock that a check takes: a check that misses a change took
        // that lock before, and its notifier was there before that.
        if self.any.load(Ordering::Relaxed) {
            self.signal_all();
        }
    }

    #[cold]
    fn signal_all(&self) {
        let mut notifiers = self.lock();
        notifiers.retain(|notifier| match notifier.upgrade() {
            Some(notifier) => {
                notifier.signal();
                true
            }
            None => false,
        });
        if notifiers.is_empty() {
            self.any.store(false, Ordering::Relaxed);
        }
    }

    /// Whether somebody wants to know of each arrival.
    pub(crate) fn want_each_arrival(&self) -> bool {
        self.any.load(Ordering::Relaxed) && self.each_arrival.load(Ordering::Relaxed)
    }

    /// From now on somebody does.
    pub(crate) fn tell_each_arrival(&self) {
        self.each_arrival.store(true, Ordering::Relaxed);
    }

    fn add(&self, notifier: &Arc<Notifier>) {
        let mut notifiers = self.lock();
        notifiers.retain(|other| other.strong_count() > 0);
        notifiers.push(Arc::downgrade(notifier));
        self.any.store(true, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Weak<Notifier>>> {
        self.notifiers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Readiness {
    pub(crate) fn new(pollers: &Pollers, source: Arc<dyn Pollable>) -> io::Result<Self> {
        let notifier = Arc::new(Notifier::new()?);
        pollers.add(&notifier);
        notifier.signal();
        Ok(Readiness {
            birth: Birth::now(),
            notifier,
            source,
        })
    }

    /// Empties the descriptor, then says what can be done now without waiting. Whatever changes
    /// after that makes the descriptor readable again.
    ///
    /// In a child of a fork, which shares the descriptor with its parent, it does not empty it and
    /// says [`closed`](Ready::closed).
    pub fn take(&self) -> Ready {
        if !self.birth.is_here() {
            return Ready::CLOSED;
        }
        self.notifier.clear();
        self.source.ready()
    }

    /// Makes the descriptor readable, whatever has happened. No effect in a child of a fork.
    pub fn rearm(&self) {
        if self.birth.is_here() {
            self.notifier.signal();
        }
    }
}

impl AsFd for Readiness {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.notifier.as_fd()
    }
}

impl AsRawFd for Readiness {
    fn as_raw_fd(&self) -> RawFd {
        self.notifier.as_fd().as_raw_fd()
    }
}

impl fmt::Debug for Readiness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Readiness")
            .field("fd", &self.as_raw_fd())
            .finish()
    }
}
