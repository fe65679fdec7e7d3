//! The lifecycle of a socket, and what it left undone.
//!
//! ```text
//!   Open ── close ──▶ Closing ── nothing works for it any more ──▶ Closed
//!    │                   │                                           │
//!    │ the context's thread has ended by a fault                     │
//!    ├───────────────────┘                                           │
//!    ▼                                                               ▼
//!   Failing ── at once, or with the last that works for it ───────▶ Failed
//! ```

use std::time::Duration;

use crate::error::Error;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Open,
    /// No more operations; what is queued may still go out.
    Closing,
    Closed,
    /// Whatever works for it is being ended.
    Failing,
    Failed,
}

/// What closing changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Closing {
    Begun,
    /// It was closing, and has less time now.
    Shortened,
    /// It was closed before, or has failed.
    Unchanged,
}

pub(super) struct Lifecycle {
    phase: Phase,
    /// How long closing may wait for what is unsent.
    linger: Duration,
    /// Messages that were lost while the socket was closing.
    unsent: usize,
    /// Messages that nobody had read when the socket ended.
    unread: usize,
    /// Where the socket is being drained, or was: connections that went without their peer's end.
    cut_off: Option<usize>,
}

impl Lifecycle {
    pub(super) fn new(linger: Duration) -> Self {
        Lifecycle {
            phase: Phase::Open,
            linger,
            unsent: 0,
            unread: 0,
            cut_off: None,
        }
    }

    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.phase == Phase::Open
    }

    /// Whether operations may go on, else why not.
    #[inline]
    pub(super) fn open(&self) -> Result<(), Error> {
        match self.phase {
            Phase::Open => Ok(()),
            Phase::Closing | Phase::Closed => Err(Error::Closed),
            Phase::Failing | Phase::Failed => Err(Error::EngineFailed),
        }
    }

    /// Whether one more peer is of use, where messages `wait` for one or not.
    pub(super) fn welcomes_peers(&self, wait: bool) -> bool {
        match self.phase {
            Phase::Open => true,
            Phase::Closing => wait,
            Phase::Closed | Phase::Failing | Phase::Failed => false,
        }
    }

    pub(super) fn has_ended(&self) -> bool {
        matches!(self.phase, Phase::Closed | Phase::Failed)
    }

    /// Whether the context's thread has ended by a fault.
    pub(super) fn has_failed(&self) -> bool {
        matches!(self.phase, Phase::Failing | Phase::Failed)
    }

    /// With this linger time, or that of its options. Where it is closing already, a shorter time takes
    /// the place of the longer one.
    pub(super) fn close(&mut self, linger: Option<Duration>) -> Closing {
        match (self.phase, linger) {
            (Phase::Open, linger) => {
                self.phase = Phase::Closing;
                self.linger = linger.unwrap_or(self.linger);
                Closing::Begun
            }
            (Phase::Closing, Some(linger)) if linger < self.linger => {
                self.linger = linger;
                Closing::Shortened
            }
            _ => Closing::Unchanged,
        }
    }

    /// Changes the linger time of a socket that is open.
    pub(super) fn set_linger(&mut self, linger: Duration) {
        self.linger = linger;
    }

    pub(super) fn linger(&self) -> Duration {
        self.linger
    }

    /// Takes no more endpoints. `false` where that was so before.
    pub(super) fn drain(&mut self) -> Result<bool, Error> {
        self.open()?;
        let begins = !self.is_draining();
        self.cut_off.get_or_insert(0);
        Ok(begins)
    }

    pub(super) fn is_draining(&self) -> bool {
        self.cut_off.is_some()
    }

    /// A connection that was drained went without its peer's end.
    pub(super) fn note_cut_off(&mut self) {
        if let Some(cut_off) = &mut self.cut_off {
            *cut_off += 1;
        }
    }

    /// Fails where the socket is being drained.
    pub(super) fn takes_endpoints(&self) -> Result<(), Error> {
        match self.cut_off {
            Some(cut_off) => Err(Error::Drained { cut_off }),
            None => Ok(()),
        }
    }

    /// Whatever ends from now on ends for that.
    pub(super) fn note_failure(&mut self) {
        self.phase = match self.has_ended() {
            true => Phase::Failed,
            false => Phase::Failing,
        };
    }

    /// Ends at once.
    pub(super) fn fail(&mut self) {
        self.phase = Phase::Failed;
    }

    /// Nothing works for it now: ends if it is on its way to its end, and says whether it did.
    pub(super) fn end(&mut self) -> bool {
        self.phase = match self.phase {
            Phase::Closing => Phase::Closed,
            Phase::Failing => Phase::Failed,
            Phase::Open | Phase::Closed | Phase::Failed => return false,
        };
        true
    }

    pub(super) fn count_unsent(&mut self, messages: usize) {
        self.unsent += messages;
    }

    pub(super) fn unsent(&self) -> usize {
        self.unsent
    }

    pub(super) fn count_unread(&mut self, messages: usize) {
        self.unread += messages;
    }

    pub(super) fn unread(&self) -> usize {
        self.unread
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINGER: Duration = Duration::from_secs(5);

    #[test]
    fn it_ends_once_when_nothing_works_for_it_and_not_before_it_is_closed() {
        let mut life = Lifecycle::new(LINGER);
        assert!(!life.end());
        assert!(life.is_open() && life.open().is_ok());
        assert_eq!(life.close(None), Closing::Begun);
        assert_eq!(life.close(None), Closing::Unchanged);
        assert!(matches!(life.open(), Err(Error::Closed)));
        assert!(!life.has_ended());
        assert!(life.end());
        assert!(life.has_ended() && !life.has_failed());
        assert!(!life.end());
        assert!(matches!(life.open(), Err(Error::Closed)));
    }

    #[test]
    fn a_closing_socket_welcomes_peers_for_what_waits() {
        let mut life = Lifecycle::new(LINGER);
        assert!(life.welcomes_peers(false));
        life.close(None);
        assert!(life.welcomes_peers(true) && !life.welcomes_peers(false));
        life.end();
        assert!(!life.welcomes_peers(true));
    }

    #[test]
    fn a_socket_is_drained_once_and_takes_no_more_endpoints_then() {
        let mut life = Lifecycle::new(LINGER);
        assert!(life.takes_endpoints().is_ok() && !life.is_draining());
        assert!(life.drain().unwrap());
        life.note_cut_off();
        assert!(!life.drain().unwrap());
        // Those whose handshake is under way.
        assert!(life.is_open() && life.welcomes_peers(false));
        let drained = life.takes_endpoints();
        assert!(matches!(drained, Err(Error::Drained { cut_off: 1 })));
        assert_eq!(life.close(None), Closing::Begun);
        assert!(matches!(life.drain(), Err(Error::Closed)));
    }

    #[test]
    fn the_linger_time_of_closing_goes_first_and_may_only_become_shorter_then() {
        let second = Duration::from_secs(1);
        let mut life = Lifecycle::new(LINGER);
        assert_eq!(life.close(None), Closing::Begun);
        assert_eq!(life.linger(), LINGER);
        for (linger, becomes) in [
            (Some(LINGER), Closing::Unchanged),
            (Some(second), Closing::Shortened),
            (Some(LINGER), Closing::Unchanged),
            (None, Closing::Unchanged),
        ] {
            assert_eq!(life.close(linger), becomes);
        }
        assert_eq!(life.linger(), second);

        let mut life = Lifecycle::new(second);
        assert_eq!(life.close(Some(LINGER)), Closing::Begun);
        assert_eq!(life.linger(), LINGER);
    }

    /// From each phase before: a fault is the reason for all that follows.
    #[test]
    fn after_a_fault_it_ends_for_that() {
        for (closed, ended) in [(false, false), (true, false), (true, true)] {
            let mut life = Lifecycle::new(LINGER);
            if closed {
                assert_eq!(life.close(None), Closing::Begun);
            }
            assert_eq!(ended && life.end(), ended);
            life.note_failure();
            assert!(life.has_failed());
            assert_eq!(life.has_ended(), ended);
            assert!(matches!(life.open(), Err(Error::EngineFailed)));
            assert_eq!(life.close(Some(Duration::ZERO)), Closing::Unchanged);
            assert!(!life.welcomes_peers(true));
            assert_eq!(life.end(), !ended);
            assert!(life.has_failed() && life.has_ended());
        }
    }
}
