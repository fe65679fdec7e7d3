//! The limit of a file's size (`ulimit -f`): writing beyond it is an error, which is told and cleaned up
//! after, and not the signal that would end the program on the spot.

#[cfg(unix)]
mod unix {
    use nix::sys::signal::{SigSet, Signal};

    fn signals() -> SigSet {
        Signal::SIGXFSZ.into()
    }

    /// Writing beyond the limit is an error from here on, on this thread and those it starts.
    pub(crate) fn tell_of_its_limit() {
        // Refused, the program is ended as any other is.
        let _ = signals().thread_block();
    }

    /// Runs what starts another program, for which the signal is what it always was.
    pub(crate) fn with_its_signal<T>(start: impl FnOnce() -> T) -> T {
        let _ = signals().thread_unblock();
        let started = start();
        let _ = signals().thread_block();
        started
    }
}

#[cfg(unix)]
pub(crate) use unix::{tell_of_its_limit, with_its_signal};

#[cfg(not(unix))]
pub(crate) fn tell_of_its_limit() {}

#[cfg(not(unix))]
pub(crate) fn with_its_signal<T>(start: impl FnOnce() -> T) -> T {
    start()
}
