//! The protection of frames after the handshake, one for each direction. From outside it shows only the
//! [`Shape`] of its frames, and not which mechanism it is.

use alloc::boxed::Box;

use super::handshake::Unprotected;
use super::shape::{NotSealed, SealedFrames, Shape, UnsealedFrame};
use super::{blake3, curve};
use crate::provider::PieceSealer;

/// How the frames of a connection are protected, in both directions.
pub(crate) struct Protection {
    pub(crate) sealer: Sealer,
    pub(crate) opener: Opener,
}

impl From<Unprotected> for Protection {
    fn from(_: Unprotected) -> Self {
        Self {
            sealer: Sealer::PLAIN,
            opener: Opener::PLAIN,
        }
    }
}

impl<S: Into<Sealer>, O: Into<Opener>> From<(S, O)> for Protection {
    fn from((sealer, opener): (S, O)) -> Self {
        Self {
            sealer: sealer.into(),
            opener: opener.into(),
        }
    }
}

/// Protects outgoing frames. It owns its counter and cannot be cloned, so no nonce comes twice.
pub(crate) struct Sealer(Sealing);

enum Sealing {
    Plain,
    Blake3(blake3::Sealer),
    Curve(curve::Sealer),
}

impl Sealer {
    /// Frames go out as they are.
    pub(crate) const PLAIN: Self = Self(Sealing::Plain);

    pub(crate) const fn shape(&self) -> Shape {
        match self.0 {
            Sealing::Plain => Shape::PLAIN,
            Sealing::Blake3(_) => blake3::SHAPE,
            Sealing::Curve(_) => curve::SHAPE,
        }
    }

    /// Number of the next frame in this direction.
    pub(crate) fn next_index(&self) -> u64 {
        match &self.0 {
            Sealing::Plain => 0,
            Sealing::Blake3(sealer) => sealer.next_index(),
            Sealing::Curve(sealer) => sealer.next_index(),
        }
    }

    /// Seals frames of this shape, in order and in batches.
    ///
    /// # Errors
    ///
    /// The first error of `frames`, or [`NotSealed`] if a frame is of another shape or fewer nonces are left than
    /// there are frames, which staging refuses before. Frames before it may still be plain text: none may go out.
    pub(crate) fn seal<'a>(
        &mut self,
        frames: impl Iterator<Item = Result<UnsealedFrame<'a>, NotSealed>>,
    ) -> Result<(), NotSealed> {
        match &mut self.0 {
            Sealing::Plain => Ok(()),
            Sealing::Blake3(sealer) => sealer.seal(frames),
            Sealing::Curve(sealer) => sealer.seal(frames),
        }
    }

    /// Whether a frame can be sealed in pieces, which go out before the rest is sealed. A tag that
    /// stands before what it covers forbids that.
    pub(crate) const fn seals_in_pieces(&self) -> bool {
        matches!(&self.0, Sealing::Blake3(sealer) if sealer.seals_in_pieces())
    }

    /// Begins to seal the next frame in pieces, where the provider can do that. The tag that it
    /// finishes with stands behind the payload.
    pub(crate) fn seal_in_pieces(&mut self, header: &[u8]) -> Option<Box<dyn PieceSealer>> {
        match &mut self.0 {
            Sealing::Blake3(sealer) => sealer.seal_in_pieces(header),
            Sealing::Plain | Sealing::Curve(_) => None,
        }
    }
}

impl From<blake3::Sealer> for Sealer {
    fn from(sealer: blake3::Sealer) -> Self {
        Self(Sealing::Blake3(sealer))
    }
}

impl From<curve::Sealer> for Sealer {
    fn from(sealer: curve::Sealer) -> Self {
        Self(Sealing::Curve(sealer))
    }
}

/// Verifies and opens incoming frames.
pub(crate) struct Opener(Opening);

enum Opening {
    Plain,
    Blake3(blake3::Opener),
    Curve(curve::Opener),
}

impl Opener {
    /// Frames come as they are.
    pub(crate) const PLAIN: Self = Self(Opening::Plain);

    pub(crate) const fn shape(&self) -> Shape {
        match self.0 {
            Opening::Plain => Shape::PLAIN,
            Opening::Blake3(_) => blake3::SHAPE,
            Opening::Curve(_) => curve::SHAPE,
        }
    }

    /// Number of the next frame in this direction.
    pub(crate) fn next_index(&self) -> u64 {
        match &self.0 {
            Opening::Plain => 0,
            Opening::Blake3(opener) => opener.next_index(),
            Opening::Curve(opener) => opener.next_index(),
        }
    }

    /// Whether the first frame may fail because the peer is set to another data phase, of which the
    /// handshake says nothing.
    pub(crate) const fn has_data_phases(&self) -> bool {
        matches!(self.0, Opening::Blake3(_))
    }

    /// Opens frames of this shape in order, at most
    /// [`BATCH_FRAMES`](crate::limits::BATCH_FRAMES) and no more than have numbers, and gives the
    /// number of those that verified before the first that did not; the counter moves by as many.
    pub(crate) fn open<'a>(&mut self, frames: impl SealedFrames<'a>) -> usize {
        match &mut self.0 {
            Opening::Plain => {
                let mut count = 0;
                frames.each(Shape::PLAIN, |_| count += 1);
                count
            }
            Opening::Blake3(opener) => opener.open(frames),
            Opening::Curve(opener) => opener.open(frames),
        }
    }
}

impl From<blake3::Opener> for Opener {
    fn from(opener: blake3::Opener) -> Self {
        Self(Opening::Blake3(opener))
    }
}

impl From<curve::Opener> for Opener {
    fn from(opener: curve::Opener) -> Self {
        Self(Opening::Curve(opener))
    }
}
