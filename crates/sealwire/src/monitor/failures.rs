//! How often connections failed, by cause, and the last ones.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;

use super::lock;
use crate::failure::{ConnectionFailure, FailureCause};
use crate::limits::RECENT_FAILURES;

const CAUSES: usize = FailureCause::NAMES.len();

/// How often connections failed: one number for each cause, before the handshake was completed and after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failures {
    before: [u64; CAUSES],
    after: [u64; CAUSES],
}

impl Default for Failures {
    fn default() -> Self {
        Failures {
            before: [0; CAUSES],
            after: [0; CAUSES],
        }
    }
}

impl Failures {
    pub(crate) fn note(&mut self, failure: &ConnectionFailure) {
        let name = failure.cause().name();
        let counts = match failure.was_ready() {
            true => &mut self.after,
            false => &mut self.before,
        };
        if let Some(cause) = FailureCause::NAMES.iter().position(|it| *it == name) {
            counts[cause] += 1;
        }
    }

    /// With those of somebody else.
    pub(crate) fn add(&mut self, other: &Failures) {
        let ours = self.before.iter_mut().chain(&mut self.after);
        let theirs = other.before.iter().chain(&other.after);
        ours.zip(theirs).for_each(|(ours, theirs)| *ours += theirs);
    }

    /// Returns each cause, by its [name](FailureCause::name), with the number of attempts and handshakes that failed for
    /// it. Those that were given up because the socket closed are not among them.
    pub fn before_ready(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        FailureCause::NAMES.into_iter().zip(self.before)
    }

    /// Returns each cause with the number of connections that broke for it after their handshake.
    pub fn after_ready(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        FailureCause::NAMES.into_iter().zip(self.after)
    }

    /// Returns the number of failures of all causes.
    pub fn total(&self) -> u64 {
        self.before.iter().chain(&self.after).sum()
    }
}

/// One of the [last](RECENT_FAILURES) connections of a socket that failed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RecentFailure {
    /// How long ago.
    pub ago: Duration,
    /// Where it led, and why it failed.
    pub failure: ConnectionFailure,
}

/// The last ones, the oldest first, each with its time by the clock of the context.
#[derive(Default)]
pub(super) struct LiveRecent(Mutex<VecDeque<(Duration, ConnectionFailure)>>);

impl LiveRecent {
    pub(super) fn note(&self, now: Duration, failure: ConnectionFailure) {
        let mut recent = lock(&self.0);
        if recent.len() == RECENT_FAILURES {
            recent.pop_front();
        }
        recent.push_back((now, failure));
    }

    pub(super) fn snapshot(&self, now: Duration) -> Vec<RecentFailure> {
        let recent = lock(&self.0);
        let all = recent.iter().map(|(at, failure)| RecentFailure {
            ago: now.saturating_sub(*at),
            failure: failure.clone(),
        });
        all.collect()
    }
}

/// Those of a socket, while they are counted.
#[derive(Default)]
pub(super) struct LiveFailures(Mutex<Failures>);

impl LiveFailures {
    pub(super) fn note(&self, failure: &ConnectionFailure) {
        lock(&self.0).note(failure);
    }

    pub(super) fn snapshot(&self) -> Failures {
        *lock(&self.0)
    }
}
