//! From the end of the handshake to the keys of both directions.
//!
//! Source: wire reference, sections 5 and 6. Everything is derived from `h4 || dh2`.

use alloc::boxed::Box;

use arrayvec::ArrayVec;
use sealwire_aead::TAG_SIZE;
use zeroize::Zeroizing;

use super::transcript::Transcript;
use super::{continuous, traffic};
use crate::limits::BATCH_FRAMES;
use crate::mechanism::{DataPhase, NotSealed, SealedFrames, Shape, UnsealedFrame};
use crate::provider::{OpenJob, PieceSealer, Provider, SealJob, SharedSecret};

/// A tag follows each payload, which is encrypted where it lies. The header is authenticated.
pub(crate) const SHAPE: Shape = Shape::tagged(TAG_SIZE);

/// Seals frames, each with a tag behind its payload.
pub(crate) enum Sealer {
    PerMessage(traffic::Sealer),
    Continuous(continuous::Sealer),
}

impl Sealer {
    /// Number of the next frame.
    pub(crate) fn next_index(&self) -> u64 {
        match self {
            Self::PerMessage(sealer) => sealer.next_index(),
            Self::Continuous(sealer) => sealer.next_index(),
        }
    }

    /// Seals frames in order, a batch at a time.
    ///
    /// # Errors
    ///
    /// [`NotSealed`] if a frame is not one, or the first error of `frames`.
    pub(crate) fn seal<'a>(
        &mut self,
        mut frames: impl Iterator<Item = Result<UnsealedFrame<'a>, NotSealed>>,
    ) -> Result<(), NotSealed> {
        loop {
            let mut jobs = ArrayVec::<SealJob<'_>, BATCH_FRAMES>::new();
            while !jobs.is_full()
                && let Some(frame) = frames.next()
            {
                let frame = frame?;
                jobs.push(SealJob {
                    nonce: [0; 24],
                    aad: frame.header,
                    buffer: frame.body,
                    tag: frame.behind.try_into().map_err(|_| NotSealed)?,
                });
            }
            if jobs.is_empty() {
                return Ok(());
            }
            match self {
                Self::PerMessage(sealer) => sealer.seal(&mut jobs)?,
                Self::Continuous(sealer) => sealer.seal(&mut jobs)?,
            }
        }
    }

    pub(crate) const fn seals_in_pieces(&self) -> bool {
        matches!(self, Self::PerMessage(_))
    }

    /// Begins to seal the next frame in pieces, where the provider can do that.
    pub(crate) fn seal_in_pieces(&mut self, aad: &[u8]) -> Option<Box<dyn PieceSealer>> {
        match self {
            Self::PerMessage(sealer) => sealer.seal_in_pieces(aad),
            Self::Continuous(_) => None,
        }
    }
}

/// Opens frames, each with a tag behind its payload.
pub(crate) enum Opener {
    PerMessage(traffic::Opener),
    Continuous(continuous::Opener),
}

impl Opener {
    /// Number of the next frame, and whether the peer proved who it is.
    pub(crate) fn next_index(&self) -> u64 {
        match self {
            Self::PerMessage(opener) => opener.next_index(),
            Self::Continuous(opener) => opener.next_index(),
        }
    }

    /// Opens up to a batch of frames in order and gives the number of those that verified before the first
    /// that did not; the counter moves by as many. At most `u64::MAX - next_index()` frames are allowed.
    pub(crate) fn open<'a>(&mut self, frames: impl SealedFrames<'a>) -> usize {
        let mut jobs = ArrayVec::<OpenJob<'_>, BATCH_FRAMES>::new();
        let mut whole = true;
        frames.each(SHAPE, |frame| match frame.behind.try_into() {
            Ok(tag) if whole => {
                jobs.push(OpenJob::new([0; 24], frame.header, frame.body, tag));
            }
            // One without a whole tag is one that cannot verify, and none behind it counts.
            _ => whole = false,
        });
        if jobs.is_empty() {
            return 0;
        }
        match self {
            Self::PerMessage(opener) => opener.open(&mut jobs),
            Self::Continuous(opener) => opener.open(&mut jobs),
        }
    }
}

/// Which side of the handshake this one was.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(super) enum Side {
    Client,
    Server,
}

/// The protection of both directions: what this side sends, what it receives.
pub(super) fn derive(
    provider: &dyn Provider,
    phase: DataPhase,
    side: Side,
    h4: &Transcript,
    dh2: &SharedSecret,
) -> (Sealer, Opener) {
    let material = [&h4.as_bytes()[..], dh2.as_bytes()];
    let (out, back) = match side {
        Side::Client => (&CLIENT_TO_SERVER, &SERVER_TO_CLIENT),
        Side::Server => (&SERVER_TO_CLIENT, &CLIENT_TO_SERVER),
    };
    match phase {
        DataPhase::PerMessageNonces => {
            let cipher = |direction: &Direction| {
                let key = expand::<32>(provider, direction.key, &material);
                let nonce = expand::<24>(provider, direction.nonce, &material);
                (provider.cipher(&key), *nonce)
            };
            let (sealer, sealer_nonce) = cipher(out);
            let (opener, opener_nonce) = cipher(back);
            (
                Sealer::PerMessage(traffic::Sealer::new(sealer, sealer_nonce)),
                Opener::PerMessage(traffic::Opener::new(opener, opener_nonce)),
            )
        }
        DataPhase::ContinuousKeystreamUnauthenticatedOrder => {
            let cipher = |direction: &Direction| {
                let encryption = expand::<32>(provider, direction.encryption_key, &material);
                let authentication =
                    expand::<32>(provider, direction.authentication_key, &material);
                let nonce = expand::<8>(provider, direction.nonce, &material);
                provider.continuous_cipher(&encryption, &authentication, &nonce)
            };
            (
                Sealer::Continuous(continuous::Sealer::new(cipher(out))),
                Opener::Continuous(continuous::Opener::new(cipher(back))),
            )
        }
    }
}

/// The context strings of one direction.
struct Direction {
    key: &'static str,
    encryption_key: &'static str,
    authentication_key: &'static str,
    nonce: &'static str,
}

macro_rules! direction {
    ($name:literal) => {
        Direction {
            key: concat!("BLAKE3ZMQ-1.0 ", $name, " key"),
            encryption_key: concat!("BLAKE3ZMQ-1.0 ", $name, " enc key"),
            authentication_key: concat!("BLAKE3ZMQ-1.0 ", $name, " auth key"),
            nonce: concat!("BLAKE3ZMQ-1.0 ", $name, " nonce"),
        }
    };
}

const CLIENT_TO_SERVER: Direction = direction!("client->server");
const SERVER_TO_CLIENT: Direction = direction!("server->client");

fn expand<const N: usize>(
    provider: &dyn Provider,
    context: &str,
    material: &[&[u8]],
) -> Zeroizing<[u8; N]> {
    let mut output = Zeroizing::new([0; N]);
    provider.derive_key(context, material, &mut *output);
    output
}
