//! What a service manager is told (`sd_notify(3)`): that the command is ready, that it stops, and as long as
//! its threads answer that it is alive. Programs that it starts are not told how.

/// The variables of the protocol, which are for this process alone.
pub(crate) const VARIABLES: [&str; 3] = ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"];

#[cfg(target_os = "linux")]
pub(crate) use self::systemd::{
    awaiting_connection, connected, ready, reloaded, reloading, stopping, watch,
};

#[cfg(target_os = "linux")]
mod systemd {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;
    use std::time::Duration;

    use sd_notify::NotifyState;

    use crate::exit::Failure;
    use crate::threads;
    use crate::untrusted::printable;

    /// Time beyond that to finish, for the last lines.
    const MARGIN: Duration = Duration::from_secs(5);

    /// It is ready once a peer is there.
    static AWAITS_CONNECTION: AtomicBool = AtomicBool::new(false);

    fn tell(states: &[NotifyState<'_>]) {
        // A service manager that does not hear it has its own time limits.
        let _ = sd_notify::notify(states);
    }

    /// It listens, or there is nothing that it could wait for.
    pub(crate) fn ready(status: &str) {
        tell(&[NotifyState::Ready, NotifyState::Status(&printable(status))]);
    }

    /// It only connects: it is ready as soon as [`connected`] says that a peer is there.
    pub(crate) fn awaiting_connection(status: &str) {
        AWAITS_CONNECTION.store(true, Ordering::SeqCst);
        tell(&[NotifyState::Status(&printable(status))]);
    }

    /// A peer is there.
    pub(crate) fn connected() {
        if AWAITS_CONNECTION.swap(false, Ordering::SeqCst) {
            ready("connected");
        }
    }

    /// It reads files again.
    pub(crate) fn reloading() {
        if let Ok(now) = NotifyState::monotonic_usec_now() {
            tell(&[NotifyState::Reloading, now]);
        }
    }

    /// It has read them, and goes on.
    pub(crate) fn reloaded() {
        tell(&[NotifyState::Ready]);
    }

    /// It was told to stop, and finishes within this time.
    pub(crate) fn stopping(grace: Duration) {
        AWAITS_CONNECTION.store(false, Ordering::SeqCst);
        let longest = grace.saturating_add(MARGIN).as_micros();
        tell(&[
            NotifyState::Stopping,
            NotifyState::Status("finishing what was accepted"),
            NotifyState::ExtendTimeoutUsec(u32::try_from(longest).unwrap_or(u32::MAX)),
        ]);
    }

    /// Tells that it is alive, twice in the time that the service manager allows, if it allows one: each time once
    /// `answers` has returned `true`, which it may wait for.
    pub(crate) fn watch(
        start: impl FnOnce() -> Result<Box<dyn FnMut() -> bool + Send>, Failure>,
    ) -> Result<(), Failure> {
        let Some(limit) = sd_notify::watchdog_enabled() else {
            return Ok(());
        };
        let mut answers = start()?;
        threads::spawn(move || {
            while answers() {
                tell(&[NotifyState::Watchdog]);
                thread::sleep(limit / 2);
            }
        })
        .map(drop)
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) use self::nobody::{
    awaiting_connection, connected, ready, reloaded, reloading, stopping, watch,
};

/// Systems without such a service manager.
#[cfg(not(target_os = "linux"))]
mod nobody {
    use std::time::Duration;

    use crate::exit::Failure;

    pub(crate) fn ready(_: &str) {}

    pub(crate) fn awaiting_connection(_: &str) {}

    pub(crate) fn connected() {}

    pub(crate) fn reloading() {}

    pub(crate) fn reloaded() {}

    pub(crate) fn stopping(_: Duration) {}

    pub(crate) fn watch(
        _: impl FnOnce() -> Result<Box<dyn FnMut() -> bool + Send>, Failure>,
    ) -> Result<(), Failure> {
        Ok(())
    }
}
