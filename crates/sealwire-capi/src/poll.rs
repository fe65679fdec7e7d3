//! Waiting for several sockets, monitors and file descriptors.

use std::os::fd::{AsFd as _, BorrowedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use sealwire::waits::{self, Polled};
use sealwire::{Readiness, Ready};
use sealwire_fork::Birth;

use crate::monitor::sealwire_monitor;
use crate::panics::{free, guard};
use crate::pointers::{descriptor, give, items_mut, object, optional_output, output, required};
use crate::socket::sealwire_socket;
use crate::status::{
    Failure, SEALWIRE_ERROR_ARGUMENT, SEALWIRE_ERROR_SYSTEM, here, sealwire_status,
};
use crate::time::Wait;

/// Something can be received, or a descriptor read; of a monitor: an event is there.
pub const SEALWIRE_POLL_IN: u32 = 1;
/// A message can be sent, or a descriptor written.
pub const SEALWIRE_POLL_OUT: u32 = 2;
/// The socket is closed, or nothing more will come from a monitor; of a descriptor: its end or an
/// error. Told whether it was asked for or not.
pub const SEALWIRE_POLL_CLOSED: u32 = 4;

/// What `sealwire_poll` waits for: a socket, or a monitor where `socket` is NULL, or a file
/// descriptor where both are.
#[repr(C)]
pub struct sealwire_poll_item {
    /// A socket, or NULL.
    pub socket: *const sealwire_socket,
    /// A monitor, or NULL.
    pub monitor: *const sealwire_monitor,
    /// A file descriptor; looked at when both of the others are NULL.
    pub fd: i32,
    /// What to wait for: `SEALWIRE_POLL_IN`, `SEALWIRE_POLL_OUT`, or both.
    pub events: u32,
    /// What there is, written by the call.
    pub ready: u32,
}

/// A file descriptor that becomes readable when a socket or a monitor may have something to do, for
/// `poll(2)`, `epoll(7)`, `kqueue(2)` or an event loop. libzmq's `ZMQ_FD`, with fewer traps.
///
/// 1. Wait until the descriptor is readable. It is, from the start, and never to be read or written.
/// 2. Call `sealwire_readiness_take`, which makes it unreadable and says what can be done.
/// 3. Do that once or more often, with `SEALWIRE_NO_WAIT`. Then wait again.
///
/// A receive that leaves something makes it readable again, so one message per wake-up is enough. To
/// send, try first, and wait only after `SEALWIRE_ERROR_WOULD_BLOCK`. A wake-up may be spurious.
///
/// Threads: for one that waits; several make one each. It outlives the socket.
pub struct sealwire_readiness {
    readiness: Readiness,
    birth: Birth,
}

impl sealwire_readiness {
    fn new(readiness: Readiness) -> Self {
        sealwire_readiness {
            readiness,
            birth: Birth::now(),
        }
    }
}

fn system(error: impl ToString) -> Failure {
    Failure::new(SEALWIRE_ERROR_SYSTEM, error.to_string())
}

/// A descriptor for a socket. Free it with `sealwire_readiness_free`.
///
/// Errors: `SEALWIRE_ERROR_SYSTEM` without descriptors (it takes two), `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_readiness_of_socket(
    socket: Option<&sealwire_socket>,
    out: *mut *mut sealwire_readiness,
) -> sealwire_status {
    guard(|| {
        let socket = required(socket, "socket")?;
        let out = output(out, "out")?;
        here(socket.birth)?;
        let readiness = socket.socket.readiness().map_err(system)?;
        out.write(give(sealwire_readiness::new(readiness)));
        Ok(())
    })
}

/// A descriptor for a monitor.
///
/// Errors: as `sealwire_readiness_of_socket`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_readiness_of_monitor(
    monitor: Option<&sealwire_monitor>,
    out: *mut *mut sealwire_readiness,
) -> sealwire_status {
    guard(|| {
        let monitor = required(monitor, "monitor")?;
        let out = output(out, "out")?;
        here(monitor.birth)?;
        let readiness = monitor.monitor.readiness().map_err(system)?;
        out.write(give(sealwire_readiness::new(readiness)));
        Ok(())
    })
}

/// The descriptor, valid until the object is freed, which closes it; -1 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_readiness_fd(readiness: Option<&sealwire_readiness>) -> i32 {
    use std::os::fd::AsRawFd as _;
    readiness.map_or(-1, |readiness| readiness.readiness.as_raw_fd())
}

