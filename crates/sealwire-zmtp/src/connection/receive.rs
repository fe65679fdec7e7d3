//! From bytes to verified frames: parse many, open them in one batch, hand them on.
//!
//! ```text
//! input  | h body tag | h body tag | h body tag | h bo..
//!           span 0        span 1       span 2      stays
//! ```
//!
//! Payloads are opened in place. `deliver` decides what happens to them then.

mod scan;

use core::time::Duration;

use bytes::BytesMut;

pub(super) use self::scan::Span;
use self::scan::{Scan, Spans, check_size_without_flags, check_sizes, scan};
use super::{Connection, Phase};
use crate::error::{Error, WireError};
use crate::mechanism::{Opener, Shape};
use crate::wire::frame::Header;

/// Part of the buffer's size from which on a payload is a slice of it instead of a copy: a small
/// slice would keep the whole buffer in memory, without a bound on how many.
const SLICE_FRACTION: usize = 16;

/// Bytes from which on a payload may be a slice: a slice of a small buffer would have the next read
/// allocate another one.
const SLICE_FROM: usize = 4 << 10;

/// The incoming direction of a connection.
pub(super) struct Receiver {
    opener: Opener,
    /// Of the frames that it opens.
    shape: Shape,
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
            opener: Opener::PLAIN,
            shape: Shape::PLAIN,
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
        !self.shape.is_plain()
    }

    /// Bytes behind a frame's payload.
    #[inline]
    pub(super) fn behind_payload(&self) -> usize {
        self.shape.behind()
    }

    pub(super) fn protect(&mut self, opener: Opener) {
        self.shape = opener.shape();
        self.opener = opener;
    }

    /// What ends a connection when the frame of this number does not verify.
    fn not_verified(&self, index: u64) -> Error {
        Error::FrameNotVerified {
            index,
            first: index == 0 && self.opener.has_data_phases(),
        }
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
    /// [`max_message_size`](crate::limits::Limits::max_message_size), and one command or header more.
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
        let mut spans = Spans::new();
        let (extent, limits) = (self.assembly.extent(), &self.config.limits);
        if !self.receiver.verifies() {
            let check = check_sizes(extent, limits);
            let end = scan(input, Shape::PLAIN, 0, check, |span, _| {
                spans.push(span);
                !spans.is_full()
            });
            self.deliver(input, &spans)?;
            self.receiver.wanted = end?;
            return Ok(spans.is_full());
        }
        let Receiver { opener, shape, .. } = &mut self.receiver;
        let (first, mut end) = (opener.next_index(), Ok(0));
        if !shape.seals_flags() {
            let verified = opener.open(Scan {
                input,
                index: first,
                check: check_sizes(extent, limits),
                spans: &mut spans,
                end: &mut end,
            });
            self.deliver(input, &spans[..verified])?;
            return self.ended(first, verified, &spans, end);
        }
        let verified = opener.open(Scan {
            input,
            index: first,
            check: check_size_without_flags(limits),
            spans: &mut spans,
            end: &mut end,
        });
        let unwrapped = self.unwrap_flags(input, &mut spans[..verified]);
        let good = match &unwrapped {
            Ok(()) => verified,
            Err((good, _)) => *good,
        };
        self.deliver(input, &spans[..good])?;
        unwrapped.map_err(|(_, error)| error)?;
        self.ended(first, verified, &spans, end)
    }

    /// A batch of sealed frames was delivered as far as it verified.
    fn ended(
        &mut self,
        first: u64,
        verified: usize,
        spans: &Spans,
        end: Result<usize, Error>,
    ) -> Result<bool, Error> {
        if verified < spans.len() {
            return Err(self.receiver.not_verified(first + verified as u64));
        }
        self.receiver.wanted = end?;
        Ok(spans.is_full())
    }

    /// Reads the flags of opened frames from before their payloads, and holds them to the limits.
    /// An error comes with the number of frames that were good.
    fn unwrap_flags(&self, input: &[u8], spans: &mut [Span]) -> Result<(), (usize, Error)> {
        let mut check = check_sizes(self.assembly.extent(), &self.config.limits);
        let shape = self.receiver.shape;
        let mut start = 0;
        for (index, span) in spans.iter_mut().enumerate() {
            let sealed = input[start + span.before - 1];
            let checked = shape
                .opened_flags(sealed)
                .ok_or(Error::Wire(WireError::ReservedFlags { flags: sealed }))
                .map(|flags| Header::new(flags, span.payload))
                .and_then(|header| check(header, span.payload as u64).map(|()| header));
            let header = checked.map_err(|error| (index, error))?;
            (span.command, span.more) = (header.command(), header.more());
            start += span.before + span.payload + shape.behind();
        }
        Ok(())
    }
}
