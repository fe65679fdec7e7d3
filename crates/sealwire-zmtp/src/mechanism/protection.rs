//! What a mechanism does to frames after the handshake, for each direction.

use super::blake3::{continuous, traffic};
use crate::provider::{OpenJob, SealJob};

/// Bytes of the tag behind each sealed frame.
const TAG: usize = 32;

/// Protects outgoing frames. It owns its counter and cannot be cloned, so no nonce comes twice.
pub(crate) enum Sealer {
    /// Frames go out as they are.
    Plain,
    PerMessage(traffic::Sealer),
    Continuous(continuous::Sealer),
}

impl Sealer {
    /// Bytes that a frame grows by.
    pub(crate) const fn overhead(&self) -> usize {
        match self {
            Self::Plain => 0,
            Self::PerMessage(_) | Self::Continuous(_) => TAG,
        }
    }

    /// Number of the next frame in this direction.
    pub(crate) fn next_index(&self) -> u64 {
        match self {
            Self::Plain => 0,
            Self::PerMessage(sealer) => sealer.next_index(),
            Self::Continuous(sealer) => sealer.next_index(),
        }
    }

    /// Seals frames in order.
    ///
    /// # Panics
    ///
    /// When fewer nonces are left than there are jobs: staging counts ahead and refuses first.
    pub(crate) fn seal(&mut self, jobs: &mut [SealJob<'_>]) {
        match self {
            Self::Plain => unreachable!("plain frames have no overhead and make no jobs"),
            Self::PerMessage(sealer) => sealer.seal(jobs),
            Self::Continuous(sealer) => sealer.seal(jobs),
        }
    }
}

/// Verifies and opens incoming frames.
pub(crate) enum Opener {
    /// Frames come as they are.
    Plain,
    PerMessage(traffic::Opener),
    Continuous(continuous::Opener),
}

impl Opener {
    /// Bytes by which a frame is larger than its payload.
    pub(crate) const fn overhead(&self) -> usize {
        match self {
            Self::Plain => 0,
            Self::PerMessage(_) | Self::Continuous(_) => TAG,
        }
    }

    /// Number of the next frame in this direction, and whether the peer proved who it is.
    pub(crate) fn next_index(&self) -> u64 {
        match self {
            Self::Plain => 0,
            Self::PerMessage(opener) => opener.next_index(),
            Self::Continuous(opener) => opener.next_index(),
        }
    }

    /// Opens frames in order and gives the number of those that verified before the first that
    /// did not; the counter moves by as many. At most `u64::MAX - next_index()` jobs are allowed.
    pub(crate) fn open(&mut self, jobs: &mut [OpenJob<'_>]) -> usize {
        match self {
            Self::Plain => unreachable!("plain frames make no jobs"),
            Self::PerMessage(opener) => opener.open(jobs),
            Self::Continuous(opener) => opener.open(jobs),
        }
    }
}
