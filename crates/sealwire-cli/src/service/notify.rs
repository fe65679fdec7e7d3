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
    use std::sync::{Mutex, MutexGuard, PoisonError};
    use std::thread;
    use std::time::Duration;

    use sd_notify::NotifyState;

    use crate::exit::Failure;
    use crate::threads;
    use crate::untrusted::printable;

    /// Time beyond that to finish, for the last lines.
    const MARGIN: Duration = Duration::from_secs(5);

    static FIRST_PEER: Mutex<FirstPeer> = Mutex::new(FirstPeer::Unknown);

    /// The peer that a command waits for before it is ready. It may be there before the command waits.
    enum FirstPeer {
        Unknown,
        Awaited,
        /// It is there, and was not waited for yet.
        Here,
        /// The command was ready, or stops.
        Over,
    }

    impl FirstPeer {
        /// Waits for it. Whether that makes the command ready.
        fn wait(&mut self) -> bool {
            self.become_ready(matches!(self, FirstPeer::Here), FirstPeer::Awaited)
        }

        /// It is there. Whether that makes the command ready.
        fn come(&mut self) -> bool {
            self.become_ready(matches!(self, FirstPeer::Awaited), FirstPeer::Here)
        }

        fn become_ready(&mut self, is_ready: bool, otherwise: FirstPeer) -> bool {
            if is_ready {
                *self = FirstPeer::Over;
            } else if !matches!(self, FirstPeer::Over) {
                *self = otherwise;
            }
            is_ready
        }
    }

    fn first_peer() -> MutexGuard<'static, FirstPeer> {
        FIRST_PEER.lock().unwrap_or_else(PoisonError::into_inner)
    }

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
        tell(&[NotifyState::Status(&printable(status))]);
        let is_there = first_peer().wait();
        if is_there {
            ready("connected");
        }
    }

    /// A peer is there.
    pub(crate) fn connected() {
        let was_awaited = first_peer().come();
        if was_awaited {
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
        *first_peer() = FirstPeer::Over;
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

    #[cfg(test)]
    mod tests {
        use super::FirstPeer;

        #[test]
        fn a_peer_makes_ready_once_whenever_it_comes() {
            let mut comes_later = FirstPeer::Unknown;
            assert!(!comes_later.wait());
            assert!(comes_later.come());
            let mut was_there = FirstPeer::Unknown;
            assert!(!was_there.come());
            assert!(!was_there.come(), "another one");
            assert!(was_there.wait());
            for mut ready in [comes_later, was_there] {
                assert!(!ready.come() && !ready.wait() && !ready.come());
            }
        }

        #[test]
        fn a_command_that_stops_is_ready_no_more() {
            let mut peer = FirstPeer::Over;
            assert!(!peer.wait() && !peer.come() && !peer.wait());
        }
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
