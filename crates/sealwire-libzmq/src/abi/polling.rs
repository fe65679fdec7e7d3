//! `zmq_poll`.

use std::os::fd::{BorrowedFd, RawFd};
use std::time::Duration;

use libc::{c_int, c_long, c_short, c_void};

use super::guard;
use super::pointers::objects;
use super::sockets::shared;
use crate::errno::Errno;
use crate::polling::{Item, Source, poll};

/// A `zmq_pollitem_t`.
#[repr(C)]
pub struct PollItem {
    socket: *mut c_void,
    fd: RawFd,
    events: c_short,
    revents: c_short,
}

#[cfg(all(test, draft))]
impl PollItem {
    pub(super) fn of(socket: *mut c_void, events: c_short) -> Self {
        PollItem {
            socket,
            fd: -1,
            events,
            revents: 0,
        }
    }

    pub(super) fn happened(&self) -> c_short {
        self.revents
    }
}

/// A time limit in milliseconds; -1 for none.
pub(super) fn limit(milliseconds: c_long) -> Option<Duration> {
    let limit = u64::try_from(milliseconds).ok();
    limit.map(Duration::from_millis)
}

/// What a program polls, as items.
///
/// # Errors
///
/// `EINVAL`, `EFAULT`, `ENOTSOCK`.
pub(super) fn polled<'a>(items: *mut PollItem, count: c_int) -> Result<Vec<Item<'a>>, Errno> {
    let count = usize::try_from(count).map_err(|_| Errno::INVAL)?;
    let items = objects(items, count)?;
    let mut polled = Vec::with_capacity(count);
    for item in items.iter() {
        let source = if !item.socket.is_null() {
            Source::Socket(shared(item.socket)?)
        } else if item.fd >= 0 {
            // SAFETY: not negative; it is only polled, and the program keeps it open meanwhile.
            Source::Descriptor(unsafe { BorrowedFd::borrow_raw(item.fd) })
        } else {
            Source::Nothing
        };
        polled.push(Item {
            source,
            events: item.events,
            happened: 0,
        });
    }
    Ok(polled)
}

/// Tells a program what has happened.
///
/// # Errors
///
/// Those of [`polled`].
pub(super) fn tell(items: *mut PollItem, count: c_int, polled: &[Item<'_>]) -> Result<(), Errno> {
    let count = usize::try_from(count).map_err(|_| Errno::INVAL)?;
    for (item, polled) in objects(items, count)?.iter_mut().zip(polled) {
        item.revents = polled.happened;
    }
    Ok(())
}

/// `zmq_poll`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_poll(items: *mut PollItem, count: c_int, timeout: c_long) -> c_int {
    guard::number(|| {
        let mut polled = polled(items, count)?;
        let ready = poll(&mut polled, limit(timeout))?;
        tell(items, count, &polled)?;
        Ok(c_int::try_from(ready).unwrap_or(c_int::MAX))
    })
}
