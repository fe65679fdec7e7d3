//! MESSAGE: every frame after the handshake.
//!
//! Source: CurveZMQ (RFC 26), and libzmq 4.3, which sends the frame without the flag COMMAND and puts
//! what MORE and COMMAND say of the frame inside the box.
//!
//! ```text
//! frame   flags, length | "\x07MESSAGE" 8 | number 8, big-endian | tag 16 | sealed: flags 1, payload
//! nonce   "CurveZMQMESSAGEC" from the client, "..S" from the server, then the number
//! ```
//!
//! Each number follows the one before, and those of the handshake count along: what was dropped,
//! repeated or reordered is refused. The specification only demands that numbers rise; a peer that
//! leaves some out is accepted with [`FrameOrder::GapsUnauthenticatedOrder`] alone, since nobody could
//! tell what it skipped from what was dropped on the way.

use arrayvec::ArrayVec;
use sealwire_nacl::{CounterBox, OpenJob, SealJob, SecretBox, TAG_SIZE};

use crate::limits::BATCH_FRAMES;
use crate::mechanism::FrameOrder;
use crate::wire::frame::{COMMAND, MORE};

/// Bytes of a frame's body before its payload.
pub(crate) const OVERHEAD: usize = NAME.len() + 8 + TAG_SIZE + 1;

const NAME: &[u8; 8] = b"\x07MESSAGE";

/// The bit that means COMMAND inside a box; MORE is where it is outside.
const SEALED_COMMAND: u8 = 0x02;

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

/// The bytes before the payload of a frame with these flags until it is sealed.
#[inline]
pub(crate) fn unsealed_prefix(flags: u8) -> [u8; OVERHEAD] {
    let mut prefix = [0; OVERHEAD];
    prefix[..NAME.len()].copy_from_slice(NAME);
    let command = if flags & COMMAND == 0 {
        0
    } else {
        SEALED_COMMAND
    };
    prefix[OVERHEAD - 1] = flags & MORE | command;
    prefix
}

/// The flags in the last byte of an opened prefix, as they would be outside; `None` for others than
/// MORE or COMMAND.
#[inline]
pub(crate) const fn opened_flags(sealed: u8) -> Option<u8> {
    match sealed {
        0 => Some(0),
        MORE => Some(MORE),
        SEALED_COMMAND => Some(COMMAND),
        _ => None,
    }
}

/// The parts of a body of at least [`OVERHEAD`] bytes: name, number, tag, and what is sealed. Both
/// callers, scanning and staging, measure that before; a type for it would be parsed from the same bytes
/// once more.
fn parts(body: &mut [u8]) -> (&mut [u8; 8], &mut [u8; 8], &mut [u8; TAG_SIZE], &mut [u8]) {
    let (name, rest) = body.split_first_chunk_mut().expect("a body holds its name");
    let (number, rest) = rest.split_first_chunk_mut().expect("and a number");
    let (tag, sealed) = rest.split_first_chunk_mut().expect("and a tag");
    (name, number, tag, sealed)
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

    /// Seals bodies that begin with an [`unsealed_prefix`], in order.
    ///
    /// # Panics
    ///
    /// When fewer numbers are left than there are bodies: staging counts ahead and refuses first.
    pub(crate) fn seal<'a>(&mut self, bodies: impl IntoIterator<Item = &'a mut [u8]>) {
        let mut jobs = ArrayVec::<SealJob<'_>, BATCH_FRAMES>::new();
        for body in bodies {
            let (_, number, tag, sealed) = parts(body);
            *number = self.next.to_be_bytes();
            self.next = self.next.checked_add(1).expect("staging counts ahead");
            jobs.push(SealJob {
                nonce: *number,
                buffer: sealed,
                tag,
            });
        }
        self.cipher.seal_batch(&mut jobs);
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

    /// Opens bodies of at least [`OVERHEAD`] bytes in order, at most [`BATCH_FRAMES`], and gives the
    /// number of those that verified before the first that did not.
    pub(crate) fn open<'a>(&mut self, bodies: impl IntoIterator<Item = &'a mut [u8]>) -> usize {
        let mut jobs = ArrayVec::<OpenJob<'_>, BATCH_FRAMES>::new();
        let mut last = self.last;
        for body in bodies {
            let (name, number, tag, sealed) = parts(body);
            let counter = u64::from_be_bytes(*number);
            let follows = match self.order {
                FrameOrder::Consecutive => last.checked_add(1) == Some(counter),
                FrameOrder::GapsUnauthenticatedOrder => counter > last,
            };
            if name != NAME || !follows {
                break;
            }
            last = counter;
            jobs.push(OpenJob::new(*number, sealed, tag));
        }
        self.cipher.open_batch(&mut jobs);
        let verified = jobs.iter().take_while(|job| job.verified).count();
        if let Some(job) = jobs[..verified].last() {
            self.last = u64::from_be_bytes(job.nonce);
        }
        self.opened += verified as u64;
        verified
    }
}
