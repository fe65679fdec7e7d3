//! `zmq_poll`.

use std::os::fd::{BorrowedFd, RawFd};
use std::time::Duration;

use libc::{c_int, c_long, c_short, c_void};

use super::guard;
use super::pointers::objects;
use super::sockets::socket;
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

/// A time limit in milliseconds; -1 for none.
pub(super) fn limit(milliseconds: c_long) -> Option<Duration> {
    let limit = u64::try_from(milliseconds).ok();
    limit.map(Duration::from_millis)
}

/// `zmq_poll`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_poll(items: *mut PollItem, count: c_int, timeout: c_long) -> c_int {
    guard::number(|| {
        let count = usize::try_from(count).map_err(|_| Errno::INVAL)?;
        let items = objects(items, count)?;
        let mut polled = Vec::with_capacity(count);
        for item in items.iter() {
            let source = if !item.socket.is_null() {
                Source::Socket(socket(item.socket)?)
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
        let ready = poll(&mut polled, limit(timeout))?;
        for (item, polled) in items.iter_mut().zip(&polled) {
            item.revents = polled.happened;
        }
        Ok(c_int::try_from(ready).unwrap_or(c_int::MAX))
    })
}
