//! What a mechanism does to frames after the handshake, for each direction: three shapes.

use sealwire_aead::TAG_SIZE;

use super::{blake3, curve};

/// Protects outgoing frames. It owns its counter and cannot be cloned, so no nonce comes twice.
pub(crate) enum Sealer {
    /// Frames go out as they are.
    Plain,
    /// A payload is encrypted where it lies, and a tag follows it. The header is authenticated.
    Tagged(blake3::Sealer),
    /// Payload and flags are encrypted, with a nonce and a tag before them.
    Wrapped(curve::traffic::Sealer),
}

impl Sealer {
    /// Bytes that a frame grows by.
    pub(crate) const fn overhead(&self) -> usize {
        match self {
            Self::Plain => 0,
            Self::Tagged(_) => TAG_SIZE,
            Self::Wrapped(_) => curve::traffic::OVERHEAD,
        }
    }

    /// Number of the next frame in this direction.
    pub(crate) fn next_index(&self) -> u64 {
        match self {
            Self::Plain => 0,
            Self::Tagged(sealer) => sealer.next_index(),
            Self::Wrapped(sealer) => sealer.next_index(),
        }
    }

    /// Whether a frame can be sealed in pieces, which go out before the rest is sealed. A tag that
    /// stands before what it covers forbids that.
    pub(crate) const fn seals_in_pieces(&self) -> bool {
        matches!(self, Self::Tagged(sealer) if sealer.seals_in_pieces())
    }
}

/// Verifies and opens incoming frames.
pub(crate) enum Opener {
    /// Frames come as they are.
    Plain,
    /// See [`Sealer::Tagged`].
    Tagged(blake3::Opener),
    /// See [`Sealer::Wrapped`].
    Wrapped(curve::traffic::Opener),
}

impl Opener {
    /// Whether frames are verified.
    pub(crate) const fn verifies(&self) -> bool {
        !matches!(self, Self::Plain)
    }

    /// Bytes behind a frame's payload.
    pub(crate) const fn behind_payload(&self) -> usize {
        match self {
            Self::Tagged(_) => TAG_SIZE,
            Self::Plain | Self::Wrapped(_) => 0,
        }
    }
}
