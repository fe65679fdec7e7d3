//! From bytes to verified frames: parse many, open them in one batch, hand them on.
//!
//! ```text
//! input  | h body tag | h body tag | h body tag | h bo..
//!           job 0         job 1        job 2       stays
//! ```
//!
//! The jobs borrow straight from the input and live on the stack; payloads are opened where they
//! lie. What happens to them then is decided in `deliver`.

use core::time::Duration;

use arrayvec::ArrayVec;
use bytes::BytesMut;

use super::assembly::Extent;
use super::{Connection, Phase};
use crate::error::{Error, WireError};
use crate::limits::{BATCH_FRAMES, Limits, MAX_WANTED};
use sealwire_aead::TAG_SIZE;

use crate::mechanism::Opener;
use crate::mechanism::curve::traffic::{self, OVERHEAD, opened_flags};
use crate::provider::OpenJob;
use crate::wire::frame::{Header, MAX_HEADER};

/// Part of the buffer's size from which on a payload is a slice of it instead of a copy: a small
/// slice would keep the whole buffer in memory, without a bound on how many.
const SLICE_FRACTION: usize = 16;

/// Bytes from which on a payload may be a slice: a slice of a small buffer would have the next read
/// allocate another one.
const SLICE_FROM: usize = 4 << 10;

/// The incoming direction of a connection.
pub(super) struct Receiver {
    opener: Opener,
    /// Bytes that the last call left in the input.
    left: usize,
    wanted: usize,
    /// Size of the buffer that the input is part of, as far as can be seen.
    buffer_size: usize,
    capacity_left: usize,
}

impl Default for Receiver {
    fn default() -> Self {
        Self {
            opener: Opener::Plain,
            left: 0,
            wanted: 0,
            buffer_size: 0,
            capacity_left: 0,
        }
    }
}

impl Receiver {
    pub(super) fn left(&self) -> usize {
        self.left
    }

    /// Whether the mechanism authenticates frames.
    #[inline]
    pub(super) fn verifies(&self) -> bool {
        self.opener.verifies()
    }

    /// Bytes behind a frame's payload.
    #[inline]
    pub(super) fn behind_payload(&self) -> usize {
        self.opener.behind_payload()
    }

    pub(super) fn protect(&mut self, opener: Opener) {
        self.opener = opener;
    }

    /// Capacity only grows when the buffer is another one or was reclaimed as a whole.
    fn note_buffer(&mut self, input: &BytesMut) {
        if input.capacity() > self.capacity_left {
            self.buffer_size = input.capacity();
        }
    }

    /// Whether a payload is large enough to keep the buffer in memory for it.
    #[inline]
    pub(super) fn worth_slicing(&self, payload: usize) -> bool {
        payload >= SLICE_FROM.max(self.buffer_size / SLICE_FRACTION)
    }
}

/// A whole frame at the front of the input.
#[derive(Copy, Clone)]
pub(super) struct Span {
    /// Bytes before the payload.
    pub(super) before: usize,
    /// Bytes of the payload.
    pub(super) payload: usize,
    pub(super) command: bool,
    pub(super) more: bool,
}

impl Span {
    fn new(header: Header, payload: usize) -> Self {
        Self {
            before: header.size(),
            payload,
            command: header.command(),
            more: header.more(),
        }
    }
}

impl Connection {
    /// Takes every whole frame out of `input`; what is incomplete stays in it.
    ///
    /// Payloads that fill a good part of `input`'s buffer are handed on as slices of it, smaller
    /// ones are copied into blocks of up to 64 KiB that are used again: however few payloads are
    /// kept, they hold at most 2 MiB more than they are long. The events made here take up to 40
    /// times the bytes that were in `input`, when all of them are empty frames.
    ///
    /// # Errors
    ///
    /// Whatever ended the connection, now or before; events of frames before the fault are
    /// pollable, and [`transmit`](Self::transmit) may hold an ERROR to flush.
    pub fn receive(&mut self, input: &mut BytesMut, now: Duration) -> Result<(), Error> {
        if input.len() > self.receiver.left {
            self.liveness.heard(now);
        }
        self.receiver.note_buffer(input);
        let result = self.receive_all(input, now);
        self.receiver.left = input.len();
        self.receiver.capacity_left = input.capacity();
        result.map_err(|error| self.fail(error))
    }

    /// Returns how many more bytes complete the frame in progress, as far as its length is known: a hint for
    /// sizing the next read, at most 1 MiB or the bytes of it that are there, if these are more; 0 when
    /// nothing is in progress.
    pub const fn wanted(&self) -> usize {
        self.receiver.wanted
    }