/// Makes the descriptor unreadable, then says what can be done without waiting: the sum of
/// `SEALWIRE_POLL_IN`, `SEALWIRE_POLL_OUT` and `SEALWIRE_POLL_CLOSED`. What changes after that makes
/// it readable again. 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_readiness_take(readiness: Option<&sealwire_readiness>) -> u32 {
    let take = || readiness.map_or(0, |readiness| bits(readiness.readiness.take()));
    crate::panics::value(0, take)
}

/// Makes the descriptor readable, whatever has happened: for those who want to be told once more of
/// what they left.
///
/// Errors: `SEALWIRE_ERROR_NULL`, `SEALWIRE_ERROR_FORKED`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_readiness_rearm(
    readiness: Option<&sealwire_readiness>,
) -> sealwire_status {
    guard(|| {
        let readiness = required(readiness, "readiness")?;
        here(readiness.birth)?;
        readiness.readiness.rearm();
        Ok(())
    })
}

/// Closes the descriptor and frees the object. NULL is fine.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_readiness_free(readiness: Option<Box<sealwire_readiness>>) {
    free(readiness);
}

fn bits(ready: Ready) -> u32 {
    let bit = |is: bool, bit| if is { bit } else { 0 };
    bit(ready.receive, SEALWIRE_POLL_IN)
        | bit(ready.send, SEALWIRE_POLL_OUT)
        | bit(ready.closed, SEALWIRE_POLL_CLOSED)
}

/// Waits until one of `count` items has what it is asked for, up to `timeout_ms` milliseconds,
/// `SEALWIRE_WAIT` (for ever) or `SEALWIRE_NO_WAIT`, and writes what there is to `ready` of each.
/// `found`, where it is not NULL, gets how many items have something; after the timeout that is 0,
/// which is not an error. libzmq's `zmq_poll`.
///
/// It looks at what there is, not at what has changed: a message that is left where it is ends the
/// next call at once. A signal handler ends it where one of the items is a socket, or a monitor of one, with
/// `SEALWIRE_OPTION_INTERRUPTIBLE`. The same socket may be polled by several threads at once.
///
/// Errors: `SEALWIRE_ERROR_ARGUMENT` for an item without a socket, a monitor and a descriptor, or for
/// unknown `events`; `SEALWIRE_ERROR_INTERRUPTED`, `SEALWIRE_ERROR_SYSTEM`, `SEALWIRE_ERROR_FORKED`, `SEALWIRE_ERROR_NULL`.
#[unsafe(no_mangle)]
pub extern "C" fn sealwire_poll(
    items: *mut sealwire_poll_item,
    count: usize,
    timeout_ms: i64,
    found: *mut usize,
) -> sealwire_status {
    guard(|| {
        let items = items_mut(items, count, "items")?;
        let out = optional_output(found, "found")?;
        let limit = match Wait::from_ms(timeout_ms)? {
            Wait::Default => None,
            Wait::No => Some(Duration::ZERO),
            Wait::For(limit) => Some(limit),
        };
        let watched = items
            .iter()
            .map(Watched::new)
            .collect::<Result<Vec<_>, _>>()?;
        let interruptible = watched.iter().any(|each| each.interruptible);
        let ready = wait(&watched, limit, interruptible)?;
        for (item, &ready) in items.iter_mut().zip(&ready) {
            item.ready = ready;
        }
        if let Some(out) = out {
            out.write(ready.iter().filter(|&&ready| ready != 0).count());
        }
        Ok(())
    })
}

/// One thing to wait for.
struct Watched<'a> {
    target: Target<'a>,
    events: u32,
    /// Whether signal handlers end a wait for it.
    interruptible: bool,
}

enum Target<'a> {
    Library(Borrowed<'a>),
    Descriptor(BorrowedFd<'a>),
}

/// A descriptor that goes back to its socket after the call, to be used by the next one.
struct Borrowed<'a> {
    readiness: Option<Readiness>,
    home: Option<&'a Mutex<Vec<Readiness>>>,
}

/// Descriptors that a socket keeps for further calls.
const KEPT: usize = 4;

