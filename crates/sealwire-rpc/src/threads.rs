//! Threads that this library works on. A pool's are the program's: they run nothing but its functions.

use std::io;
use std::thread;

use sealwire::signals::held_back;

/// Starts one, which takes no signals: a handler that ran there would end no wait of the program's.
///
/// # Errors
///
/// When the system gives none.
pub(crate) fn start(name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<()> {
    held_back(|| thread::Builder::new().name(name.into()).spawn(run)).map(drop)
}
