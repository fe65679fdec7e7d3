//! Lines on standard error.
//!
//! It belongs to the program. So a thread of its own writes there: it waits where nobody reads, and a broken pipe raises
//! `SIGPIPE` on it, which it holds back until it ends.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};

use tracing::dispatcher;

use crate::limits::MAX_LISTS_ON_STANDARD_ERROR;
use crate::signals;
use crate::text::printable;

/// Says that a list of keys or passwords stays as it was, if there is no log: who was taken off it is let in still. Never
/// waits. The first lines of the process only.
pub(crate) fn tell_of_list(line: &str) {
    static LINES: AtomicUsize = AtomicUsize::new(0);
    if !dispatcher::has_been_set()
        && LINES.fetch_add(1, Ordering::Relaxed) < MAX_LISTS_ON_STANDARD_ERROR
    {
        drop(print(format!("sealwire: {}\n", printable(line))));
    }
}

/// Where no thread can be started the line is lost.
pub(crate) fn print(line: String) -> io::Result<JoinHandle<()>> {
    signals::held_back(|| {
        thread::Builder::new()
            .name("sealwire-stderr".into())
            .spawn(move || write(line.as_bytes()))
    })
}

/// Waits where nobody reads, and takes no lock, which a child of `fork` would find taken.
#[cfg(unix)]
pub(crate) fn write(mut line: &[u8]) {
    let to = io::stderr();
    if !takes_text(&to) {
        return;
    }
    while let Ok(written @ 1..) = rustix::io::write(&to, line) {
        line = &line[written..];
    }
}

#[cfg(not(unix))]
pub(crate) fn write(line: &[u8]) {
    use io::Write as _;
    let _ = io::stderr().write_all(line);
}

/// Where a program has closed standard error, another descriptor has its number: a connection, for example.
#[cfg(unix)]
fn takes_text(to: &io::Stderr) -> bool {
    use rustix::fs::{FileType, fstat};
    use rustix::net::{AddressFamily, getsockname};

    let kind = fstat(to).map(|found| FileType::from_raw_mode(found.st_mode));
    match kind {
        Ok(FileType::CharacterDevice | FileType::Fifo | FileType::RegularFile) => true,
        // Of a service manager.
        Ok(FileType::Socket) => {
            getsockname(to).is_ok_and(|name| name.address_family() == AddressFamily::UNIX)
        }
        _ => false,
    }
}
