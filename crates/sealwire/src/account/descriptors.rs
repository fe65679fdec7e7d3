//! File descriptors: how many of them connections may take, and how to go on when none is left.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Taken for the limit where the system has none.
const NO_LIMIT: usize = usize::MAX;

/// Accepted connections of this process, and those of them whose handshake is not done.
static CONNECTIONS: AtomicUsize = AtomicUsize::new(0);
static HANDSHAKES: AtomicUsize = AtomicUsize::new(0);

/// The soft limit of file descriptors (`RLIMIT_NOFILE`), and what of it is for connections.
///
/// The limit is the process's, so all listeners share one count: see [`Place`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DescriptorLimit(usize);

impl DescriptorLimit {
    /// The limit as it is now.
    pub fn current() -> Self {
        #[cfg(unix)]
        let soft = rustix::process::getrlimit(rustix::process::Resource::Nofile)
            .current
            .and_then(|limit| usize::try_from(limit).ok());
        #[cfg(not(unix))]
        let soft = None;
        DescriptorLimit(soft.unwrap_or(NO_LIMIT))
    }

    /// Returns how many connections listeners may accept: three quarters of the limit. The last quarter is
    /// for files, for connections that this process makes, and for whatever else it opens.
    pub fn connections(self) -> usize {
        (self.0 - self.0 / 4).max(1)
    }

    /// Returns how many of them may be in their handshake: a quarter of the limit.
    pub fn handshakes(self) -> usize {
        (self.0 / 4).max(1)
    }

    /// Takes a place for a connection that was accepted. `None` when all are taken.
    pub fn place(self) -> Option<Place> {
        let most = self.connections();
        let another = |taken: usize| (taken < most).then_some(taken + 1);
        CONNECTIONS
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, another)
            .ok()?;
        HANDSHAKES.fetch_add(1, Ordering::Relaxed);
        Some(Place { handshaking: true })
    }

    /// Returns whether more connections are in their handshake than may be.
    pub fn has_too_many_handshakes(self) -> bool {
        HANDSHAKES.load(Ordering::Relaxed) > self.handshakes()
    }
}

/// A place among the accepted connections of this process, free again when it is dropped.
#[derive(Debug)]
pub struct Place {
    handshaking: bool,
}

impl Place {
    /// Counts the handshake as done.
    pub fn became_ready(&mut self) {
        if std::mem::take(&mut self.handshaking) {
            HANDSHAKES.fetch_sub(1, Ordering::Relaxed);
        }
    }

    #[cfg(test)]
    pub(crate) fn is_handshaking(&self) -> bool {
        self.handshaking
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.became_ready();
        CONNECTIONS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Returns whether the system refused because descriptors or its memory have run out (`EMFILE`, `ENFILE`,
/// `ENOMEM`, `ENOBUFS`). Closing a connection helps then; trying again at once does not.
pub fn is_exhaustion(error: &io::Error) -> bool {
    #[cfg(unix)]
    {
        use rustix::io::Errno;
        let exhausted = [Errno::MFILE, Errno::NFILE, Errno::NOMEM, Errno::NOBUFS];
        exhausted
            .iter()
            .any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
    }
    #[cfg(not(unix))]
    {
        error.kind() == io::ErrorKind::OutOfMemory
    }
}

/// Returns whether accepting failed because of the connection that waited, which is gone, or was interrupted:
/// the next one may be accepted at once. Linux reports faults of a connection as faults of accepting it.
pub fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{
        ConnectionAborted, ConnectionReset, HostUnreachable, Interrupted, NetworkDown,
        NetworkUnreachable,
    };
    matches!(
        error.kind(),
        ConnectionAborted
            | ConnectionReset
            | HostUnreachable
            | Interrupted
            | NetworkDown
            | NetworkUnreachable
    )
}

/// One descriptor in reserve. When none is left it makes room for accepting a connection that is
/// then closed, so that a full backlog does not make a listener spin.
#[derive(Debug)]
pub struct SpareDescriptor {
    held: Option<File>,
}

impl SpareDescriptor {
    /// Takes the descriptor.
    pub fn new() -> Self {
        SpareDescriptor { held: open() }
    }

    /// Gives the descriptor up for as long as it takes to accept a connection and to close it, and
    /// returns whose it was.
    ///
    /// # Errors
    ///
    /// What `accept` says. It fails as before when another thread was faster to take the
    /// descriptor: then wait a while.
    pub fn refuse<S, A>(&mut self, accept: impl FnOnce() -> io::Result<(S, A)>) -> io::Result<A> {
        self.held = None;
        let address = accept().map(|(stream, address)| {
            drop(stream);
            address
        });
        self.held = open();
        address
    }
}

impl Default for SpareDescriptor {
    fn default() -> Self {
        Self::new()
    }
}

/// A file that is always there. Without one, the next call tries again.
fn open() -> Option<File> {
    let path = if cfg!(windows) { "NUL" } else { "/dev/null" };
    File::open(path).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_is_left_for_all_else() {
        let limit = DescriptorLimit(1_024);
        assert_eq!((limit.connections(), limit.handshakes()), (768, 256));
        let tiny = DescriptorLimit(3);
        assert_eq!((tiny.connections(), tiny.handshakes()), (3, 1));
        assert!(DescriptorLimit(NO_LIMIT).connections() > 1 << 30);
    }

    #[test]
    fn only_what_closing_helps_is_exhaustion() {
        #[cfg(unix)]
        for (errno, exhausted) in [
            (rustix::io::Errno::MFILE, true),
            (rustix::io::Errno::NFILE, true),
            (rustix::io::Errno::NOMEM, true),
            (rustix::io::Errno::NOBUFS, true),
            (rustix::io::Errno::CONNABORTED, false),
            (rustix::io::Errno::INTR, false),
        ] {
            assert_eq!(is_exhaustion(&errno.into()), exhausted, "{errno}");
        }
    }
}
