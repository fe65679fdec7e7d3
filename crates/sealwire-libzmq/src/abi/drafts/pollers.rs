//! `zmq_poller_*`.

use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::sync::Arc;

use libc::{c_int, c_long, c_short, c_void};

use super::super::guard;
use super::super::handles::{Handles, Using};
use super::super::pointers::{object, objects};
use super::super::polling::limit;
use super::super::sockets::{shared, socket};
use crate::errno::Errno;
use crate::poller::{Entry, Poller, What};
use crate::polling::{Item, Source, poll};

static POLLERS: Handles<Poller> = Handles::of_kind(3);

/// A `zmq_poller_event_t`.
#[repr(C)]
pub struct PollerEvent {
    pub(super) socket: *mut c_void,
    pub(super) fd: RawFd,
    pub(super) user_data: *mut c_void,
    pub(super) events: c_short,
}

impl PollerEvent {
    const NONE: Self = PollerEvent {
        socket: std::ptr::null_mut(),
        fd: -1,
        user_data: std::ptr::null_mut(),
        events: 0,
    };

    fn of(entry: &Entry, events: c_short) -> Self {
        let (socket, fd) = match &entry.what {
            What::Socket { handle, .. } => (*handle, -1),
            What::Descriptor(fd) => (0, *fd),
        };
        PollerEvent {
            socket: std::ptr::with_exposed_provenance_mut(socket),
            fd,
            user_data: std::ptr::with_exposed_provenance_mut(entry.user_data),
            events,
        }
    }
}

fn poller(handle: *mut c_void) -> Result<Using<Poller>, Errno> {
    POLLERS.get(handle).ok_or(Errno::FAULT)
}

/// One that can be waited for.
fn descriptor(fd: RawFd) -> Result<RawFd, Errno> {
    match fd {
        0.. => Ok(fd),
        _ => Err(Errno(libc::EBADF)),
    }
}

/// `zmq_poller_new`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_poller_new() -> *mut c_void {
    guard::value(std::ptr::null_mut(), || {
        Ok(POLLERS.open(Arc::new(Poller::default())))
    })
}

/// `zmq_poller_destroy`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_poller_destroy(handle: *mut *mut c_void) -> c_int {
    guard::status(|| {
        let handle = object(handle)?;
        POLLERS.close(*handle).ok_or(Errno::FAULT)?;
        *handle = std::ptr::null_mut();
        Ok(())
    })
}

/// `zmq_poller_size`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_poller_size(handle: *mut c_void) -> c_int {
    guard::number(|| {
        let size = poller(handle)?.size();
        Ok(c_int::try_from(size).unwrap_or(c_int::MAX))
    })
}

/// `zmq_poller_add`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_poller_add(
    handle: *mut c_void,
    of: *mut c_void,
    user_data: *mut c_void,
    events: c_short,
) -> c_int {
    guard::status(|| {
        let poller = poller(handle)?;
        let what = What::Socket {
            handle: of.expose_provenance(),
            socket: Arc::downgrade(&shared(of)?),
        };
        poller.add(what, user_data.expose_provenance(), events)
    })
}

/// `zmq_poller_modify`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_poller_modify(
    handle: *mut c_void,
    of: *mut c_void,
    events: c_short,
) -> c_int {
    guard::status(|| {
        let poller = poller(handle)?;
        socket(of)?;
        poller.modify(of.addr(), events, What::is_socket)
    })
}

/// `zmq_poller_remove`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_poller_remove(handle: *mut c_void, of: *mut c_void) -> c_int {
    guard::status(|| {
        let poller = poller(handle)?;
        socket(of)?;
        poller.remove(of.addr(), What::is_socket)
    })
}

/// `zmq_poller_add_fd`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_poller_add_fd(
    handle: *mut c_void,
    fd: RawFd,
    user_data: *mut c_void,
    events: c_short,
) -> c_int {
    guard::status(|| {
        let poller = poller(handle)?;
        let what = What::Descriptor(descriptor(fd)?);
        poller.add(what, user_data.expose_provenance(), events)
    })
}

/// `zmq_poller_modify_fd`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_poller_modify_fd(handle: *mut c_void, fd: RawFd, events: c_short) -> c_int {
    guard::status(|| {
        let poller = poller(handle)?;
        poller.modify(descriptor(fd)?, events, What::is_descriptor)
    })
}

/// `zmq_poller_remove_fd`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_poller_remove_fd(handle: *mut c_void, fd: RawFd) -> c_int {
    guard::status(|| poller(handle)?.remove(descriptor(fd)?, What::is_descriptor))
}

/// `zmq_poller_wait`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_poller_wait(
    handle: *mut c_void,
    event: *mut PollerEvent,
    timeout: c_long,
) -> c_int {
    guard::status(|| {
        let waited = wait(handle, event, 1, timeout);
        if waited.is_err()
            && let Ok(event) = object(event)
        {
            *event = PollerEvent::NONE;
        }
        waited.map(|_| ())
    })
}

/// `zmq_poller_wait_all`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_poller_wait_all(
    handle: *mut c_void,
    events: *mut PollerEvent,
    count: c_int,
    timeout: c_long,
) -> c_int {
    guard::number(|| {
        let found = wait(handle, events, count, timeout)?;
        Ok(c_int::try_from(found).unwrap_or(c_int::MAX))
    })
}

/// The number of events that it has written, at least one.
fn wait(
    handle: *mut c_void,
    events: *mut PollerEvent,
    count: c_int,
    timeout: c_long,
) -> Result<usize, Errno> {
    let poller = poller(handle)?;
    if events.is_null() {
        return Err(Errno::FAULT);
    }
    let count = usize::try_from(count).map_err(|_| Errno::INVAL)?;
    let places = objects(events, count)?;
    let limit = limit(timeout);
    // Without room nothing can be told, so nothing is waited for.
    let entries = match count {
        0 => Vec::new(),
        _ => poller.watched(),
    };
    if entries.is_empty() && limit.is_none() {
        return Err(Errno::FAULT);
    }
    let mut items = Vec::with_capacity(entries.len());
    for entry in &entries {
        let source = match &entry.what {
            What::Socket { socket, .. } => Source::Socket(socket.upgrade().ok_or(Errno::NOTSOCK)?),
            // SAFETY: not negative; it is only polled, and the program keeps it open meanwhile.
            What::Descriptor(fd) => Source::Descriptor(unsafe { BorrowedFd::borrow_raw(*fd) }),
        };
        items.push(Item {
            source,
            events: entry.events,
            happened: 0,
        });
    }
    if poll(&mut items, limit)? == 0 {
        return Err(Errno::AGAIN);
    }
    let happened = entries.iter().zip(&items);
    let happened = happened.filter(|(_, item)| item.happened != 0);
    let mut found = 0;
    for (place, (entry, item)) in places.iter_mut().zip(happened) {
        *place = PollerEvent::of(entry, item.happened);
        found += 1;
    }
    places[found..].fill_with(|| PollerEvent::NONE);
    Ok(found)
}

/// `zmq_poller_fd`.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_poller_fd(handle: *mut c_void, fd: *mut RawFd) -> c_int {
    guard::status(|| {
        let poller = poller(handle)?;
        let place = object(fd)?;
        *place = poller.descriptor()?.as_raw_fd();
        Ok(())
    })
}
