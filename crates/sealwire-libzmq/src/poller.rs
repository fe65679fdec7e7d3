//! What a `zmq_poller` waits for: sockets and descriptors, each with what the program wants to know them by.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use crate::errno::Errno;
use crate::polling::{POLLERR, POLLPRI};
use crate::socket::{POLLIN, POLLOUT, Socket};

/// The object of one entry.
#[derive(Clone)]
pub(crate) enum What {
    /// As the program knows it, by the number of its handle. The context of one that is closed may end before the poller.
    Socket {
        handle: usize,
        socket: Weak<Socket>,
    },
    Descriptor(RawFd),
}

impl What {
    pub(crate) fn is_socket(&self, handle: usize) -> bool {
        matches!(self, What::Socket { handle: of, .. } if *of == handle)
    }

    pub(crate) fn is_descriptor(&self, fd: RawFd) -> bool {
        matches!(self, What::Descriptor(of) if *of == fd)
    }

    fn is(&self, other: &What) -> bool {
        match other {
            What::Socket { handle, .. } => self.is_socket(*handle),
            What::Descriptor(fd) => self.is_descriptor(*fd),
        }
    }

    /// The socket that threads may share, if it is one.
    fn shared(&self) -> Option<Arc<Socket>> {
        match self {
            What::Socket { socket, .. } => socket.upgrade().filter(|it| it.is_shared()),
            What::Descriptor(_) => None,
        }
    }
}

#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) what: What,
    /// A pointer of the program's, of which nothing is read.
    pub(crate) user_data: usize,
    pub(crate) events: i16,
}

/// A poller. Threads may change it while others wait, who see that the next time.
#[derive(Default)]
pub(crate) struct Poller {
    entries: Mutex<Vec<Entry>>,
    /// Readable when one of the sockets that threads may share should be looked at.
    descriptor: OnceLock<OwnedFd>,
    had_shared: OnceLock<()>,
}

fn check(events: i16) -> Result<(), Errno> {
    match events & !(POLLIN | POLLOUT | POLLERR | POLLPRI) {
        0 => Ok(()),
        _ => Err(Errno::INVAL),
    }
}

impl Poller {
    fn entries(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn size(&self) -> usize {
        self.entries().len()
    }

    /// # Errors
    ///
    /// `EINVAL` for what is there, and for events that there are not.
    pub(crate) fn add(&self, what: What, user_data: usize, events: i16) -> Result<(), Errno> {
        check(events)?;
        let mut entries = self.entries();
        if entries.iter().any(|entry| entry.what.is(&what)) {
            return Err(Errno::INVAL);
        }
        if let Some(socket) = what.shared() {
            let _ = self.had_shared.set(());
            if let Some(descriptor) = self.descriptor.get() {
                watch(descriptor.as_fd(), &socket)?;
            }
        }
        entries.push(Entry {
            what,
            user_data,
            events,
        });
        Ok(())
    }

    /// Waits for other events of what has this name.
    ///
    /// # Errors
    ///
    /// `EINVAL` for what is not there, and for events that there are not.
    pub(crate) fn modify<N: Copy>(
        &self,
        name: N,
        events: i16,
        is: impl Fn(&What, N) -> bool,
    ) -> Result<(), Errno> {
        check(events)?;
        let mut entries = self.entries();
        let found = entries.iter_mut().find(|entry| is(&entry.what, name));
        found.ok_or(Errno::INVAL)?.events = events;
        Ok(())
    }

    /// # Errors
    ///
    /// `EINVAL` for what is not there.
    pub(crate) fn remove<N: Copy>(
        &self,
        name: N,
        is: impl Fn(&What, N) -> bool,
    ) -> Result<(), Errno> {
        let mut entries = self.entries();
        let found = entries.iter().position(|entry| is(&entry.what, name));
        let removed = entries.remove(found.ok_or(Errno::INVAL)?);
        if let (Some(socket), Some(descriptor)) = (removed.what.shared(), self.descriptor.get()) {
            watch_no_more(descriptor.as_fd(), &socket);
        }
        Ok(())
    }

    /// The entries that wait for any event.
    pub(crate) fn watched(&self) -> Vec<Entry> {
        let entries = self.entries();
        let watched = entries.iter().filter(|entry| entry.events != 0);
        watched.cloned().collect()
    }

    /// A descriptor that becomes readable when one of the sockets that threads may share should be looked at.
    ///
    /// # Errors
    ///
    /// `EINVAL` where there never was such a socket, as in libzmq, and on systems without a descriptor for several;
    /// `EMFILE`.
    pub(crate) fn descriptor(&self) -> Result<BorrowedFd<'_>, Errno> {
        if self.had_shared.get().is_none() {
            return Err(Errno::INVAL);
        }
        let entries = self.entries();
        if self.descriptor.get().is_none() {
            let made = gathering()?;
            for socket in entries.iter().filter_map(|entry| entry.what.shared()) {
                watch(made.as_fd(), &socket)?;
            }
            let _ = self.descriptor.set(made);
        }
        self.descriptor.get().map(AsFd::as_fd).ok_or(Errno::MFILE)
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
mod system {
    use super::*;
    use rustix::event::epoll;

    fn errno(error: rustix::io::Errno) -> Errno {
        Errno(error.raw_os_error())
    }

    pub(super) fn gathering() -> Result<OwnedFd, Errno> {
        epoll::create(epoll::CreateFlags::CLOEXEC).map_err(errno)
    }

    pub(super) fn watch(by: BorrowedFd<'_>, socket: &Socket) -> Result<(), Errno> {
        let readiness = socket.fd()?;
        let data = epoll::EventData::new_u64(0);
        epoll::add(by, readiness.as_fd(), data, epoll::EventFlags::IN).map_err(errno)
    }

    pub(super) fn watch_no_more(by: BorrowedFd<'_>, socket: &Socket) {
        if let Ok(readiness) = socket.readiness() {
            let _ = epoll::delete(by, readiness.as_fd());
        }
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod system {
    use super::*;

    pub(super) fn gathering() -> Result<OwnedFd, Errno> {
        Err(Errno::INVAL)
    }

    pub(super) fn watch(_by: BorrowedFd<'_>, _socket: &Socket) -> Result<(), Errno> {
        Err(Errno::INVAL)
    }

    pub(super) fn watch_no_more(_by: BorrowedFd<'_>, _socket: &Socket) {}
}

use system::{gathering, watch, watch_no_more};
