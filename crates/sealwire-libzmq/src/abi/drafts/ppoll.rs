//! `zmq_ppoll`.

use std::ptr;
use std::time::Duration;

use libc::{c_int, c_long, sigset_t};

use super::super::guard;
use super::super::polling::{PollItem, limit, polled, tell};
use crate::errno::Errno;
use crate::polling::{Watched, poll_by};

/// As `zmq_poll`. The signals that are held back while it sleeps are those of `signals`, where that is not null.
#[unsafe(no_mangle)]
pub extern "C" fn zmq_ppoll(
    items: *mut PollItem,
    count: c_int,
    timeout: c_long,
    signals: *const sigset_t,
) -> c_int {
    guard::number(|| {
        let mut watched = polled(items, count)?;
        let limit = limit(timeout);
        let sleep = |watched: &[Watched<'_>], left| sleep(watched, left, signals);
        let ready = poll_by(&mut watched, limit, sleep)?;
        if ready == 0 && limit == Some(Duration::ZERO) {
            // Signals that wait are delivered all the same.
            sleep(&[], limit)?;
        }
        tell(items, count, &watched)?;
        Ok(c_int::try_from(ready).unwrap_or(c_int::MAX))
    })
}

/// Sleeps until a descriptor is ready; `false` when the time is over.
#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
fn sleep(
    watched: &[Watched<'_>],
    left: Option<Duration>,
    signals: *const sigset_t,
) -> Result<bool, Errno> {
    use std::os::fd::AsRawFd;

    let mut fds: Vec<libc::pollfd> = watched
        .iter()
        .map(|(fd, flags)| libc::pollfd {
            fd: fd.as_raw_fd(),
            events: flags.bits().cast_signed(),
            revents: 0,
        })
        .collect();
    let left = left.map(|left| libc::timespec {
        tv_sec: left.as_secs().try_into().unwrap_or(libc::time_t::MAX),
        tv_nsec: left.subsec_nanos().into(),
    });
    let left = left.as_ref().map_or(ptr::null(), ptr::from_ref);
    // SAFETY: as many descriptors as there are, which are borrowed; a time limit or null; and the program's set of
    // signals, or null.
    match unsafe { libc::ppoll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, left, signals) } {
        -1 => Err(Errno::of(&std::io::Error::last_os_error())),
        ready => Ok(ready > 0),
    }
}

/// Elsewhere `pselect` is all there is, which has no room for descriptors of higher numbers.
#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
fn sleep(
    watched: &[Watched<'_>],
    left: Option<Duration>,
    signals: *const sigset_t,
) -> Result<bool, Errno> {
    use std::mem::MaybeUninit;
    use std::os::fd::AsRawFd;

    use rustix::event::PollFlags;

    let mut sets: [MaybeUninit<libc::fd_set>; 3] = [MaybeUninit::uninit(); 3];
    for set in &mut sets {
        // SAFETY: it fills the set.
        unsafe { libc::FD_ZERO(set.as_mut_ptr()) };
    }
    let mut most = 0;
    for (fd, flags) in watched {
        let fd = fd.as_raw_fd();
        if usize::try_from(fd).map_or(true, |fd| fd >= libc::FD_SETSIZE) {
            return Err(Errno::INVAL);
        }
        most = most.max(fd + 1);
        for (set, flag) in sets
            .iter_mut()
            .zip([PollFlags::IN, PollFlags::OUT, PollFlags::PRI])
        {
            if flags.contains(flag) {
                // SAFETY: a set that was filled, which has room for this number.
                unsafe { libc::FD_SET(fd, set.as_mut_ptr()) };
            }
        }
    }
    let left = left.map(|left| libc::timespec {
        tv_sec: left.as_secs().try_into().unwrap_or(libc::time_t::MAX),
        tv_nsec: left.subsec_nanos().into(),
    });
    let left = left.as_ref().map_or(ptr::null(), ptr::from_ref);
    let [read, write, other] = &mut sets;
    // SAFETY: three sets that were filled; a time limit or null; the program's set of signals, or null.
    let ready = unsafe {
        libc::pselect(
            most,
            read.as_mut_ptr(),
            write.as_mut_ptr(),
            other.as_mut_ptr(),
            left,
            signals,
        )
    };
    match ready {
        -1 => Err(Errno::of(&std::io::Error::last_os_error())),
        ready => Ok(ready > 0),
    }
}
