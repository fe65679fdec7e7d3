//! Waiting for several sockets and descriptors.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};

use crate::errno::Errno;
use crate::socket::Socket;

pub(crate) const POLLERR: i16 = 4;
pub(crate) const POLLPRI: i16 = 8;

/// The object of a wait.
pub(crate) enum Source<'a> {
    Socket(Arc<Socket>),
    Descriptor(BorrowedFd<'a>),
    /// An item that is passed over.
    Nothing,
}

/// One item: what, for which events, and which have come.
pub(crate) struct Item<'a> {
    pub(crate) source: Source<'a>,
    pub(crate) events: i16,
    pub(crate) happened: i16,
}

/// Waits until one of the items is ready, for up to `limit`; `None` for any time. Gives the number of those that
/// are.
///
/// # Errors
///
/// `EINTR` when a signal handler ran while it waited, `ETERM` when the context of a socket ends, `EBADF` and the
/// like.
pub(crate) fn poll(items: &mut [Item<'_>], limit: Option<Duration>) -> Result<usize, Errno> {
    poll_by(items, limit, sleep)
}

/// A descriptor, and what it is watched for.
pub(crate) type Watched<'a> = (BorrowedFd<'a>, PollFlags);

/// The same by a function that sleeps until one of the descriptors is ready; it gives `false` when the time is over.
///
/// # Errors
///
/// Those of [`poll`].
pub(crate) fn poll_by(
    items: &mut [Item<'_>],
    limit: Option<Duration>,
    sleep: impl Fn(&[Watched<'_>], Option<Duration>) -> Result<bool, Errno>,
) -> Result<usize, Errno> {
    let deadline = limit.map(|limit| Instant::now().checked_add(limit));
    // A socket that had no descriptor for it gets one, so that whatever comes from now on is noticed.
    for item in items.iter() {
        if let Source::Socket(socket) = &item.source {
            socket.check_open()?;
            socket.readiness()?;
        }
    }
    loop {
        let ready = check(items)?;
        if ready > 0 || limit == Some(Duration::ZERO) {
            return Ok(ready);
        }
        let left = match deadline {
            Some(Some(deadline)) => Some(deadline.saturating_duration_since(Instant::now())),
            None | Some(None) => None,
        };
        if !sleep(&watched(items)?, left)? {
            return check(items);
        }
    }
}

/// Notes for each item what has happened.
fn check(items: &mut [Item<'_>]) -> Result<usize, Errno> {
    // Descriptors first: one may be that of a socket among the items, which is emptied as the socket is checked.
    for item in items.iter_mut() {
        item.happened = match &item.source {
            Source::Descriptor(fd) => events_of(*fd, item.events)?,
            Source::Socket(_) | Source::Nothing => 0,
        };
    }
    for item in items.iter_mut() {
        if let Source::Socket(socket) = &item.source {
            socket.check_open()?;
            item.happened = socket.events() & item.events;
        }
    }
    Ok(items.iter().filter(|item| item.happened != 0).count())
}

fn flags(events: i16) -> PollFlags {
    let mut flags = PollFlags::empty();
    flags.set(PollFlags::IN, events & crate::socket::POLLIN != 0);
    flags.set(PollFlags::OUT, events & crate::socket::POLLOUT != 0);
    flags.set(PollFlags::PRI, events & POLLPRI != 0);
    flags
}

fn happened(flags: PollFlags, events: i16) -> i16 {
    let mut happened = 0;
    for (flag, event) in [
        (PollFlags::IN, crate::socket::POLLIN),
        (PollFlags::OUT, crate::socket::POLLOUT),
        (PollFlags::PRI, POLLPRI),
    ] {
        if flags.contains(flag) && events & event != 0 {
            happened |= event;
        }
    }
    if flags.intersects(PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL) {
        happened |= POLLERR;
    }
    happened
}

fn events_of(fd: BorrowedFd<'_>, events: i16) -> Result<i16, Errno> {
    let mut fds = [PollFd::from_borrowed_fd(fd, flags(events))];
    let none = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    match rustix::event::poll(&mut fds, Some(&none)) {
        Ok(_) => Ok(happened(fds[0].revents(), events)),
        Err(rustix::io::Errno::INTR) => Ok(0),
        Err(error) => Err(Errno(error.raw_os_error())),
    }
}

/// The descriptors of items, each for what it is watched for.
fn watched<'a>(items: &'a [Item<'_>]) -> Result<Vec<Watched<'a>>, Errno> {
    let mut watched = Vec::with_capacity(items.len());
    for item in items {
        match &item.source {
            Source::Socket(socket) => watched.push((socket.readiness()?.as_fd(), PollFlags::IN)),
            Source::Descriptor(fd) => watched.push((*fd, flags(item.events))),
            Source::Nothing => {}
        }
    }
    Ok(watched)
}

fn sleep(watched: &[Watched<'_>], left: Option<Duration>) -> Result<bool, Errno> {
    let fds = watched.iter();
    let mut fds: Vec<_> = fds
        .map(|(fd, flags)| PollFd::from_borrowed_fd(*fd, *flags))
        .collect();
    let left = left.and_then(|left| Timespec::try_from(left).ok());
    match rustix::event::poll(&mut fds, left.as_ref()) {
        Ok(ready) => Ok(ready > 0),
        Err(error) => Err(Errno(error.raw_os_error())),
    }
}

#[cfg(test)]
mod tests {
    use sealwire::SocketType;

    use super::*;
    use crate::context::Context;
    use crate::socket::POLLIN;

    fn item(source: Source<'_>) -> Item<'_> {
        Item {
            source,
            events: POLLIN,
            happened: 0,
        }
    }

    #[test]
    fn a_descriptor_is_checked_before_the_socket_that_empties_it() {
        let context = Context::without_rules();
        let pull = context.open_briefly(SocketType::Pull);
        // Readable from the start, until the socket is checked.
        let fd = pull.readiness().unwrap().as_fd();
        let mut items = [
            item(Source::Socket(Arc::clone(&pull))),
            item(Source::Descriptor(fd)),
        ];
        assert_eq!(poll(&mut items, Some(Duration::ZERO)), Ok(1));
        assert_eq!(items.each_ref().map(|item| item.happened), [0, POLLIN]);
        assert_eq!(poll(&mut items, Some(Duration::ZERO)), Ok(0));
        assert_eq!(items.each_ref().map(|item| item.happened), [0, 0]);
    }
}
