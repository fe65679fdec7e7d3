//! What a mechanism does to frames after the handshake, for each direction.

use alloc::boxed::Box;

use sealwire_aead::TAG_SIZE;

use super::blake3::{continuous, traffic};
use super::curve;
use crate::provider::{OpenJob, PieceSealer, SealJob};

/// Protects outgoing frames. It owns its counter and cannot be cloned, so no nonce comes twice.
pub(crate) enum Sealer {
    /// Frames go out as they are.
    Plain,
    PerMessage(traffic::Sealer),
    Continuous(continuous::Sealer),
    /// Frames are wrapped, not only followed by a tag.
    Curve(curve::traffic::Sealer),
}

impl Sealer {
    /// Bytes that a frame grows by.
    pub(crate) const fn overhead(&self) -> usize {
        match self {
            Self::Plain => 0,
            Self::PerMessage(_) | Self::Continuous(_) => TAG_SIZE,
            Self::Curve(_) => curve::traffic::OVERHEAD,
        }
    }

    /// Number of the next frame in this direction.
    pub(crate) fn next_index(&self) -> u64 {
        match self {
            Self::Plain => 0,
            Self::PerMessage(sealer) => sealer.next_index(),
            Self::Continuous(sealer) => sealer.next_index(),
            Self::Curve(sealer) => sealer.next_index(),
        }
    }

    /// Seals frames that get a tag behind them, in order.
    ///
    /// # Panics
    ///
    /// When fewer nonces are left than there are jobs: staging counts ahead and refuses first.
    pub(crate) fn seal(&mut self, jobs: &mut [SealJob<'_>]) {
        match self {
            Self::Plain => unreachable!("plain frames have no overhead and make no jobs"),
            Self::Curve(_) => unreachable!("CURVE's frames are wrapped and make no such jobs"),
            Self::PerMessage(sealer) => sealer.seal(jobs),
            Self::Continuous(sealer) => sealer.seal(jobs),
        }
    }

    /// Begins to seal the next frame in pieces, where that can be done. CURVE's tag stands before
    /// what it covers, so there it cannot.
    pub(crate) fn seal_in_pieces(&mut self, aad: &[u8]) -> Option<Box<dyn PieceSealer>> {
        match self {
            Self::PerMessage(sealer) => sealer.seal_in_pieces(aad),
            Self::Plain | Self::Continuous(_) | Self::Curve(_) => None,
        }
    }
}

/// Verifies and opens incoming frames.
pub(crate) enum Opener {
    /// Frames come as they are.
    Plain,
    PerMessage(traffic::Opener),
    Continuous(continuous::Opener),
    /// Frames are wrapped, not only followed by a tag.
    Curve(curve::traffic::Opener),
}

impl Opener {
    /// Bytes by which a frame is larger than its payload.
    pub(crate) const fn overhead(&self) -> usize {
        self.before_payload() + self.behind_payload()
    }

    /// Bytes between a frame's header and its payload.
    pub(crate) const fn before_payload(&self) -> usize {
        match self {
            Self::Curve(_) => curve::traffic::OVERHEAD,
            Self::Plain | Self::PerMessage(_) | Self::Continuous(_) => 0,
        }
    }

    /// Bytes behind a frame's payload.
    pub(crate) const fn behind_payload(&self) -> usize {
        match self {
            Self::PerMessage(_) | Self::Continuous(_) => TAG_SIZE,
            Self::Plain | Self::Curve(_) => 0,
        }
    }

    /// Number of the next frame in this direction, and whether the peer proved who it is.
    pub(crate) fn next_index(&self) -> u64 {
        match self {
            Self::Plain => 0,
            Self::PerMessage(opener) => opener.next_index(),
            Self::Continuous(opener) => opener.next_index(),
            Self::Curve(opener) => opener.next_index(),
        }
    }

    /// Opens frames with a tag behind them in order and gives the number of those that verified before the first that
    /// did not; the counter moves by as many. At most `u64::MAX - next_index()` jobs are allowed.
    pub(crate) fn open(&mut self, jobs: &mut [OpenJob<'_>]) -> usize {
        match self {
            Self::Plain => unreachable!("plain frames make no jobs"),
            Self::Curve(_) => unreachable!("CURVE's frames are wrapped and make no such jobs"),
            Self::PerMessage(opener) => opener.open(jobs),
            Self::Continuous(opener) => opener.open(jobs),
        }
    }
}