    /// Returns the bytes of a message that has arrived in part: the payloads of its frames, and those that
    /// the last [`receive`](Self::receive) left in its input. At most
    /// [`max_message_size`](Limits::max_message_size), and one command or header more.
    pub fn arriving(&self) -> usize {
        self.assembly.size() + self.receiver.left
    }

    fn receive_all(&mut self, input: &mut BytesMut, now: Duration) -> Result<(), Error> {
        loop {
            let more = match &self.phase {
                Phase::Ready => self.receive_batch(input)?,
                Phase::Greeting(_) | Phase::Handshake(_) => self.advance_handshake(input, now)?,
                Phase::Over(error) => return Err(error.clone()),
            };
            if !more {
                return Ok(());
            }
        }
    }

    /// Takes up to a batch of whole frames out of `input`. Gives whether there may be more.
    fn receive_batch(&mut self, input: &mut BytesMut) -> Result<bool, Error> {
        let mut spans = ArrayVec::<Span, BATCH_FRAMES>::new();
        let limits = &self.config.limits;
        let extent = self.assembly.extent();
        let (scanned, verified, first_index) = match &mut self.receiver.opener {
            Opener::Plain => {
                let check = check_sizes(extent, limits);
                let scanned = scan(&mut input[..], 0, 0, check, |header, payload, _| {
                    spans.push(Span::new(header, payload));
                    !spans.is_full()
                });
                (scanned, spans.len(), 0)
            }
            Opener::Tagged(opener) => {
                let first_index = opener.next_index();
                let mut jobs = ArrayVec::<OpenJob<'_>, BATCH_FRAMES>::new();
                let scanned = scan(
                    &mut input[..],
                    TAG_SIZE,
                    first_index,
                    check_sizes(extent, limits),
                    |header, payload_size, frame| {
                        let span = Span::new(header, payload_size);
                        let (header, body) = frame.split_at_mut(span.before);
                        let (payload, tag) = body
                            .split_last_chunk_mut()
                            .expect("a sealed frame holds a tag");
                        jobs.push(OpenJob::new([0; 24], header, payload, tag));
                        spans.push(span);
                        !spans.is_full()
                    },
                );
                let verified = if jobs.is_empty() {
                    0
                } else {
                    opener.open(&mut jobs)
                };
                (scanned, verified, first_index)
            }
            Opener::Wrapped(opener) => {
                let first_index = opener.next_index();
                let (scanned, verified) = open_wrapped(opener, limits, input, &mut spans);
                return self.receive_wrapped(input, &mut spans, scanned, verified, first_index);
            }
        };
        self.deliver(input, &spans[..verified])?;
        if verified < spans.len() {
            let index = first_index + verified as u64;
            return Err(Error::FrameNotVerified {
                index,
                first: index == 0,
            });
        }
        self.receiver.wanted = scanned?;
        Ok(spans.is_full())
    }

    /// The same for frames whose flags are sealed with their payload, the first `verified` of which were
    /// opened.
    fn receive_wrapped(
        &mut self,
        input: &mut BytesMut,
        spans: &mut ArrayVec<Span, BATCH_FRAMES>,
        scanned: Result<usize, Error>,
        verified: usize,
        first_index: u64,
    ) -> Result<bool, Error> {
        let checked = self.unwrap_flags(input, &mut spans[..verified]);
        let good = checked
            .as_ref()
            .map_or_else(|(good, _)| *good, |()| verified);
        let full = spans.is_full();
        self.deliver(input, &spans[..good])?;
        checked.map_err(|(_, error)| error)?;
        if verified < spans.len() {
            return Err(Error::FrameNotVerified {
                index: first_index + verified as u64,
                first: false,
            });
        }
        self.receiver.wanted = scanned?;
        Ok(full)
    }

    /// Reads the flags of opened frames from before their payloads, and holds them to the limits.
    /// An error comes with the number of frames that were good.
    fn unwrap_flags(&self, input: &[u8], spans: &mut [Span]) -> Result<(), (usize, Error)> {
        let mut check = check_sizes(self.assembly.extent(), &self.config.limits);
        let mut start = 0;
        for (index, span) in spans.iter_mut().enumerate() {
            let sealed = input[start + span.before - 1];
            let checked = opened_flags(sealed)
                .ok_or(Error::Wire(WireError::ReservedFlags { flags: sealed }))
                .map(|flags| Header::new(flags, span.payload))
                .and_then(|header| check(header, span.payload as u64).map(|()| header));
            let header = checked.map_err(|error| (index, error))?;
            (span.command, span.more) = (header.command(), header.more());
            start += span.before + span.payload;
        }
        Ok(())
    }
}

