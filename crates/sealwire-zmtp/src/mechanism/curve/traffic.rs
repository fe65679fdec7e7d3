//! MESSAGE: every frame after the handshake.
//!
//! Source: CurveZMQ (RFC 26), and libzmq 4.3, which sends the frame without the flag COMMAND and puts
//! the frame's own MORE and COMMAND inside the box.
//!
//! ```text
//! frame   flags, length | "\x07MESSAGE" 8 | number 8, big-endian | tag 16 | sealed: flags 1, payload
//! nonce   "CurveZMQMESSAGEC" from the client, "..S" from the server, then the number
//! ```
//!
//! Numbers are consecutive, those of the handshake included: a dropped, repeated or reordered frame is
//! refused. The specification only demands that numbers rise. A peer that leaves numbers out is
//! accepted only with [`FrameOrder::GapsUnauthenticatedOrder`], since nobody could tell them from
//! frames that were dropped on the way.

use arrayvec::ArrayVec;
use sealwire_nacl::{CounterBox, OpenJob, SealJob, SecretBox, TAG_SIZE};

use crate::limits::BATCH_FRAMES;
use crate::mechanism::{FrameOrder, NotSealed, SealedFrames, Shape, UnsealedFrame};

/// Name, number, tag and the flags, of which COMMAND is 0x02.
pub(crate) const SHAPE: Shape = Shape::wrapped(NAME.len() + 8 + TAG_SIZE + 1, 0x02);

const NAME: &[u8; 8] = b"\x07MESSAGE";

/// Which side of the handshake a box is from.
#[derive(Copy, Clone)]
pub(super) enum Side {
    Client,
    Server,
}

impl Side {
    const fn prefix(self) -> &'static [u8; 16] {
        match self {
            Self::Client => b"CurveZMQMESSAGEC",
            Self::Server => b"CurveZMQMESSAGES",
        }
    }
}

struct Parts<'a> {
    name: &'a mut [u8; NAME.len()],
    number: &'a mut [u8; 8],
    tag: &'a mut [u8; TAG_SIZE],
    /// Flags and payload.
    sealed: &'a mut [u8],
}

impl<'a> Parts<'a> {
    /// `None` for a body that is too short for [`SHAPE`].
    fn of(body: &'a mut [u8]) -> Option<Self> {
        let (name, rest) = body.split_first_chunk_mut()?;
        let (number, rest) = rest.split_first_chunk_mut()?;
        let (tag, sealed) = rest.split_first_chunk_mut()?;
        Some(Self {
            name,
            number,
            tag,
            sealed,
        })
    }
}

/// Seals the frames of one direction. It owns its counter and cannot be cloned, so no nonce comes
/// twice.
pub(crate) struct Sealer {
    cipher: CounterBox,
    next: u64,
}

impl Sealer {
    /// `next` is the number of the first frame: the commands of the handshake had those before.
    pub(super) fn new(shared: &SecretBox, side: Side, next: u64) -> Self {
        Self {
            cipher: shared.with_prefix(side.prefix()),
            next,
        }
    }

    pub(crate) const fn next_index(&self) -> u64 {
        self.next
    }

    /// Seals frames in order, a batch at a time.
    ///
    /// # Errors
    ///
    /// As [`mechanism::Sealer::seal`](crate::mechanism::Sealer::seal).
    pub(crate) fn seal<'a>(
        &mut self,
        mut frames: impl Iterator<Item = Result<UnsealedFrame<'a>, NotSealed>>,
    ) -> Result<(), NotSealed> {
        loop {
            let mut jobs = ArrayVec::<SealJob<'_>, BATCH_FRAMES>::new();
            while !jobs.is_full()
                && let Some(frame) = frames.next()
            {
                let parts = Parts::of(frame?.body).ok_or(NotSealed)?;
                let next = self.next.checked_add(1).ok_or(NotSealed)?;
                *parts.name = *NAME;
                *parts.number = self.next.to_be_bytes();
                self.next = next;
                jobs.push(SealJob {
                    nonce: *parts.number,
                    buffer: parts.sealed,
                    tag: parts.tag,
                });
            }
            if jobs.is_empty() {
                return Ok(());
            }
            self.cipher.seal_batch(&mut jobs);
        }
    }
}

/// Opens the frames of one direction.
pub(crate) struct Opener {
    cipher: CounterBox,
    order: FrameOrder,
    /// The number of the last frame, or of the peer's last command of the handshake.
    last: u64,
    opened: u64,
}

impl Opener {
    /// `last` is the number of the peer's last command of the handshake.
    pub(super) fn new(shared: &SecretBox, side: Side, last: u64, order: FrameOrder) -> Self {
        Self {
            cipher: shared.with_prefix(side.prefix()),
            order,
            last,
            opened: 0,
        }
    }

    /// Frames opened so far.
    pub(crate) const fn next_index(&self) -> u64 {
        self.opened
    }

    /// Opens up to a batch of frames in order, and gives the number of those that verified before the first
    /// that did not.
    pub(crate) fn open<'a>(&mut self, frames: impl SealedFrames<'a>) -> usize {
        let mut jobs = ArrayVec::<OpenJob<'_>, BATCH_FRAMES>::new();
        let mut last = Some(self.last);
        let order = self.order;
        frames.each(SHAPE, |frame| {
            // A frame that is too short, has another name or a number that does not follow cannot verify, and none
            // behind it counts.
            let follows = |number: &[u8; 8]| {
                let (number, last) = (u64::from_be_bytes(*number), last?);
                let follows = match order {
                    FrameOrder::Consecutive => last.checked_add(1) == Some(number),
                    FrameOrder::GapsUnauthenticatedOrder => number > last,
                };
                follows.then_some(number)
            };
            let parts = Parts::of(frame.body).filter(|parts| parts.name == NAME);
            last = parts.and_then(|parts| {
                let number = follows(parts.number)?;
                jobs.push(OpenJob::new(*parts.number, parts.sealed, parts.tag));
                Some(number)
            });
        });
        self.cipher.open_batch(&mut jobs);
        let verified = jobs.iter().take_while(|job| job.verified).count();
        if let Some(job) = jobs[..verified].last() {
            self.last = u64::from_be_bytes(job.nonce);
        }
        self.opened += verified as u64;
        verified
    }
}