fn lock(idle: &Mutex<Vec<Readiness>>) -> MutexGuard<'_, Vec<Readiness>> {
    idle.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Borrowed<'_> {
    fn drop(&mut self) {
        if let (Some(readiness), Some(home)) = (self.readiness.take(), self.home) {
            let mut idle = lock(home);
            if idle.len() < KEPT {
                idle.push(readiness);
            }
        }
    }
}

impl<'a> Watched<'a> {
    fn new(item: &sealwire_poll_item) -> Result<Self, Failure> {
        if item.events & !(SEALWIRE_POLL_IN | SEALWIRE_POLL_OUT) != 0 {
            let text = format!("nobody knows the events {:#x}", item.events);
            return Err(Failure::new(SEALWIRE_ERROR_ARGUMENT, text));
        }
        let mut interruptible = false;
        let target = if let Some(socket) = object::<sealwire_socket>(item.socket) {
            interruptible = socket.interruptible;
            here(socket.birth)?;
            let idle = lock(&socket.idle).pop();
            let readiness = match idle {
                Some(readiness) => readiness,
                None => socket.socket.readiness().map_err(system)?,
            };
            Target::Library(Borrowed {
                readiness: Some(readiness),
                home: Some(&socket.idle),
            })
        } else if let Some(monitor) = object::<sealwire_monitor>(item.monitor) {
            here(monitor.birth)?;
            interruptible = monitor.interruptible;
            Target::Library(Borrowed {
                readiness: Some(monitor.monitor.readiness().map_err(system)?),
                home: None,
            })
        } else {
            Target::Descriptor(descriptor(item.fd, "fd")?)
        };
        Ok(Watched {
            target,
            events: item.events,
            interruptible,
        })
    }

    /// What there is, of things of this library.
    fn ready_events(&self) -> u32 {
        match &self.target {
            Target::Library(Borrowed {
                readiness: Some(readiness),
                ..
            }) => bits(readiness.take()) & (self.events | SEALWIRE_POLL_CLOSED),
            _ => 0,
        }
    }

    fn polled(&self) -> Option<Polled<'_>> {
        let (descriptor, events) = match &self.target {
            Target::Library(borrowed) => (borrowed.readiness.as_ref()?.as_fd(), libc::POLLIN),
            Target::Descriptor(descriptor) => {
                let asked = |event, bit| if self.events & event != 0 { bit } else { 0 };
                let events = asked(SEALWIRE_POLL_IN, libc::POLLIN);
                (
                    *descriptor,
                    events | asked(SEALWIRE_POLL_OUT, libc::POLLOUT),
                )
            }
        };
        Some(Polled {
            descriptor,
            events,
            ready: 0,
        })
    }

    /// What there is, of descriptors.
    fn found(&self, ready: i16) -> Result<u32, Failure> {
        if let Target::Library(_) = self.target {
            return Ok(0);
        }
        if ready & libc::POLLNVAL != 0 {
            let text = "fd is not an open file descriptor";
            return Err(Failure::new(SEALWIRE_ERROR_ARGUMENT, text));
        }
        let bit = |bits, bit| if ready & bits != 0 { bit } else { 0 };
        Ok(bit(libc::POLLIN, SEALWIRE_POLL_IN)
            | bit(libc::POLLOUT, SEALWIRE_POLL_OUT)
            | bit(libc::POLLHUP | libc::POLLERR, SEALWIRE_POLL_CLOSED))
    }
}

fn wait(
    watched: &[Watched<'_>],
    limit: Option<Duration>,
    interruptible: bool,
) -> Result<Vec<u32>, Failure> {
    let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
    let mut handler_ran = |ran| ran;
    loop {
        let mut ready: Vec<u32> = watched.iter().map(Watched::ready_events).collect();
        let now = Instant::now();
        let late = deadline.is_some_and(|deadline| deadline <= now);
        let found = late || ready.iter().any(|&ready| ready != 0);
        let until = if found { Some(now) } else { deadline };
        let mut polled: Vec<_> = watched.iter().filter_map(Watched::polled).collect();
        let interrupted = (interruptible && !found).then_some(&mut handler_ran as _);
        waits::poll(&mut polled, until, interrupted)?;
        for ((ready, watched), polled) in ready.iter_mut().zip(watched).zip(&polled) {
            *ready |= watched.found(polled.ready)?;
        }
        if late || ready.iter().any(|&ready| ready != 0) {
            return Ok(ready);
        }
    }
}