/// Opens the whole frames at the front of `input`, flags and payloads, and notes their spans. Gives what
/// the frame that follows lacks, or what is wrong with it, and how many frames verified.
fn open_wrapped(
    opener: &mut traffic::Opener,
    limits: &Limits,
    input: &mut BytesMut,
    spans: &mut ArrayVec<Span, BATCH_FRAMES>,
) -> (Result<usize, Error>, usize) {
    let mut bodies = ArrayVec::<&mut [u8], BATCH_FRAMES>::new();
    let scanned = scan(
        &mut input[..],
        OVERHEAD,
        opener.next_index(),
        check_wrapped_size(limits),
        |header, payload, frame| {
            bodies.push(&mut frame[header.size()..]);
            let mut span = Span::new(header, payload);
            span.before += OVERHEAD;
            spans.push(span);
            !spans.is_full()
        },
    );
    (scanned, opener.open(bodies))
}

/// Walks over the whole frames at the front of `input` and gives each to `take` until that returns
/// false. Gives how many bytes the frame that follows still lacks, or what is wrong with it.
fn scan<'a>(
    mut input: &'a mut [u8],
    overhead: usize,
    mut index: u64,
    mut check: impl FnMut(Header, u64) -> Result<(), Error>,
    mut take: impl FnMut(Header, usize, &'a mut [u8]) -> bool,
) -> Result<usize, Error> {
    loop {
        let Some(header) = Header::parse(input)? else {
            return Ok(if input.is_empty() {
                0
            } else {
                MAX_HEADER - input.len()
            });
        };
        // A sealed frame without room for a tag is one that cannot verify.
        let Some(payload) = header.body_len.checked_sub(overhead as u64) else {
            return Err(Error::FrameNotVerified {
                index,
                first: index == 0,
            });
        };
        check(header, payload)?;
        if overhead > 0 && index == u64::MAX {
            return Err(Error::CounterExhausted);
        }
        // The limits are sizes in memory, so what they let through fits.
        let payload = payload as usize;
        let size = header.size() + payload + overhead;
        if size > input.len() {
            return Ok((size - input.len()).min(MAX_WANTED.max(input.len())));
        }
        let (frame, rest) = input.split_at_mut(size);
        input = rest;
        index += 1;
        if !take(header, payload, frame) {
            return Ok(0);
        }
    }
}

/// Refuses frames that would go beyond the limits, by what they claim.
fn check_sizes(
    mut extent: Extent,
    limits: &Limits,
) -> impl FnMut(Header, u64) -> Result<(), Error> {
    move |header, payload| {
        if header.command() {
            at_most(limits.max_command_size, payload)
        } else {
            extent.announce(payload, header.more(), limits)
        }
    }
}

/// The same where the true flags are still sealed: refuses what neither a message nor a command may
/// be, and flags that have no business outside.
fn check_wrapped_size(limits: &Limits) -> impl FnMut(Header, u64) -> Result<(), Error> {
    let limit = limits.max_message_size;
    let either = limit.max(limits.max_command_size) as u64;
    move |header, payload| {
        if header.more() {
            let flags = header.flags;
            return Err(WireError::ReservedFlags { flags }.into());
        }
        if payload > either {
            return Err(Error::MessageTooLarge { limit });
        }
        Ok(())
    }
}

fn at_most(limit: usize, claimed: u64) -> Result<(), Error> {
    let limit = limit as u64;
    if claimed > limit {
        return Err(WireError::FrameTooLarge { claimed, limit }.into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_number_of_a_direction_is_refused() {
        let mut frame = [0; 34];
        frame[1] = 32;
        let mut scan_at = |index| {
            let mut taken = 0;
            let take = |_: Header, _: usize, _: &mut [u8]| {
                taken += 1;
                true
            };
            let scanned = scan(
                &mut frame,
                32,
                index,
                check_sizes(Extent::default(), &Limits::default()),
                take,
            );
            (scanned, taken)
        };
        assert_eq!(scan_at(u64::MAX - 1), (Ok(0), 1));
        assert_eq!(scan_at(u64::MAX), (Err(Error::CounterExhausted), 0));
    }
}
